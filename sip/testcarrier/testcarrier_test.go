package testcarrier_test

import (
	"context"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/tone"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/siptest"
	"github.com/callboard/callboard/sip/testcarrier"
	"github.com/callboard/callboard/sip/transport"
)

// caller is a test carrier and a user agent with media that calls it.
type caller struct {
	t      *testing.T
	sim    *testcarrier.Carrier
	ua     *sip.UserAgent
	engine *media.Engine
	seen   chan testcarrier.Event
	n      atomic.Int32
	end    context.CancelFunc
	ended  chan error
}

// testTimeout is the time limit of waits in these tests.
const testTimeout = time.Minute

func newCaller(t *testing.T) *caller {
	t.Helper()
	return newCallerAt(t, netip.MustParseAddr("127.0.0.1"))
}

// newCallerAt returns a caller whose user agent listens on this address of the machine.
func newCallerAt(t *testing.T, at netip.Addr) *caller {
	t.Helper()
	theirs, ours := siptest.MediaPorts100(t), siptest.MediaPorts100(t)
	c := &caller{t: t, seen: make(chan testcarrier.Event, 256), ended: make(chan error, 1)}
	var err error
	c.sim, err = testcarrier.New(testcarrier.Config{
		Peers: []netip.Addr{at}, PortMin: theirs, PortMax: theirs + 99, Notify: func(e testcarrier.Event) { c.seen <- e },
		RingFor: func(string) time.Duration { return 50 * time.Millisecond },
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	c.end = cancel
	go func() { c.ended <- c.sim.Serve(ctx) }()
	t.Cleanup(cancel)
	<-c.sim.Ready()
	c.ua, err = sip.New(sip.Config{Listen: []transport.Listener{{Network: "udp", Addr: netip.AddrPortFrom(at, 0).String()}}})
	require.NoError(t, err)
	go func() { _ = c.ua.Serve(t.Context()) }()
	<-c.ua.Ready()
	c.engine, err = media.NewEngine(media.Config{BindIP: at, PortMin: ours, PortMax: ours + 99})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.engine.Close() })
	return c
}

// calledPhone is one call to a phone of the test carrier, as the caller sees it.
type calledPhone struct {
	*caller
	dialog  *sip.Dialog
	session *media.Session
	mu      sync.Mutex
	keys    string
	spoke   bool
	sip     chan sip.Event
}

func (c *caller) call(number string) *calledPhone {
	c.t.Helper()
	k := &calledPhone{caller: c, sip: make(chan sip.Event, 64)}
	s, err := c.engine.Open(media.Options{Notify: func(e media.Event) {
		k.mu.Lock()
		defer k.mu.Unlock()
		switch e := e.(type) {
		case media.Digit:
			k.keys += string(e.Key)
		case media.SpeechBegan:
			k.spoke = true
		}
	}})
	require.NoError(c.t, err)
	k.session = s
	k.dialog, err = c.ua.Invite(sip.Invite{
		Attempt: "a" + string('a'+c.n.Add(1)), Leg: 1, Target: c.sim.Target(), To: number, From: "+15550001111", Body: s.Offer(),
		Notify: func(e sip.Event) {
			if a, ok := e.(sip.Answered); ok && s.Accept(a.Body) == nil {
				s.Begin()
			}
			k.sip <- e
		},
	})
	require.NoError(c.t, err)
	c.t.Cleanup(func() { s.Close() })
	return k
}

// next returns the next event of a type. Other events are skipped.
func next[T sip.Event](k *calledPhone) T {
	k.t.Helper()
	for {
		select {
		case e := <-k.sip:
			if v, ok := e.(T); ok {
				return v
			}
		case <-time.After(testTimeout):
			var want T
			k.t.Fatalf("no %T", want)
		}
	}
}

func (k *calledPhone) requireAnswered() {
	k.t.Helper()
	next[sip.Answered](k)
}

func (k *calledPhone) until(what string, f func() bool) {
	k.t.Helper()
	deadline := time.Now().Add(testTimeout)
	for {
		k.mu.Lock()
		ok := f()
		k.mu.Unlock()
		if ok {
			return
		}
		if time.Now().After(deadline) {
			k.t.Fatalf("%s: not seen", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func TestContractNumbersBehaveAsDocumented(t *testing.T) {
	t.Parallel()
	c := newCaller(t)
	for number, code := range map[string]int{
		"+15005550001": 486, "15005550005": 404, "+15005550006": 503, "+15005557713": 603, "+15005557714": 486, "+15005557719": 404, "+15005557720": 480,
	} {
		assert.Equal(t, code, next[sip.Refused](c.call(number)).Final.Code, number)
	}

	forever := c.call("+15005550002")
	next[sip.Ringing](forever)
	forever.dialog.Cancel("enough")
	assert.True(t, next[sip.Refused](forever).Final.Cancelled)
}

func TestPersonSpeaksListensAndPressesKeys(t *testing.T) {
	t.Parallel()
	c := newCaller(t)
	wants := map[string]string{"+15005550000": "1", "+15005550004": "2", "+447700900123": "1", "+15005557717": "71"}
	calls := make(map[string]*calledPhone)
	for number := range wants {
		calls[number] = c.call(number)
	}
	for number, k := range calls {
		k.requireAnswered()
		k.until("hello of "+number, func() bool { return k.spoke })
		k.session.Play(1, tone.Make(800*time.Millisecond, 0.3, 300, 500))
	}
	for number, k := range calls {
		k.until("keys of "+number, func() bool { return k.keys == wants[number] })
		k.dialog.Bye(16, "")
		next[sip.Ended](k)
	}
}

func TestPhonesThatStaySilentSpeakFirstOrHangUp(t *testing.T) {
	t.Parallel()
	c := newCaller(t)
	deaf := c.call("+15005550009")
	voicemail, fax, stop := c.call("+15005550003"), c.call("+15005550008"), c.call("+15005550007")
	leaving := c.call("+15005557718")
	deaf.requireAnswered()
	voicemail.requireAnswered()
	fax.requireAnswered()
	stop.requireAnswered()
	leaving.requireAnswered()
	assert.True(t, next[sip.Ended](leaving).ByRemote)
	voicemail.until("greeting", func() bool { return voicemail.spoke })
	fax.until("carrier tone", func() bool { return fax.session.Stats().PacketsReceived > 20 })
	deaf.session.Play(1, tone.Make(500*time.Millisecond, 0.3, 300, 500))
	deaf.until("a while", func() bool { return deaf.session.Position() > 2*time.Second })
	deaf.mu.Lock()
	assert.False(t, deaf.spoke)
	assert.Empty(t, deaf.keys)
	deaf.mu.Unlock()

	c.end()
	require.NoError(t, <-c.ended, "the carrier ends")
	for _, k := range []*calledPhone{deaf, voicemail, fax, stop} {
		assert.True(t, next[sip.Ended](k).ByRemote, "each phone hangs up first")
	}
}

func TestCarrierStopsRightAfterStart(t *testing.T) {
	t.Parallel()
	low := siptest.MediaPorts100(t)
	sim, err := testcarrier.New(testcarrier.Config{PortMin: low, PortMax: low + 99})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, sim.Serve(ctx), "the carrier stops")
}
