package call_test

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/lend"
	"github.com/callboard/callboard/media/wav"
	"github.com/callboard/callboard/sip"
)

// nextDoor is another node, which has room for the sound of a house that has
// little.
type nextDoor struct {
	t      *testing.T
	engine *media.Engine
	lender *lend.Lender
	away   *lend.Pool
	door   string

	mu    sync.Mutex
	conns []net.Conn
	shut  bool
}

func neighbour(t *testing.T) *nextDoor {
	t.Helper()
	n := &nextDoor{t: t}
	from, to := ports(t)
	var err error
	n.engine, err = media.NewEngine(media.Config{BindIP: loopback(), PublicIP: loopback(), PortMin: from, PortMax: to})
	require.NoError(t, err)
	room := func() lend.Load { return lend.Load{Most: 100, Live: n.engine.Live() + 1, Free: 50} }
	n.lender = lend.NewLender(lend.LenderConfig{Engine: n.engine, Load: room, Spool: t.TempDir()})
	door, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = n.lender.Serve(door)
	}()
	t.Cleanup(func() {
		_ = door.Close()
		n.lender.Close()
		<-served
		_ = n.engine.Close()
	})
	n.door = door.Addr().String()
	n.reach()
	return n
}

// reach makes links to it.
func (n *nextDoor) reach() {
	n.away = lend.NewPool(lend.PoolConfig{Dial: n.dial, Own: func() lend.Load { return lend.Load{Most: 1, Live: 1} }})
	n.away.Nodes([]string{n.door})
	n.t.Cleanup(n.away.Close)
	require.Eventually(n.t, func() bool { return n.away.Choose() != nil }, patience, time.Millisecond, "a link")
}

// again is the same node, as another house reaches it.
func (n *nextDoor) again() *nextDoor {
	other := &nextDoor{t: n.t, engine: n.engine, lender: n.lender, door: n.door}
	other.reach()
	return other
}

// pool is how a house reaches it; nil: it has none.
func (n *nextDoor) pool() *lend.Pool {
	if n == nil {
		return nil
	}
	return n.away
}

