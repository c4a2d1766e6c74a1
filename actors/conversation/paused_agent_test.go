package conversation_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/actors/mailbox/actortest"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
)

func (s *fakePlayer) record(what string, on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.did = append(s.did, what+" "+strconv.FormatBool(on))
}

func transcriptLines(messages []any) []string {
	f, _ := messages[len(messages)-1].(conversation.FinishReply)
	var out []string
	for _, g := range f.Segments {
		out = append(out, g.Speaker+": "+g.Text)
	}
	return out
}

func TestOutOfBandTextIsSpokenBetweenPrompts(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := openConversation(t, sys, menuScript(), nil)
		s.send(conversation.StartConversation{})
		time.Sleep(600 * time.Millisecond)
		s.send(conversation.SpeakText{Text: "Wait"}, conversation.SpeakText{Text: "Still"})
		time.Sleep(3100 * time.Millisecond)
		assert.Equal(t, []string{"play A", "play W", "play S"}, s.player.actions(), "after the prompt, in order")
		time.Sleep(3500 * time.Millisecond)
		assert.Len(t, s.player.actions(), 3, "the question gets its four seconds afterwards")
		s.send(conversation.SpeakText{Text: "More"})
		time.Sleep(1200 * time.Millisecond)
		s.pressKeys("1")
		time.Sleep(3 * time.Second)
		messages := s.close()
		assert.Equal(t, []string{"play A", "play W", "play S", "play M", "play Y"}, s.player.actions())
		assert.Equal(t, []string{"agent: Ask Ada", "agent: Wait", "agent: Still", "agent: More", "caller: [pressed 1]", "agent: Yes"}, transcriptLines(messages))
	})
}

func TestKeyDuringOutOfBandTextAnswersPrompt(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := openConversation(t, sys, menuScript(), nil)
		s.send(conversation.StartConversation{})
		time.Sleep(2 * time.Second)
		s.send(conversation.SpeakText{Text: "Wait"})
		time.Sleep(500 * time.Millisecond)
		s.pressKeys("1")
		time.Sleep(3 * time.Second)
		messages := s.close()
		assert.Equal(t, []string{"play A", "play W", "play Y"}, s.player.actions())
		assert.Equal(t, conversation.PathwayEnded{Outcome: domain.OutcomeConfirmed}, messages[0])
		f, _ := messages[1].(conversation.FinishReply)
		assert.True(t, f.Segments[1].Interrupted, "cut short")
	})
}

func TestPausedAgentIsSilentAndIgnoresKeys(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		script := menuScript()
		script.Limits.SilenceSeconds = 5
		s := openConversation(t, sys, script, nil)
		s.send(conversation.StartConversation{})
		time.Sleep(600 * time.Millisecond)
		s.send(conversation.PauseAgent{}, conversation.SpeakText{Text: "Never"}, conversation.HumanPresenceChanged{Present: true})
		time.Sleep(time.Minute)
		s.pressKeys("1")
		s.send(conversation.HumanKeyPressed{Key: '5'})
		time.Sleep(time.Second)
		assert.Equal(t, []string{"play A", "stop"}, s.player.actions(), "neither silence nor a key ends it")
		s.send(conversation.ResumeAgent{OK: true})
		time.Sleep(1200 * time.Millisecond)
		assert.Equal(t, []string{"play A", "stop", "play A"}, s.player.actions(), "the question that was cut is asked again")
		s.pressKeys("1")
		time.Sleep(3 * time.Second)
		messages := s.close()
		assert.Equal(t, []string{
			"agent: Ask —", "human: [on the line]", "caller: [pressed 1]", "human: [pressed 5]", "agent: Ask Ada", "caller: [pressed 1]", "agent: Yes",
		}, transcriptLines(messages))
		f, _ := messages[len(messages)-1].(conversation.FinishReply)
		assert.Equal(t, int64(61_000), f.Segments[1].EndMs-f.Segments[1].StartMs, "from when to when")
	})
}

func TestPathwayContinuesAfterFailedTransfer(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := openConversation(t, sys, domain.Script{Pathway: domain.Pathway{
			Start: "hand",
			Nodes: []domain.Node{
				{ID: "hand", Type: domain.NodeTransfer, Prompt: "One moment", Destination: "desk", Mode: domain.TransferBlind},
				{ID: "sorry", Type: domain.NodeEnd, Prompt: "Sorry", Outcome: domain.OutcomeDeclined},
			},
			Edges: []domain.Edge{edge("hand", "sorry", domain.EdgeFailure, "")},
		}}, nil)
		s.send(conversation.StartConversation{})
		time.Sleep(20 * time.Second)
		s.send(conversation.ResumeAgent{OK: false})
		time.Sleep(3 * time.Second)
		messages := s.close()
		assert.Equal(t, []any{
			conversation.RequestTransfer{Destination: "desk", Mode: domain.TransferBlind},
			conversation.PathwayEnded{Outcome: domain.OutcomeDeclined},
		}, messages[:2])
		assert.Equal(t, []string{"play O", "play S"}, s.player.actions())
	})
}

func TestSecretInputIsHiddenFromRecording(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := openConversation(t, sys, domain.Script{Pathway: domain.Pathway{
			Start: "pin",
			Nodes: []domain.Node{
				{ID: "pin", Type: domain.NodeCollect, Prompt: "Pin", Length: 1, SaveAs: "pin", Sensitive: true},
				{ID: "end", Type: domain.NodeEnd, Prompt: "Thanks"},
			},
			Edges: []domain.Edge{edge("pin", "end", domain.EdgeElse, "")},
		}}, nil)
		s.send(conversation.StartConversation{})
		time.Sleep(1200 * time.Millisecond)
		s.pressKeys("4")
		time.Sleep(3 * time.Second)
		s.close()
		assert.Equal(t, []string{"hide true", "play P", "play T", "hide false"}, s.player.actions())
	})
}

func TestToolResultDuringPauseIsSpokenAfterResume(t *testing.T) {
	t.Parallel()
	call := pathway.ToolCall{ID: "c1", Name: "orders", Tool: "tool_1", Arguments: "{}"}
	m := &fakeRuntime{answers: []plannedResponse{{calls: []pathway.ToolCall{call}}, {say: []string{"In Berlin."}}}}
	messages := runOrderQuestion(t, m, converseScript(), func(s *fixture) {
		advanceTime(2500 * time.Millisecond)
		assert.Equal(t, "play O", s.player.actions()[len(s.player.actions())-1], "one moment")
		s.send(conversation.PauseAgent{})
		advanceTime(10 * time.Second)
		s.send(conversation.ResumeAgent{OK: true})
		advanceTime(3 * time.Second)
	})
	assert.Contains(t, transcriptLines(messages), "agent: In Berlin.")
}
