package media_test

import (
	"bytes"
	"errors"
	"math"
	"net/netip"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/g711"
	"github.com/callboard/callboard/media/tone"
	"github.com/callboard/callboard/sip/siptest"
)

var loopback = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// engine returns an engine with its own range of five port pairs, so that two engines can exchange audio.
func engine(tb testing.TB) *media.Engine {
	tb.Helper()
	low := siptest.MediaPorts10(tb)
	e, err := media.NewEngine(media.Config{BindIP: loopback, PortMin: low, PortMax: low + 9, Quarantine: 50 * time.Millisecond})
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, e.Close()) })
	return e
}

// eventLog records the events of a session.
type eventLog struct {
	mu     sync.Mutex
	events []media.Event
}

func (e *eventLog) notify(ev media.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.events = append(e.events, ev)
}

func (e *eventLog) all() []media.Event {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]media.Event(nil), e.events...)
}

// keys returns the DTMF digits that the session reported, in order.
func (e *eventLog) keys() string {
	var out []byte
	for _, ev := range e.all() {
		if d, ok := ev.(media.Digit); ok {
			out = append(out, d.Key)
		}
	}
	return string(out)
}

// has returns a function that says whether a matching event was reported.
func (e *eventLog) has(is func(media.Event) bool) func() bool {
	return func() bool {
		return slices.ContainsFunc(e.all(), is)
	}
}

// open opens a session and closes it at the end of the test.
func open(tb testing.TB, e *media.Engine, o media.Options) *media.Session {
	tb.Helper()
	s, err := e.Open(o)
	require.NoError(tb, err)
	tb.Cleanup(func() { _, done := s.Close(); <-done })
	return s
}

// connect negotiates SDP: caller makes the offer and callee the answer.
func connect(t *testing.T, caller, callee *media.Session) {
	t.Helper()
	answer, err := callee.Answer(caller.Offer())
	require.NoError(t, err)
	require.NoError(t, caller.Accept(answer))
	caller.Begin()
	callee.Begin()
}

// eventually polls until the condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	require.Eventually(t, holds, time.Minute, 5*time.Millisecond, what)
}

// chirp returns a tone with rising frequency. It is similar to itself at shift 0 only, so its position can be detected.
func chirp(d time.Duration) media.Clip {
	n := int(d * 8000 / time.Second)
	pcm := make([]int16, n)
	for i := range pcm {
		x := float64(i) / 8000
		pcm[i] = int16(9000 * math.Sin(2*math.Pi*(300*x+400*x*x)))
	}
	return g711.EncodeMu(pcm)
}

// correlate returns the shift, at most to samples, at which b correlates best with a, and the correlation there.
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

func TestPortPairsRunOutAndReturnAfterQuarantine(t *testing.T) {
	const rest = 100 * time.Millisecond
	low := siptest.MediaPorts10(t)
	e, err := media.NewEngine(media.Config{BindIP: loopback, PortMin: low + 1, PortMax: low + 6, Quarantine: rest})
	require.NoError(t, err)
	first, err := e.Open(media.Options{})
	require.NoError(t, err)
	second, err := e.Open(media.Options{})
	require.NoError(t, err)
	assert.ElementsMatch(t, []int{low + 2, low + 4}, []int{first.LocalPort(), second.LocalPort()})
	_, err = e.Open(media.Options{})
	require.ErrorIs(t, err, media.ErrNoPorts)
	assert.Equal(t, 2, e.Live())
	port, closing := first.LocalPort(), time.Now()
	_, done := first.Close()
	assert.Equal(t, media.Recording{}, <-done)
	_, again := first.Close()
	assert.Equal(t, done, again)
	assert.Equal(t, 1, e.Live())
	var third *media.Session
	eventually(t, "rested", func() bool {
		if third, err = e.Open(media.Options{}); err != nil {
			require.ErrorIs(t, err, media.ErrNoPorts)
		}
		return err == nil
	})
	assert.GreaterOrEqual(t, time.Since(closing), rest, "the quarantine has passed")
	assert.Equal(t, port, third.LocalPort())
	third.Begin()
	require.NoError(t, e.Close())
	require.NoError(t, e.Close())
	_, err = e.Open(media.Options{})
	require.ErrorIs(t, err, media.ErrClosed)
	require.ErrorIs(t, third.Accept(describe("127.0.0.1", 5000, "")), media.ErrClosed)
	eventually(t, "no goroutine is left", func() bool {
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		return !bytes.Contains(stacks, []byte("media.(*clock)")) && !bytes.Contains(stacks, []byte("record.(*Pool)"))
	})
}

func TestPanicClosesOnlyItsSession(t *testing.T) {
	t.Parallel()
	p, q := newPeer(t), newPeer(t)
	e := engine(t)
	var reported eventLog
	bad := open(t, e, media.Options{Notify: func(ev media.Event) {
		reported.notify(ev)
		if _, ok := ev.(media.Played); ok {
			panic(errors.New("planted"))
		}
	}})
	good := open(t, e, media.Options{})
	_, err := bad.Answer(p.sdp(""))
	require.NoError(t, err)
	_, err = good.Answer(q.sdp(""))
	require.NoError(t, err)
	bad.Play(1, tone.Beep(20*time.Millisecond))
	eventually(t, "closed", func() bool { return e.Live() == 1 })
	eventually(t, "reported", reported.has(func(ev media.Event) bool { return ev == media.IdleTimeout{Broken: true} }))
	q.forget()
	eventually(t, "the other session continues", func() bool { return len(q.heard()) > 5 })
}

// The Go allocator rounds sizes up to size classes. A Session must stay within its present class, because the next
// class would cost more memory for each call.
func TestSessionMemoryIsBounded(t *testing.T) {
	if unsafe.Sizeof(uintptr(0)) != 8 {
		t.Skip("the sizes apply to 64-bit systems")
	}
	assert.LessOrEqual(t, media.SessionBytes, 2688, "the next size is 3072")
	assert.LessOrEqual(t, media.HotFieldBytes, 1152, "18 lines of the caches, for 32 sessions at a time")
}