func (n *nextDoor) dial(ctx context.Context, addr string) (net.Conn, error) {
	n.mu.Lock()
	shut := n.shut
	n.mu.Unlock()
	if shut {
		return nil, net.ErrClosed
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.conns = append(n.conns, conn)
	return conn, nil
}

// crammed is a further node that the pool of this one takes for empty, and that has
// no room.
func (n *nextDoor) crammed() *media.Engine {
	n.t.Helper()
	from, _ := ports(n.t)
	e, err := media.NewEngine(media.Config{BindIP: loopback(), PublicIP: loopback(), PortMin: from, PortMax: from + 1})
	require.NoError(n.t, err)
	_, err = e.Open(media.Options{})
	require.NoError(n.t, err)
	lender := lend.NewLender(lend.LenderConfig{Engine: e, Load: func() lend.Load { return lend.Load{Most: 1000, Free: 50} }, Spool: n.t.TempDir()})
	door, err := new(net.ListenConfig).Listen(n.t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(n.t, err)
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = lender.Serve(door)
	}()
	n.t.Cleanup(func() {
		_ = door.Close()
		lender.Close()
		<-served
		_ = e.Close()
	})
	n.away.Nodes([]string{n.door, door.Addr().String()})
	require.Eventually(n.t, func() bool { _, free := n.away.Room(); return free == 100 }, patience, time.Millisecond, "two links")
	return e
}

// cut ends all connections; shut: and there are no others.
func (n *nextDoor) cut(shut bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.shut = shut
	for _, conn := range n.conns {
		_ = conn.Close()
	}
	n.conns = nil
}

// recording is a call's, once it is kept.
func (h *house) recording(c *domain.Call) *wav.Sound {
	h.t.Helper()
	sound, err := wav.Decode(h.blobs.get(call.RecordingName(c.ID)))
	require.NoError(h.t, err)
	assert.InDelta(h.t, c.RecordingSeconds, sound.Duration().Seconds(), 0.01)
	return sound
}

func TestACallHasItsSoundAtAnotherNode(t *testing.T) {
	t.Parallel()
	n := neighbour(t)
	h := build(t, plan{next: n})
	id := h.dial(area+"0000", confirm())
	h.until(10*time.Second, "the sound to be there", func() bool { return n.engine.Live() == 1 })
	assert.Zero(t, h.engine.Live(), "and not here")
	e := h.end(id)
	assert.Equal(t, domain.OutcomeConfirmed, e.Verdict.Outcome)
	c := h.finished(id)
	assert.Equal(t, map[string]string{"choice": "1"}, c.Variables)
	assert.Equal(t, "PCMU/8000", c.Legs[0].Codec)
	require.NotNil(t, c.Quality)
	assert.Greater(t, c.Quality.PacketsSent, uint64(40))
	assert.Greater(t, c.Quality.PacketsReceived, uint64(40))
	for _, s := range e.Segments {
		assert.GreaterOrEqual(t, s.EndMs, s.StartMs)
	}
	assert.InDelta(t, float64(c.DurationSeconds), h.recording(c).Duration().Seconds(), 1.5)
	h.until(2*time.Second, "the spool is empty", func() bool { return h.spooled() == 0 })
	assert.Zero(t, n.engine.Live())
	assert.Zero(t, n.lender.Live())
}

func TestBothEndsOfACallThatIsHandedOnHaveTheirSoundAtOneNode(t *testing.T) {
	t.Parallel()
	n := neighbour(t)
	p := newPeer(t)
	h := build(t, plan{next: n, trunks: towards(p)})
	id := h.talking(area+"0009", waits())
	require.NoError(t, h.tell(call.Transfer{CallID: id, Way: call.Way{To: area + "7777"}, Mode: domain.TransferBridge}))
	h.until(10*time.Second, "both to be there", func() bool { return n.engine.Live() == 2 })
	assert.Zero(t, h.engine.Live())
	h.stands(id, domain.TransferConnected)
	before := h.packets(id)
	h.until(10*time.Second, "the other one to be heard", func() bool { return h.packets(id) > before+20 })
	require.NoError(t, h.hangUp(id))
	h.end(id)
	h.until(5*time.Second, "the other is let go", p.over)
	assert.Positive(t, h.recording(h.finished(id)).Duration())
	h.until(2*time.Second, "nothing is left", func() bool { return n.engine.Live() == 0 })
}

func TestTheSoundOfACallGoesOnWhereItsNodeDoesNot(t *testing.T) {
	t.Parallel()
	for name, strike := range map[string]func(n *nextDoor){
		"lost, and its recording comes later": func(n *nextDoor) { n.cut(false) },
		"to stop":                             func(n *nextDoor) { n.lender.Leave() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, keys := secret(t, false)
			n := neighbour(t)
			h := build(t, plan{next: n, trunks: sealed(p)})
			id := h.talking(area+"7777", linger())
			soon(t, keys)
			h.until(10*time.Second, "something is recorded", func() bool { return n.engine.Live() == 1 && h.packets(id) > 60 })
			strike(n)
			soon(t, keys) // the re-INVITE, with another key
			h.until(10*time.Second, "the sound to be here", func() bool { return h.engine.Live() == 1 && n.engine.Live() == 0 })
			before := h.packets(id)
			h.until(10*time.Second, "it to be heard", func() bool { return h.packets(id) > before+50 })
			p.mu.Lock()
			far := p.session
			p.mu.Unlock()
			far.SendDigits(1, "9")
			e := h.end(id)
			assert.Equal(t, domain.ReasonCompleted, e.Verdict.Reason)
			assert.Equal(t, "agent", e.Call.EndedBy)
			c := h.finished(id)
			sound := h.recording(c)
			assert.InDelta(t, float64(c.DurationSeconds), sound.Duration().Seconds(), 1.5)
			agent := sound.Channel(1)
			assert.Positive(t, loud(agent[:len(agent)/3]), "what was said there is part of it")
			assert.Positive(t, loud(agent[len(agent)/2:]), "and here")
			h.until(2*time.Second, "nothing is left", func() bool { return h.engine.Live() == 0 && h.spooled() == 0 })
		})
	}
}

// loud counts the samples that are no silence.
func loud(pcm []int16) (n int) {
	for _, v := range pcm {
		if v > 1000 || v < -1000 {
			n++
		}
	}
	return n
}

func TestACallEndsWhoseFarEndDoesNotFollowItsSound(t *testing.T) {
	t.Parallel()
	p, keys := secret(t, true)
	n := neighbour(t)
	h := build(t, plan{next: n, trunks: sealed(p)})
	id := h.talking(area+"7777", linger())
	soon(t, keys)
	n.lender.Leave()
	soon(t, keys)
	h.until(10*time.Second, "it to be refused", func() bool { return h.engine.Live() == 0 })
	assert.Empty(t, h.ends(id), "who could not be moved stays")
	assert.Equal(t, 1, n.engine.Live())
	n.cut(true)
	e := h.end(id)
	assert.Equal(t, domain.ReasonMediaLost, e.Verdict.Reason)
	h.until(2*time.Second, "nothing is left", func() bool { return h.engine.Live() == 0 && n.engine.Live() == 0 })
}

