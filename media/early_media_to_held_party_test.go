package media_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/tone"
)

func TestPreviewReplacesHoldMusicWithEarlyMediaOneWay(t *testing.T) {
	for name, codecs := range map[string][2]media.Codec{"one codec": {media.PCMU, media.PCMU}, "two codecs": {media.PCMA, media.PCMU}} {
		t.Run(name, func(t *testing.T) {
			remote, local := engine(t), engine(t)
			o := media.Options{Codecs: codecs[:1], RecordPath: t.TempDir() + "/caller"}
			caller, a := open(t, remote, o), open(t, local, media.Options{Codecs: codecs[:1], RecordPath: t.TempDir() + "/a"})
			human, b := open(t, remote, media.Options{Codecs: codecs[1:], RecordPath: t.TempDir() + "/human"}), open(t, local, media.Options{Codecs: codecs[1:]})
			s := &bridgeFixture{t: t}
			for _, one := range []*media.Session{caller, human, a, b} {
				s.turns = append(s.turns, media.NewTurn(one))
			}
			connect(t, caller, a)
			ringback, said, news := tone.Make(6*time.Second, 0.3, 1900), chirp(500*time.Millisecond), reversedChirp(500*time.Millisecond)
			a.Hold(ringback)
			undo := media.Preview(a, b)
			caller.Play(1, said)
			caller.SendDigits(2, "5")
			s.run(600 * time.Millisecond)
			preview, err := human.Answer(b.Offer()) // the 183; b has not begun
			require.NoError(t, err)
			require.NoError(t, b.Accept(preview))
			human.Begin()
			human.Play(1, news)
			s.run(1400 * time.Millisecond)
			assert.Empty(t, a.HumanSpans(), "no human has been bridged yet")
			assert.Positive(t, b.Stats().PacketsReceived)
			undo()
			s.run(time.Second)
			require.NoError(t, b.Accept(preview), "the 200 repeats the SDP of the 183")
			b.Begin()
			a.Resume()
			media.Bridge(a, b)
			human.Play(2, said)
			s.run(1200 * time.Millisecond)
			assert.Len(t, a.HumanSpans(), 1)

			left, right, _ := s.recording(a)
			callerHeard, _, _ := s.recording(caller)
			humanHeard, _, _ := s.recording(human)
			const second = 8000
			ring := tone.Make(200*time.Millisecond, 0.3, 1900)
			assert.Greater(t, alike(right[:second/2], ring), 0.8, "hold music until early media arrive")
			assert.Greater(t, alike(right[second/2:2*second], news), 0.95, "then the early media")
			assert.Greater(t, alike(callerHeard, news), 0.95)
			assert.Less(t, alike(right[second:2*second], ring), 0.5, "hold music is off")
			assert.Greater(t, alike(right[2*second+second/4:3*second], ring), 0.8, "hold music again after the preview")
			assert.Greater(t, alike(right[3*second:], said), 0.95, "the bridge")
			assert.Greater(t, alike(left, said), 0.95, "the caller is still recorded")
			assert.Less(t, alike(humanHeard[:2*second], said), 0.3, "the human does not hear the caller")
		})
	}
}

func TestLaterAnswerFromAnotherBranchReplacesFirst(t *testing.T) {
	t.Parallel()
	e := engine(t)
	s := open(t, e, media.Options{})
	first, second := newPeer(t), newPeer(t)
	s.Offer()
	require.NoError(t, s.Accept(first.sdp("")))
	first.say(t, s.LocalPort(), 5, 0, 0x11)
	eventually(t, "packets of the first peer are counted", func() bool { return s.Stats().PacketsReceived == 5 })
	require.NoError(t, s.Accept(first.sdp("")), "the same answer again")
	first.say(t, s.LocalPort(), 5, 0, 0x11)
	eventually(t, "the source is still accepted", func() bool { return s.Stats().PacketsReceived == 10 })
	require.NoError(t, s.Accept(second.sdp("a=sendonly\r\n")), "another fork")
	second.say(t, s.LocalPort(), 5, 0, 0x22)
	eventually(t, "the other peer is accepted", func() bool { return s.Stats().PacketsReceived >= 13 })
	require.Error(t, s.Accept([]byte("v=0\r\n")), "invalid SDP changes nothing")
	require.Error(t, s.Accept(describe("10.9.8.7", 4000, "a=rtpmap:96 speex/8000\r\n")[:40]))
	first.forget()
	require.NoError(t, s.Accept(first.sdp("")), "the first branch answers")
	s.Begin()
	refused := s.Stats().PacketsRefused
	first.say(t, s.LocalPort(), 5, 0, 0x11)
	second.say(t, s.LocalPort(), 3, 0, 0x22)
	eventually(t, "the other peer is refused", func() bool { return s.Stats().PacketsRefused >= refused+3 })
	eventually(t, "the first peer receives our audio", func() bool { return len(first.heard()) > 3 })
}
