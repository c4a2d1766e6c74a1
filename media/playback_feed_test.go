package media_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media"
)

func TestFeedPlaysWhileWrittenAndTakeBackRemovesUnplayedPart(t *testing.T) {
	a, b := engine(t), engine(t)
	var reported eventLog
	sa, sb := open(t, a, media.Options{Notify: reported.notify}), open(t, b, media.Options{})
	ta, tb := media.NewTurn(sa), media.NewTurn(sb)
	connect(t, sa, sb)
	turns := func(n int) {
		for range n {
			ta.Frame()
			tb.Frame()
		}
	}
	var heard []byte
	sb.SetListener(func(frame []byte) { heard = append(heard, frame...) })
	clip := chirp(400 * time.Millisecond)
	feed := new(media.Feed)
	sa.PlayFeed(1, feed)
	feed.Write(clip[:320])
	turns(10)
	assert.NotContains(t, string(heard), string(clip[100:300]), "too little audio to start playback")
	feed.Write(clip[320:1600])
	turns(30)
	assert.Contains(t, string(heard), string(clip[:1600]), "the feed plays before it is complete")
	assert.Empty(t, reported.all(), "Played is not reported yet")
	feed.Write(clip[1600:2400])
	turns(2)
	assert.Equal(t, 320, feed.TakeBack(1600), "two frames after the position were played")
	feed.Write(clip[2400:])
	feed.End()
	turns(20)
	assert.Contains(t, reported.all(), media.Event(media.Played{ID: 1, Heard: clip.Duration() - 60*time.Millisecond}))
	assert.NotContains(t, string(heard), string(clip[1920:2400]), "the removed part is not played")
	assert.Contains(t, string(heard), string(clip[2400:]))

	sa.PlayFeed(2, new(media.Feed))
	turns(2)
	sa.StopPlaying()
	turns(2)
	assert.Contains(t, reported.all(), media.Event(media.Played{ID: 2, Interrupted: true}))
}

func TestOnwardStaysWithinAheadOfPlayedPosition(t *testing.T) {
	feed := new(media.Feed)
	feed.Write(chirp(time.Second))
	at, more, over, err := feed.ReadAhead(t.Context(), 0, 3200)
	require.NoError(t, err)
	assert.Zero(t, at)
	assert.Len(t, more, 3200)
	assert.False(t, over)
	synctest.Test(t, func(t *testing.T) {
		feed := new(media.Feed)
		feed.Write(chirp(time.Second))
		type step struct {
			at, n int
			over  bool
		}
		steps := make(chan step)
		go func() {
			for sent := 0; ; {
				at, more, over, err := feed.ReadAhead(t.Context(), sent, 3200)
				if err != nil {
					close(steps)
					return
				}
				sent = at + len(more)
				steps <- step{at, len(more), over}
				if over {
					close(steps)
					return
				}
			}
		}()
		assert.Equal(t, step{0, 3200, false}, <-steps)
		quiet := func() {
			synctest.Wait()
			select {
			case s := <-steps:
				t.Fatalf("no audio is due: %v", s)
			default:
			}
		}
		quiet()
		feed.SetPlayed(800)
		synctest.Wait()
		assert.Zero(t, feed.TakeBack(1600))
		feed.Write(chirp(100 * time.Millisecond))
		assert.Equal(t, step{3200, 800, false}, <-steps)
		assert.Equal(t, step{1600, 800, false}, <-steps, "other audio follows the removed part")
		quiet()
		feed.SetPlayed(700) // an old position
		quiet()
		assert.Equal(t, 800, feed.Played())
		assert.Zero(t, feed.TakeBack(2000))
		assert.Equal(t, step{2000, 0, false}, <-steps)
		feed.SetPlayed(9000)
		assert.Equal(t, 2000, feed.Played(), "at most the length of the feed")
		feed.Write(chirp(50 * time.Millisecond))
		assert.Equal(t, step{2000, 400, false}, <-steps)
		feed.End()
		assert.Equal(t, step{2400, 0, true}, <-steps)
	})
}
