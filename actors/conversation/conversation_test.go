package conversation_test

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/mailbox/actortest"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
)

// fakePlayer simulates playback in fake time and reports the same events as a media session.
type fakePlayer struct {
	rejected int // calls of RejectSpeech
	mu       sync.Mutex
	begun    time.Time
	tell     func(media.Event)
	id       uint64
	since    time.Time
	timer    *time.Timer
	left     time.Duration
	did      []string
}

func (s *fakePlayer) Play(id uint64, clip media.Clip) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.did = append(s.did, "play "+string(clip[:1]))
	s.id, s.since, s.left = id, time.Now(), clip.Duration()
	s.timer = time.AfterFunc(clip.Duration(), func() { s.tell(media.Played{ID: id, Heard: clip.Duration()}) })
}

// PlayFeed simulates the playback of a feed. The duration is that of the audio in the feed when the feed ends.
func (s *fakePlayer) PlayFeed(id uint64, feed *media.Feed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	clip, _, _ := feed.Wait(context.Background(), 0)
	s.did = append(s.did, "feed "+string(clip[:1]))
	s.id, s.since, s.left = id, time.Now(), time.Hour
	s.timer = time.AfterFunc(time.Hour, func() {})
	since, timer := s.since, s.timer
	go func() {
		for over := false; !over; {
			clip, over, _ = feed.Wait(context.Background(), feed.Len())
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.timer == timer && timer.Stop() {
			messages := time.Duration(feed.Len()) * time.Second / 8000
			s.timer = time.AfterFunc(max(messages-time.Since(since), 0), func() { s.tell(media.Played{ID: id, Heard: messages}) })
		}
	}()
}

func (s *fakePlayer) StopPlaying() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil && s.timer.Stop() {
		s.did = append(s.did, "stop")
		id, messages := s.id, time.Since(s.since)
		go s.tell(media.Played{ID: id, Interrupted: true, Heard: messages})
	}
}

func (s *fakePlayer) PausePlaying() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil && s.timer.Stop() {
		s.did = append(s.did, "pause")
		s.left -= time.Since(s.since)
	}
}

func (s *fakePlayer) ContinuePlaying() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.did = append(s.did, "continue")
	id := s.id
	s.since = time.Now()
	s.timer = time.AfterFunc(s.left, func() { s.tell(media.Played{ID: id}) })
}

func (s *fakePlayer) RejectSpeech() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rejected++
}

func (s *fakePlayer) rejections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rejected
}

func (s *fakePlayer) SendDigits(id uint64, digits string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.did = append(s.did, "send "+digits)
	time.AfterFunc(200*time.Millisecond, func() { s.tell(media.DigitsSent{ID: id}) })
}

func (s *fakePlayer) Position() time.Duration { return time.Since(s.begun) }

func (s *fakePlayer) actions() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.did...)
}

// fakeSynthesizer needs 100 ms to synthesize a text. The audio lasts one second and begins with the first letter of the text.
type fakeSynthesizer struct {
	mu          sync.Mutex
	synthesized map[string]int
	takes       time.Duration
	fails       map[string]int // number of failures by text
	voices      []string       // voice, language and text of each request
	secret      []string       // secret texts
}

