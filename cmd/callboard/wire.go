package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/callboard/callboard/actors"
	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/paper"
	"github.com/callboard/callboard/actors/simulator"
	"github.com/callboard/callboard/cmd/callboard/metrics"
	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/allow"
	"github.com/callboard/callboard/httpapi"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
	"github.com/callboard/callboard/media/wav"
	"github.com/callboard/callboard/persistence/blob"
	"github.com/callboard/callboard/sip"
)

// service is everything that runs.
type service struct {
	cfg    *configs.Config
	log    *slog.Logger
	vault  *vault
	ua     *sip.UserAgent
	engine *media.Engine
	bucket *blob.S3 // nil: recordings lie on disk
	phones *simulator.Simulator
	traces *call.Traces
	spans  *tracing
	meters *metrics.Meters
	ears   speech.Recogniser // nil: nobody hears words
	models actors.Models
	node   *actors.Node
	http   *httpapi.Server
	ln     net.Listener
	admin  *adminSocket
	tools  *adminHTTP
	first  *actors.First
	ended  chan error
	stop   context.CancelFunc

	seat  *seat        // of one node of several; nil: this is the only one
	nodes net.Listener // of the other nodes

	drainEnds time.Time // what is under way then is cut off; zero: nothing drains
	inHaste   bool      // another node has the work: what is under way cannot be kept
}

// shutdownLeast is how long requests under way have at least to finish.
const shutdownLeast = 5 * time.Second

// extras are what the demo adds to a configuration.
type extras struct {
	rootCA []byte // PEM
	allow  []allow.Rule
	seat   *seat
}

// start opens, wires and starts everything. On an error nothing is left.
func start(ctx context.Context, cfg *configs.Config, log *slog.Logger, more extras) (_ *service, err error) {
	s := &service{cfg: cfg, log: log, ended: make(chan error, 8), meters: metrics.New(version), seat: more.seat}
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stop = stop
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if err = s.open(ctx); err != nil {
		return nil, err
	}
	limits := defaultLimits(cfg)
	s.first, err = actors.Bootstrap(ctx, s.vault.store, s.vault.keys, domain.Plan(cfg.DefaultPlan), limits, cfg.Simulator)
	if err != nil {
		return nil, err
	}
	if s.first != nil {
		if err = keepFirst(cfg.Data, s.first); err != nil {
			return nil, err
		}
	}
	if err = s.listen(ctx); err != nil {
		return nil, err
	}
	if err = s.telephony(run, more); err != nil {
		return nil, err
	}
	if err = s.tree(ctx, more); err != nil {
		return nil, err
	}
	go s.sweepBucket(run)
	return s, s.doors(run)
}

func defaultLimits(cfg *configs.Config) domain.Limits {
	limits, fixed := domain.PlanLimits(domain.Plan(cfg.DefaultPlan))
	if !fixed {
		limits = domain.RoomyLimits()
	}
	for _, l := range []struct{ set, to *int }{
		{&cfg.DefaultLimits.RequestsPerMinute, &limits.RequestsPerMinute},
		{&cfg.DefaultLimits.ConcurrentInbound, &limits.ConcurrentInbound},
		{&cfg.DefaultLimits.ConcurrentOutbound, &limits.ConcurrentOutbound},
		{&cfg.DefaultLimits.CallsPerMinute, &limits.CallsPerMinute},
	} {
		if *l.set > 0 {
			*l.to = *l.set
		}
	}
	return limits
}

// keepFirst keeps the keys of the first start where only the operator reads.
func keepFirst(data string, f *actors.First) error {
	return errors.Join(
		writeSecret(filepath.Join(data, "admin.key"), f.AdminKey+"\n"),
		writeSecret(filepath.Join(data, "test.key"), f.TestKey+"\n"),
	)
}

func recordingFormat(name string) wav.Format {
	if name == "pcm" {
		return wav.PCM16
	}
	return wav.MuLaw
}

