package lend_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/lend"
	"github.com/callboard/callboard/media/tone"
	"github.com/callboard/callboard/media/wav"
)

// talks lets a session speak to a far end for a while.
func talks(t *testing.T, s *lend.Session, far *media.Engine, d time.Duration) {
	t.Helper()
	p := open(t, far, media.Options{})
	from := s.Mark()
	connect(t, s, p)
	s.Play(1, tone.Make(time.Minute, 0.5, 440))
	eventually(t, "it talks", func() bool { return s.Mark() > from+d })
}

func never(context.Context) (net.Conn, error) { return nil, errors.New("nobody is there") }

func TestARecordingStaysThereUntilThereIsRoomHere(t *testing.T) {
	t.Parallel()
	n, far := lends(t, engine(t)), engine(t)
	link, _ := joins(t, n, lend.LinkConfig{})
	dir := t.TempDir()
	inTheWay := filepath.Join(dir, "ws_1")
	require.NoError(t, os.WriteFile(inTheWay, nil, 0o600))
	s := borrow(t, link, media.Options{RecordPath: filepath.Join(inTheWay, "c.wav")})
	talks(t, s, far, 100*time.Millisecond)
	_, done := s.Close()
	there := filepath.Join(n.spool, "ws_1", "c.wav")
	eventually(t, "it is complete", func() bool {
		sound, err := wav.ReadFile(there, 1<<20)
		return err == nil && sound.Duration() > 0
	})
	assert.Empty(t, done)
	require.NoError(t, os.Remove(inTheWay))
	r := <-done
	require.NoError(t, r.Err)
	assert.FileExists(t, r.Path)
	assert.NoFileExists(t, there)
	left, err := os.ReadDir(inTheWay)
	require.NoError(t, err)
	assert.Len(t, left, 1, "nothing lies beside it")
}

func TestWhoGoesOnWithARecordingGetsAllOfIt(t *testing.T) {
	t.Parallel()
	n, far := lends(t, engine(t)), engine(t)
	before, _ := joins(t, n, lend.LinkConfig{})
	after, _ := joins(t, n, lend.LinkConfig{})
	var told ear
	name := filepath.Join("ws_1", "c.wav")
	s := borrow(t, before, media.Options{RecordPath: filepath.Join(t.TempDir(), name), Notify: told.notify})
	talks(t, s, far, 300*time.Millisecond)
	memo := s.Memo()
	memo.Lift()
	path := filepath.Join(t.TempDir(), name)
	next := borrow(t, after, media.Options{RecordPath: path, After: &memo})
	eventually(t, "whoever had it hears so", told.told(media.Vanished{Broken: true}))
	talks(t, next, far, 300*time.Millisecond)
	_, done := s.Close()
	assert.Equal(t, media.Recording{}, <-done, "the other one has it")
	mark := next.Mark()
	_, done = next.Close()
	r := <-done
	require.NoError(t, r.Err)
	assert.InDelta(t, mark.Seconds(), r.Duration.Seconds(), 0.3)
	file, err := wav.ReadFile(path, 1<<20)
	require.NoError(t, err)
	loud := 0
	for _, v := range file.Channel(1)[:int(memo.Mark.Seconds()*8000)] {
		if v != 0 {
			loud++
		}
	}
	assert.Greater(t, loud, 1200, "what was recorded before is in it")
}