// follower is a far end that goes where our sound is, and tells of each offer;
// answer nil: it answers at once, else when that is closed.
func follower(t *testing.T, answer <-chan struct{}) (p *peer, rings chan struct{}, offers chan []byte) {
	t.Helper()
	p = mute(t)
	rings, offers = make(chan struct{}, 9), make(chan []byte, 9)
	p.ua = agent(t, func(in *sip.Incoming) {
		rings <- struct{}{}
		if answer != nil {
			<-answer
		}
		s, err := p.engine.Open(media.Options{})
		if err != nil {
			in.Reject(500, 0)
			return
		}
		body, err := s.Answer(in.Body)
		if err != nil {
			in.Reject(488, 0)
			return
		}
		d := in.Answer(body, func(e sip.Event) {
			p.hear(e)
			if r, ok := e.(sip.Reoffer); ok {
				offers <- r.Body
				if body, err := s.Answer(r.Body); err == nil {
					r.Reply(200, body)
				}
			}
		})
		s.Begin()
		p.mu.Lock()
		defer p.mu.Unlock()
		p.dialog, p.session = d, s
	})
	return p, rings, offers
}

// presses has it press a key that ends the call.
func (p *peer) presses(key string) {
	p.mu.Lock()
	far := p.session
	p.mu.Unlock()
	far.SendDigits(1, key)
}

// A node dies while its call rings: the answer finds no sound, and another one is
// had for it.
func TestACallIsAnsweredWhoseSoundIsGone(t *testing.T) {
	t.Parallel()
	answer := make(chan struct{})
	p, rings, offers := follower(t, answer)
	n := neighbour(t)
	h := build(t, plan{next: n, trunks: towards(p)})
	id := h.dial(area+"7777", linger())
	soon(t, rings)
	assert.Equal(t, 1, n.engine.Live())
	n.cut(true)
	h.until(5*time.Second, "the sound is gone", func() bool { return n.engine.Live() == 0 })
	close(answer)
	soon(t, offers)
	h.until(10*time.Second, "it to be heard", func() bool { return h.packets(id) > 50 })
	p.presses("9")
	assert.Equal(t, domain.ReasonCompleted, h.end(id).Verdict.Reason)
	h.finished(id)
}

// Whoever is with somebody else when the node with the sound is to stop moves when
// he comes back, and once more where the next one is.
func TestWhoCouldNotMoveDoesSoLater(t *testing.T) {
	t.Parallel()
	p, _, offers := follower(t, nil)
	n := neighbour(t)
	h := build(t, plan{next: n, trunks: towards(p)})
	id := h.talking(area+"7777", linger())
	require.NoError(t, h.tell(call.Transfer{CallID: id, Way: call.Way{To: area + "4418"}, Mode: domain.TransferBridge}))
	h.stands(id, domain.TransferConnected)
	n.lender.Leave()
	assert.Equal(t, 2, n.engine.Live(), "both stay")
	h.stands(id, domain.TransferReturned)
	soon(t, offers)
	h.until(10*time.Second, "the sound to be here", func() bool { return h.engine.Live() == 1 && n.engine.Live() == 0 })
	p.presses("9")
	assert.Equal(t, domain.ReasonCompleted, h.end(id).Verdict.Reason)
	h.finished(id)
}

// Of two other nodes the first one has no pair left, as it is not known yet.
func TestAnotherNodeIsAskedWhereOneHasNoRoom(t *testing.T) {
	t.Parallel()
	n := neighbour(t)
	full := n.crammed()
	h := build(t, plan{next: n})
	id := h.talking(area+"0009", linger())
	assert.Equal(t, 1, n.engine.Live())
	assert.Zero(t, h.engine.Live())
	assert.Equal(t, 1, full.Live(), "as before")
	require.NoError(t, h.hangUp(id))
	h.end(id)
}

func TestSomebodyListensToSoundAtAnotherNode(t *testing.T) {
	t.Parallel()
	n := neighbour(t)
	h := build(t, plan{next: n})
	id := h.talking(area+"0009", linger())
	heard, over := make(chan []byte, 1024), make(chan struct{})
	_, err := mailbox.Ask[call.Listening](t.Context(), h.sys, h.calls, call.Listen{CallID: id, Out: func(frame []byte) {
		if frame == nil {
			close(over)
			return
		}
		select {
		case heard <- bytes.Clone(frame):
		default:
		}
	}})
	require.NoError(t, err)
	assert.Len(t, soon(t, heard), media.TapFrame)
	_, err = mailbox.Ask[call.HungUp](t.Context(), h.sys, h.calls, call.Hangup{CallID: id})
	require.NoError(t, err)
	h.end(id)
	soon(t, over)
}

