// Package testcarrier is the test carrier: a SIP user agent with phones that answer, are busy, do not answer, decline,
// have voicemail, or press keys.
//
// It uses real SIP and RTP over loopback. It does not depend on the service that calls it.
package testcarrier

import (
	"context"
	"fmt"
	"hash/fnv"
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/transport"
)

// Config configures a test carrier. The zero value works.
type Config struct {
	Addr    string                            // SIP over UDP; "": a free port of 127.0.0.1
	Peers   []netip.Addr                      // addresses of the service in addition to loopback: it may call, and gets audio
	PortMin int                               // of RTP. Default: 40000
	PortMax int                               // of RTP. Default: 49999
	Speaker speech.Synthesizer                // the voices of the phones; nil: they hum
	RingFor func(number string) time.Duration // time until a phone answers. Default: 300 to 1500 ms, always the same for a number
	Notify  func(Event)                       // receives the events of the phones; called concurrently
	Log     *slog.Logger                      // nil: no log
}

// isServiceAddress reports whether an address belongs to the service under test. Every loopback address does, because
// messages of other hosts cannot reach a loopback socket.
func (c *Config) isServiceAddress(a netip.Addr) bool {
	a = a.Unmap()
	return a.IsLoopback() || slices.Contains(c.Peers, a)
}

// testTimeout is the OverloadAfter of the test carrier: how long an INVITE may wait before it is refused with 503. It is
// long, so that a busy machine causes no refusals that look like those of a phone.
const testTimeout = 20 * time.Second

// Kinds of Event.
const (
	Invited      = "invited"
	Ringing      = "ringing"
	Answered     = "answered"
	KeyPressed   = "pressed"   // the phone pressed a key
	KeyReceived  = "heard"     // the phone received a key
	Cancelled    = "cancelled" // the caller gave up
	PhoneHungUp  = "hung_up"   // the phone hung up
	CallerHungUp = "left"      // the caller hung up
	Refused      = "refused"   // the phone refused with a status code
)

// Event is an event of a phone.
type Event struct {
	Number, CallID string
	Kind           string
	Key            byte
	Code           int
	Stats          media.Stats // of PhoneHungUp and CallerHungUp
}

// Carrier is the test carrier.
type Carrier struct {
	cfg           Config
	ua            *sip.UserAgent
	engine        *media.Engine
	phones        sync.WaitGroup
	mu            sync.Mutex
	mediaSessions map[*phone]*media.Session
	stopped       context.Context //nolint:containedctx // canceled at the end; the callbacks of the user agent start phones with it
	stop          context.CancelFunc
}

// New returns a test carrier that is not listening yet.
func New(cfg Config) (*Carrier, error) {
	if cfg.Addr == "" {
		cfg.Addr = "127.0.0.1:0"
	}
	if cfg.PortMin == 0 && cfg.PortMax == 0 {
		cfg.PortMin, cfg.PortMax = 40000, 49999
	}
	if cfg.RingFor == nil {
		cfg.RingFor = personRingTime
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	ua, err := sip.New(sip.Config{Listen: []transport.Listener{{Network: "udp", Addr: cfg.Addr}}, UserAgent: "Callboard-Simulator", OverloadAfter: testTimeout, Log: cfg.Log})
	if err != nil {
		return nil, fmt.Errorf("test carrier: %w", err)
	}
	loopback := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	engine, err := media.NewEngine(media.Config{
		BindIP: loopback, PublicIP: loopback, PortMin: cfg.PortMin, PortMax: cfg.PortMax,
		MayReach: func(a netip.AddrPort) bool { return cfg.isServiceAddress(a.Addr()) }, Log: cfg.Log,
	})
	if err != nil {
		return nil, fmt.Errorf("test carrier: %w", err)
	}
	s := &Carrier{cfg: cfg, ua: ua, engine: engine, mediaSessions: make(map[*phone]*media.Session)}
	s.stopped, s.stop = context.WithCancel(context.Background())
	ua.SetAdmission(func(src transport.Source) sip.Admission {
		return sip.Admission{Allow: cfg.isServiceAddress(src.Addr.Addr()), TrunkID: "simulator"}
	})
	ua.OnInvite(s.handleInvite)
	return s, nil
}

// HasMediaPort reports whether a phone of the carrier uses a media port now.
func (s *Carrier) HasMediaPort(port uint16) bool { return s.engine.Serves(port) }

// personRingTime returns how long the phone of a person rings: 300 to 1500 ms, always the same for a number.
func personRingTime(number string) time.Duration {
	h := fnv.New32a()
	_, _ = h.Write([]byte(number))
	return 300*time.Millisecond + time.Duration(h.Sum32()%1201)*time.Millisecond
}

// Serve runs the carrier until ctx ends. Then every phone hangs up, and Serve returns.
func (s *Carrier) Serve(ctx context.Context) error {
	serving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- s.ua.Serve(serving) }()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		s.mu.Lock()
		s.stop()
		s.mu.Unlock()
		s.phones.Wait()
		cancel()
		err = <-done
	}
	s.mu.Lock()
	s.stop()
	s.mu.Unlock()
	s.phones.Wait()
	if e := s.engine.Close(); err == nil && e != nil {
		err = e
	}
	return err
}

// Ready returns a channel that is closed once the carrier can be called.
func (s *Carrier) Ready() <-chan struct{} { return s.ua.Ready() }

// Target returns the target of INVITEs to the carrier. It is valid once Ready is closed.
func (s *Carrier) Target() resolve.Target {
	a := s.ua.Addr("udp")
	return resolve.Target{Host: a.Addr().String(), Port: int(a.Port()), Transport: "udp"}
}

// Addr returns the address from which the carrier sends. It is valid once Ready is closed.
func (s *Carrier) Addr() netip.AddrPort { return s.ua.Addr("udp") }

// LiveCalls returns the number of phones in a call with audio.
func (s *Carrier) LiveCalls() int { return s.engine.Live() }

// PacketsReceived returns the number of RTP packets that each phone in a call has received, by number.
func (s *Carrier) PacketsReceived() map[string]uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make(map[string]uint64, len(s.mediaSessions))
	for p, session := range s.mediaSessions {
		out[p.number] = session.Stats().PacketsReceived
	}
	return out
}

func (s *Carrier) setSession(p *phone, session *media.Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if session == nil {
		delete(s.mediaSessions, p)
		return
	}
	s.mediaSessions[p] = session
}

// handleInvite starts a phone for an inbound call.
func (s *Carrier) handleInvite(in *sip.Incoming) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped.Err() != nil {
		in.Reject(503, 5*time.Second)
		return
	}
	p := &phone{carrier: s, in: in, number: in.To, callID: in.CallID, behavior: behaviorOf(in.To), events: make(chan any, 256)}
	s.phones.Go(func() { p.run(s.stopped) })
}

func (s *Carrier) notify(e Event) {
	if s.cfg.Notify != nil {
		s.cfg.Notify(e)
	}
}
