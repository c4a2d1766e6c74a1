package media_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/tone"
)

func TestFrameAllocatesNothing(t *testing.T) {
	for name, codec := range map[string]media.Codec{"µ-law": media.PCMU, "A-law": media.PCMA} {
		t.Run(name, func(t *testing.T) {
			a, b := engine(t), engine(t)
			o := media.Options{Codecs: []media.Codec{codec}, RecordPath: filepath.Join(t.TempDir(), "a.wav")}
			sa, sb := open(t, a, o), open(t, b, media.Options{})
			ta, tb := media.NewTurn(sa), media.NewTurn(sb)
			connect(t, sa, sb)
			sa.Play(1, chirp(time.Minute))
			sb.Play(1, chirp(time.Minute))
			both := func() { ta.Frame(); tb.Frame() }
			for range 20 {
				both()
			}
			assert.Zero(t, testing.AllocsPerRun(100, both))
			sent := sa.Stats().PacketsSent
			assert.GreaterOrEqual(t, sent, uint64(120))
			assert.GreaterOrEqual(t, sb.Stats().PacketsReceived, sent-1, "every packet arrived within the frame")
		})
	}
}

func TestMediaTimeContinuesAfterMachineStall(t *testing.T) {
	e := engine(t)
	p := newPeer(t)
	s := open(t, e, media.Options{RecordPath: filepath.Join(t.TempDir(), "a.wav")})
	turn := media.NewTurn(s)
	_, err := s.Answer(p.sdp(""))
	require.NoError(t, err)
	s.Begin()
	s.Play(1, tone.Make(time.Second, 0.3, 440))
	turn.Frame()
	turn.Lapse(1200 * time.Millisecond)
	turn.Frame()
	assert.Equal(t, 1240*time.Millisecond, s.Position())
	eventually(t, "both frames", func() bool { return len(p.heard()) == 2 })
	assert.Equal(t, uint32(9600+160), p.heard()[1].Timestamp-p.heard()[0].Timestamp)
	_, done := s.Close()
	assert.Equal(t, 1240*time.Millisecond, (<-done).Duration)
}
