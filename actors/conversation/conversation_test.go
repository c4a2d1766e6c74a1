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

// sound plays in the bubble's time and tells as a session does.
type sound struct {
	mu    sync.Mutex
	begun time.Time
	tell  func(media.Event)
	id    uint64
	since time.Time
	timer *time.Timer
	left  time.Duration
	did   []string
}

func (s *sound) Play(id uint64, clip media.Clip) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.did = append(s.did, "play "+string(clip[:1]))
	s.id, s.since, s.left = id, time.Now(), clip.Duration()
	s.timer = time.AfterFunc(clip.Duration(), func() { s.tell(media.Played{ID: id, Heard: clip.Duration()}) })
}

// PlayFeed plays what is there once the feed has ended.
func (s *sound) PlayFeed(id uint64, feed *media.Feed) {
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
			heard := time.Duration(feed.Len()) * time.Second / 8000
			s.timer = time.AfterFunc(max(heard-time.Since(since), 0), func() { s.tell(media.Played{ID: id, Heard: heard}) })
		}
	}()
}

func (s *sound) StopPlaying() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil && s.timer.Stop() {
		s.did = append(s.did, "stop")
		id, heard := s.id, time.Since(s.since)
		go s.tell(media.Played{ID: id, Interrupted: true, Heard: heard})
	}
}

func (s *sound) PausePlaying() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil && s.timer.Stop() {
		s.did = append(s.did, "pause")
		s.left -= time.Since(s.since)
	}
}

func (s *sound) ContinuePlaying() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.did = append(s.did, "continue")
	id := s.id
	s.since = time.Now()
	s.timer = time.AfterFunc(s.left, func() { s.tell(media.Played{ID: id}) })
}

func (s *sound) SendDigits(id uint64, digits string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.did = append(s.did, "send "+digits)
	time.AfterFunc(200*time.Millisecond, func() { s.tell(media.DigitsSent{ID: id}) })
}

func (s *sound) Mark() time.Duration { return time.Since(s.begun) }

func (s *sound) done() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.did...)
}

// speaker takes a while; each text sounds for a second and begins with its
// first letter.
type speaker struct {
	mu    sync.Mutex
	asked map[string]int
	takes time.Duration
	fails map[string]int // times that a text fails
	by    []string       // voice, language and text of what was asked
}

