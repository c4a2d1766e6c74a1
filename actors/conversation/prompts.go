package conversation

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
)

const (
	speakLimit   = 8 * time.Second // one synthesis; a second try gets as long
	wordsPerMin  = 175             // of a rate of 1
	clipsKept    = 16
	normalPlenty = 0.01
)

type (
	// promptSynthesized says that a prompt can be played, or why it cannot.
	promptSynthesized struct {
		generation int
		said       speech.Utterance
		first, err error // of the first try and of the last
	}
	// clipPrepared is a prompt that may come next.
	clipPrepared struct {
		request speech.Request
		clip    media.Clip
	}
)

func (promptSynthesized) Control() {}
func (clipPrepared) Control()      {}

// promptCache keeps prompts that were synthesized, and those that may come next.
type promptCache struct {
	speaker  speech.Speaker
	clips    map[speech.Request]media.Clip
	prepared map[speech.Request]bool
}

func newPromptCache(speaker speech.Speaker) promptCache {
	return promptCache{speaker: speaker, clips: make(map[speech.Request]media.Clip), prepared: make(map[speech.Request]bool)}
}

// add keeps a clip while there is room.
func (p *promptCache) add(r speech.Request, clip media.Clip) {
	if len(p.clips) < clipsKept {
		p.clips[r] = clip
	}
}

// clear forgets all of another agent's prompts.
func (p *promptCache) clear() {
	clear(p.clips)
	clear(p.prepared)
}

// prepare has a prompt synthesized that may come next.
func (p *promptCache) prepare(ctx actor.Context, r speech.Request) {
	if p.prepared[r] || len(p.prepared) >= clipsKept {
		return
	}
	p.prepared[r] = true
	speaker := p.speaker
	mailbox.Work(ctx, speakLimit, func(bound context.Context) any {
		speak := speaker.Speak
		if s, ok := speaker.(streamer); ok {
			speak = s.Prepare
		}
		clip, err := synthesizeOnce(bound, speak, r)
		if err != nil {
			return nil // it is reported when the prompt is due
		}
		return clipPrepared{r, clip}
	})
}

// synthesize has a prompt synthesized beside the actor; promptSynthesized follows. cancel ends the work.
func (p *promptCache) synthesize(ctx actor.Context, r speech.Request, generation int) (cancel func()) {
	speaker, root, self := p.speaker, ctx.ActorSystem().Root, ctx.Self()
	wanted, cancelWork := context.WithCancel(context.Background())
	mailbox.Work(ctx, 2*speakLimit+time.Second, func(bound context.Context) any {
		bound, cancel := context.WithCancel(bound)
		defer cancel()
		defer context.AfterFunc(wanted, cancel)()
		return synthesizeTwice(bound, speaker, r, generation, func(f speech.Fault) { root.Send(self, engineFailed{"tts", f}) })
	})
	return cancelWork
}

// streamer is a speaker whose words are heard while they are made, and which reports the engines that failed.
type streamer interface {
	Begin(ctx context.Context, r speech.Request, told func(speech.Fault)) (speech.Utterance, error)
	Prepare(ctx context.Context, r speech.Request) (media.Clip, error)
}

// synthesizeTwice tries a second time if the first has failed.
func synthesizeTwice(ctx context.Context, speaker speech.Speaker, r speech.Request, generation int, failed func(speech.Fault)) promptSynthesized {
	m := promptSynthesized{generation: generation}
	for range 2 {
		if m.said, m.err = beginSynthesis(ctx, speaker, r, failed); m.err == nil {
			return m
		}
		if m.first == nil {
			m.first = m.err
		}
	}
	return m
}

// beginSynthesis returns once the first audio is there.
func beginSynthesis(ctx context.Context, speaker speech.Speaker, r speech.Request, failed func(speech.Fault)) (u speech.Utterance, err error) {
	s, streams := speaker.(streamer)
	if !streams {
		u.Clip, err = synthesizeOnce(ctx, speaker.Speak, r)
		return u, err
	}
	_, err = synthesizeOnce(ctx, func(ctx context.Context, r speech.Request) (media.Clip, error) {
		u, err = s.Begin(ctx, r, failed)
		return nil, err
	}, r)
	return u, err
}

// synthesizeOnce takes at most speakLimit; a speaker that panics has failed.
func synthesizeOnce(ctx context.Context, speak func(context.Context, speech.Request) (media.Clip, error), r speech.Request) (clip media.Clip, err error) {
	bound, cancel := context.WithTimeout(ctx, speakLimit)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("conversation: speaking panicked: %v", v)
		}
	}()
	return speak(bound, r)
}

// Request is the synthesis of a text in the voice of a script's agent.
func Request(s *domain.Script, text string) speech.Request {
	v := s.Voice
	r := speech.Request{Text: pathway.Pronounce(text, v.Pronunciations), Engine: v.Engine, Voice: v.Name, Language: s.Language}
	if d := v.Rate - 1; v.Rate > 0 && (d > normalPlenty || d < -normalPlenty) {
		r.Rate = int(wordsPerMin * v.Rate)
	}
	return r
}

// say speaks a prompt of the pathway.
func (c *Conversation) say(ctx actor.Context, d pathway.Say) {
	c.playback.interruptOutOfBand()
	c.playback.busy, c.input.limit = true, 0
	c.speak(ctx, d)
}

