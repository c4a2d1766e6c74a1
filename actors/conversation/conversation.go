// Package conversation is the actor that carries out a pathway on a call. It speaks prompts, recognizes words and keys, and
// writes the transcript. domain/pathway decides what comes next; the call owns the SIP dialog.
package conversation

import (
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
)

const (
	tail      = 250 * time.Millisecond // the caller still hears what was sent last
	mergeKeys = 3 * time.Second        // keys closer than that are one input in the transcript

	// lastLimit is for the words that were being said when the call ended. The call waits longer.
	lastLimit = 900 * time.Millisecond
)

// Player is what a conversation needs of the call's media.
type Player interface {
	Play(id uint64, clip media.Clip)
	PlayFeed(id uint64, feed *media.Feed)
	StopPlaying()
	PausePlaying()
	ContinuePlaying()
	SendDigits(id uint64, digits string)
	Mark() time.Duration
}

// Config of one conversation.
type Config struct {
	Script         domain.Script
	Variables      map[string]string // built-ins and the contact's data
	Player         Player
	Synthesizer    speech.Synthesizer
	Recognizer     speech.Recognizer // nil: words are not recognized
	AudioTap       *speech.AudioTap  // takes the caller's audio; nil as Recognizer
	Log            *slog.Logger
	AgentRuntime   AgentRuntime     // nil: no model takes part, and no tool is called
	DetectAnswerer bool             // Sound reports who has answered, and the agent acts as Script.AMD wants
	OptOutKeywords []string         // keywords, spoken or pressed, to get no more calls
	OnHideInput    func(on bool)    // called when input begins or ends that must not be kept; nil: nothing is called
	Redact         *domain.Redactor // removes from all reports what must not be kept; nil: nothing is removed
	Checkpoints    bool             // the call gets a CheckpointTaken at each checkpoint
	SavedState     *SavedState      // the state in which another process has left the conversation; nil: it begins
	OnMessage      func(msg any)    // called with each message first; nil in production
}

// Conversation is the actor.
type Conversation struct {
	cfg       Config         // Script is that of the agent and language that speak now
	base      *domain.Script // the agent's script before a change of language; nil: there was none
	state     pathway.State
	handovers int
	finished  bool // the call is over
	unable    bool // the agent was found to be of no use
	optedOut  bool
	hidden    bool // as Config.Hide was called last
	absence   absence

	transcript    transcript
	playback      playback
	prompts       promptCache
	input         inputWait
	silence       silenceTimer
	listening     listening
	latency       latencyMeter
	answer        answerDetection
	model         modelRequest
	speculation   speculativeRequest
	realtime      realtimeSession
	realtimeEnded bool // no realtime engine gets the caller any more
	pending       transcriptWait
	checkpoint    checkpoint
	suspension    suspension
}

// New makes the actor.
func New(cfg Config) actor.Actor {
	c := &Conversation{
		cfg: cfg, transcript: newTranscript(cfg.Player.Mark, cfg.Redact), prompts: newPromptCache(cfg.Synthesizer),
		listening: listening{recognizer: cfg.Recognizer, audio: cfg.AudioTap, position: cfg.Player.Mark},
	}
	c.playback = newPlayback(cfg.Player, &c.transcript)
	if cfg.SavedState == nil || !c.restore(cfg.SavedState) {
		c.cfg.SavedState = nil
		c.state = pathway.New(cfg.Script, cfg.Variables).Lively(c.hasRealtime())
	}
	return c
}

// Receive is the table of contents.
func (c *Conversation) Receive(ctx actor.Context) {
	if c.cfg.OnMessage != nil {
		c.cfg.OnMessage(ctx.Message())
	}
	if !c.isSuspended(ctx) {
		c.receive(ctx)
	}
}

func (c *Conversation) receive(ctx actor.Context) {
	defer c.reportCheckpoint(ctx)
	defer c.publishTranscript()
	switch m := ctx.Message().(type) {
	case StartConversation:
		c.start(ctx)
	case MediaEvent:
		c.mediaEvent(ctx, m.Event)
	case SpeakText:
		c.speakOutOfBand(ctx, m.Text)
	case PauseAgent:
		c.leaveCaller(ctx)
	case ResumeAgent:
		c.returnToCaller(ctx, m.OK)
	case HumanPresenceChanged:
		c.transcript.setHuman(m.Present)
	case HumanKeyPressed:
		c.humanKey(ctx, m.Key)
	case FinishConversation:
		c.finish(ctx)
	case CheckpointStored:
		c.checkpointStored(ctx, m)
	case *actor.Stopping:
		c.stopAll(ctx)
	default:
		c.receiveOwn(ctx)
	}
}