func (s *fakeSynthesizer) Speak(ctx context.Context, r speech.Request) (media.Clip, error) {
	s.mu.Lock()
	s.synthesized[r.Text]++
	s.voices = append(s.voices, r.Voice+" "+r.Language+" "+r.Text)
	if r.Secret {
		s.secret = append(s.secret, r.Text)
	}
	s.fails[r.Text]--
	left := s.fails[r.Text]
	s.mu.Unlock()
	select {
	case <-time.After(s.takes):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if left >= 0 {
		return nil, errors.New("hoarse")
	}
	clip := make(media.Clip, 8000)
	clip[0] = r.Text[0]
	return clip, nil
}

// fixture runs a conversation and plays the role of its call.
type fixture struct {
	t           *testing.T
	synthesizer speech.Synthesizer // the synthesizer, or a wrapper of it
	sys         *actor.ActorSystem
	pid         *actor.PID // of the conversation
	root        *actor.PID
	player      *fakePlayer
	voice       *fakeSynthesizer
	runtime     conversation.AgentRuntime
	recognizer  *fakeRecognizer
	greeting    speech.Recognizer // of the words with which the call is answered; nil: none
	ear         *speech.AudioTap
	redact      *domain.Redactor
	after       *conversation.SavedState
	saved       *conversation.SavedState // the last state received
	deferTools  bool                     // tool calls wait for their checkpoint
	toolCalls   int                      // waiting tool calls, as last reported
	mu          sync.Mutex
	messages    []any
	took        []time.Duration
	suspensions []any // replies to Suspend and changes of BusyChanged
}

type spawnConversation struct{ script domain.Script }

func (spawnConversation) Control() {}

func openConversation(t *testing.T, sys *actor.ActorSystem, script domain.Script, fails map[string]int) *fixture {
	t.Helper()
	return openWithRuntime(t, sys, script, fails, nil)
}

func openWithRuntime(t *testing.T, sys *actor.ActorSystem, script domain.Script, fails map[string]int, m conversation.AgentRuntime) *fixture {
	t.Helper()
	if fails == nil {
		fails = map[string]int{}
	}
	s := &fixture{t: t, sys: sys, runtime: m, player: &fakePlayer{begun: time.Now()}, recognizer: new(fakeRecognizer), ear: new(speech.AudioTap), voice: &fakeSynthesizer{synthesized: map[string]int{}, takes: 100 * time.Millisecond, fails: fails}}
	s.synthesizer = s.voice
	return s.start(script)
}

// start spawns the conversation actor with a script.
func (s *fixture) start(script domain.Script) *fixture {
	sys := s.sys
	s.root = sys.Root.Spawn(mailbox.Props(func() actor.Actor { return s }, 100))
	sys.Root.Send(s.root, spawnConversation{script})
	synctest.Wait()
	s.player.tell = func(e media.Event) { sys.Root.Send(s.pid, conversation.MediaEvent{Event: e}) }
	return s
}

// Receive makes the fixture the parent actor of the conversation.
func (s *fixture) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case spawnConversation:
		s.pid = ctx.Spawn(mailbox.Props(func() actor.Actor {
			return conversation.New(conversation.Config{
				Script: m.script, Variables: map[string]string{"name": "Ada"}, Player: s.player, Synthesizer: s.synthesizer, Log: slog.New(slog.DiscardHandler),
				AgentRuntime: s.runtime, OptOutKeywords: []string{"stop", "9"}, Recognizer: s.recognizer, AudioTap: s.ear, DetectAnswerer: true, AnswerRecognizer: s.greeting,
				OnHideInput: func(on bool) { s.player.record("hide", on) }, Redact: s.redact,
				Checkpoints: true, SavedState: s.after,
			})
		}, 100))
	case conversation.CheckpointTaken:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.saved = m.Saved
		if m.ToolCalls > 0 {
			if s.deferTools {
				s.toolCalls = m.ToolCalls
				return
			}
			ctx.Send(s.pid, conversation.CheckpointStored{ToolCalls: m.ToolCalls})
		}
	case conversation.SuspendReply, conversation.BusyChanged:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.suspensions = append(s.suspensions, m)
	case conversation.PathwayEnded, conversation.Fault, conversation.FinishReply, conversation.RequestTransfer, conversation.OptOutRequested, conversation.AnswererDetected, conversation.ActionPerformed, conversation.IntentRecognized, conversation.AgentHandedOver:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.messages = append(s.messages, m)
		s.took = append(s.took, time.Since(s.player.begun))
	}
}

func (s *fixture) send(msgs ...any) {
	for _, m := range msgs {
		s.sys.Root.Send(s.pid, m)
	}
	synctest.Wait()
}

func (s *fixture) pressKeys(keys string) {
	for i := range len(keys) {
		s.send(conversation.MediaEvent{Event: media.Digit{Key: keys[i]}})
	}
}

func (s *fixture) close() []any {
	s.send(conversation.FinishConversation{})
	time.Sleep(time.Second) // speech in progress is recognized first
	s.sys.Root.Poison(s.root)
	time.Sleep(10 * time.Second)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.messages
}

func edge(from, edge string, t domain.EdgeType, digits string) domain.Edge {
	return domain.Edge{From: from, To: edge, When: domain.When{Type: t, Digits: digits}}
}

func menuScript() domain.Script {
	return domain.Script{Pathway: domain.Pathway{
		Start: "ask",
		Nodes: []domain.Node{
			{ID: "ask", Type: domain.NodeCollect, Prompt: "Ask {{name}}", Values: []string{"1", "2"}, TimeoutSeconds: 4},
			{ID: "yes", Type: domain.NodeEnd, Prompt: "Yes", Outcome: domain.OutcomeConfirmed},
			{ID: "bye", Type: domain.NodeEnd, Prompt: "Bye"},
		},
		Edges: []domain.Edge{edge("ask", "yes", domain.EdgeDTMF, "1"), edge("ask", "bye", domain.EdgeTimeout, "")},
	}}
}

func TestPathwayWithoutPromptsEndsAtOnce(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := openConversation(t, sys, domain.Script{Pathway: domain.Pathway{
			Start: "bye", Nodes: []domain.Node{{ID: "bye", Type: domain.NodeEnd, Outcome: domain.OutcomeDeclined}},
		}}, nil)
		s.send(conversation.StartConversation{})
		synctest.Wait() // no time passes
		s.mu.Lock()
		messages := append([]any(nil), s.messages...)
		s.mu.Unlock()
		assert.Equal(t, []any{conversation.PathwayEnded{Outcome: domain.OutcomeDeclined}}, messages)
		s.close()
	})
}