func (s *speaker) Speak(ctx context.Context, r speech.Request) (media.Clip, error) {
	s.mu.Lock()
	s.asked[r.Text]++
	s.by = append(s.by, r.Voice+" "+r.Language+" "+r.Text)
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

// stage is a call that has only a conversation.
type stage struct {
	t      *testing.T
	speaks speech.Synthesizer // voice, or what stands before it
	sys    *actor.ActorSystem
	pid    *actor.PID // of the conversation
	root   *actor.PID
	sound  *sound
	voice  *speaker
	mind   conversation.AgentRuntime
	ears   *ears
	ear    *speech.AudioTap
	redact *domain.Redactor
	after  *conversation.SavedState
	saved  *conversation.SavedState // as it was told last
	holds  bool                     // what is done waits
	acts   int                      // that wait, as it was told last
	mu     sync.Mutex
	heard  []any
	took   []time.Duration
	hush   []any // of rest
}

type spawn struct{ script domain.Script }

func (spawn) Control() {}

func open(t *testing.T, sys *actor.ActorSystem, script domain.Script, fails map[string]int) *stage {
	t.Helper()
	return openWith(t, sys, script, fails, nil)
}

func openWith(t *testing.T, sys *actor.ActorSystem, script domain.Script, fails map[string]int, m conversation.AgentRuntime) *stage {
	t.Helper()
	if fails == nil {
		fails = map[string]int{}
	}
	s := &stage{t: t, sys: sys, mind: m, sound: &sound{begun: time.Now()}, ears: new(ears), ear: new(speech.AudioTap), voice: &speaker{asked: map[string]int{}, takes: 100 * time.Millisecond, fails: fails}}
	s.speaks = s.voice
	return s.enter(script)
}

// enter begins the conversation.
func (s *stage) enter(script domain.Script) *stage {
	sys := s.sys
	s.root = sys.Root.Spawn(mailbox.Props(func() actor.Actor { return s }, 100))
	sys.Root.Send(s.root, spawn{script})
	synctest.Wait()
	s.sound.tell = func(e media.Event) { sys.Root.Send(s.pid, conversation.MediaEvent{Event: e}) }
	return s
}

// Receive makes the stage the conversation's parent.
func (s *stage) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case spawn:
		s.pid = ctx.Spawn(mailbox.Props(func() actor.Actor {
			return conversation.New(conversation.Config{
				Script: m.script, Variables: map[string]string{"name": "Ada"}, Player: s.sound, Synthesizer: s.speaks, Log: slog.New(slog.DiscardHandler),
				AgentRuntime: s.mind, OptOutKeywords: []string{"stop", "9"}, Recognizer: s.ears, AudioTap: s.ear, DetectAnswerer: true,
				OnHideInput: func(on bool) { s.sound.note("hide", on) }, Redact: s.redact,
				Checkpoints: true, SavedState: s.after,
			})
		}, 100))
	case conversation.CheckpointTaken:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.saved = m.Saved
		if m.ToolCalls > 0 {
			if s.holds {
				s.acts = m.ToolCalls
				return
			}
			ctx.Send(s.pid, conversation.CheckpointStored{ToolCalls: m.ToolCalls})
		}
	case conversation.ConversationSuspended, conversation.BusyChanged:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.hush = append(s.hush, m)
	case conversation.PathwayEnded, conversation.Fault, conversation.ConversationFinished, conversation.RequestTransfer, conversation.OptOutRequested, conversation.AnswererDetected, conversation.ActionPerformed, conversation.IntentRecognized, conversation.AgentHandedOver:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.heard = append(s.heard, m)
		s.took = append(s.took, time.Since(s.sound.begun))
	}
}

func (s *stage) send(msgs ...any) {
	for _, m := range msgs {
		s.sys.Root.Send(s.pid, m)
	}
	synctest.Wait()
}

func (s *stage) press(keys string) {
	for i := range len(keys) {
		s.send(conversation.MediaEvent{Event: media.Digit{Key: keys[i]}})
	}
}

func (s *stage) close() []any {
	s.send(conversation.FinishConversation{})
	time.Sleep(time.Second) // what was being said is understood first
	s.sys.Root.Poison(s.root)
	time.Sleep(10 * time.Second)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.heard
}

func to(from, to string, t domain.EdgeType, digits string) domain.Edge {
	return domain.Edge{From: from, To: to, When: domain.When{Type: t, Digits: digits}}
}

func menu() domain.Script {
	return domain.Script{Pathway: domain.Pathway{
		Start: "ask",
		Nodes: []domain.Node{
			{ID: "ask", Type: domain.NodeCollect, Prompt: "Ask {{name}}", Values: []string{"1", "2"}, TimeoutSeconds: 4},
			{ID: "yes", Type: domain.NodeEnd, Prompt: "Yes", Outcome: domain.OutcomeConfirmed},
			{ID: "bye", Type: domain.NodeEnd, Prompt: "Bye"},
		},
		Edges: []domain.Edge{to("ask", "yes", domain.EdgeDTMF, "1"), to("ask", "bye", domain.EdgeTimeout, "")},
	}}
}

func TestWhoHasSaidNothingLeavesAtOnce(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := open(t, sys, domain.Script{Pathway: domain.Pathway{
			Start: "bye", Nodes: []domain.Node{{ID: "bye", Type: domain.NodeEnd, Outcome: domain.OutcomeDeclined}},
		}}, nil)
		s.send(conversation.StartConversation{})
		synctest.Wait() // and no time passes
		s.mu.Lock()
		heard := append([]any(nil), s.heard...)
		s.mu.Unlock()
		assert.Equal(t, []any{conversation.PathwayEnded{Outcome: domain.OutcomeDeclined}}, heard)
		s.close()
	})
}

