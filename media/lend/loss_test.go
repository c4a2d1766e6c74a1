package lend_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/lend"
)

func TestACallWhoseLinkIsCutIsToldOnceAndItsRecordingComesAllTheSame(t *testing.T) {
	t.Parallel()
	n, far := lends(t, engine(t)), engine(t)
	link, conn := joins(t, n, lend.LinkConfig{})
	path := filepath.Join(t.TempDir(), "ws_1", "call_5.wav")
	var ours, listener ear
	s, p := borrow(t, link, media.Options{RecordPath: path, Notify: ours.notify}), open(t, far, media.Options{})
	bare := borrow(t, link, media.Options{})
	connect(t, s, p)
	s.PlayFeed(1, new(media.Feed))
	_, err := s.Tap(media.Listen, listener.hear)
	require.NoError(t, err)
	p.Play(1, chirp(time.Minute))
	eventually(t, "time passes", func() bool { return s.Mark() > 300*time.Millisecond && len(listener.heard()) > 0 })
	require.NoError(t, conn.Close())
	<-link.Done()
	eventually(t, "it is told", ours.told(media.Vanished{Broken: true}))
	assert.Equal(t, 1, listener.ended())
	require.ErrorIs(t, link.Err(), lend.ErrLost)
	assert.Zero(t, link.Live())
	_, err = link.Open(media.Options{})
	require.ErrorIs(t, err, lend.ErrLost)
	require.ErrorIs(t, s.Accept(nil), lend.ErrLost)
	assert.Nil(t, s.Offer())
	mark := s.Mark()
	stats, done := s.Close()
	assert.Equal(t, "PCMU/8000", stats.Codec, "the last that was told")
	r := <-done
	require.NoError(t, r.Err)
	assert.Equal(t, path, r.Path)
	assert.FileExists(t, path)
	assert.Greater(t, r.Duration, 200*time.Millisecond)
	assert.Equal(t, mark, s.Mark(), "its time stands still")
	_, done = bare.Close()
	assert.Equal(t, media.Recording{}, <-done)
	eventually(t, "nothing is left there", func() bool { return n.lender.Live() == 0 && n.engine.Live() == 0 })
	assert.Equal(t, 1, ours.count(broken))
}

func TestALenderThatEndsLosesTheCallsItHas(t *testing.T) {
	t.Parallel()
	n := lends(t, engine(t))
	link, _ := joins(t, n, lend.LinkConfig{})
	var ours ear
	borrow(t, link, media.Options{Notify: ours.notify})
	n.lender.Close()
	eventually(t, "lost", ours.told(media.Vanished{Broken: true}))
	require.ErrorIs(t, link.Err(), lend.ErrLost)
	require.ErrorIs(t, n.lender.Serve(n.door), media.ErrClosed)
}

func TestASessionThatBreaksThereIsToldHereAndNoOther(t *testing.T) {
	t.Parallel()
	n, far := lends(t, engine(t)), engine(t)
	link, _ := joins(t, n, lend.LinkConfig{})
	var bad, good ear
	path := filepath.Join(t.TempDir(), "ws_1", "c.wav")
	s, other := borrow(t, link, media.Options{Notify: bad.notify, RecordPath: path}), borrow(t, link, media.Options{Notify: good.notify})
	talks(t, s, far, 200*time.Millisecond)
	talks(t, other, far, 0)
	n.lender.Break(1)
	eventually(t, "it is told", bad.told(media.Vanished{Broken: true}))
	mark := other.Mark()
	eventually(t, "the other goes on", func() bool { return other.Mark() > mark+100*time.Millisecond })
	assert.Zero(t, good.count(broken))
	_, done := s.Close()
	r := <-done
	require.NoError(t, r.Err)
	assert.Equal(t, path, r.Path, "and what was recorded until then is there")
	assert.Equal(t, 1, bad.count(broken))
	require.NoError(t, link.Err())
}

