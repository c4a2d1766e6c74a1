package conversation_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/actors/mailbox/actortest"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media/speech"
)

// reader is a mind whose tools tell numbers, and that reads along.
type reader struct {
	mind

	read  sync.Map // text by index
	wrote []string // all of them
}

func (r *reader) CallTool(_ context.Context, _ *domain.Script, a pathway.ActionRequest) conversation.ToolResult {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.acted = append(r.acted, a)
	if a.Target == "tool_2" {
		return conversation.ToolResult{Text: "no account 987654"}
	}
	return conversation.ToolResult{OK: true, Text: `{"account":987654,"list":["987654"]}`}
}

func (r *reader) SegmentChanged(s domain.Segment) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.read.Store(s.Index, s.Text)
	r.wrote = append(r.wrote, s.Text)
}

func TestASummaryThatTellsASecretIsNotKept(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := open(t, sys, domain.Script{Pathway: domain.Pathway{
			Start: "pin",
			Nodes: []domain.Node{
				{ID: "pin", Type: domain.NodeCollect, Prompt: "Pin", Length: 2, SaveAs: "pin", Sensitive: true, TimeoutSeconds: 9},
				{ID: "hand", Type: domain.NodeTransfer, Destination: "desk", Mode: domain.TransferBlind, Summary: "Pin {{pin}}"},
			},
			Edges: []domain.Edge{to("pin", "hand", domain.EdgeAlways, "")},
		}}, nil)
		s.send(conversation.StartConversation{})
		time.Sleep(2 * time.Second)
		s.press("12")
		assert.Contains(t, s.close(), any(conversation.RequestTransfer{Destination: "desk", Mode: domain.TransferBlind, Summary: "Pin 12"}))
	})
}

func TestWhatPatternsFindIsUsedAndNotTold(t *testing.T) {
	t.Parallel()
	script := domain.Script{Language: "en-US", Timezone: "UTC", Pathway: domain.Pathway{
		Start: "pin",
		Nodes: []domain.Node{
			{ID: "pin", Type: domain.NodeCollect, Prompt: "Pin", Length: 6, SaveAs: "pin", TimeoutSeconds: 9},
			{ID: "tool", Type: domain.NodeTool, ToolID: "tool_1", Arguments: map[string]string{"pin": "{{pin}}"}},
			{ID: "fails", Type: domain.NodeTool, ToolID: "tool_2"},
			{
				ID: "number", Type: domain.NodeCollect, Input: "speech", Prompt: "So {{pin}}, and your number?", TimeoutSeconds: 9,
				Set: &domain.Assign{Notes: "pin {{pin}}", Variables: map[string]string{"both": "{{pin}} of {{name}}"}},
			},
			{ID: "hand", Type: domain.NodeTransfer, Destination: "desk", Mode: domain.TransferBlind, Summary: "Pin {{pin}}"},
		},
		Edges: []domain.Edge{
			to("pin", "tool", domain.EdgeAlways, ""), to("tool", "fails", domain.EdgeAlways, ""), to("fails", "number", domain.EdgeFailure, ""),
			{From: "number", To: "hand", When: domain.When{Type: domain.EdgeIntent, Intent: "number", Words: []string{"number"}}},
		},
	}}
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		m := new(reader)
		s := &stage{
			t: t, sys: sys, mind: m, sound: &sound{begun: time.Now()}, ears: new(ears), redact: domain.Redaction{Patterns: []string{`\d{5,}`}}.Redactor(),
			voice: &speaker{asked: map[string]int{}, takes: 100 * time.Millisecond, fails: map[string]int{}},
		}
		s.ear, s.speaks = new(speech.AudioTap), s.voice
		s.enter(script)
		s.send(conversation.StartConversation{})
		time.Sleep(2 * time.Second)
		s.press("123456")
		time.Sleep(3 * time.Second)
		s.says("my number is 765432", 0.9, 900*time.Millisecond)
		time.Sleep(time.Second)
		heard := s.close()

		for i, told := range heard {
			if x, ok := told.(conversation.RequestTransfer); ok {
				assert.Equal(t, conversation.RequestTransfer{Destination: "desk", Mode: domain.TransferBlind, Summary: "Pin 123456", RedactedSummary: "Pin [redacted]"}, x)
				continue
			}
			shown := fmt.Sprintf("%+v", told)
			if a, ok := told.(conversation.ActionPerformed); ok {
				shown = string(a.Arguments) + string(a.Result)
				assert.Contains(t, shown, "[redacted]")
			}
			for _, secret := range []string{"123456", "987654", "765432"} {
				assert.NotContains(t, shown, secret, "%d: %T", i, told)
			}
		}
		assert.Equal(t, []string{
			"agent: Pin", "caller: [pressed [redacted]]", "agent: So [redacted], and your number?", "caller: my number is [redacted]",
		}, texts(heard))
		f, ok := heard[len(heard)-1].(conversation.ConversationFinished)
		require.True(t, ok)
		assert.Equal(t, map[string]string{"pin": "[redacted]", "both": "[redacted] of Ada"}, f.Result.Variables)
		assert.Equal(t, "pin [redacted]", f.Result.Notes)

		kinds := make([]string, 0, len(heard))
		for _, told := range heard {
			kinds = append(kinds, strings.TrimPrefix(fmt.Sprintf("%T", told), "conversation."))
		}
		assert.Subset(t, kinds, []string{"Acted", "Fault", "Intent", "Transfer", "Finished"}, "all that could tell has told")
		last, _ := m.read.Load(3)
		assert.Equal(t, "my number is [redacted]", last, "who reads along")

		m.mu.Lock()
		all := strings.Join(m.wrote, "\n")
		m.mu.Unlock()
		assert.Equal(t, 1, strings.Count(all, "[pressed …]"), "keys that come one by one are not told one by one")
		assert.Contains(t, all, "[pressed [redacted]]")
		assert.NotRegexp(t, `[1-9]`, all)

		assert.Equal(t, 1, s.voice.asked["So 123456, and your number?"], "the caller hears it")
		given, err := json.Marshal(m.acted[0].Arguments)
		require.NoError(t, err)
		assert.JSONEq(t, `{"pin":"123456"}`, string(given), "the tool gets it")
	})
}

