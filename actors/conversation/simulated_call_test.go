package conversation_test

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/mailbox/actortest"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
	"github.com/callboard/callboard/media/testspeech"
	"github.com/callboard/callboard/media/tone"
	"github.com/callboard/callboard/sip/siptest"
)

// Behavior of the engines of a simulated call.
const (
	wordDelay      = 150 * time.Millisecond // from the end of a word to the interim result that has it
	resultDelay    = 50 * time.Millisecond  // from the end of the audio to the final result
	firstSentence  = 300 * time.Millisecond // from a request to the model's first sentence
	transmission   = 80 * time.Millisecond  // from one telephone to the other: a packet and the jitter buffer
	wordsPerSecond = 2.5                    // of voices behind the caller
	realWait       = 200 * time.Microsecond // for packets that the kernel has not delivered yet
	callFrame      = 20 * time.Millisecond
	callerLevel    = testspeech.StandardLevel
	audibleLevel   = -50.0 // of the agent's voice
	storyFrequency = 440.0 // tone in place of the agent's story
	replyFrequency = 880.0 // tone in place of the agent's other answers
)

// storyText is what the model answers to the first words of the caller. It lasts longer than any measurement.
const storyText = "Once upon a time."

// simulatedCall is a call in fake time: the conversation actor and the media sessions of agent and caller are those of the
// service and exchange RTP over loopback. The synthesizer makes tones, the model is scripted. The recognizer knows what the
// caller says, and returns it word by word, as engines for free speech do.
type simulatedCall struct {
	testing.TB
	sys           *actor.ActorSystem
	root          *actor.PID
	pid           *actor.PID // of the conversation
	agent, caller *media.Session
	tap           *speech.AudioTap

	answer func(request int) string // of the model

	mu         sync.Mutex
	feed       media.Feed // audio that the caller's telephone sends
	words      []spokenWord
	queue      testspeech.Sound // of the caller's voice, not sent so far
	noise      testspeech.Sound // behind the caller, repeated; nil: silence
	background string           // words in the noise, which are recognized if the caller is silent; "": none
	sent       int              // samples
	heard      []heardFrame
	requests   []time.Time // to the model
	turns      []*scriptedTurn
}

// spokenWord is a word of the caller and when its middle and its end reach the recognizer.
type spokenWord struct {
	text        string
	middle, end time.Time
}

// heardFrame is 20 ms of what the caller hears.
type heardFrame struct {
	at    time.Time
	level float64
	story bool
}

// talkingScript is that of an agent whose model talks with the caller, who may be silent for long.
func talkingScript() domain.Script {
	return domain.Script{Language: "en-US", Timezone: "UTC", AgentID: "agent_1", Pathway: domain.Pathway{
		Start: "hello",
		Nodes: []domain.Node{
			{ID: "hello", Type: domain.NodeSay, Prompt: "Hello"},
			{ID: "talk", Type: domain.NodeConverse, Prompt: "Talk", TimeoutSeconds: 600, MaxTurns: 1000},
		},
		Edges: []domain.Edge{edge("hello", "talk", domain.EdgeAlways, "")},
	}}
}

// runSimulatedCall runs f with a call in fake time.
func runSimulatedCall(t *testing.T, script domain.Script, f func(c *simulatedCall)) {
	t.Helper()
	ports := siptest.MediaPorts10(t)
	waits, waited := make(chan struct{}), make(chan struct{})
	defer close(waits)
	go func() { // outside of fake time
		for range waits {
			time.Sleep(realWait)
			waited <- struct{}{}
		}
	}()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		c := &simulatedCall{TB: t, sys: sys, tap: new(speech.AudioTap), answer: func(int) string { return "Yes?" }}
		service, telephone := newMediaEngine(t, ports), newMediaEngine(t, ports+4)
		c.connect(service, telephone)
		c.root = sys.Root.Spawn(mailbox.Props(func() actor.Actor { return c.callActorStandIn(script) }, 100))
		ctx, cancel := context.WithCancel(t.Context())
		var sender sync.WaitGroup
		sender.Go(func() {
			c.sendAudio(ctx, func() { waits <- struct{}{}; <-waited })
		})
		f(c)
		for name, s := range map[string]media.Stats{"agent": c.agent.Stats(), "caller": c.caller.Stats()} {
			if s.PacketsLost+s.PacketsLate > 0 {
				t.Logf("the machine was too slow: the %s lost %d packets, and %d were late", name, s.PacketsLost, s.PacketsLate)
			}
		}
		cancel()
		sender.Wait()
		sys.Root.Poison(c.root)
		require.NoError(t, errors.Join(service.Close(), telephone.Close()))
		time.Sleep(maxEngineWait)
	})
}