func TestAKeyCutsThePromptAndTheNextOneIsReady(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := open(t, sys, menu(), nil)
		s.send(conversation.StartConversation{})
		time.Sleep(600 * time.Millisecond) // 100 ms to speak, then half a second heard
		s.press("1")
		assert.Equal(t, []string{"play A", "stop", "play Y"}, s.sound.done(), "at once: it was made meanwhile")
		time.Sleep(2 * time.Second)
		heard := s.close()
		assert.Equal(t, []any{
			conversation.PathwayEnded{Outcome: domain.OutcomeConfirmed},
			conversation.ConversationFinished{
				Result: pathway.Result{Outcome: domain.OutcomeConfirmed},
				Segments: []domain.Segment{
					{Index: 0, Speaker: "agent", Text: "Ask Ada", StartMs: 100, EndMs: 600, Confidence: 1, Interrupted: true},
					{Index: 1, Speaker: "caller", Text: "[pressed 1]", StartMs: 600, EndMs: 600, Confidence: 1},
					{Index: 2, Speaker: "agent", Text: "Yes", StartMs: 600, EndMs: 1600, Confidence: 1},
				},
				SlowestTurn: 100 * time.Millisecond, // the first word; the next was ready
				Turns:       []domain.TurnLatency{{Input: domain.InputDTMF, AtMs: 600}},
			},
		}, heard)
		assert.Equal(t, 1850*time.Millisecond, s.took[0], "the end waits until the last word has been heard")
		assert.Equal(t, map[string]int{"Ask Ada": 1, "Yes": 1, "Bye": 1}, s.voice.asked, "nothing is made twice")
	})
}

func TestSilenceLeadsOnWhenItsTimeHasPassed(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := open(t, sys, menu(), nil)
		s.send(conversation.StartConversation{})
		time.Sleep(5*time.Second + 50*time.Millisecond)
		assert.Equal(t, []string{"play A"}, s.sound.done())
		time.Sleep(100 * time.Millisecond)
		assert.Equal(t, []string{"play A", "play B"}, s.sound.done(), "4 s after the prompt")
		s.close()
	})
}

func TestAnAgentThatCannotSpeakEndsTheConversation(t *testing.T) {
	t.Parallel()
	const sorry = "I'm sorry, I can't help you right now. Goodbye."
	could := conversation.Fault{Stage: "tts", Code: "synthesis_failed", Message: "the prompt of node yes could not be spoken", Recovered: true}
	first, last := could, could
	first.Message, first.Recovered = "the prompt of node ask could not be spoken", false
	last.Recovered = false
	broken := conversation.Fault{Stage: "pathway", Code: pathway.ReasonAgentUnavailable, Message: "the pathway was aborted"}
	unable := conversation.PathwayEnded{Outcome: domain.OutcomeCompleted, Reason: pathway.ReasonAgentUnavailable, AgentUnable: true}
	for name, c := range map[string]struct {
		fails map[string]int // two tries are made of each text, and one more of what may come next
		play  []string
		heard []any
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
				s := open(t, sys, menu(), maps.Clone(c.fails))
				s.send(conversation.StartConversation{})
				time.Sleep(2500 * time.Millisecond)
				if speaks {
					s.press("1")
				}
				time.Sleep(4 * time.Second)
				heard := s.close()
				assert.Equal(t, c.play, s.sound.done())
				assert.Equal(t, c.heard, heard[:len(c.heard)])
			})
		})
	}
}

// Whoever hangs up has spoken to nobody where the agent owed its first words for long.
func TestAnAgentThatWasNotHeardBeforeTheCallerHungUpWasUnable(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		takes, stays time.Duration
		unable       bool
	}{
		"it owes its first words for long": {time.Minute, 2 * time.Second, true},
		"the caller leaves at once":        {time.Minute, 1900 * time.Millisecond, false},
		"it was heard":                     {1900 * time.Millisecond, 2 * time.Second, false},
		"it owes a later word":             {100 * time.Millisecond, time.Minute, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
				s := open(t, sys, menu(), nil)
				s.voice.takes = c.takes
				s.send(conversation.StartConversation{})
				time.Sleep(c.stays)
				heard := s.close()
				end, ok := heard[len(heard)-1].(conversation.ConversationFinished)
				require.True(t, ok, heard)
				assert.Equal(t, c.unable, end.AgentUnable)
			})
		})
	}
}

