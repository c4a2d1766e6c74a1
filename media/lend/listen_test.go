package lend_test

import (
	"net"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/lend"
)

// pair is two calls on another node, and their far ends.
type pair struct {
	link          *lend.Link
	a, b          *lend.Session
	caller, human *media.Session
	first, second ear // what the far ends hear
}

func newPair(t *testing.T, o media.Options) *pair {
	t.Helper()
	n, far := lends(t, engine(t)), engine(t)
	p := &pair{}
	p.link, _ = joins(t, n, lend.LinkConfig{})
	p.a, p.b = borrow(t, p.link, o), borrow(t, p.link, media.Options{})
	p.caller, p.human = open(t, far, media.Options{}), open(t, far, media.Options{})
	connect(t, p.a, p.caller)
	connect(t, p.b, p.human)
	p.caller.Hear(p.first.hear)
	p.human.Hear(p.second.hear)
	return p
}

func TestTwoCallsOnOneNodeHearEachOtherUntilThatIsUndone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ws_1", "call_4.wav")
	p := newPair(t, media.Options{RecordPath: path})
	undo := p.link.Bridge(p.a, p.b)
	said, answered := chirp(500*time.Millisecond), higher(500*time.Millisecond)
	again(t, "there", func() { p.caller.Play(1, said) }, func() bool { return like(p.second.heard(), said) > alikeEnough })
	again(t, "and back", func() { p.human.Play(1, answered) }, func() bool { return like(p.first.heard(), answered) > alikeEnough })
	p.caller.SendDigits(1, "7")
	undo()
	undo()
	p.first.forget()
	again(t, "undone", func() { p.a.Play(2, said) }, func() bool { return like(p.first.heard(), said) > alikeEnough })
	p.second.forget()
	again(t, "apart", func() {
		p.caller.Play(3, said)
		p.b.Play(3, answered)
	}, func() bool { return like(p.second.heard(), answered) > alikeEnough })
	assert.Less(t, like(p.second.heard(), said), 0.5)
	other := newPair(t, media.Options{})
	p.link.Bridge(p.a, other.b)() // nothing
	_, done := p.a.Close()
	r := <-done
	require.NoError(t, r.Err)
	require.Len(t, r.Human, 1)
	assert.Greater(t, r.Human[0].To-r.Human[0].From, 400*time.Millisecond)
}

func TestWhoIsHeldHearsEarlySoundOfAnother(t *testing.T) {
	t.Parallel()
	p := newPair(t, media.Options{})
	p.a.Hold(nil)
	undo := p.link.Preview(p.a, p.b)
	ringing := chirp(500 * time.Millisecond)
	again(t, "it is heard", func() { p.human.Play(1, ringing) }, func() bool { return like(p.first.heard(), ringing) > alikeEnough })
	undo()
}

func TestWhoListensHearsBothAndWhispersToOne(t *testing.T) {
	t.Parallel()
	p := newPair(t, media.Options{})
	p.link.Bridge(p.a, p.b)
	var l, m ear
	tap, err := p.a.Tap(media.Whisper, l.hear)
	require.NoError(t, err)
	mute, err := p.a.Tap(media.Listen, m.hear)
	require.NoError(t, err)
	said := chirp(500 * time.Millisecond)
	again(t, "both are heard", func() { p.caller.Play(1, said) }, func() bool { return like(l.heard(), said) > alikeEnough })
	advice := higher(200 * time.Millisecond)
	p.second.forget()
	p.first.forget()
	mute.Say(said)
	again(t, "a whisper", func() { tap.Say(advice) /* less than 400 ms ahead */ }, func() bool { return like(p.second.heard(), advice) > alikeEnough })
	assert.Less(t, like(p.first.heard(), advice), 0.5)
	mute.Close()
	mute.Close()
	for range 7 {
		_, err = p.a.Tap(media.Listen, m.hear)
		require.NoError(t, err)
	}
	_, err = p.a.Tap(media.Listen, m.hear)
	require.ErrorIs(t, err, media.ErrTaps)
	p.a.Close()
	assert.Equal(t, 1, l.ended())
	assert.Equal(t, 7, m.ended(), "and not who left before")
	tap.Close()
	assert.Equal(t, 1, l.ended())
}