func TestAnOwnerThatPanicsLosesItsSessionOnly(t *testing.T) {
	t.Parallel()
	n := lends(t, engine(t))
	link, _ := joins(t, n, lend.LinkConfig{})
	var told ear
	s := borrow(t, link, media.Options{Notify: func(e media.Event) {
		told.notify(e)
		if _, is := e.(media.Digit); is {
			panic("planted")
		}
	}})
	p := open(t, engine(t), media.Options{})
	connect(t, s, p)
	s.Pressed('1', 100*time.Millisecond)
	eventually(t, "it is told so", told.told(media.Vanished{Broken: true}))
	eventually(t, "and closed", func() bool { return n.lender.Live() == 0 && link.Live() == 0 })
	require.NoError(t, link.Err())
}

// silent is a lender that answers the first request, and then only listens, where it does that.
func silent(conn net.Conn, reads bool) {
	hello, err := json.Marshal(map[string]any{"protocol": lend.Protocol, "load": lend.Load{Most: 1}})
	if err != nil {
		panic(err)
	}
	head := make([]byte, 4)
	for answered := false; ; {
		if _, err = io.ReadFull(conn, head); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint32(head))
		if _, err = io.ReadFull(conn, body); err != nil {
			return
		}
		switch body[0] {
		case lend.KindHello:
			_, err = conn.Write(lend.Frame(lend.KindHello, 0, hello))
		case lend.KindOpen:
			_, err = conn.Write(lend.Frame(lend.KindReply, 1, append(body[5:9:9], "{}"...)))
			answered = true
		}
		if err != nil || answered && !reads {
			return
		}
	}
}

func TestALenderThatFallsSilentIsGoneAfterFourBeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		go silent(theirs, true)
		link, err := lend.Join(t.Context(), ours, lend.LinkConfig{})
		require.NoError(t, err)
		var told ear
		s, err := link.Open(media.Options{Notify: told.notify})
		require.NoError(t, err)
		start := time.Now()
		<-link.Done()
		assert.InDelta(t, 1.0, time.Since(start).Seconds(), 0.3)
		synctest.Wait()
		assert.Equal(t, []media.Event{media.Vanished{Broken: true}}, told.all())
		_, done := s.Close()
		assert.Equal(t, media.Recording{}, <-done)
	})
}

func TestNothingIsToldOnceASessionIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		go silent(theirs, true)
		link, err := lend.Join(t.Context(), ours, lend.LinkConfig{})
		require.NoError(t, err)
		var told ear
		s, err := link.Open(media.Options{Notify: told.notify})
		require.NoError(t, err)
		tells := func(e media.Event) {
			b, errEvent := lend.AppendEvent(nil, e)
			require.NoError(t, errEvent)
			_, errEvent = theirs.Write(lend.Frame(lend.KindEvent, 1, b))
			require.NoError(t, errEvent)
			synctest.Wait()
		}
		tells(media.Beep{})
		go s.Close()
		synctest.Wait()
		tells(media.GreetingOver{})
		link.Close()
		synctest.Wait()
		assert.Equal(t, []media.Event{media.Beep{}}, told.all())
	})
}

func TestALenderThatTakesNothingIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		go silent(theirs, false)
		link, err := lend.Join(t.Context(), ours, lend.LinkConfig{})
		require.NoError(t, err)
		_, err = link.Open(media.Options{})
		require.NoError(t, err)
		ended := make(chan struct{})
		go func() { // it says that it lives
			defer close(ended)
			for {
				time.Sleep(100 * time.Millisecond)
				if _, errWrite := theirs.Write(lend.Frame(lend.KindBeat, 0, nil)); errWrite != nil {
					return
				}
			}
		}()
		start := time.Now()
		<-link.Done()
		assert.Less(t, time.Since(start), 3*time.Second)
		<-ended
	})
}

func TestARequestIsAnsweredWithinASecondOrTheLinkIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		go silent(theirs, true)
		link, err := lend.Join(t.Context(), ours, lend.LinkConfig{Beat: 10 * time.Second})
		require.NoError(t, err)
		s, err := link.Open(media.Options{})
		require.NoError(t, err)
		start := time.Now()
		require.ErrorIs(t, s.Accept(nil), lend.ErrLost)
		assert.Equal(t, time.Second, time.Since(start))
		<-link.Done()
	})
}