func TestKeysOfSomebodyElseAreOneInputAsWell(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := &stage{
			t: t, sys: sys, sound: &sound{begun: time.Now()}, ears: new(ears), redact: domain.Redaction{Patterns: []string{`\d{5,}`}}.Redactor(),
			voice: &speaker{asked: map[string]int{}, fails: map[string]int{}},
		}
		s.ear, s.speaks = new(speech.AudioTap), s.voice
		s.enter(menu())
		s.send(conversation.StartConversation{})
		time.Sleep(time.Second)
		s.send(conversation.PauseAgent{}, conversation.HumanPresenceChanged{Present: true})
		for _, key := range []byte("123456") {
			s.send(conversation.HumanKeyPressed{Key: key})
			time.Sleep(time.Second)
		}
		time.Sleep(3 * time.Second)
		s.send(conversation.HumanKeyPressed{Key: '7'})
		s.press("12")
		assert.Equal(t, []string{
			"agent: Ask Ada", "human: [on the line]", "human: [pressed [redacted]]", "human: [pressed 7]", "caller: [pressed 12]",
		}, texts(s.close()))
	})
}

func TestWhoReadsAlongIsToldKeysThatAreNoSecretWhenTheyAreAll(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		m := new(reader)
		s := &stage{
			t: t, sys: sys, mind: m, sound: &sound{begun: time.Now()}, ears: new(ears), redact: domain.Redaction{Patterns: []string{`\d{5,}`}}.Redactor(),
			voice: &speaker{asked: map[string]int{}, fails: map[string]int{}},
		}
		s.ear, s.speaks = new(speech.AudioTap), s.voice
		s.enter(menu())
		s.send(conversation.StartConversation{})
		time.Sleep(2 * time.Second)
		s.send(conversation.PauseAgent{}, conversation.HumanPresenceChanged{Present: true})
		keyed := func(keys string) (told string) {
			s.press(keys)
			last, _ := m.read.Load(2)
			told, _ = last.(string)
			return told
		}
		assert.Equal(t, "[pressed …]", keyed("12"))
		time.Sleep(2 * time.Second)
		assert.Equal(t, "[pressed …]", keyed("34"))
		time.Sleep(4 * time.Second)
		assert.Equal(t, "[pressed 1234]", keyed(""), "no key followed")
		keyed("5")
		s.close()
		last, _ := m.read.Load(3)
		assert.Equal(t, "[pressed 5]", last, "at the end they are all")
	})
}

func TestWhatIsCutIsRedactedBefore(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		long := strings.Repeat("x", 1018) + " 123456" // cut behind 12345
		s := &stage{
			t: t, sys: sys, mind: &teller{tells: strings.Repeat("x", 4090) + " 123456"}, sound: &sound{begun: time.Now()}, ears: new(ears),
			redact: domain.Redaction{Patterns: []string{`\d{6}`}}.Redactor(), voice: &speaker{asked: map[string]int{}, fails: map[string]int{}},
		}
		s.ear, s.speaks = new(speech.AudioTap), s.voice
		s.enter(domain.Script{Pathway: domain.Pathway{
			Start: "tool",
			Nodes: []domain.Node{
				{ID: "tool", Type: domain.NodeTool, ToolID: "tool_1", Arguments: map[string]string{"a": long}},
				{ID: "bye", Type: domain.NodeEnd},
			},
			Edges: []domain.Edge{to("tool", "bye", domain.EdgeAlways, "")},
		}})
		s.send(conversation.StartConversation{})
		time.Sleep(2 * time.Second)
		acts := 0
		for _, told := range s.close() {
			if a, ok := told.(conversation.ActionPerformed); ok {
				acts++
				assert.NotContains(t, string(a.Arguments)+string(a.Result), "123")
			}
		}
		assert.Equal(t, 1, acts)
	})
}

// teller is a mind whose tools tell one thing.
type teller struct {
	mind

	tells string
}

func (r *teller) CallTool(context.Context, *domain.Script, pathway.ActionRequest) conversation.ToolResult {
	return conversation.ToolResult{OK: true, Text: r.tells}
}
