package lend_test

import (
	"context"
	"math"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/g711"
	"github.com/callboard/callboard/media/lend"
	"github.com/callboard/callboard/sip/siptest"
)

var loopback = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// session is what calls need of a session: actors/call.Session, and what they look for besides.
type session interface {
	Offer() []byte
	Accept(answer []byte) error
	Answer(offer []byte) ([]byte, error)
	Rekey()
	Early()
	Begin()
	Play(id uint64, clip media.Clip)
	PlayFeed(id uint64, feed *media.Feed)
	StopPlaying()
	PausePlaying()
	ContinuePlaying()
	Hear(ear func(frame []byte))
	SendDigits(id uint64, digits string)
	Pressed(key byte, d time.Duration)
	Hold(music media.Clip)
	Resume()
	PauseRecording()
	ResumeRecording()
	Sensitive(on bool)
	Mark() time.Duration
	Await() int
	Stats() media.Stats
	Close() (media.Stats, <-chan media.Recording)
	Memo() media.Memo
	Tap(mode media.TapMode, out func(frame []byte)) (*media.Tap, error)
}

var (
	_ session = (*lend.Session)(nil)
	_ session = (*media.Session)(nil)
)

// engine makes an engine on ports of its own: five pairs.
func engine(tb testing.TB) *media.Engine {
	tb.Helper()
	low := siptest.FewPorts(tb)
	e, err := media.NewEngine(media.Config{BindIP: loopback, PortMin: low, PortMax: low + 9, Quarantine: 50 * time.Millisecond})
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, e.Close()) })
	return e
}

// node lends its sound.
type node struct {
	engine *media.Engine
	lender *lend.Lender
	door   net.Listener
	spool  string

	mu   sync.Mutex
	load lend.Load
}

func lends(tb testing.TB, e *media.Engine) *node {
	tb.Helper()
	n := &node{engine: e, spool: tb.TempDir(), load: lend.Load{Most: 100, Free: 10}}
	door, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(tb, err)
	n.door = door
	n.lender = lend.NewLender(lend.LenderConfig{Engine: e, Spool: n.spool, Load: func() lend.Load {
		n.mu.Lock()
		defer n.mu.Unlock()
		return n.load
	}})
	go func() { _ = n.lender.Serve(door) }()
	tb.Cleanup(n.lender.Close)
	return n
}

func (n *node) dial(ctx context.Context) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "tcp4", n.door.Addr().String())
}

// joins makes a link, and gives the connection under it.
func joins(tb testing.TB, n *node, cfg lend.LinkConfig) (*lend.Link, net.Conn) {
	tb.Helper()
	conn, err := n.dial(tb.Context())
	require.NoError(tb, err)
	if cfg.Again == nil {
		cfg.Again = n.dial
	}
	l, err := lend.Join(tb.Context(), conn, cfg)
	require.NoError(tb, err)
	tb.Cleanup(l.Close)
	return l, conn
}

func borrow(tb testing.TB, l *lend.Link, o media.Options) *lend.Session {
	tb.Helper()
	s, err := l.Open(o)
	require.NoError(tb, err)
	return s
}

func open(tb testing.TB, e *media.Engine, o media.Options) *media.Session {
	tb.Helper()
	s, err := e.Open(o)
	require.NoError(tb, err)
	tb.Cleanup(func() { _, done := s.Close(); <-done })
	return s
}

// connect makes one session offer to the other; both begin.
func connect(tb testing.TB, caller, callee session) {
	tb.Helper()
	answer, err := callee.Answer(caller.Offer())
	require.NoError(tb, err)
	require.NoError(tb, caller.Accept(answer))
	caller.Begin()
	callee.Begin()
}

// ear keeps what a session tells, and what is heard.
type ear struct {
	mu     sync.Mutex
	events []media.Event
	sound  []byte
	ends   int
}

func (e *ear) notify(ev media.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.events = append(e.events, ev)
}

func (e *ear) hear(frame []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if frame == nil {
		e.ends++
	}
	e.sound = append(e.sound, frame...)
}

func (e *ear) all() []media.Event {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.events)
}

func (e *ear) ended() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.ends
}

func (e *ear) heard() []byte {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.sound)
}

func (e *ear) forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sound = nil
}

func (e *ear) keys() string {
	var out []byte
	for _, ev := range e.all() {
		if d, ok := ev.(media.Digit); ok {
			out = append(out, d.Key)
		}
	}
	return string(out)
}

// told says whether an event was, as it is compared.
func (e *ear) told(want media.Event) func() bool {
	return func() bool { return slices.ContainsFunc(e.all(), func(got media.Event) bool { return got == want }) }
}

// played is the end of a Play; nil: it was not told.
func (e *ear) played(id uint64) *media.Played {
	for _, ev := range e.all() {
		if p, ok := ev.(media.Played); ok && p.ID == id {
			return &p
		}
	}
	return nil
}

func (e *ear) count(is func(media.Event) bool) (n int) {
	for _, ev := range e.all() {
		if is(ev) {
			n++
		}
	}
	return n
}

func broken(ev media.Event) bool { return ev == media.Event(media.Vanished{Broken: true}) }

func eventually(tb testing.TB, what string, holds func() bool) {
	tb.Helper()
	require.Eventually(tb, holds, time.Minute, 2*time.Millisecond, what)
}

// chirp is a signal that correlates with itself at one place only; higher is another one.
func chirp(d time.Duration) media.Clip { return sweep(d, 300) }

func higher(d time.Duration) media.Clip { return sweep(d, 1500) }

func sweep(d time.Duration, from float64) media.Clip {
	pcm := make([]int16, d*8000/time.Second)
	for i := range pcm {
		x := float64(i) / 8000
		pcm[i] = int16(9000 * math.Sin(2*math.Pi*(from*x+400*x*x)))
	}
	return g711.EncodeMu(pcm)
}

// alike is how well a sound is found within another one, by some of its samples.
//
//go:norace
func alike(in []int16, sound media.Clip) (best float64) {
	b := g711.DecodeMu(sound)
	dice := rand.New(rand.NewPCG(1, 2))
	var some []int
	var bb float64
	for i := 0; i < len(b); i += 1 + dice.IntN(29) {
		some, bb = append(some, i), bb+float64(b[i])*float64(b[i])
	}
	for shift := 0; shift+len(b) <= len(in); shift++ {
		var ab, aa float64
		for _, i := range some {
			x, y := float64(in[shift+i]), float64(b[i])
			ab, aa = ab+x*y, aa+x*x
		}
		best = max(best, ab/math.Sqrt(aa*bb+1))
	}
	return best
}

// alikeEnough is how alike a sound is to itself at least, where the machine was busy and some of it was lost.
const alikeEnough = 0.8

// again lets something sound until it is heard: now and then, on a busy machine, too much of it is lost.
func again(tb testing.TB, what string, play func(), heard func() bool) {
	tb.Helper()
	play()
	last := time.Now()
	eventually(tb, what, func() bool {
		if heard() {
			return true
		}
		if time.Since(last) > 3*time.Second {
			play()
			last = time.Now()
		}
		return false
	})
}

func like(mu []byte, sound media.Clip) float64 { return alike(g711.DecodeMu(mu), sound) }
