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

// redactionRuntime is a fakeRuntime that watches the transcript and whose tools return account numbers.
type redactionRuntime struct {
	fakeRuntime

	read  sync.Map // current text by segment index
	wrote []string // all texts in order
}

func (r *redactionRuntime) CallTool(_ context.Context, _ *domain.Script, a pathway.ActionRequest) conversation.ToolResult {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.toolCalls = append(r.toolCalls, a)
	if a.Target == "tool_2" {
		return conversation.ToolResult{Text: "no account 987654"}
	}
	return conversation.ToolResult{OK: true, Text: `{"account":987654,"list":["987654"]}`}
}

func (r *redactionRuntime) SegmentChanged(s domain.Segment) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.read.Store(s.Index, s.Text)
	r.wrote = append(r.wrote, s.Text)
}

func TestSummaryWithSecretIsNotStored(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := openConversation(t, sys, domain.Script{Pathway: domain.Pathway{
			Start: "pin",
			Nodes: []domain.Node{
				{ID: "pin", Type: domain.NodeCollect, Prompt: "Pin", Length: 2, SaveAs: "pin", Sensitive: true, TimeoutSeconds: 9},
				{ID: "hand", Type: domain.NodeTransfer, Destination: "desk", Mode: domain.TransferBlind, Summary: "Pin {{pin}}"},
			},
			Edges: []domain.Edge{edge("pin", "hand", domain.EdgeAlways, "")},
		}}, nil)
		s.send(conversation.StartConversation{})
		time.Sleep(2 * time.Second)
		s.pressKeys("12")
		assert.Contains(t, s.close(), any(conversation.RequestTransfer{Destination: "desk", Mode: domain.TransferBlind, Summary: "Pin 12"}))
	})
}

func TestRedactedTextIsUsedButNotReported(t *testing.T) {
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
			edge("pin", "tool", domain.EdgeAlways, ""), edge("tool", "fails", domain.EdgeAlways, ""), edge("fails", "number", domain.EdgeFailure, ""),
			{From: "number", To: "hand", When: domain.When{Type: domain.EdgeIntent, Intent: "number", Words: []string{"number"}}},
		},
	}}
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		m := new(redactionRuntime)
		s := &fixture{
			t: t, sys: sys, runtime: m, player: &fakePlayer{begun: time.Now()}, recognizer: new(fakeRecognizer), redact: domain.Redaction{Patterns: []string{`\d{5,}`}}.Redactor(),
			voice: &fakeSynthesizer{synthesized: map[string]int{}, takes: 100 * time.Millisecond, fails: map[string]int{}},
		}
		s.ear, s.synthesizer = new(speech.AudioTap), s.voice
		s.start(script)
		s.send(conversation.StartConversation{})
		time.Sleep(2 * time.Second)
		s.pressKeys("123456")
		time.Sleep(3 * time.Second)
		s.callerSays("my number is 765432", 0.9, 900*time.Millisecond)
		time.Sleep(time.Second)
		messages := s.close()

		assert.Contains(t, s.voice.secret, "So 123456, and your number?", "the synthesizer must not cache it")
		for i, message := range messages {
			if x, ok := message.(conversation.RequestTransfer); ok {
				assert.Equal(t, conversation.RequestTransfer{Destination: "desk", Mode: domain.TransferBlind, Summary: "Pin 123456", RedactedSummary: "Pin [redacted]"}, x)
				continue
			}
			shown := fmt.Sprintf("%+v", message)
			if a, ok := message.(conversation.ActionPerformed); ok {
				shown = string(a.Arguments) + string(a.Result)
				assert.Contains(t, shown, "[redacted]")
			}
			for _, secret := range []string{"123456", "987654", "765432"} {
				assert.NotContains(t, shown, secret, "%d: %T", i, message)
			}
		}
		assert.Equal(t, []string{
			"agent: Pin", "caller: [pressed [redacted]]", "agent: So [redacted], and your number?", "caller: my number is [redacted]",
		}, transcriptLines(messages))
		f, ok := messages[len(messages)-1].(conversation.FinishReply)
		require.True(t, ok)
		assert.Equal(t, map[string]string{"pin": "[redacted]", "both": "[redacted] of Ada"}, f.Result.Variables)
		assert.Equal(t, "pin [redacted]", f.Result.Notes)

		kinds := make([]string, 0, len(messages))
		for _, message := range messages {
			kinds = append(kinds, strings.TrimPrefix(fmt.Sprintf("%T", message), "conversation."))
		}
		assert.Subset(t, kinds, []string{"ActionPerformed", "Fault", "IntentRecognized", "RequestTransfer", "FinishReply"}, "all kinds of messages were sent")
		last, _ := m.read.Load(3)
		assert.Equal(t, "my number is [redacted]", last, "the watcher gets redacted text")

		m.mu.Lock()
		all := strings.Join(m.wrote, "\n")
		m.mu.Unlock()
		assert.Equal(t, 1, strings.Count(all, "[pressed …]"), "keys that come one by one are not message one by one")
		assert.Contains(t, all, "[pressed [redacted]]")
		assert.NotRegexp(t, `[1-9]`, all)

		assert.Equal(t, 1, s.voice.synthesized["So 123456, and your number?"], "the caller hears it")
		given, err := json.Marshal(m.toolCalls[0].Arguments)
		require.NoError(t, err)
		assert.JSONEq(t, `{"pin":"123456"}`, string(given), "the tool gets it")
	})
}