func TestKeyInterruptsPromptAndNextPromptIsPrepared(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := openConversation(t, sys, menuScript(), nil)
		s.send(conversation.StartConversation{})
		time.Sleep(600 * time.Millisecond) // 100 ms of synthesis and half a second of playback
		s.pressKeys("1")
		assert.Equal(t, []string{"play A", "stop", "play Y"}, s.player.actions(), "at once: it was made meanwhile")
		time.Sleep(2 * time.Second)
		messages := s.close()
		assert.Equal(t, []any{
			conversation.PathwayEnded{Outcome: domain.OutcomeConfirmed},
			conversation.FinishReply{
				Result: pathway.Result{Outcome: domain.OutcomeConfirmed},
				Segments: []domain.Segment{
					{Index: 0, Speaker: "agent", Text: "Ask —", StartMs: 100, EndMs: 600, Confidence: 1, Interrupted: true},
					{Index: 1, Speaker: "caller", Text: "[pressed 1]", StartMs: 600, EndMs: 600, Confidence: 1},
					{Index: 2, Speaker: "agent", Text: "Yes", StartMs: 600, EndMs: 1600, Confidence: 1},
				},
				SlowestTurn: 100 * time.Millisecond, // the first prompt; the next one was prepared
				Turns:       []domain.TurnLatency{{Input: domain.InputDTMF, AtMs: 600}},
			},
		}, messages)
		assert.Equal(t, 1850*time.Millisecond, s.took[0], "the end waits for the last audio")
		assert.Equal(t, map[string]int{"Ask Ada": 1, "Yes": 1, "Bye": 1}, s.voice.synthesized, "nothing is made twice")
	})
}

func TestInputTimeoutFollowsItsEdge(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := openConversation(t, sys, menuScript(), nil)
		s.send(conversation.StartConversation{})
		time.Sleep(5*time.Second + 50*time.Millisecond)
		assert.Equal(t, []string{"play A"}, s.player.actions())
		time.Sleep(100 * time.Millisecond)
		assert.Equal(t, []string{"play A", "play B"}, s.player.actions(), "4 s after the prompt")
		s.close()
	})
}

func TestFailedSynthesisEndsConversation(t *testing.T) {
	t.Parallel()
	const sorry = "I'm sorry, I can't help you right now. Goodbye."
	could := conversation.Fault{Stage: "tts", Code: "synthesis_failed", Message: "the prompt of node yes could not be spoken", Recovered: true}
	first, last := could, could
	first.Message, first.Recovered = "the prompt of node ask could not be spoken", false
	last.Recovered = false
	broken := conversation.Fault{Stage: "pathway", Code: pathway.ReasonAgentUnavailable, Message: "the pathway was aborted"}
	unable := conversation.PathwayEnded{Outcome: domain.OutcomeCompleted, Reason: pathway.ReasonAgentUnavailable, AgentUnable: true}
	for name, c := range map[string]struct {
		fails    map[string]int // two attempts are made per text, and one more if the text was prepared
		play     []string
		messages []any
	}{
		"the first prompt":                        {map[string]int{"Ask Ada": 2}, []string{"play I"}, []any{first, broken, unable}},
		"nothing at all":                          {map[string]int{"Ask Ada": 2, sorry: 2}, nil, []any{first, first, broken, unable}},
		"a prompt at the first try":               {map[string]int{"Yes": 2}, []string{"play A", "play Y"}, []any{could, conversation.PathwayEnded{Outcome: domain.OutcomeConfirmed}}},
		"the last words: what was reached stands": {map[string]int{"Yes": 3}, []string{"play A"}, []any{last, conversation.PathwayEnded{Outcome: domain.OutcomeConfirmed}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
				speaks := c.fails["Ask Ada"] == 0
				s := openConversation(t, sys, menuScript(), maps.Clone(c.fails))
				s.send(conversation.StartConversation{})
				time.Sleep(2500 * time.Millisecond)
				if speaks {
					s.pressKeys("1")
				}
				time.Sleep(4 * time.Second)
				messages := s.close()
				assert.Equal(t, c.play, s.player.actions())
				assert.Equal(t, c.messages, messages[:len(c.messages)])
			})
		})
	}
}

