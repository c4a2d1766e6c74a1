package main

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/callboard/callboard/actors"
	"github.com/callboard/callboard/actors/alerts"
	"github.com/callboard/callboard/actors/call/siptrace"
	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/cmd/callboard/metrics"
	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/httpapi"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
	"github.com/callboard/callboard/media/wav"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/testcarrier"
)

// service is what a process has once, and the seats of the shards that it has
// the work of.
type service struct {
	cfg     *configs.Config
	log     *slog.Logger
	more    extras
	member  *member            // nil: the process is the only one
	driver  persistence.Driver // of the seats of one of several nodes
	front   netip.AddrPort     // where clients of HTTP connect
	ua      *sip.UserAgent
	engine  *media.Engine
	room    *lines.Places // for calls, in its ports
	phones  *testcarrier.Simulator
	traces  *siptrace.Buffer
	spans   *tracing
	meters  *metrics.Meters
	speaker speech.Speaker
	ears    speech.Recogniser // nil: nobody hears words
	with    *speechEngines
	models  actors.Models
	roots   *x509.CertPool // beside those of the machine; nil: these alone
	mail    alerts.Mailer
	board   actors.Switchboard
	takenUp takenUp
	admin   *adminSocket
	tools   *adminHTTP
	built   bool
	listens bool
	// quarantined: the store was restored from a backup and not released. released says that it was, meanwhile.
	quarantined bool
	released    chan struct{}
	opened      atomic.Bool
	ended       chan error
	run         context.Context //nolint:containedctx // ends with the process
	stop        context.CancelFunc

	building sync.Mutex // held while a seat is being made and none is there yet
	mu       sync.Mutex
	seats    []*seat
}

// shutdownLeast is how long requests under way have at least to finish.
const shutdownLeast = 5 * time.Second

// extras are what a command adds to a configuration.
type extras struct {
	rootCA []byte // PEM; of the demo
	allow  []access.Rule
	wait   *startWait // nil: a store that is away ends the start
}

// start opens, wires and starts everything of a process that is the only one.
// On an error nothing is left.
func start(ctx context.Context, cfg *configs.Config, log *slog.Logger, more extras) (*service, error) {
	s := newService(ctx, cfg, log, more)
	if err := s.sit(ctx, &seat{}); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func newService(ctx context.Context, cfg *configs.Config, log *slog.Logger, more extras) *service {
	s := &service{cfg: cfg, log: log, more: more, ended: make(chan error, 8), released: make(chan struct{}, 1), meters: metrics.New(version)}
	s.run, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	return s
}

// fail ends the process with an error.
func (s *service) fail(err error) {
	select {
	case s.ended <- err:
	default: // it ends already
	}
}

// build opens what the process has once: SIP, sound and the engines. root is the
// store's, of which SIP has its secret. On an error nothing of it is left, and the
// next seat may try.
func (s *service) build(root []byte) (err error) {
	if s.built {
		return nil
	}
	defer func() {
		if err != nil {
			s.unbuild()
		}
	}()
	if s.roots, err = s.readRoots(); err != nil {
		return err
	}
	if s.with, err = readEngines(s.cfg, s.roots, s.egress().May); err != nil {
		return err
	}
	if s.speaker, err = s.speakerOf(s.with); err != nil {
		return err
	}
	s.ears, s.models = s.recogniser(s.with), modelsOf(&s.with.file)
	if s.mail, err = s.mailer(); err != nil {
		return err
	}
	if s.spans, err = s.openTracing(context.Background()); err != nil {
		return err
	}
	if err = s.telephony(root); err != nil {
		return err
	}
	s.built = true
	return nil
}

func (s *service) unbuild() {
	s.spans.close()
	s.spans = nil
	s.listens = false
	if s.ua != nil {
		_ = s.ua.Close()
		s.ua = nil
	}
	if s.engine != nil {
		_ = s.engine.Close()
		s.engine = nil
	}
}

// listen lets SIP in.
func (s *service) listen() (err error) {
	if s.listens {
		return nil
	}
	served := make(chan error, 1)
	go func() { served <- s.ua.Serve(s.run) }()
	select {
	case err = <-served:
		return fmt.Errorf("sip_addr: %w", err)
	case <-s.ua.Ready():
	case <-time.After(5 * time.Second):
		return errors.New("sip_addr: SIP did not start to listen in time")
	}
	go func() { s.ended <- <-served }()
	s.listens = true
	return nil
}

// open lets SIP in, and whoever looks after the process.
func (s *service) open() (err error) {
	if s.admin != nil {
		return nil
	}
	if err = s.listen(); err != nil {
		return err
	}
	if s.member == nil { // else it reads for itself
		s.meters.Read(s.read)
	}
	pages := adminPages(s.count, s.meters.Handler())
	if s.admin, err = openAdmin(s.cfg.Data, s.commands(), pages, s.log); err != nil {
		return err
	}
	if s.opened.Store(true); s.member != nil {
		return nil
	}
	s.tools, err = openAdminHTTP(s.run, s.cfg.AdminAddr, pages, s.log)
	return err
}

// all are the seats.
func (s *service) all() []*seat {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seats)
}

func recordingFormat(name string) wav.Format {
	if name == "pcm" {
		return wav.PCM16
	}
	return wav.MuLaw
}