func TestAFeedIsSentAsItIsHeardAndTakenBack(t *testing.T) {
	t.Parallel()
	n, far := lends(t, engine(t)), engine(t)
	link, _ := joins(t, n, lend.LinkConfig{})
	var ours, theirs ear
	s, p := borrow(t, link, media.Options{Notify: ours.notify}), open(t, far, media.Options{})
	connect(t, s, p)
	p.Hear(theirs.hear)
	first, second := chirp(3*time.Second), higher(500*time.Millisecond)
	feed := new(media.Feed)
	feed.Write(first)
	s.PlayFeed(1, feed)
	eventually(t, "it is heard, and said how much", func() bool { return feed.Heard() > 2400 })
	mark := s.Mark()
	eventually(t, "more of it is, which is not known here yet", func() bool { return s.Mark() > mark+60*time.Millisecond })
	back := feed.TakeBack(1600)
	assert.Positive(t, back)
	kept := feed.Len()
	assert.Equal(t, 1600+back, kept)
	assert.Less(t, kept, len(first)-8000, "much of it was not")
	feed.Write(second)
	feed.End()
	eventually(t, "its end", func() bool { return ours.played(1) != nil })
	assert.Equal(t, media.Played{ID: 1, Heard: media.Clip(make([]byte, feed.Len())).Duration()}, *ours.played(1))
	assert.Equal(t, feed.Len(), feed.Heard())
	eventually(t, "it is heard to its end", func() bool { return like(theirs.heard(), second) > alikeEnough })
	heard := theirs.heard()
	assert.Greater(t, like(heard, first[:1600]), alikeEnough)
	assert.Less(t, like(heard, first[kept+4000:kept+8000]), 0.5, "what was taken back is not")

	slow := new(media.Feed)
	s.PlayFeed(2, slow)
	s.Play(3, second)
	slow.Write(first)
	eventually(t, "something else plays", func() bool { return ours.played(2) != nil && ours.played(3) != nil })
	assert.Equal(t, media.Played{ID: 2, Interrupted: true}, *ours.played(2))
	assert.Zero(t, slow.Heard())
	stopped := new(media.Feed)
	stopped.Write(first)
	s.PlayFeed(4, stopped)
	eventually(t, "heard", func() bool { return stopped.Heard() > 0 })
	s.StopPlaying()
	eventually(t, "stopped", func() bool { return ours.played(4) != nil })
	assert.True(t, ours.played(4).Interrupted)
	assert.Equal(t, ours.played(4).Heard, media.Clip(make([]byte, stopped.Heard())).Duration())
}

func TestWhatIsToldOfAFeedAfterItWasTakenBackIsOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		go silent(theirs, true)
		link, err := lend.Join(t.Context(), ours, lend.LinkConfig{})
		require.NoError(t, err)
		s, err := link.Open(media.Options{})
		require.NoError(t, err)
		feed := new(media.Feed)
		feed.Write(chirp(time.Second))
		s.PlayFeed(1, feed)
		fed := func(cuts byte, heard int) int {
			_, errWrite := theirs.Write(lend.Frame(lend.KindFed, 1, []byte{0, 0, 0, 1, 0, 0, 0, cuts, 0, 0, byte(heard >> 8), byte(heard), 0}))
			require.NoError(t, errWrite)
			synctest.Wait()
			return feed.Heard()
		}
		synctest.Wait()
		assert.Equal(t, 800, fed(0, 800))
		feed.TakeBack(1000)
		synctest.Wait()
		feed.Write(chirp(time.Second))
		assert.Equal(t, 800, fed(0, 1600), "of that it cannot be: it was cut at 1000")
		assert.Equal(t, 1200, fed(1, 1200))
		link.Close()
		synctest.Wait()
	})
}

// metered counts what is written, and read.
type metered struct {
	net.Conn
	n, in atomic.Int64
}

func (m *metered) Read(b []byte) (int, error) {
	n, err := m.Conn.Read(b)
	m.in.Add(int64(n))
	return n, err
}

func (m *metered) Write(b []byte) (int, error) {
	m.n.Add(int64(len(b)))
	return m.Conn.Write(b)
}

func TestAClipIsSentOnceForAllCalls(t *testing.T) {
	t.Parallel()
	n, far := lends(t, engine(t)), engine(t)
	conn, err := n.dial(t.Context())
	require.NoError(t, err)
	m := &metered{Conn: conn}
	link, err := lend.Join(t.Context(), m, lend.LinkConfig{})
	require.NoError(t, err)
	defer link.Close()
	clip, music := make(media.Clip, 5<<20), make(media.Clip, 300_000) // longer than a frame may be
	copy(clip, chirp(time.Second))
	copy(music, higher(time.Second))
	for range 3 {
		var theirs ear
		s, p := borrow(t, link, media.Options{}), open(t, far, media.Options{})
		connect(t, s, p)
		p.Hear(theirs.hear)
		again(t, "the clip", func() { s.Play(1, clip) }, func() bool { return like(theirs.heard(), clip[:4000]) > alikeEnough })
		again(t, "the music", func() { s.Hold(music) }, func() bool { return like(theirs.heard(), music[:4000]) > alikeEnough })
	}
	assert.Less(t, m.n.Load(), int64(6<<20))
	assert.Greater(t, m.n.Load(), int64(5<<20))
}

func TestSoundComesOverTheLinkOnlyWhileSomebodyHears(t *testing.T) {
	t.Parallel()
	n, far := lends(t, engine(t)), engine(t)
	conn, err := n.dial(t.Context())
	require.NoError(t, err)
	m := &metered{Conn: conn}
	link, err := lend.Join(t.Context(), m, lend.LinkConfig{})
	require.NoError(t, err)
	defer link.Close()
	var ours ear
	s := borrow(t, link, media.Options{})
	connect(t, s, open(t, far, media.Options{}))
	comes := func() (bytes int64) {
		before, from := m.in.Load(), s.Mark()
		eventually(t, "half a second", func() bool { return s.Mark() > from+500*time.Millisecond })
		return m.in.Load() - before
	}
	assert.Less(t, comes(), int64(2000))
	s.Hear(ours.hear)
	assert.Greater(t, comes(), int64(3000))
	assert.NotEmpty(t, ours.heard())
	s.Hear(nil)
	s.Offer() // what is ordered before it is done
	assert.Less(t, comes(), int64(2000))
}