// newMediaEngine returns an engine with two port pairs of loopback.
func newMediaEngine(t *testing.T, ports int) *media.Engine {
	loopback := netip.MustParseAddr("127.0.0.1")
	e, err := media.NewEngine(media.Config{BindIP: loopback, PublicIP: loopback, PortMin: ports, PortMax: ports + 3})
	require.NoError(t, err)
	return e
}

// maxEngineWait is the time after which no timer of a conversation runs.
const maxEngineWait = 20 * time.Second

// connect opens both media sessions and lets them exchange audio.
func (c *simulatedCall) connect(service, telephone *media.Engine) {
	var err error
	c.caller, err = telephone.Open(media.Options{})
	require.NoError(c, err)
	c.agent, err = service.Open(media.Options{Notify: func(e media.Event) { c.sys.Root.Send(c.pid, conversation.MediaEvent{Event: e}) }})
	require.NoError(c, err)
	answer, err := c.agent.Answer(c.caller.Offer())
	require.NoError(c, err)
	require.NoError(c, c.caller.Accept(answer))
	c.agent.SetListener(c.tap.Frame)
	c.caller.SetListener(c.hear)
	c.caller.PlayFeed(1, &c.feed)
}

// callActorStandIn returns the actor in the place of the call actor.
func (c *simulatedCall) callActorStandIn(script domain.Script) actor.ReceiveFunc {
	return func(ctx actor.Context) {
		if _, ok := ctx.Message().(*actor.Started); !ok {
			return
		}
		c.pid = ctx.Spawn(mailbox.Props(func() actor.Actor {
			return conversation.New(conversation.Config{
				Script: script, Player: c.agent, Synthesizer: toneSynthesizer{}, Recognizer: c, AudioTap: c.tap, AgentRuntime: c,
				Log: slog.New(slog.DiscardHandler),
			})
		}, 100))
		c.caller.Begin()
		c.agent.Begin()
		ctx.Send(c.pid, conversation.StartConversation{})
	}
}

