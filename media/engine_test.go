package media_test

import (
	"math"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/g711"
)

var loopback = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// engine makes an engine on its own ports, so that two may talk.
func engine(tb testing.TB, low, high int) *media.Engine {
	tb.Helper()
	e, err := media.NewEngine(media.Config{BindIP: loopback, PortMin: low, PortMax: high, Quarantine: 50 * time.Millisecond})
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, e.Close()) })
	return e
}

// ear keeps what a session tells.
type ear struct {
	mu     sync.Mutex
	events []media.Event
}

func (e *ear) notify(ev media.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.events = append(e.events, ev)
}

func (e *ear) all() []media.Event {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]media.Event(nil), e.events...)
}

// keys are the digits heard.
func (e *ear) keys() string {
	var out []byte
	for _, ev := range e.all() {
		if d, ok := ev.(media.Digit); ok {
			out = append(out, d.Key)
		}
	}
	return string(out)
}

// heard says whether an event was told.
func (e *ear) heard(is func(media.Event) bool) func() bool {
	return func() bool {
		return slices.ContainsFunc(e.all(), is)
	}
}

// open opens a session that is closed with the test.
func open(tb testing.TB, e *media.Engine, o media.Options) *media.Session {
	tb.Helper()
	s, err := e.Open(o)
	require.NoError(tb, err)
	tb.Cleanup(func() { _, done := s.Close(); <-done })
	return s
}

// connect makes one session offer to the other.
func connect(t *testing.T, caller, callee *media.Session) {
	t.Helper()
	answer, err := callee.Answer(caller.Offer())
	require.NoError(t, err)
	require.NoError(t, caller.Accept(answer))
	caller.Begin()
	callee.Begin()
}

// eventually polls until it holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	require.Eventually(t, holds, 8*time.Second, 5*time.Millisecond, what)
}

// chirp is a signal that correlates with itself at one place only.
func chirp(d time.Duration) media.Clip {
	n := int(d * 8000 / time.Second)
	pcm := make([]int16, n)
	for i := range pcm {
		x := float64(i) / 8000
		pcm[i] = int16(9000 * math.Sin(2*math.Pi*(300*x+400*x*x)))
	}
	return g711.EncodeMu(pcm)
}

// correlate finds the shift at which b lies best within a, and how well.
//
//go:norace
func correlate(a, b []int16, to int) (best float64, shift int) {
	var bb float64
	for _, v := range b {
		bb += float64(v) * float64(v)
	}
	for s := 0; s < to && s+len(b) <= len(a); s++ {
		var ab, aa float64
		for i, v := range b {
			x, y := float64(a[s+i]), float64(v)
			ab, aa = ab+x*y, aa+x*x
		}
		if r := ab / math.Sqrt(aa*bb+1); r > best {
			best, shift = r, s
		}
	}
	return best, shift
}