// speak has a prompt synthesized, and played once it is there.
func (c *Conversation) speak(ctx actor.Context, d pathway.Say) {
	c.playback.prompt = d
	generation := c.input.supersede()
	c.playback.request()
	r := Request(&c.cfg.Script, d.Text)
	if clip, ok := c.prompts.clips[r]; ok {
		c.play(ctx, speech.Utterance{Clip: clip})
		return
	}
	c.playback.stopSynthesis = c.prompts.synthesize(ctx, r, generation)
}

// promptSynthesized plays a prompt that is still wanted, or goes on without it.
func (c *Conversation) promptSynthesized(ctx actor.Context, m promptSynthesized) {
	p := &c.playback
	canceled := m.generation != c.input.generation && errors.Is(m.first, context.Canceled)
	if m.first != nil && !canceled {
		c.cfg.Log.Error("a prompt could not be spoken at once", slog.String("node", p.prompt.Node), slog.Any("error", m.first), slog.Bool("recovered", m.err == nil))
		ctx.Send(ctx.Parent(), Fault{
			Stage: "tts", Code: "synthesis_failed",
			Message: "the prompt of node " + p.prompt.Node + " could not be spoken", Recovered: m.err == nil,
		})
	}
	if m.generation != c.input.generation || c.finished {
		if m.said.Stop != nil {
			m.said.Stop()
		}
		return
	}
	if m.err != nil {
		if c.unable || p.outOfBand.active || c.state.Ending() && c.transcript.hasAgentSpoken() {
			c.promptEnded(ctx, pathway.PromptDone{})
			return
		}
		c.endUnable(ctx)
		return
	}
	if !p.prompt.Sensitive && m.said.Feed == nil {
		c.prompts.add(Request(&c.cfg.Script, p.prompt.Text), m.said.Clip)
	}
	c.play(ctx, m.said)
}

// endUnable ends a conversation whose agent cannot speak or hear.
func (c *Conversation) endUnable(ctx actor.Context) {
	c.unable = true
	c.advance(ctx, pathway.Unable{})
}

// reportEngineFailure reports an engine in whose place another one speaks or hears.
func (c *Conversation) reportEngineFailure(ctx actor.Context, m engineFailed) {
	code := speech.Why(m.fault.Err)
	c.cfg.Log.Warn("an engine failed", slog.String("stage", m.stage), slog.String("engine", m.fault.Engine), slog.Any("error", m.fault.Err), slog.Bool("recovered", m.fault.Recovered))
	ctx.Send(ctx.Parent(), Fault{Stage: m.stage, Code: code, Message: "the engine " + m.fault.Engine + " failed", Recovered: m.fault.Recovered})
}

// play plays the prompt that was requested, and has those prepared that may come next.
func (c *Conversation) play(ctx actor.Context, said speech.Utterance) {
	requestedAt := c.playback.play(said)
	c.silence.stop()
	c.latency.end(time.Now(), requestedAt)
	if !c.playback.outOfBand.active {
		c.model.attribute(&c.transcript.segments[c.playback.segment])
	}
	if c.listening.turn.open && c.isInterruptible() {
		c.playback.pause()
	}
	for _, text := range c.state.Upcoming() {
		c.prompts.prepare(ctx, Request(&c.cfg.Script, text))
	}
}

// stopPrompt stops the prompt that plays or is being synthesized.
func (c *Conversation) stopPrompt() {
	c.input.supersede()
	c.playback.stop()
}

// isInterruptible says whether speech may interrupt the prompt that plays.
func (c *Conversation) isInterruptible() bool {
	may := c.turnTaking().Interruptible
	return c.playback.isPlaying() && !c.playback.outOfBand.active && c.playback.prompt.Interruptible && (may == nil || *may)
}

// speakOutOfBand says a text between the prompts of the pathway.
func (c *Conversation) speakOutOfBand(ctx actor.Context, text string) {
	if c.finished || c.absence.on || c.state.Over() || !c.playback.outOfBand.add(text) {
		return
	}
	if !c.playback.busy && !c.playback.outOfBand.active {
		c.speakNextOutOfBand(ctx, nil)
	}
}

// speakNextOutOfBand says the next out-of-band prompt and reports whether there was one. then is what the pathway gets after
// it.
func (c *Conversation) speakNextOutOfBand(ctx actor.Context, then pathway.Input) bool {
	text, ok := c.playback.outOfBand.next(then)
	if ok {
		c.speak(ctx, pathway.Say{Node: "say", Text: text, Shown: text})
	}
	return ok
}

// promptEnded goes on after a prompt or digits: first with the out-of-band prompts.
func (c *Conversation) promptEnded(ctx actor.Context, done pathway.Input) {
	if c.answer.hasMachine() {
		c.endAtMachine(ctx, tail) // the message was said, or could not be
		return
	}
	done = c.playback.outOfBand.done(done)
	if c.speakNextOutOfBand(ctx, done) {
		return
	}
	c.playback.busy = false
	switch {
	case c.realtime.round != 0:
		c.continueRealtime(ctx)
	case done != nil:
		c.advance(ctx, done)
	case c.input.limit > 0:
		c.input.start(ctx, c.input.limit)
	}
}