// telephony opens SIP, sound and the built-in carrier.
func (s *service) telephony(run context.Context, more extras) (err error) {
	cfg := s.cfg
	public := cfg.PublicIP
	if !public.IsValid() {
		public = cfg.SIPAddr.Addr()
	}
	carrier := &carrier{}
	sipEgress := s.egress(more)
	sipEgress.AnyPort = true
	s.engine, err = media.NewEngine(media.Config{
		BindIP: soundAddr(cfg), PublicIP: public,
		PortMin: int(cfg.MediaPorts.Low), PortMax: int(cfg.MediaPorts.High), Recording: recordingFormat(cfg.RecordingFormat),
		MayReach: func(to netip.AddrPort) bool { return carrier.sound(to) || sipEgress.May(to) == nil }, Log: s.log,
	})
	if err != nil {
		return err
	}
	secured, err := sipTLS(cfg, s.log)
	if err != nil {
		return err
	}
	s.traces = call.NewTraces()
	s.ua, err = sip.New(sip.Config{
		Listen: sipListeners(cfg), TLS: secured, Private: cfg.SIPPrivate, DSCP: cfg.SIPDSCP,
		PublicIP: cfg.PublicIP, UserAgent: "Callboard/" + version, Trace: s.traces.Note, Linger: linger(), OverloadAfter: patience(), Secret: derive(s.vault.store.Root(), "callboard sip"),
		MayReach: func(to netip.AddrPort) bool { return carrier.signalling(to) || sipEgress.May(to) == nil }, MayCall: s.seat.may(), Log: s.log,
	})
	if err != nil {
		return err
	}
	if !cfg.Simulator {
		return nil
	}
	speaker, err := s.speaker("simulator", nil)
	if err != nil {
		return err
	}
	s.phones, err = simulator.New(simulator.Config{Speaker: speaker, Peers: ownAddrs(cfg), PortMin: phonesLow, PortMax: phonesHigh, Log: s.log})
	if err != nil {
		return err
	}
	carrier.of = s.phones
	go func() { s.ended <- s.phones.Serve(run) }()
	return nil
}

// The ports on loopback at which the built-in phones take sound.
const (
	phonesLow  = 40000
	phonesHigh = 49999
)

// carrier tells which addresses are the built-in one's.
type carrier struct{ of *simulator.Simulator }

func (c *carrier) signalling(to netip.AddrPort) bool {
	if c.of == nil {
		return false
	}
	t := c.of.Target()
	return to.Addr().IsLoopback() && int(to.Port()) == t.Port
}

func (c *carrier) sound(to netip.AddrPort) bool {
	return c.of != nil && to.Addr().IsLoopback() && to.Port() >= phonesLow && to.Port() <= phonesHigh
}

// speaker is what speaks: with engines those of the operator's, too.
func (s *service) speaker(cache string, with *speechEngines) (*speech.Voice, error) {
	cfg := speech.Config{PromptDir: s.folder("prompts"), CacheDir: s.folder(filepath.Join("cache", cache))}
	if with != nil {
		cfg.Sources, cfg.Order = with.sources(), with.file.TTS
	}
	v, err := speech.New(cfg)
	if err != nil {
		return nil, err
	}
	if v.Missing() != nil && with != nil && len(cfg.Order) == 0 {
		s.log.Warn("espeak-ng is not installed: agents speak only prompts that lie as WAV files in the folder prompts")
	}
	return v, nil
}

// recogniser hears words; nil: nobody does.
func (s *service) recogniser(with *speechEngines) speech.Recogniser {
	var local speech.Recogniser
	ears, err := speech.NewSphinx(s.folder("turns"), runtime.GOMAXPROCS(0), turnLimit)
	if err == nil {
		local = ears
	}
	listeners := with.listeners()
	switch {
	case len(listeners) > 0:
		return speech.NewHearing(listeners, with.file.STT, local)
	case local == nil:
		s.log.Warn("pocketsphinx is not installed: agents hear keys, and no words")
		return nil
	}
	return speech.NewHearing(nil, nil, local)
}

// turnLimit is how long what somebody said may take to be understood.
const turnLimit = 5 * time.Second