func TestARecordingThatNobodyHandsOverIsGivenUpAfterTwoMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		go silent(theirs, true)
		tries := 0
		link, err := lend.Join(t.Context(), ours, lend.LinkConfig{Again: func(context.Context) (net.Conn, error) {
			tries++
			return nil, errors.New("unreachable")
		}})
		require.NoError(t, err)
		s, err := link.Open(media.Options{RecordPath: filepath.Join(t.TempDir(), "ws", "c.wav")})
		require.NoError(t, err)
		link.Close()
		start := time.Now()
		_, done := s.Close()
		r := <-done
		require.ErrorContains(t, r.Err, "unreachable")
		assert.InDelta(t, 120, time.Since(start).Seconds(), 11)
		assert.Less(t, tries, 30, "with growing pauses")
		assert.Greater(t, tries, 10)
	})
}

func TestAnotherProtocolIsRefusedInWords(t *testing.T) {
	t.Parallel()
	n := lends(t, engine(t))
	conn, err := n.dial(t.Context())
	require.NoError(t, err)
	_, err = conn.Write(lend.Frame(lend.KindHello, 0, []byte(`{"protocol":99,"for":"sound","beat":250000000}`)))
	require.NoError(t, err)
	answer, err := io.ReadAll(conn)
	require.NoError(t, err)
	assert.Contains(t, string(answer), `"protocol":1`, "and it is told ours")
	ours, theirs := net.Pipe()
	go func() {
		_, _ = io.ReadFull(theirs, make([]byte, 20))
		go func() { _, _ = io.Copy(io.Discard, theirs) }()
		_, _ = theirs.Write(lend.Frame(lend.KindHello, 0, []byte(`{"protocol":99}`)))
	}()
	_, err = lend.Join(t.Context(), ours, lend.LinkConfig{})
	require.ErrorIs(t, err, lend.ErrProtocol)
	require.ErrorContains(t, err, "version 99")
	ctx, cancel := context.WithCancel(t.Context())
	ours, _ = net.Pipe()
	cancel()
	_, err = lend.Join(ctx, ours, lend.LinkConfig{})
	require.ErrorIs(t, err, context.Canceled)
}

// raw is a borrower that says what it likes.
func raw(t *testing.T, n *node) net.Conn {
	t.Helper()
	conn, err := n.dial(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	_, err = conn.Write(lend.Frame(lend.KindHello, 0, []byte(`{"protocol":1,"for":"sound","beat":250000000}`)))
	require.NoError(t, err)
	return conn
}

func TestWhatBreaksTheProtocolEndsItsLinkOnly(t *testing.T) {
	t.Parallel()
	n := lends(t, engine(t))
	link, _ := joins(t, n, lend.LinkConfig{})
	s := borrow(t, link, media.Options{})
	long := binary.BigEndian.AppendUint32(nil, lend.FrameMost+1)
	for what, b := range map[string][]byte{
		"a frame that is too long":   append(long, 0, 0, 0, 0, 0),
		"one that is too short":      {0, 0, 0, 2, 1, 1, 1, 1, 1},
		"an unknown kind":            lend.Frame(255, 0, nil),
		"a kind of a lender":         lend.Frame(lend.KindReply, 0, nil),
		"an opening that is no JSON": lend.Frame(lend.KindOpen, 1, []byte{0, 0, 0, 1, '{'}),
		"a short opening":            lend.Frame(lend.KindOpen, 1, []byte{0, 0}),
		"a clip of no length":        lend.Frame(lend.KindClip, 0, []byte{0, 0, 0, 1, 0, 0, 0, 0, 1}),
		"a clip that is too long":    lend.Frame(lend.KindClip, 0, []byte{0, 0, 0, 1, 0x7F, 0, 0, 0, 1}),
		"a part that is too long":    lend.Frame(lend.KindClip, 0, []byte{0, 0, 0, 1, 0, 0, 0, 1, 1, 1}),
	} {
		conn := raw(t, n)
		_, err := conn.Write(b)
		require.NoError(t, err)
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(6*time.Second))) // before it is missed
		_, err = io.Copy(io.Discard, conn)
		require.NotErrorIs(t, err, os.ErrDeadlineExceeded, what)
	}
	ignored := raw(t, n)
	for _, kind := range []byte{lend.KindOffer, lend.KindPlay, lend.KindHear, lend.KindSay, lend.KindBegin, lend.KindTap, lend.KindDigits} {
		_, err := ignored.Write(lend.Frame(kind, 4711, make([]byte, 20)))
		require.NoError(t, err, "a session that is not there")
	}
	_, err := ignored.Write(lend.Frame(lend.KindForget, 0, []byte{0, 0, 0, 9}))
	require.NoError(t, err)
	opening := append([]byte{0, 0, 0, 1}, "{}"...)
	_, err = ignored.Write(lend.Frame(lend.KindOpen, 1, opening))
	require.NoError(t, err)
	eventually(t, "it is served on", func() bool { return n.lender.Live() == 2 })
	_, err = ignored.Write(lend.Frame(lend.KindOpen, 1, opening))
	require.NoError(t, err)
	eventually(t, "a session cannot be opened twice", func() bool { return n.lender.Live() == 1 })
	assert.NotEmpty(t, s.Offer(), "nobody else has noticed")
}