func TestWhatWasRecordedHereBeforeStaysInTheFile(t *testing.T) {
	t.Parallel()
	n, far := lends(t, engine(t)), engine(t)
	link, _ := joins(t, n, lend.LinkConfig{})
	path := filepath.Join(t.TempDir(), "ws_1", "c.wav")
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	part := bytes.Repeat([]byte{0x21}, 2*4000) // half a second of both sides
	require.NoError(t, os.WriteFile(path, append(wav.MuLaw.Header(2, wav.Unknown), part...), 0o600))
	memo := media.Memo{ID: 1, Version: 1, Mark: time.Second, At: time.Now()}
	s := borrow(t, link, media.Options{RecordPath: path, After: &memo})
	talks(t, s, far, 200*time.Millisecond)
	_, done := s.Close()
	r := <-done
	require.NoError(t, r.Err)
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, part, b[wav.HeaderLen:wav.HeaderLen+len(part)])
	assert.NotContains(t, string(b[wav.HeaderLen+len(part):wav.HeaderLen+len(part)+1000]), "\x21\x21", "and silence behind it")
	file, err := wav.ReadFile(path, 1<<20)
	require.NoError(t, err)
	assert.Equal(t, r.Duration, file.Duration())
	assert.Greater(t, r.Duration, 1100*time.Millisecond)
}

func TestANodeAdoptsWhatABorrowerThatIsGoneHasLeft(t *testing.T) {
	t.Parallel()
	n, far := lends(t, engine(t)), engine(t)
	link, conn := joins(t, n, lend.LinkConfig{Again: never})
	s := borrow(t, link, media.Options{RecordPath: filepath.Join(t.TempDir(), "ws_1", "c.wav")})
	talks(t, s, far, 600*time.Millisecond)
	to := filepath.Join(t.TempDir(), "ws_1", "c.wav")
	eventually(t, "some of it is on the disk", func() bool { _, err := os.Stat(filepath.Join(n.spool, "ws_1", "c.wav")); return err == nil })
	assert.False(t, n.lender.Adopt("ws_1/c.wav", to), "it is being written")
	require.NoError(t, conn.Close())
	eventually(t, "it is whole", func() bool { return n.lender.Adopt("ws_1/c.wav", to) })
	sound, err := wav.ReadFile(to, 1<<20)
	require.NoError(t, err)
	assert.Greater(t, sound.Duration(), 50*time.Millisecond)
	assert.False(t, n.lender.Adopt("ws_1/c.wav", to+"2"), "there is one only")
	assert.False(t, n.lender.Adopt("../c.wav", to+"2"))
}

func TestWhatAProcessBeforeHasLeftIsHandedOver(t *testing.T) {
	t.Parallel()
	n, again := lends(t, engine(t)), lends(t, engine(t))
	link, conn := joins(t, n, lend.LinkConfig{Again: again.dial})
	require.NoError(t, os.MkdirAll(filepath.Join(again.spool, "ws_1"), 0o700))
	file := append(wav.MuLaw.Header(2, wav.Unknown), make([]byte, 300000)...)
	require.NoError(t, os.WriteFile(filepath.Join(again.spool, "ws_1", "c.wav"), file, 0o600))
	path := filepath.Join(t.TempDir(), "ws_1", "c.wav")
	s := borrow(t, link, media.Options{RecordPath: path})
	require.NoError(t, conn.Close())
	_, done := s.Close()
	assert.Equal(t, media.Recording{Path: path, Duration: 150000 * time.Second / 8000}, <-done)
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, wav.MuLaw.Header(2, 300000), got[:wav.HeaderLen])
	assert.Equal(t, file[wav.HeaderLen:], got[wav.HeaderLen:])
	assert.NoFileExists(t, filepath.Join(again.spool, "ws_1", "c.wav"))
}

