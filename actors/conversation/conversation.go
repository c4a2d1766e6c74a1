// Package conversation is the actor that runs a pathway on a call.
//
// The actor speaks prompts, recognizes speech and keys, and writes the transcript. Package domain/pathway decides the next
// steps. The call actor owns the SIP dialog.
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
	playoutTail    = 250 * time.Millisecond // time until the caller has heard the last audio that was sent
	keyMergeWindow = 3 * time.Second        // keys closer together form one input in the transcript

	// maxLastWordsWait limits the recognition of words that the caller was speaking when the call ended. The call actor
	// waits longer for the result of the conversation.
	maxLastWordsWait = 900 * time.Millisecond
)

// Player is the part of the call's media session that a conversation uses.
type Player interface {
	Play(id uint64, clip media.Clip)
	PlayFeed(id uint64, feed *media.Feed)
	StopPlaying()
	PausePlaying()
	ContinuePlaying()
	SendDigits(id uint64, digits string)
	RejectSpeech()
	Position() time.Duration
}

// Config configures one conversation.
type Config struct {
	Script         domain.Script
	Variables      map[string]string // built-in variables and the contact's data
	Player         Player
	Synthesizer    speech.Synthesizer
	Recognizer     speech.Recognizer // nil: no speech recognition
	AudioTap       *speech.AudioTap  // the caller's audio; nil if nothing recognizes speech
	Log            *slog.Logger
	AgentRuntime   AgentRuntime // nil: no language model and no tools
	DetectAnswerer bool         // the media report the answerer, and the agent acts on it as Script.AMD says

	// AnswerRecognizer recognizes the words with which a call is answered, which tell machines apart. nil: only the sound does.
	AnswerRecognizer speech.Recognizer

	OptOutKeywords []string         // keywords, spoken or pressed, that opt out of further calls
	OnHideInput    func(on bool)    // called when input that must not be stored begins or ends; nil: none
	Redact         *domain.Redactor // redacts everything that is reported; nil: no redaction
	Checkpoints    bool             // send CheckpointTaken to the call
	SavedState     *SavedState      // state to resume from; nil: start at the beginning
	OnMessage      func(msg any)    // called with each message first; nil in production
}

// Conversation is the actor of one conversation.
type Conversation struct {
	cfg         Config         // script of the current agent in the current language
	base        *domain.Script // the agent's script before a change of language; nil: unchanged
	state       pathway.State
	handovers   int
	finished    bool // the call has ended
	agentUnable bool // the agent could not speak or hear
	optedOut    bool
	inputHidden bool // as last reported by Config.OnHideInput
	agentPause  agentPause

	transcript    transcript
	playback      playback
	prompts       promptCache
	input         inputWait
	silence       silenceTimer
	listening     listening
	latency       latencyMeter
	answer        answerDetection
	answerTimers  timerSet
	words         greetingWords
	model         currentModelRequest
	speculation   speculativeRequest
	realtime      realtimeSession
	realtimeEnded bool // no realtime engine is used any more
	pending       transcriptWait
	checkpoint    checkpoint
	goodbyeSpoken bool // the last prompt was spoken, and the caller's words during it are being recognized
	suspension    suspension
}

// New returns the actor of a conversation.
func New(cfg Config) actor.Actor {
	c := &Conversation{
		cfg: cfg, transcript: newTranscript(cfg.Player.Position, cfg.Redact), prompts: newPromptCache(cfg.Synthesizer),
		words:     greetingWords{recognizer: cfg.AnswerRecognizer, tap: cfg.AudioTap},
		listening: listening{recognizer: cfg.Recognizer, audio: cfg.AudioTap, position: cfg.Player.Position},
	}
	c.playback = newPlayback(cfg.Player, &c.transcript)
	if cfg.SavedState == nil || !c.restore(cfg.SavedState) {
		c.cfg.SavedState = nil
		c.state = pathway.New(cfg.Script, cfg.Variables).WithRealtime(c.hasRealtime())
	}
	return c
}

// Receive implements actor.Actor.
func (c *Conversation) Receive(ctx actor.Context) {
	if c.cfg.OnMessage != nil {
		c.cfg.OnMessage(ctx.Message())
	}
	if !c.handleSuspension(ctx) {
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
		c.pauseAgent(ctx)
	case ResumeAgent:
		c.resumeAgent(ctx, m.OK)
	case HumanPresenceChanged:
		c.transcript.setHuman(m.Present)
	case HumanKeyPressed:
		c.onHumanKey(ctx, m.Key)
	case FinishConversation:
		c.finish(ctx)
	case CheckpointStored:
		c.checkpointStored(ctx, m)
	case *actor.Stopping:
		c.stopAll(ctx)
	default:
		c.receiveInternal(ctx)
	}
}

