package lend_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/amd"
	"github.com/callboard/callboard/media/lend"
)

// Whoever adds an event to media adds it here: nothing else would tell that it never arrives.
func TestEveryEventGoesOver(t *testing.T) {
	t.Parallel()
	all := []media.Event{
		media.Digit{Key: '#', Duration: 120 * time.Millisecond},
		media.Played{ID: 1 << 63, Interrupted: true, Heard: time.Second},
		media.DigitsSent{ID: 3},
		media.SendInfo{ContentType: "application/dtmf-relay", Body: []byte("Signal=1\r\n")},
		media.Hold{Deaf: true, Mute: true},
		media.KeyWorn{},
		media.Vanished{Broken: true},
		media.SpeechBegan{},
		media.SpeechEnded{},
		media.Answerer{By: amd.Voicemail},
		media.Beep{},
		media.GreetingOver{},
	}
	sent := make(map[string]bool)
	for _, e := range all {
		b, err := lend.AppendEvent(nil, e)
		require.NoError(t, err)
		got, err := lend.ReadEvent(b)
		require.NoError(t, err)
		assert.Equal(t, e, got)
		sent[reflect.TypeOf(e).Name()] = true
	}
	file, err := parser.ParseFile(token.NewFileSet(), "../media.go", nil, 0)
	require.NoError(t, err)
	known := make(map[string]bool)
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil && f.Name.Name == "mediaEvent" {
			known[f.Recv.List[0].Type.(*ast.Ident).Name] = true
		}
	}
	assert.NotEmpty(t, known)
	assert.Equal(t, known, sent)
}

func TestEventsThatCannotBeReadAreRefused(t *testing.T) {
	t.Parallel()
	for _, b := range []string{"", "\x05Digi", "\x05Other{}", "\x05Digit[]", "\xff"} {
		_, err := lend.ReadEvent([]byte(b))
		require.Error(t, err, "%q", b)
	}
}

func FuzzEvents(f *testing.F) {
	f.Add([]byte("\x05Digit{\"Key\":35}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := lend.ReadEvent(b)
		if err == nil {
			_, err = lend.AppendEvent(nil, e)
			require.NoError(t, err)
		}
	})
}

func TestClipsAreSentOnceAndTheOldestForgotten(t *testing.T) {
	t.Parallel()
	s := lend.NewShelf()
	third := lend.ClipsMost / 3
	a, b, c := make(media.Clip, third), make(media.Clip, third), make(media.Clip, third)
	one, forget, fresh := s.Take(a)
	assert.True(t, fresh)
	assert.Empty(t, forget)
	two, _, _ := s.Take(b)
	s.Take(c)
	again, _, fresh := s.Take(a)
	assert.False(t, fresh)
	assert.Equal(t, one, again)
	_, forget, fresh = s.Take(a[:8000])
	assert.True(t, fresh, "a part of it is another one")
	assert.Equal(t, []uint32{two}, forget, "the one that was not used for the longest time")
	_, forget, fresh = s.Take(make(media.Clip, 2*lend.ClipsMost))
	assert.True(t, fresh)
	assert.Len(t, forget, 3, "one that is too long is cut")
	none, _, fresh := s.Take(nil)
	assert.Zero(t, none)
	assert.False(t, fresh)
}

func TestSoundIsDroppedWhereNobodyTakesItAndNothingElseIs(t *testing.T) {
	t.Parallel()
	o := lend.NewOutbox()
	for o.Waits() <= lend.SoundMost {
		require.True(t, o.Sound(make([]byte, 1000)))
	}
	before := o.Waits()
	assert.False(t, o.Sound(make([]byte, 160)))
	assert.Equal(t, before, o.Waits())
	assert.True(t, o.Event(make([]byte, 160)))
	assert.Greater(t, o.Waits(), before)
}

func TestThePulseOfALink(t *testing.T) {
	t.Parallel()
	var p lend.Pulse
	beats := 0
	for range 31 {
		say, err := p.Tick(false, false, 0)
		require.NoError(t, err)
		if say {
			beats++
		}
	}
	assert.Equal(t, 4, beats, "one in eight without sessions")
	say, err := p.Tick(true, false, 0)
	require.NoError(t, err, "from now on it is looked for more often")
	assert.True(t, say)
	for range 3 {
		_, err = p.Tick(true, false, 0)
		require.NoError(t, err)
	}
	_, err = p.Tick(true, true, 0)
	require.NoError(t, err)
	for range 3 {
		_, err = p.Tick(true, false, 0)
		require.NoError(t, err)
	}
	_, err = p.Tick(true, false, 0)
	require.Error(t, err, "silent for four beats")
	p = lend.Pulse{}
	for range 3 {
		_, err = p.Tick(true, true, lend.SoundMost+1)
		require.NoError(t, err)
	}
	_, err = p.Tick(true, true, lend.SoundMost+1)
	require.Error(t, err, "or full")
}

func TestMarksNeverGoBack(t *testing.T) {
	t.Parallel()
	var h lend.Hand
	now := time.Now()
	assert.Zero(t, h.At(now))
	h.Tell(3*time.Second, false, now)
	assert.Equal(t, 3*time.Second, h.At(now.Add(time.Minute)), "it does not run yet")
	h.Tell(3*time.Second, true, now)
	assert.Equal(t, 4*time.Second, h.At(now.Add(time.Second)))
	h.Tell(3500*time.Millisecond, true, now.Add(time.Second))
	assert.Equal(t, 4*time.Second, h.At(now.Add(time.Second+200*time.Millisecond)))
	assert.Equal(t, 4500*time.Millisecond, h.At(now.Add(2*time.Second)))
}
