// Package testcarrier is the built-in carrier: a user agent of its own with
// phones that answer, are busy, do not answer, decline, are voicemail or press
// keys. It speaks real SIP and RTP over loopback and knows nothing of the
// service that calls it.
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

// Config of a simulator. The zero value works.
type Config struct {
	Addr    string                            // SIP over UDP; "": a free port of 127.0.0.1
	Peers   []netip.Addr                      // addresses of the service, besides loopback: it may call, and gets audio
	PortMin int                               // of RTP; 0: 40000
	PortMax int                               // of RTP; 0: 49999
	Speaker speech.Synthesizer                    // the voices of phones; nil: they hum
	RingFor func(number string) time.Duration // until a phone is answered; nil: 300 to 1500 ms, always the same for a number
	Notify  func(Event)                       // gets the events of the phones; called concurrently
	Log     *slog.Logger                      // nil: silent
}

// ours says whether an address is the service's. Strangers have none of these:
// what they send does not reach a socket of loopback.
func (c *Config) ours(a netip.Addr) bool {
	a = a.Unmap()
	return a.IsLoopback() || slices.Contains(c.Peers, a)
}

// patience is how long a phone's INVITE may wait to be read: a busy machine
// refuses nobody in the name of a phone.
const patience = 20 * time.Second

// The events of a phone.
const (
	Invited  = "invited"
	Ringing  = "ringing"
	Answered = "answered"
	Pressed  = "pressed"   // the phone pressed a key
	Heard    = "heard"     // the phone heard a key
	Given    = "cancelled" // the caller gave up
	HungUp   = "hung_up"   // the phone did
	Left     = "left"      // the caller did
	Refused  = "refused"   // by a code
)

// Event is something that happened on a phone.
type Event struct {
	Number, CallID string
	What           string
	Key            byte
	Code           int
	Stats          media.Stats // of HungUp and Left
}

// Simulator is the carrier.
type Simulator struct {
	cfg    Config
	ua     *sip.UserAgent
	engine *media.Engine
	phones sync.WaitGroup
	mu     sync.Mutex
	talks  map[*phone]*media.Session
	stop   context.Context //nolint:containedctx // the phones' life; they are started by the user agent's callback
	end    context.CancelFunc
}

// New prepares a simulator.
func New(cfg Config) (*Simulator, error) {
	if cfg.Addr == "" {
		cfg.Addr = "127.0.0.1:0"
	}
	if cfg.PortMin == 0 && cfg.PortMax == 0 {
		cfg.PortMin, cfg.PortMax = 40000, 49999
	}
	if cfg.RingFor == nil {
		cfg.RingFor = humanRing
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	ua, err := sip.New(sip.Config{Listen: []transport.Listener{{Network: "udp", Addr: cfg.Addr}}, UserAgent: "Callboard-Simulator", OverloadAfter: patience, Log: cfg.Log})
	if err != nil {
		return nil, fmt.Errorf("simulator: %w", err)
	}
	loopback := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	engine, err := media.NewEngine(media.Config{
		BindIP: loopback, PublicIP: loopback, PortMin: cfg.PortMin, PortMax: cfg.PortMax,
		MayReach: func(a netip.AddrPort) bool { return cfg.ours(a.Addr()) }, Log: cfg.Log,
	})
	if err != nil {
		return nil, fmt.Errorf("simulator: %w", err)
	}
	s := &Simulator{cfg: cfg, ua: ua, engine: engine, talks: make(map[*phone]*media.Session)}
	s.stop, s.end = context.WithCancel(context.Background())
	ua.Admit(func(src transport.Source) sip.Admission {
		return sip.Admission{Allow: cfg.ours(src.Addr.Addr()), TrunkID: "simulator"}
	})
	ua.OnInvite(s.handleInvite)
	return s, nil
}

// HasMediaPort says whether a phone of the carrier has a media port now.
func (s *Simulator) HasMediaPort(port uint16) bool { return s.engine.Serves(port) }

// humanRing is how long a person lets it ring: 300 to 1500 ms, the same for a
// number each time.
func humanRing(number string) time.Duration {
	h := fnv.New32a()
	_, _ = h.Write([]byte(number))
	return 300*time.Millisecond + time.Duration(h.Sum32()%1201)*time.Millisecond
}

// Serve runs the carrier until ctx ends. Then every phone hangs up.
func (s *Simulator) Serve(ctx context.Context) error {
	serving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- s.ua.Serve(serving) }()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		s.mu.Lock()
		s.end()
		s.mu.Unlock()
		s.phones.Wait()
		cancel()
		err = <-done
	}
	s.mu.Lock()
	s.end()
	s.mu.Unlock()
	s.phones.Wait()
	if e := s.engine.Close(); err == nil && e != nil {
		err = e
	}
	return err
}

// Ready is closed once the carrier can be called.
func (s *Simulator) Ready() <-chan struct{} { return s.ua.Ready() }

// Target is where to send an INVITE; valid once Ready.
func (s *Simulator) Target() resolve.Target {
	a := s.ua.Addr("udp")
	return resolve.Target{Host: a.Addr().String(), Port: int(a.Port()), Transport: "udp"}
}

// Addr is where the carrier sends from; valid once Ready.
func (s *Simulator) Addr() netip.AddrPort { return s.ua.Addr("udp") }

// Live is the number of phones that are on a call with sound.
func (s *Simulator) Live() int { return s.engine.Live() }

// PacketsReceived is the number of RTP packets that each phone on a call has received, by number.
func (s *Simulator) PacketsReceived() map[string]uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make(map[string]uint64, len(s.talks))
	for p, session := range s.talks {
		out[p.number] = session.Stats().PacketsReceived
	}
	return out
}

func (s *Simulator) setSession(p *phone, session *media.Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if session == nil {
		delete(s.talks, p)
		return
	}
	s.talks[p] = session
}

// handleInvite gives the call to a phone.
func (s *Simulator) handleInvite(in *sip.Incoming) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop.Err() != nil {
		in.Reject(503, 5*time.Second)
		return
	}
	p := &phone{sim: s, in: in, number: in.To, callID: in.CallID, nature: natureOf(in.To), wire: make(chan any, 256)}
	s.phones.Go(func() { p.live(s.stop) })
}

func (s *Simulator) notify(e Event) {
	if s.cfg.Notify != nil {
		s.cfg.Notify(e)
	}
}
