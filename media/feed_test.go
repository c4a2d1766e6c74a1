package media_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/media"
)

func TestAFeedIsHeardWhileItIsMadeAndItsUnheardPartCanBeTakenBack(t *testing.T) {
	a, b := engine(t), engine(t)
	var told ear
	sa, sb := open(t, a, media.Options{Notify: told.notify}), open(t, b, media.Options{})
	ta, tb := media.NewTurn(sa), media.NewTurn(sb)
	connect(t, sa, sb)
	turns := func(n int) {
		for range n {
			ta.Frame()
			tb.Frame()
		}
	}
	var heard []byte
	sb.Hear(func(frame []byte) { heard = append(heard, frame...) })
	clip := chirp(400 * time.Millisecond)
	feed := new(media.Feed)
	sa.PlayFeed(1, feed)
	feed.Write(clip[:320])
	turns(10)
	assert.NotContains(t, string(heard), string(clip[100:300]), "too little to begin with")
	feed.Write(clip[320:1600])
	turns(30)
	assert.Contains(t, string(heard), string(clip[:1600]), "it is heard before it is whole")
	assert.Empty(t, told.all(), "and is not over")
	feed.Write(clip[1600:2400])
	turns(2)
	assert.Equal(t, 320, feed.TakeBack(1600), "two frames of what follows were heard")
	feed.Write(clip[2400:])
	feed.End()
	turns(20)
	assert.Contains(t, told.all(), media.Event(media.Played{ID: 1, Heard: clip.Duration() - 60*time.Millisecond}))
	assert.NotContains(t, string(heard), string(clip[1920:2400]), "what was taken back is not")
	assert.Contains(t, string(heard), string(clip[2400:]))

	sa.PlayFeed(2, new(media.Feed))
	turns(2)
	sa.StopPlaying()
	turns(2)
	assert.Contains(t, told.all(), media.Event(media.Played{ID: 2, Interrupted: true}))
}