func TestHumanKeysAreRedactedAsOneInput(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := &fixture{
			t: t, sys: sys, player: &fakePlayer{begun: time.Now()}, recognizer: new(fakeRecognizer), redact: domain.Redaction{Patterns: []string{`\d{5,}`}}.Redactor(),
			voice: &fakeSynthesizer{synthesized: map[string]int{}, fails: map[string]int{}},
		}
		s.ear, s.synthesizer = new(speech.AudioTap), s.voice
		s.start(menuScript())
		s.send(conversation.StartConversation{})
		time.Sleep(time.Second)
		s.send(conversation.PauseAgent{}, conversation.HumanPresenceChanged{Present: true})
		for _, key := range []byte("123456") {
			s.send(conversation.HumanKeyPressed{Key: key})
			time.Sleep(time.Second)
		}
		time.Sleep(3 * time.Second)
		s.send(conversation.HumanKeyPressed{Key: '7'})
		s.pressKeys("12")
		assert.Equal(t, []string{
			"agent: Ask Ada", "human: [on the line]", "human: [pressed [redacted]]", "human: [pressed 7]", "caller: [pressed 12]",
		}, transcriptLines(s.close()))
	})
}

func TestWatcherGetsCompleteKeySequences(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		m := new(redactionRuntime)
		s := &fixture{
			t: t, sys: sys, runtime: m, player: &fakePlayer{begun: time.Now()}, recognizer: new(fakeRecognizer), redact: domain.Redaction{Patterns: []string{`\d{5,}`}}.Redactor(),
			voice: &fakeSynthesizer{synthesized: map[string]int{}, fails: map[string]int{}},
		}
		s.ear, s.synthesizer = new(speech.AudioTap), s.voice
		s.start(menuScript())
		s.send(conversation.StartConversation{})
		time.Sleep(2 * time.Second)
		s.send(conversation.PauseAgent{}, conversation.HumanPresenceChanged{Present: true})
		keyed := func(keys string) (message string) {
			s.pressKeys(keys)
			last, _ := m.read.Load(2)
			message, _ = last.(string)
			return message
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

func TestTextIsRedactedBeforeTruncation(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		long := strings.Repeat("x", 1018) + " 123456" // cut after 12345
		s := &fixture{
			t: t, sys: sys, runtime: &fixedResultRuntime{result: strings.Repeat("x", 4090) + " 123456"}, player: &fakePlayer{begun: time.Now()}, recognizer: new(fakeRecognizer),
			redact: domain.Redaction{Patterns: []string{`\d{6}`}}.Redactor(), voice: &fakeSynthesizer{synthesized: map[string]int{}, fails: map[string]int{}},
		}
		s.ear, s.synthesizer = new(speech.AudioTap), s.voice
		s.start(domain.Script{Pathway: domain.Pathway{
			Start: "tool",
			Nodes: []domain.Node{
				{ID: "tool", Type: domain.NodeTool, ToolID: "tool_1", Arguments: map[string]string{"a": long}},
				{ID: "bye", Type: domain.NodeEnd},
			},
			Edges: []domain.Edge{edge("tool", "bye", domain.EdgeAlways, "")},
		}})
		s.send(conversation.StartConversation{})
		time.Sleep(2 * time.Second)
		acts := 0
		for _, message := range s.close() {
			if a, ok := message.(conversation.ActionPerformed); ok {
				acts++
				assert.NotContains(t, string(a.Arguments)+string(a.Result), "123")
			}
		}
		assert.Equal(t, 1, acts)
	})
}

// fixedResultRuntime is a fakeRuntime whose tools return one fixed result.
type fixedResultRuntime struct {
	fakeRuntime

	result string
}

func (r *fixedResultRuntime) CallTool(context.Context, *domain.Script, pathway.ActionRequest) conversation.ToolResult {
	return conversation.ToolResult{OK: true, Text: r.result}
}