// If the caller hangs up while the agent's first words are long overdue, the agent must count as unable to speak.
func TestAgentWithLateFirstWordsCountsAsUnable(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		takes, stays time.Duration
		unable       bool
	}{
		"it owes its first words for long": {time.Minute, 2 * time.Second, true},
		"the caller leaves at once":        {time.Minute, 1900 * time.Millisecond, false},
		"the agent was heard":              {1900 * time.Millisecond, 2 * time.Second, false},
		"it owes a later word":             {100 * time.Millisecond, time.Minute, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
				s := openConversation(t, sys, menuScript(), nil)
				s.voice.takes = c.takes
				s.send(conversation.StartConversation{})
				time.Sleep(c.stays)
				messages := s.close()
				end, ok := messages[len(messages)-1].(conversation.FinishReply)
				require.True(t, ok, messages)
				assert.Equal(t, c.unable, end.AgentUnable)
			})
		})
	}
}

func TestKeyBeforePlaybackCancelsPrompt(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := openConversation(t, sys, menuScript(), nil)
		s.send(conversation.StartConversation{})
		s.pressKeys("1")
		time.Sleep(3 * time.Second)
		s.close()
		assert.Equal(t, []string{"play Y"}, s.player.actions(), "the sound that comes late is not played")
	})
}

func TestSecretKeysAreNotRecorded(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := openConversation(t, sys, domain.Script{Pathway: domain.Pathway{
			Start: "pin",
			Nodes: []domain.Node{
				{ID: "pin", Type: domain.NodeCollect, Prompt: "Pin", Length: 4, SaveAs: "pin", Sensitive: true},
				{ID: "end", Type: domain.NodeEnd, Prompt: "It is {{pin}}"},
			},
			Edges: []domain.Edge{edge("pin", "end", domain.EdgeElse, "")},
		}}, nil)
		s.send(conversation.StartConversation{})
		time.Sleep(1200 * time.Millisecond)
		s.pressKeys("4711")
		time.Sleep(3 * time.Second)
		messages := s.close()
		f, ok := messages[len(messages)-1].(conversation.FinishReply)
		assert.True(t, ok)
		var texts []string
		for _, g := range f.Segments {
			texts = append(texts, g.Text)
		}
		assert.Equal(t, []string{"Pin", "[hidden]", "It is [hidden]"}, texts)
		assert.Equal(t, []string{"It is 4711"}, s.voice.secret, "the synthesizer must not cache it")
		assert.Empty(t, f.Result.Variables)
	})
}

func TestSendDigitsRunsBeforeNextPrompt(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := openConversation(t, sys, domain.Script{Pathway: domain.Pathway{
			Start: "a",
			Nodes: []domain.Node{{ID: "a", Type: domain.NodeDTMF, Digits: "12#"}, {ID: "b", Type: domain.NodeSay, Prompt: "Done"}},
			Edges: []domain.Edge{edge("a", "b", domain.EdgeAlways, "")},
		}}, nil)
		s.send(conversation.StartConversation{})
		time.Sleep(3 * time.Second)
		s.close()
		assert.Equal(t, []string{"send 12#", "play D"}, s.player.actions())
	})
}

func TestLongSilenceEndsTheConversation(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		script := menuScript()
		script.Pathway.Nodes[0].TimeoutSeconds = 60
		script.Limits.SilenceSeconds = 5
		s := openConversation(t, sys, script, nil)
		s.send(conversation.StartConversation{})
		time.Sleep(4 * time.Second)
		s.send(conversation.MediaEvent{Event: media.SpeechBegan{}}) // the caller makes a sound
		time.Sleep(4900 * time.Millisecond)
		s.mu.Lock()
		assert.Empty(t, s.messages)
		s.mu.Unlock()
		time.Sleep(200 * time.Millisecond)
		s.mu.Lock()
		assert.Empty(t, s.messages)
		s.mu.Unlock()
		advanceTime(2 * time.Second) // the goodbye
		s.mu.Lock()
		assert.Equal(t, []any{conversation.PathwayEnded{Outcome: domain.OutcomeCompleted}}, s.messages)
		s.mu.Unlock()
		lines := transcriptLines(s.close())
		assert.Equal(t, "agent: I can't hear you, so I'll hang up now. Goodbye.", lines[len(lines)-1])
	})
}

func TestConversationThatLoopsIsAbortedWithFault(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := openConversation(t, sys, domain.Script{Pathway: domain.Pathway{
			Start: "a", Nodes: []domain.Node{{ID: "a", Type: domain.NodeSay, Prompt: "{{x | }}"}},
			Edges: []domain.Edge{edge("a", "a", domain.EdgeAlways, "")},
		}}, nil)
		s.send(conversation.StartConversation{})
		time.Sleep(time.Second)
		messages := s.close()
		assert.Equal(t, []any{
			conversation.Fault{Stage: "pathway", Code: "turns_in_a_circle", Message: "the pathway was aborted"},
			conversation.PathwayEnded{Outcome: domain.OutcomeCompleted, Reason: "turns_in_a_circle"},
		}, messages[:2])
	})
}