// telephony opens SIP, sound and the built-in carrier.
func (s *service) telephony(root []byte) (err error) {
	cfg := s.cfg
	public := cfg.PublicIP
	if !public.IsValid() {
		public = cfg.SIPAddr.Addr()
	}
	carrier := &carrier{}
	sipEgress := s.egress()
	sipEgress.AnyPort = true
	s.engine, err = media.NewEngine(media.Config{
		BindIP: soundAddr(cfg), PublicIP: public,
		PortMin: int(cfg.MediaPorts.Low), PortMax: int(cfg.MediaPorts.High), Recording: recordingFormat(cfg.RecordingFormat),
		MayReach: func(to netip.AddrPort) bool { return carrier.sound(to) || sipEgress.May(to) == nil }, Log: s.log,
	})
	if err != nil {
		return err
	}
	s.room = actors.PlacesOf(s.engine)
	secured, err := sipTLS(cfg, s.log)
	if err != nil {
		return err
	}
	s.traces = siptrace.NewBuffer()
	agent := sip.Config{
		Listen: sipListeners(cfg), TLS: secured, Private: cfg.SIPPrivate, Probes: slices.Concat(cfg.SIPProbes, cfg.SIPPrivate), DSCP: cfg.SIPDSCP,
		PublicIP: cfg.PublicIP, UserAgent: "Callboard/" + version, Trace: s.traces.Add, Linger: linger(), OverloadAfter: patience(), Secret: derive(root, "callboard sip"),
		MayReach: func(to netip.AddrPort) bool { return carrier.signalling(to) || sipEgress.May(to) == nil }, TestCarrier: carrier.address, Silent: s.quarantined, Log: s.log,
	}
	if s.member != nil {
		s.member.shares(&agent)
	}
	s.ua, err = sip.New(agent)
	if err != nil {
		return err
	}
	s.board.Serve(s.ua)
	if !cfg.Simulator {
		return nil
	}
	speaker, err := s.speakerOf(nil)
	if err != nil {
		return err
	}
	s.phones, err = testcarrier.New(testcarrier.Config{Speaker: speaker, Peers: ownAddrs(cfg), PortMin: phonesLow, PortMax: phonesHigh, Log: s.log})
	if err != nil {
		return err
	}
	carrier.of = s.phones
	go func() { s.ended <- s.phones.Serve(s.run) }()
	return nil
}

// The ports on loopback at which the built-in phones take sound.
const (
	phonesLow  = 40000
	phonesHigh = 49999
)

// carrier tells which addresses are the built-in one's.
type carrier struct{ of *testcarrier.Simulator }

// address is where the carrier takes calls; zero: there is none.
func (c *carrier) address() netip.AddrPort {
	if c.of == nil {
		return netip.AddrPort{}
	}
	return c.of.Addr()
}

func (c *carrier) signalling(to netip.AddrPort) bool {
	if c.of == nil {
		return false
	}
	t := c.of.Target()
	return to.Addr().IsLoopback() && int(to.Port()) == t.Port
}

func (c *carrier) sound(to netip.AddrPort) bool {
	return c.of != nil && to.Addr().IsLoopback() && c.of.HasMediaPort(to.Port())
}

// speakerOf is what speaks: with engines those of the operator's, too.
func (s *service) speakerOf(with *speechEngines) (*speech.Voice, error) {
	cfg := speech.Config{PromptDir: s.folder("prompts")}
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

// testCall lets a built-in phone call us: at our first listener, or at
// loopback where that takes every address.
func (s *service) testCall(ctx context.Context, o testcarrier.Order) error {
	o.At = s.here()
	return s.phones.Call(ctx, o)
}

// talk lets somebody call us on a built-in phone.
func (s *service) talk(ctx context.Context, o testcarrier.Order, ear func([]byte), told func(testcarrier.Event)) (*testcarrier.Handset, error) {
	o.At = s.here()
	return s.phones.Talk(ctx, o, ear, told)
}

func (s *service) here() resolve.Target {
	at := s.ua.Addr("udp")
	if at.Addr().IsUnspecified() {
		at = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at.Port())
	}
	return resolve.Target{Host: at.Addr().String(), Port: int(at.Port()), Transport: "udp"}
}

// sipURI is where carriers send calls.
func sipURI(cfg *configs.Config) string {
	at := cfg.SIPAddr
	if cfg.PublicIP.IsValid() {
		at = netip.AddrPortFrom(cfg.PublicIP, at.Port())
	}
	return "sip:" + at.String()
}

func (s *service) readRoots() (*x509.CertPool, error) {
	if s.cfg.EgressCAFile == "" && s.more.rootCA == nil {
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
	pool.AppendCertsFromPEM(s.more.rootCA)
	return pool, nil
}

// portsOf gives everything that the front door asks for to the desk.
func portsOf(d *actors.Desk) httpapi.Ports {
	return httpapi.Ports{
		Auth: d, Campaigns: d, Contacts: d, Calls: d, Recordings: d, Listening: d, Talking: d, Agents: d, Pathways: d, Tools: d, Trunks: d, Numbers: d, Phones: d, DNC: d,
		Webhooks: d, Deliveries: d, Keys: d, Tokens: d, OAuth: d, Consents: d, Users: d, Audit: d, Workspaces: d, Usages: d, Bulks: d, Exports: d, Data: d, Tenants: d, Operators: d, Quarantines: d, Alerts: d, Events: d, Health: d, Windows: d, Once: d,
		Bookings: d, Messages: d, Textings: d, Gateways: d, Knowledge: d,
	}
}

// close ends what runs, in the reverse order of its start.
func (s *service) close() {
	s.tools.close()
	if s.admin != nil {
		s.admin.close()
	}
	for _, one := range s.all() {
		one.leave()
	}
	s.spans.close()
	s.stop()
	if s.ua != nil {
		_ = s.ua.Close()
	}
	if s.engine != nil {
		_ = s.engine.Close()
	}
	if s.driver != nil && s.member.driver == nil { // else it is the node's, and goes with it
		_ = s.driver.Close()
	}
}