func TestMarksAreToldEachSecondOfWhatRuns(t *testing.T) {
	t.Parallel()
	n := lends(t, engine(t))
	conn := raw(t, n)
	for _, session := range []uint32{1, 2} {
		_, err := conn.Write(lend.Frame(lend.KindOpen, session, []byte("\x00\x00\x00\x01{}")))
		require.NoError(t, err)
	}
	_, err := conn.Write(lend.Frame(lend.KindBegin, 2, nil))
	require.NoError(t, err)
	go func() { // it lives
		for {
			if _, errWrite := conn.Write(lend.Frame(lend.KindBeat, 0, nil)); errWrite != nil {
				return
			}
			time.Sleep(200 * time.Millisecond)
		}
	}()
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(time.Minute)))
	var marks []time.Duration
	for len(marks) < 3 {
		head := make([]byte, 4)
		_, err = io.ReadFull(conn, head)
		require.NoError(t, err)
		body := make([]byte, binary.BigEndian.Uint32(head))
		_, err = io.ReadFull(conn, body)
		require.NoError(t, err)
		if body[0] == lend.KindMarks {
			require.Len(t, body[5:], 12, "one session runs")
			assert.Equal(t, uint32(2), binary.BigEndian.Uint32(body[5:]))
			marks = append(marks, time.Duration(binary.BigEndian.Uint64(body[9:])))
		}
	}
	assert.Less(t, marks[0], marks[1])
	assert.Less(t, marks[1], marks[2])
}

// door is one that pipes come through, which hold nothing that nobody reads.
type door struct {
	net.Listener
	conns chan net.Conn
}

func (d door) Accept() (net.Conn, error) {
	conn, ok := <-d.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (d door) Close() error { return nil }

// stalling is a connection of which nothing is read any more once it is told so.
type stalling struct {
	net.Conn
	stalled atomic.Bool
	once    sync.Once
	ended   chan struct{}
}

func (s *stalling) Read(b []byte) (int, error) {
	if s.stalled.Load() {
		<-s.ended
		return 0, net.ErrClosed
	}
	return s.Conn.Read(b)
}

func (s *stalling) Close() error {
	s.once.Do(func() { close(s.ended) })
	return s.Conn.Close()
}

func TestABorrowerThatReadsNothingLosesItsLink(t *testing.T) {
	t.Parallel()
	n, far := lends(t, engine(t)), engine(t)
	d := door{n.door, make(chan net.Conn, 1)}
	defer close(d.conns)
	ours, theirs := net.Pipe()
	d.conns <- theirs
	go func() { _ = n.lender.Serve(d) }()
	conn := &stalling{Conn: ours, ended: make(chan struct{})}
	link, err := lend.Join(t.Context(), conn, lend.LinkConfig{Beat: 100 * time.Millisecond})
	require.NoError(t, err)
	defer link.Close()
	s, p := borrow(t, link, media.Options{}), open(t, far, media.Options{})
	connect(t, s, p)
	s.Hear(func([]byte) {})
	eventually(t, "it lives", func() bool { return s.Mark() > 0 && n.lender.Live() == 1 })
	conn.stalled.Store(true)
	eventually(t, "and then it does not", func() bool { return n.lender.Live() == 0 && n.engine.Live() == 0 })
}