// folder makes a folder in the data folder.
func (s *service) folder(name string) string {
	path := filepath.Join(s.cfg.Data, name)
	_ = os.MkdirAll(path, 0o700) // whoever uses it reports
	return path
}

// tree grows the actors and opens SIP to them.
func (s *service) tree(ctx context.Context, more extras) error {
	roots, err := s.roots(more)
	if err != nil {
		return err
	}
	with, err := readEngines(s.cfg, roots, s.egress(more).May)
	if err != nil {
		return err
	}
	speaker, err := s.speaker("speech", with)
	if err != nil {
		return err
	}
	s.ears = s.recogniser(with)
	blobs, err := s.openBlobs(ctx, roots)
	if err != nil {
		return err
	}
	target := func() (sip.Target, bool) { return sip.Target{}, false }
	var calledBy func() netip.AddrPort
	var testCall func(context.Context, simulator.Order) error
	var talk actors.Talk
	if s.phones != nil {
		target = func() (sip.Target, bool) { return s.phones.Target(), true }
		calledBy = s.phones.Addr
		testCall, talk = s.testCall, s.talk
	}
	s.models = modelsOf(&with.file)
	trunks := s.egress(more)
	trunks.AnyPort = true
	answers, hurry := hurried()
	program, err := os.Executable()
	if err != nil {
		return err
	}
	if s.spans, err = s.openTracing(context.Background()); err != nil {
		return err
	}
	mailer, err := s.mailer()
	if err != nil {
		return err
	}
	s.node = actors.New(actors.Config{
		Store: s.meters.Store(s.spans.store(s.seat.store(tamper(s.vault.store)))), May: s.seat.may(), Keys: s.vault.keys, Blobs: blobs, SIP: s.ua, Media: s.engine, Speaker: speaker, Ears: s.ears, Models: s.models, Lives: with.lives(), Papers: paper.New(program, "read-pdf"),
		Simulator: target, Carrier: calledBy, TestCall: testCall, Talk: talk, Egress: s.egress(more), RootCAs: roots, WebhookSends: s.cfg.WebhookSends, WebhookTimeout: answers, WebhookHurry: hurry,
		MayReach: func(to netip.AddrPort) bool { return trunks.May(to) == nil }, SIPURI: sipURI(s.cfg),
		PublicURL: s.cfg.BaseURL(netip.MustParseAddrPort(s.ln.Addr().String())),
		SpoolDir:  s.folder("spool"), Traces: s.traces, Log: s.log, Mail: mailer,
	})
	s.ua.OnInvite(s.node.Inbound)
	s.ua.OnText(s.node.Text)
	s.ua.Registrar(s.node.Registrar())
	s.ua.Admit(s.node.Book().Admit)
	s.meters.Read(s.read)
	return nil
}

// testCall lets a built-in phone call us: at our first listener, or at
// loopback where that takes every address.
func (s *service) testCall(ctx context.Context, o simulator.Order) error {
	o.At = s.here()
	return s.phones.Call(ctx, o)
}

// talk lets somebody call us on a built-in phone.
func (s *service) talk(ctx context.Context, o simulator.Order, ear func([]byte), told func(simulator.Event)) (*simulator.Handset, error) {
	o.At = s.here()
	return s.phones.Talk(ctx, o, ear, told)
}

func (s *service) here() sip.Target {
	at := s.ua.Addr("udp")
	if at.Addr().IsUnspecified() {
		at = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at.Port())
	}
	return sip.Target{Host: at.Addr().String(), Port: int(at.Port()), Transport: "udp"}
}

// sipURI is where carriers send calls.
func sipURI(cfg *configs.Config) string {
	at := cfg.SIPAddr
	if cfg.PublicIP.IsValid() {
		at = netip.AddrPortFrom(cfg.PublicIP, at.Port())
	}
	return "sip:" + at.String()
}

func (s *service) roots(more extras) (*x509.CertPool, error) {
	if s.cfg.EgressCAFile == "" && more.rootCA == nil {
		return nil, nil //nolint:nilnil // nil: those of the machine
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if s.cfg.EgressCAFile != "" {
		pem, err := os.ReadFile(s.cfg.EgressCAFile)
		if err != nil {
			return nil, err
		}
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("egress_ca_file = %s: must hold certificates in PEM", s.cfg.EgressCAFile)
		}
	}
	pool.AppendCertsFromPEM(more.rootCA)
	return pool, nil
}