// receiveInternal handles messages of timers, the speech recognizer and the speech synthesis.
func (c *Conversation) receiveInternal(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case promptSynthesized:
		c.promptSynthesized(ctx, m)
	case clipPrepared:
		c.prompts.add(m.request, m.utterance)
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
	case goodbyeTimeout:
		if m.prompt == c.playback.id {
			c.endAfterGoodbye(ctx)
		}
	case pauseTimeout:
		c.pauseTimedOut(m)
	case lastWordsTimeout:
		c.lastWordsTimedOut(ctx)
	case delayedEnd:
		if !c.finished {
			ctx.Send(ctx.Parent(), m.ended)
		}
	default:
		if !c.answerEvent(ctx, m) {
			c.receiveModel(ctx)
		}
	}
}

// receiveModel handles messages of language models, tools and realtime engines.
func (c *Conversation) receiveModel(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case modelSentence:
		c.speakSentence(ctx, m)
	case passagesRead:
		c.model.setPassages(m)
	case modelAnswered:
		c.onModelAnswered(ctx, m)
	case slowNotice:
		if m.round == c.model.round && !c.agentPause.active && !c.listening.turn.open {
			c.advance(ctx, pathway.ResponseDelayed{Round: m.round})
		}
	case interimResult:
		c.interimResult(ctx, m)
	case speculativeResult:
		c.speculativeResult(ctx, m)
	case toolDone:
		c.onToolDone(ctx, m)
	case toolStoreTimeout:
		c.onToolStoreTimeout(ctx, m)
	case agentLoaded:
		c.onAgentLoaded(ctx, m)
	case realtimeOpened:
		c.realtimeOpened(ctx, m)
	case realtimeEvent:
		c.realtimeEvent(ctx, m)
	case realtimeEnded:
		c.realtimeClosed(ctx, m)
	case silenceUnnoticed:
		if m.round == c.realtime.round && m.silence == c.realtime.silence && c.realtime.cancelEndTimer != nil && !c.finished {
			c.realtimeFailed(ctx, speech.ErrAudioStalled)
		}
	case pendingTimeout:
		if m.round == c.pending.round {
			c.endTranscriptWait(ctx)
		}
	}
}

// mediaEvent handles an event of the call's media session.
func (c *Conversation) mediaEvent(ctx actor.Context, e media.Event) {
	switch e := e.(type) {
	case media.AnswerClassified, media.Beep, media.GreetingEnded:
		c.answerEvent(ctx, e)
	case media.Digit:
		c.onKey(ctx, e.Key)
	case media.Played:
		c.onPlayed(ctx, e)
	case media.DigitsSent:
		if e.ID == c.playback.id && !c.finished {
			c.promptEnded(ctx, pathway.DigitsSent{})
		}
	case media.SpeechBegan:
		c.listening.speaking = true
		c.restartSilence(ctx)
		c.realtimeSpeech(ctx, true)
		c.answer.hasWords = c.words.onSpeech(ctx, &c.answerTimers, true, 0, c.cfg.Player.Position())
		c.beginTurn(ctx)
	case media.SpeechEnded:
		c.listening.speaking, c.listening.spokeUntil, c.listening.endSilence = false, c.cfg.Player.Position(), e.Silence
		c.restartSilence(ctx)
		c.realtimeSpeech(ctx, false)
		c.answer.hasWords = c.words.onSpeech(ctx, &c.answerTimers, false, e.Silence, c.cfg.Player.Position())
		c.speechEnded(ctx, e.Silence)
	}
}

// onPlayed continues the conversation after a prompt or an answer of a realtime engine was played.
func (c *Conversation) onPlayed(ctx actor.Context, e media.Played) {
	switch {
	case e.ID != c.playback.id || !c.playback.isPlaying() || c.finished:
	case c.realtime.isPlaying():
		c.realtimePlayed(ctx, e.Heard, e.Interrupted)
	default:
		c.playback.end(e.Interrupted)
		c.restartSilence(ctx)
		if c.waitsForWordsAfterGoodbye(ctx) {
			return
		}
		c.promptEnded(ctx, pathway.PromptDone{})
	}
}

// onKey handles a key that the caller pressed.
func (c *Conversation) onKey(ctx actor.Context, key byte) {
	if c.finished || c.state.Over() {
		return
	}
	c.transcript.addKey(caller, key, c.state.IsSecretInput())
	c.transcript.waitForKeys(ctx)
	c.keyProvesPerson(ctx)
	if c.agentPause.active {
		return
	}
	c.checkKeys(ctx)
	c.restartSilence(ctx)
	if !c.listening.turn.duringRealtime {
		c.dropTurn()
	}
	c.latency.beginByKey(c.cfg.Player.Position())
	if c.realtime.open {
		c.realtime.connection.SendKey(key)
	}
	c.advance(ctx, pathway.Digit{Key: key})
	c.continueAfterTurn(ctx)
}