func TestWhatNobodyFetchesIsRemovedInTime(t *testing.T) {
	t.Parallel()
	n, far := lends(t, engine(t)), engine(t)
	link, _ := joins(t, n, lend.LinkConfig{})
	s := borrow(t, link, media.Options{RecordPath: filepath.Join(t.TempDir(), "ws_1", "live.wav")})
	talks(t, s, far, 700*time.Millisecond)
	live, old := filepath.Join(n.spool, "ws_1", "live.wav"), filepath.Join(n.spool, "ws_1", "old.wav")
	fresh := filepath.Join(n.spool, "ws_1", "fresh.wav")
	eventually(t, "it is being written", func() bool { _, err := os.Stat(live); return err == nil })
	for _, path := range []string{old, fresh} {
		require.NoError(t, os.WriteFile(path, nil, 0o600))
	}
	week := time.Now().Add(-8 * 24 * time.Hour)
	require.NoError(t, os.Chtimes(old, week, week))
	require.NoError(t, os.Chtimes(live, week, week))
	n.lender.Sweep(time.Now().Add(-7 * 24 * time.Hour))
	assert.NoFileExists(t, old)
	assert.FileExists(t, fresh)
	assert.FileExists(t, live, "a session writes it")
}

// counted is a connection among others.
type counted struct {
	net.Conn
	once sync.Once
	left func()
}

func (c *counted) Close() error {
	c.once.Do(c.left)
	return c.Conn.Close()
}

func TestFourRecordingsAreFetchedAtATime(t *testing.T) {
	t.Parallel()
	n, far := lends(t, engine(t)), engine(t)
	var mu sync.Mutex
	at, most := 0, 0
	link, conn := joins(t, n, lend.LinkConfig{Again: func(ctx context.Context) (net.Conn, error) {
		conn, err := n.dial(ctx)
		if err != nil {
			return nil, err
		}
		mu.Lock()
		defer mu.Unlock()
		at++
		most = max(most, at)
		return &counted{Conn: conn, left: func() { mu.Lock(); at--; mu.Unlock() }}, nil
	}})
	dir := t.TempDir()
	var all []*lend.Session
	for i := range 5 {
		s := borrow(t, link, media.Options{RecordPath: filepath.Join(dir, "ws_1", string(rune('a'+i))+".wav")})
		connect(t, s, open(t, far, media.Options{}))
		s.Play(1, tone.Make(time.Minute, 0.5, 440))
		all = append(all, s)
	}
	eventually(t, "they sound", func() bool { return all[4].Mark() > 300*time.Millisecond })
	require.NoError(t, conn.Close())
	for _, s := range all {
		_, done := s.Close()
		r := <-done
		require.NoError(t, r.Err)
		assert.FileExists(t, r.Path)
	}
	mu.Lock()
	defer mu.Unlock()
	assert.LessOrEqual(t, most, 4)
	assert.Positive(t, most)
}

// Whoever lost a recording's session must not fetch it away from the one that goes on with it.
func TestARecordingThatSomebodyMeansToGoOnWithIsNotHandedOver(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := lend.NewSpool(dir)
	const name = "ws_1/c.wav"
	path, token, err := p.Take(name, func() {})
	require.NoError(t, err)
	_, _, err = p.Take(name, func() {})
	require.ErrorIs(t, err, lend.ErrName, "one session writes it")
	wait := p.Occupied(name)
	require.NotNil(t, wait)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, append(wav.MuLaw.Header(2, 320), make([]byte, 320)...), 0o600))
	p.Complete(name, token)
	assert.True(t, wait(time.Second))
	fetchable, gone := p.Look(name, token)
	assert.False(t, fetchable)
	assert.False(t, gone, "whoever wants to fetch it tries again")
	require.NoError(t, p.Remove(name, token))
	assert.FileExists(t, path)
	_, next, err := p.Take(name, func() {})
	require.NoError(t, err)
	_, gone = p.Look(name, token)
	assert.True(t, gone, "the next one has it")
	p.GiveBack(name, next)
	fetchable, _ = p.Look(name, token)
	assert.True(t, fetchable, "nobody goes on with it after all")
	require.NoError(t, p.Remove(name, token))
	assert.NoFileExists(t, path)
	assert.Nil(t, p.Occupied(name))
	_, late, err := p.Take(name, func() {})
	require.NoError(t, err)
	assert.False(t, p.Occupied(name)(time.Millisecond), "one that does not come to its end is not waited for")
	p.Complete(name, late)
}