// receiveOwn takes what timers, recognizer and synthesis send.
func (c *Conversation) receiveOwn(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case promptSynthesized:
		c.promptSynthesized(ctx, m)
	case clipPrepared:
		c.prompts.add(m.request, m.clip)
	case engineFailed:
		c.reportEngineFailure(ctx, m)
	case inputTimeout:
		c.inputTimedOut(ctx, m)
	case silenceTimeout:
		c.silenceTimedOut(ctx, m)
	case keysComplete:
		c.transcript.completeKeys(m)
	case turnRecognized:
		c.turnRecognized(ctx, m)
	case turnTimeout:
		c.turnTimeout(ctx, m)
	case lastWordsTimeout:
		c.lastWordsTimedOut(ctx)
	case answerTimeout:
		c.actOnAnswer(ctx, c.answer.verdictLate())
	case beepTimeout:
		c.actOnAnswer(ctx, c.answer.beepLate(m))
	case delayedOver:
		if !c.finished {
			ctx.Send(ctx.Parent(), m.over)
		}
	default:
		c.receiveModel(ctx)
	}
}

// receiveModel takes what language models, tools and realtime engines send.
func (c *Conversation) receiveModel(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case sentence:
		c.speakSentence(ctx, m)
	case passagesRead:
		c.model.setPassages(m)
	case modelAnswered:
		c.modelAnswered(ctx, m)
	case slowNotice:
		if m.round == c.model.round && !c.absence.on && !c.listening.turn.open {
			c.advance(ctx, pathway.Slow{Round: m.round})
		}
	case interimResult:
		c.interimResult(ctx, m)
	case speculativeResult:
		c.speculativeResult(ctx, m)
	case toolDone:
		c.toolDone(ctx, m)
	case toolNotStored:
		c.toolNotStored(ctx, m)
	case agentLoaded:
		c.agentLoaded(ctx, m)
	case realtimeOpened:
		c.realtimeOpened(ctx, m)
	case realtimeEvent:
		c.realtimeEvent(ctx, m)
	case realtimeLost:
		c.realtimeClosed(ctx, m)
	case endUnnoticed:
		if m.round == c.realtime.round && m.silence == c.realtime.silence && c.realtime.cancelEndTimer != nil && !c.finished {
			c.realtimeFailed(ctx, speech.ErrAudioStalled)
		}
	case pendingTimeout:
		if m.round == c.pending.round {
			c.endPending(ctx)
		}
	}
}

// mediaEvent acts on what the call's media reports.
func (c *Conversation) mediaEvent(ctx actor.Context, e media.Event) {
	switch e := e.(type) {
	case media.Answerer:
		c.answerClassified(ctx, e.By)
	case media.Beep:
		c.actOnAnswer(ctx, c.answer.beep())
	case media.GreetingOver:
		c.actOnAnswer(ctx, c.answer.greetingOver())
	case media.Digit:
		c.key(ctx, e.Key)
	case media.Played:
		c.played(ctx, e)
	case media.DigitsSent:
		if e.ID == c.playback.id && !c.finished {
			c.promptEnded(ctx, pathway.DigitsSent{})
		}
	case media.SpeechBegan:
		c.listening.speaking = true
		c.restartSilence(ctx)
		c.realtimeSpeech(ctx, true)
		c.beginTurn(ctx)
	case media.SpeechEnded:
		c.listening.speaking, c.listening.spokeUntil = false, c.cfg.Player.Mark()
		c.restartSilence(ctx)
		c.realtimeSpeech(ctx, false)
		c.speechEnded(ctx)
	}
}

// played goes on after a prompt, or an answer of a realtime engine, was heard.
func (c *Conversation) played(ctx actor.Context, e media.Played) {
	switch {
	case e.ID != c.playback.id || !c.playback.isPlaying() || c.finished:
	case c.realtime.isPlaying():
		c.realtimePlayed(ctx, e.Heard, e.Interrupted)
	default:
		c.playback.end(e.Interrupted)
		c.restartSilence(ctx)
		c.promptEnded(ctx, pathway.PromptDone{})
	}
}

// key acts on a key that the caller pressed.
func (c *Conversation) key(ctx actor.Context, key byte) {
	if c.finished || c.state.Over() {
		return
	}
	c.transcript.addKey(caller, key, c.state.Secret())
	c.transcript.waitForKeys(ctx)
	c.answeredByKey(ctx)
	if c.absence.on {
		return
	}
	c.checkKeys(ctx)
	c.restartSilence(ctx)
	if !c.listening.turn.duringRealtime {
		c.dropTurn()
	}
	c.latency.beginByKey(c.cfg.Player.Mark())
	if c.realtime.open {
		c.realtime.talk.Key(key)
	}
	c.advance(ctx, pathway.Digit{Key: key})
	c.continueAfterTurn(ctx)
}
