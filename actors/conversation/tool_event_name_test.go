package conversation_test

import (
	"context"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/actors/mailbox/actortest"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media/speech"
)

// namedToolRuntime is a fakeRuntime with the tool look_up, which succeeds, and the tool charge, which fails.
type namedToolRuntime struct{ fakeRuntime }

func (*namedToolRuntime) CallTool(_ context.Context, _ *domain.Script, a pathway.ActionRequest) conversation.ToolResult {
	switch a.Target {
	case "tool_1":
		return conversation.ToolResult{OK: true, Name: "look_up", Text: "{}"}
	case "tool_2":
		return conversation.ToolResult{Name: "charge", Text: "refused"}
	}
	return conversation.ToolResult{Text: "the tool was deleted"}
}

func TestEventsNameToolsByName(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := &fixture{
			t: t, sys: sys, runtime: new(namedToolRuntime), player: &fakePlayer{begun: time.Now()}, recognizer: new(fakeRecognizer),
			voice: &fakeSynthesizer{synthesized: map[string]int{}, fails: map[string]int{}},
		}
		s.ear, s.synthesizer = new(speech.AudioTap), s.voice
		s.start(domain.Script{Pathway: domain.Pathway{
			Start: "a",
			Nodes: []domain.Node{
				{ID: "a", Type: domain.NodeTool, ToolID: "tool_1"}, {ID: "b", Type: domain.NodeTool, ToolID: "tool_2"}, {ID: "c", Type: domain.NodeTool, ToolID: "tool_3"}, {ID: "bye", Type: domain.NodeEnd},
			},
			Edges: []domain.Edge{edge("a", "b", domain.EdgeAlways, ""), edge("b", "c", domain.EdgeAlways, ""), edge("c", "bye", domain.EdgeAlways, "")},
		}})
		s.send(conversation.StartConversation{})
		time.Sleep(2 * time.Second)
		var actions, faults []string
		for _, message := range s.close() {
			switch m := message.(type) {
			case conversation.ActionPerformed:
				actions = append(actions, m.Action)
			case conversation.Fault:
				faults = append(faults, m.Message)
			}
		}
		assert.Equal(t, []string{"look_up", "charge", "tool_3"}, actions, "only a deleted tool has no name")
		assert.Equal(t, []string{"charge at node b: refused", "tool_3 at node c: the tool was deleted"}, faults)
	})
}