// sendAudio sends the caller's voice and the noise, frame by frame, until ctx ends. If packets are under way for long, it
// calls wait: the kernel of a busy machine may take longer for a packet than many frames of fake time take.
func (c *simulatedCall) sendAudio(ctx context.Context, wait func()) {
	ticker := time.NewTicker(callFrame)
	defer ticker.Stop()
	for {
		if c.agent.Stats().PacketsReceived+1 < c.caller.Stats().PacketsSent || c.caller.Stats().PacketsReceived+1 < c.agent.Stats().PacketsSent {
			wait()
		}
		c.mu.Lock()
		frame := make(testspeech.Sound, testspeech.Samples(callFrame))
		c.queue = c.queue[copy(frame, c.queue):]
		for i := range frame {
			if len(c.noise) > 0 {
				frame[i] += c.noise[(c.sent+i)%len(c.noise)]
			}
		}
		c.sent += len(frame)
		c.feed.Write(frame.Mu())
		c.mu.Unlock()
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// hear gets what the caller hears.
func (c *simulatedCall) hear(mu []byte) {
	s := testspeech.FromMu(mu)
	story, reply := toneLevel(s, storyFrequency), toneLevel(s, replyFrequency)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heard = append(c.heard, heardFrame{time.Now(), max(story, reply), story > audibleLevel && story > reply})
}

// toneLevel returns the level of one frequency in dB of full scale.
func toneLevel(s testspeech.Sound, hertz float64) float64 {
	re, im := 0.0, 0.0
	for i, v := range s {
		x := 2 * math.Pi * hertz * float64(i) / testspeech.Rate
		re += v * math.Cos(x)
		im += v * math.Sin(x)
	}
	return 10 * math.Log10(2*(re*re+im*im)/float64(len(s)*len(s))+1e-12)
}

// say makes the caller say a text, after the earlier ones. It returns when the first and the last sound leave the
// caller's mouth.
func (c *simulatedCall) say(voice testspeech.Voice, text string) (begin, end time.Time) {
	said, err := testspeech.Say(voice, text)
	require.NoError(c, err)
	said = said.AtLevel(callerLevel)
	c.mu.Lock()
	defer c.mu.Unlock()
	begin = time.Now().Add(c.queue.Duration() + testspeech.Sound(make([]float64, c.feed.Len()-c.feed.Played())).Duration())
	end = begin.Add(said.Duration())
	letters, before := 0, 0
	words := strings.Fields(text)
	for _, w := range words {
		letters += len(w) + 1
	}
	for _, w := range words { // words last as long as they are written
		from := begin.Add(said.Duration() * time.Duration(before) / time.Duration(letters))
		before += len(w) + 1
		to := begin.Add(said.Duration() * time.Duration(before) / time.Duration(letters))
		c.words = append(c.words, spokenWord{w, from.Add(to.Sub(from) / 2).Add(transmission), to.Add(transmission)})
	}
	c.queue = append(c.queue, said...)
	return begin, end
}

// pause makes the caller silent for a time after the earlier texts.
func (c *simulatedCall) pause(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queue = append(c.queue, testspeech.Silence(d)...)
}

// setNoise sets the noise behind the caller, and the words in it.
func (c *simulatedCall) setNoise(noise testspeech.Sound, words string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.noise, c.background = noise, words
}

// toneSynthesizer makes the story a tone of 90 s, and every other text another tone of one second.
type toneSynthesizer struct{}

func (toneSynthesizer) Speak(_ context.Context, r speech.Request) (media.Clip, error) {
	if r.Text == storyText {
		return tone.Make(90*time.Second, 0.2, storyFrequency), nil
	}
	return tone.Make(time.Second, 0.2, replyFrequency), nil
}

// Respond makes the simulated call the language model.
func (c *simulatedCall) Respond(ctx context.Context, _ conversation.ModelRequest, sentence func(string, time.Duration)) conversation.ModelResponse {
	c.mu.Lock()
	c.requests = append(c.requests, time.Now())
	text := c.answer(len(c.requests))
	c.mu.Unlock()
	select {
	case <-time.After(firstSentence):
		sentence(text, firstSentence)
	case <-ctx.Done():
	}
	return conversation.ModelResponse{}
}

// CallTool is not used.
func (*simulatedCall) CallTool(context.Context, *domain.Script, pathway.ActionRequest) conversation.ToolResult {
	return conversation.ToolResult{}
}

// AgentScript is not used.
func (*simulatedCall) AgentScript(context.Context, string) (domain.Script, error) {
	return domain.Script{}, errors.New("no other agent")
}

// SupportsLanguage makes the simulated call the recognizer.
func (*simulatedCall) SupportsLanguage(string) bool { return true }

// TranscribesFreeSpeech says that any words are recognized.
func (*simulatedCall) TranscribesFreeSpeech(string) bool { return true }

// scriptedTurn is the recognition of one turn.
type scriptedTurn struct {
	of       *simulatedCall
	onResult func(speech.RecognitionResult)
	mu       sync.Mutex
	from     time.Time // begin of its audio
	last     string
	closed   bool
}

// Open begins the recognition of a turn.
func (c *simulatedCall) Open(_ speech.RecognitionRequest, onResult func(speech.RecognitionResult)) speech.Stream {
	s := &scriptedTurn{of: c, onResult: onResult}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.turns = append(c.turns, s)
	return s
}

// Write reports the words whose end was long enough ago.
func (s *scriptedTurn) Write(mu []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.from.IsZero() {
		s.from = time.Now().Add(-time.Duration(len(mu)) * time.Second / testspeech.Rate)
	}
	text := s.of.wordsBetween(s.from, time.Now().Add(-wordDelay), func(w spokenWord) time.Time { return w.end })
	if text != s.last && !s.closed {
		s.last = text
		go s.onResult(speech.RecognitionResult{Text: text, Confidence: 0.9})
	}
}

// End reports the words of which at least half was heard: the end of the audio may cut off the last sound of a word.
func (s *scriptedTurn) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	r := speech.RecognitionResult{Text: s.of.wordsBetween(s.from, time.Now(), func(w spokenWord) time.Time { return w.middle }), Final: true}
	if r.Text != "" {
		r.Confidence = 0.9
	}
	time.AfterFunc(resultDelay, func() { s.onResult(r) })
}

// Close cancels the recognition.
func (s *scriptedTurn) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
}

// wordsBetween returns the words that were heard in a time. known is when a word can be recognized.
func (c *simulatedCall) wordsBetween(from, until time.Time, known func(spokenWord) time.Time) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var text []string
	for _, w := range c.words {
		if !w.middle.Before(from) && !known(w).After(until) {
			text = append(text, w.text)
		}
	}
	if len(text) == 0 { // voices behind the caller
		words := strings.Fields(c.background)
		text = words[:min(max(int(wordsPerSecond*until.Sub(from).Seconds()), 0), len(words))]
	}
	return strings.Join(text, " ")
}
