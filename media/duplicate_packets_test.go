package media_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media"
)

func TestCopiesOfPacketsAreCountedSeparatelyAndKeepMOS(t *testing.T) {
	t.Parallel()
	hear := func(copies ...uint16) media.Stats {
		p := newPeer(t)
		s := open(t, engine(t), media.Options{})
		turn := media.NewTurn(s)
		_, err := s.Answer(p.sdp(""))
		require.NoError(t, err)
		s.Begin()
		for range 150 {
			p.say(t, s.LocalPort(), 1, 0, 0x90)
			now := p.seq
			for _, back := range copies {
				if p.seq = now - 1 - back; back < now {
					p.say(t, s.LocalPort(), 1, 0, 0x90)
				}
			}
			p.seq = now
			turn.Frame()
		}
		return s.Stats()
	}
	clean, doubled := hear(), hear(0, 1, 6, 70)
	assert.Equal(t, uint64(150), doubled.PacketsReceived)
	assert.Equal(t, uint64(150+149+144+80), doubled.PacketsRepeated)
	assert.Zero(t, clean.PacketsRepeated)
	assert.Zero(t, doubled.PacketsLate+doubled.PacketsLost+doubled.PacketsRefused)
	assert.Greater(t, clean.MOS, 4.3)
	assert.InDelta(t, clean.MOS, doubled.MOS, 0.001)
	assert.Equal(t, clean.ReceivedFor, doubled.ReceivedFor)
}