// A node dies in the middle of a call; what the one with the sound has recorded is
// kept by whoever takes the workspace up.
func TestWhatAnotherNodeRecordedForADeadOneIsKept(t *testing.T) {
	t.Parallel()
	n := neighbour(t)
	h := build(t, plan{next: n})
	id := h.talking(area+"0009", linger())
	h.until(10*time.Second, "something is recorded", func() bool { return h.packets(id) > 60 })
	n.cut(true) // the node that had the call
	h.until(5*time.Second, "its sound ends", func() bool { return n.engine.Live() == 0 })
	require.NoError(t, h.hangUp(id))
	h.end(id)
	next := build(t, plan{next: n.again(), config: func(c *call.Config) { c.Store, c.Blobs = h.store, h.blobs }})
	next.until(10*time.Second, "it to be kept", func() bool { return h.store.call(id).RecordingAvailable })
	assert.Positive(t, loud(h.recording(h.store.call(id)).Channel(1)))
	next.until(5*time.Second, "nothing is left", func() bool { return next.spooled() == 0 })
}

func TestHalfARecordingThatWasBeingFetchedIsRemoved(t *testing.T) {
	t.Parallel()
	spool := t.TempDir()
	dir := filepath.Join(spool, workspace)
	require.NoError(t, os.MkdirAll(dir, 0o700))
	old, young := filepath.Join(dir, "call_1.wav.part-1"), filepath.Join(dir, "call_2.wav.part-2")
	for _, path := range []string{old, young} {
		require.NoError(t, os.WriteFile(path, []byte("half"), 0o600))
	}
	ago := time.Now().Add(-2 * time.Hour)
	require.NoError(t, os.Chtimes(old, ago, ago))
	h := build(t, plan{spool: spool})
	h.until(5*time.Second, "it to be gone", func() bool { return h.spooled() == 1 })
	assert.FileExists(t, young, "somebody may be at it")
}

// What is left of a recording in several parts is one recording.
func TestThePartsOfARecordingThatADeadProcessLeftAreOne(t *testing.T) {
	t.Parallel()
	spool := t.TempDir()
	dir := filepath.Join(spool, workspace)
	require.NoError(t, os.MkdirAll(dir, 0o700))
	h := build(t, plan{})
	o := h.order(area+"0001", confirm()) // is busy
	o.Call.Record = true
	id := h.start(o)
	h.finished(id)
	said := func(silent, n int, with byte) []byte {
		return wav.EncodeMu(2, append(bytes.Repeat([]byte{0xFF}, 2*silent), bytes.Repeat([]byte{with}, 2*n)...))
	}
	for name, b := range map[string][]byte{
		id + ".wav.beginning": said(0, 1600, 1), id + ".wav": said(1600, 1600, 2), id + ".wav.2.beginning": said(3200, 1600, 3), id + ".wav.3": said(4800, 1600, 4),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), b, 0o600))
	}
	next := build(t, plan{spool: spool, config: func(c *call.Config) { c.Store, c.Blobs = h.store, h.blobs }})
	next.until(10*time.Second, "it to be kept", func() bool { return h.store.call(id).RecordingAvailable })
	var all []byte
	for with := range byte(4) {
		all = append(all, bytes.Repeat([]byte{with + 1}, 3200)...)
	}
	assert.Equal(t, wav.EncodeMu(2, all), h.blobs.get(call.RecordingName(id)))
	assert.InDelta(t, 0.8, h.store.call(id).RecordingSeconds, 0.001)
	next.until(5*time.Second, "nothing is left", func() bool { return next.spooled() == 0 })
}

// The node that had the sound takes the workspace up itself.
func TestWhatThisNodeRecordedForADeadOneIsKept(t *testing.T) {
	t.Parallel()
	n := neighbour(t)
	h := build(t, plan{next: n})
	id := h.talking(area+"0009", linger())
	h.until(10*time.Second, "something is recorded", func() bool { return h.packets(id) > 60 })
	n.cut(true)
	h.until(5*time.Second, "its sound ends", func() bool { return n.engine.Live() == 0 })
	require.NoError(t, h.hangUp(id))
	h.end(id)
	own := &nextDoor{t: t, away: lend.NewPool(lend.PoolConfig{Mine: n.lender, Own: func() lend.Load { return lend.Load{Most: 9, Free: 9} }})}
	t.Cleanup(own.away.Close)
	next := build(t, plan{next: own, config: func(c *call.Config) { c.Store, c.Blobs = h.store, h.blobs }})
	next.until(30*time.Second, "it to be kept", func() bool { return h.store.call(id).RecordingAvailable })
	assert.Positive(t, loud(h.recording(h.store.call(id)).Channel(1)))
	next.until(5*time.Second, "nothing is left", func() bool { return next.spooled() == 0 })
}