// doors starts SIP, the tree, the API and the local socket.
func (s *service) doors(run context.Context) error {
	go func() { s.ended <- s.ua.Serve(run) }()
	select {
	case err := <-s.ended:
		return fmt.Errorf("sip_addr: %w", err)
	case <-s.ua.Ready():
	case <-time.After(5 * time.Second):
		return errors.New("sip_addr: SIP did not start to listen in time")
	}
	d := s.node.Desk()
	var certificate func() (*tls.Certificate, error)
	if s.cfg.TLSCert != "" {
		certificate = sip.CertificateFiles(s.cfg.TLSCert, s.cfg.TLSKey, s.log)
	}
	s.http = httpapi.New(httpapi.Config{
		Log: s.log, PublicURL: s.cfg.BaseURL(netip.MustParseAddrPort(s.ln.Addr().String())), TrustedProxies: s.cfg.TrustedProxies,
		Certificate: certificate, Version: version, Ears: s.ears != nil, Text: s.ears != nil && s.ears.Transcribes("en-US"), Observe: s.meters.Request,
	}, portsOf(d))
	if s.seat == nil {
		s.answer()
	}
	var err error
	pages := adminPages(s.count, s.meters.Handler())
	if s.admin, err = openAdmin(s.cfg.Data, keysOf(s.vault, &staff{running: d, base: s.cfg.BaseURL(netip.MustParseAddrPort(s.ln.Addr().String()))}), pages, s.log); err != nil {
		return err
	}
	if s.tools, err = openAdminHTTP(run, s.cfg.AdminAddr, pages, s.log); err != nil {
		return err
	}
	if err = s.node.Start(run); err == nil && s.seat != nil {
		s.answer() // until now requests wait
	}
	return err
}

// drain takes no new calls and lets the live ones end within the limit.
func (s *service) drain(ctx context.Context) {
	s.drainEnds = time.Now().Add(s.cfg.Drain)
	ctx, cancel := context.WithDeadline(ctx, s.drainEnds)
	defer cancel()
	s.node.Drain(ctx)
}

// shutDoors takes no request any more and lets those under way finish.
func (s *service) shutDoors() {
	if s.http != nil {
		limit := max(shutdownLeast, time.Until(s.drainEnds))
		if s.inHaste {
			limit = 0
		}
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		_ = s.http.Shutdown(ctx)
		cancel()
	}
	for _, ln := range []net.Listener{s.ln, s.nodes} {
		if ln != nil {
			_ = ln.Close() // the server has closed it, unless it never served
		}
	}
}

// close ends what runs, in the reverse order of its start.
func (s *service) close() {
	s.tools.close()
	if s.admin != nil {
		s.admin.close()
	}
	s.shutDoors()
	if s.node != nil {
		s.node.Stop()
	}
	s.spans.close()
	s.stop()
	if s.ua != nil {
		_ = s.ua.Close()
	}
	if s.engine != nil {
		_ = s.engine.Close()
	}
	if s.vault != nil {
		s.vault.close()
	}
}

// portsOf gives everything that the front door asks for to the desk.
func portsOf(d *actors.Desk) httpapi.Ports {
	return httpapi.Ports{
		Auth: d, Campaigns: d, Contacts: d, Calls: d, Recordings: d, Listening: d, Talking: d, Agents: d, Pathways: d, Tools: d, Trunks: d, Numbers: d, Phones: d, DNC: d,
		Webhooks: d, Deliveries: d, Keys: d, Tokens: d, OAuth: d, Consents: d, Users: d, Audit: d, Workspaces: d, Usages: d, Bulks: d, Exports: d, Tenants: d, Operators: d, Alerts: d, Events: d, Health: d, Windows: d, Once: d,
		Bookings: d, Messages: d, Textings: d, Gateways: d, Knowledge: d,
	}
}