func TestAKeyBeforeThePromptIsMadeCancelsIt(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := open(t, sys, menu(), nil)
		s.send(conversation.StartConversation{})
		s.press("1")
		time.Sleep(3 * time.Second)
		s.close()
		assert.Equal(t, []string{"play Y"}, s.sound.done(), "the sound that comes late is not played")
	})
}

func TestSecretKeysLeaveNoTrace(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := open(t, sys, domain.Script{Pathway: domain.Pathway{
			Start: "pin",
			Nodes: []domain.Node{
				{ID: "pin", Type: domain.NodeCollect, Prompt: "Pin", Length: 4, SaveAs: "pin", Sensitive: true},
				{ID: "end", Type: domain.NodeEnd, Prompt: "It is {{pin}}"},
			},
			Edges: []domain.Edge{to("pin", "end", domain.EdgeElse, "")},
		}}, nil)
		s.send(conversation.StartConversation{})
		time.Sleep(1200 * time.Millisecond)
		s.press("4711")
		time.Sleep(3 * time.Second)
		heard := s.close()
		f, ok := heard[len(heard)-1].(conversation.ConversationFinished)
		assert.True(t, ok)
		var texts []string
		for _, g := range f.Segments {
			texts = append(texts, g.Text)
		}
		assert.Equal(t, []string{"Pin", "[hidden]", "It is [hidden]"}, texts)
		assert.Empty(t, f.Result.Variables)
	})
}

func TestKeysAreSentAndInOrder(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := open(t, sys, domain.Script{Pathway: domain.Pathway{
			Start: "a",
			Nodes: []domain.Node{{ID: "a", Type: domain.NodeDTMF, Digits: "12#"}, {ID: "b", Type: domain.NodeSay, Prompt: "Done"}},
			Edges: []domain.Edge{to("a", "b", domain.EdgeAlways, "")},
		}}, nil)
		s.send(conversation.StartConversation{})
		time.Sleep(3 * time.Second)
		s.close()
		assert.Equal(t, []string{"send 12#", "play D"}, s.sound.done())
	})
}

func TestLongSilenceEndsTheConversation(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		script := menu()
		script.Pathway.Nodes[0].TimeoutSeconds = 60
		script.Limits.SilenceSeconds = 5
		s := open(t, sys, script, nil)
		s.send(conversation.StartConversation{})
		time.Sleep(4 * time.Second)
		s.send(conversation.MediaEvent{Event: media.SpeechBegan{}}) // a sign of life
		time.Sleep(4900 * time.Millisecond)
		s.mu.Lock()
		assert.Empty(t, s.heard)
		s.mu.Unlock()
		time.Sleep(200 * time.Millisecond)
		s.mu.Lock()
		assert.Equal(t, []any{conversation.PathwayEnded{}}, s.heard)
		s.mu.Unlock()
		s.close()
	})
}

func TestAPathwayThatTurnsInACircleIsTold(t *testing.T) {
	t.Parallel()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		s := open(t, sys, domain.Script{Pathway: domain.Pathway{
			Start: "a", Nodes: []domain.Node{{ID: "a", Type: domain.NodeSay, Prompt: "{{x | }}"}},
			Edges: []domain.Edge{to("a", "a", domain.EdgeAlways, "")},
		}}, nil)
		s.send(conversation.StartConversation{})
		time.Sleep(time.Second)
		heard := s.close()
		assert.Equal(t, []any{
			conversation.Fault{Stage: "pathway", Code: "turns_in_a_circle", Message: "the pathway was aborted"},
			conversation.PathwayEnded{Outcome: domain.OutcomeCompleted, Reason: "turns_in_a_circle"},
		}, heard[:2])
	})
}
