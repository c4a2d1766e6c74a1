package conversation

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
)

func (c *Conversation) say(ctx actor.Context, d pathway.Say) {
	c.cutShort()
	c.asked, c.beside.busy, c.beside.wait = d, true, 0
	c.utter(ctx, d.Text)
}

// utter has a text spoken, and played once it is there.
func (c *Conversation) utter(ctx actor.Context, text string) {
	generation := c.supersede()
	c.unsay()
	c.current = -1
	c.since = time.Now()
	r := c.request(text)
	if clip, ok := c.clips[r]; ok {
		c.play(ctx, speech.Utterance{Clip: clip})
		return
	}
	speaker, root, self := c.cfg.Speaker, ctx.ActorSystem().Root, ctx.Self()
	wanted, unwanted := context.WithCancel(context.Background())
	c.stopSaying = unwanted
	mailbox.Work(ctx, 2*speakLimit+time.Second, func(bound context.Context) any {
		bound, cancel := context.WithCancel(bound)
		defer cancel()
		defer context.AfterFunc(wanted, cancel)()
		return speak(bound, speaker, r, generation, func(f speech.Fault) { root.Send(self, engineFailed{"tts", f}) })
	})
}

// unsay ends the work on what is being said, or was about to be.
func (c *Conversation) unsay() {
	if c.stopSaying != nil {
		c.stopSaying()
		c.stopSaying = nil
	}
}

// streamer is a speaker whose words are heard while they are made, and which
// says which engines failed.
type streamer interface {
	Begin(ctx context.Context, r speech.Request, told func(speech.Fault)) (speech.Utterance, error)
	Prepare(ctx context.Context, r speech.Request) (media.Clip, error)
}

// speak tries twice.
func speak(ctx context.Context, speaker speech.Speaker, r speech.Request, generation int, told func(speech.Fault)) spoken {
	m := spoken{generation: generation}
	for range 2 {
		if m.said, m.err = begin(ctx, speaker, r, told); m.err == nil {
			return m
		}
		if m.first == nil {
			m.first = m.err
		}
	}
	return m
}

// begin speaks until the first sound is there.
func begin(ctx context.Context, speaker speech.Speaker, r speech.Request, told func(speech.Fault)) (u speech.Utterance, err error) {
	s, streams := speaker.(streamer)
	if !streams {
		u.Clip, err = once(ctx, speaker.Speak, r)
		return u, err
	}
	_, err = once(ctx, func(ctx context.Context, r speech.Request) (media.Clip, error) {
		u, err = s.Begin(ctx, r, told)
		return nil, err
	}, r)
	return u, err
}

// once speaks in bounded time; a speaker that panics has failed.
func once(ctx context.Context, say func(context.Context, speech.Request) (media.Clip, error), r speech.Request) (clip media.Clip, err error) {
	bound, cancel := context.WithTimeout(ctx, speakLimit)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("conversation: speaking panicked: %v", v)
		}
	}()
	return say(bound, r)
}

func (c *Conversation) request(text string) speech.Request { return Request(&c.cfg.Script, text) }

// Request asks for a text as the agent of a script says it.
func Request(s *domain.Script, text string) speech.Request {
	v := s.Voice
	r := speech.Request{Text: pathway.Pronounce(text, v.Pronunciations), Engine: v.Engine, Voice: v.Name, Language: s.Language}
	if d := v.Rate - 1; v.Rate > 0 && (d > normalPlenty || d < -normalPlenty) {
		r.Rate = int(wordsPerMin * v.Rate)
	}
	return r
}

func (c *Conversation) spoken(ctx actor.Context, m spoken) {
	gone := m.generation != c.generation && errors.Is(m.first, context.Canceled) // nobody wanted it any more
	if m.first != nil && !gone {
		c.cfg.Log.Error("a prompt could not be spoken at once", slog.String("node", c.asked.Node), slog.Any("error", m.first), slog.Bool("recovered", m.err == nil))
		ctx.Send(ctx.Parent(), Fault{
			Stage: "tts", Code: "synthesis_failed",
			Message: "the prompt of node " + c.asked.Node + " could not be spoken", Recovered: m.err == nil,
		})
	}
	if m.generation != c.generation || c.finished {
		if m.said.Stop != nil {
			m.said.Stop()
		}
		return
	}
	if m.err != nil {
		if c.unable || c.beside.on || c.state.Ending() && c.hasSpoken() {
			c.sounded(ctx, pathway.PromptDone{})
			return
		}
		c.endUnable(ctx)
		return
	}
	if !c.asked.Sensitive && m.said.Feed == nil {
		c.keep(c.request(c.asked.Text), m.said.Clip)
	}
	c.play(ctx, m.said)
}

// hasSpoken says whether the agent has said anything so far.
func (c *Conversation) hasSpoken() bool {
	return slices.ContainsFunc(c.segments, func(s domain.Segment) bool { return s.Speaker == agent })
}

// firstWordsLimit is how long the agent's first words may take before a call that the contact ends counts as one whose agent
// could not speak.
const firstWordsLimit = 2 * time.Second

// firstWordsLate says whether the agent has not spoken yet and its first words have taken firstWordsLimit or longer.
func (c *Conversation) firstWordsLate() bool {
	return !c.since.IsZero() && time.Since(c.since) >= firstWordsLimit && !c.hasSpoken()
}

// endUnable ends a conversation whose agent cannot speak or hear.
func (c *Conversation) endUnable(ctx actor.Context) {
	c.unable = true
	c.step(ctx, pathway.Unable{})
}

// engineFailed tells of an engine in whose place another one speaks or hears.
func (c *Conversation) engineFailed(ctx actor.Context, m engineFailed) {
	code := speech.Why(m.fault.Err)
	c.cfg.Log.Warn("an engine failed", slog.String("stage", m.stage), slog.String("engine", m.fault.Engine), slog.Any("error", m.fault.Err), slog.Bool("recovered", m.fault.Recovered))
	ctx.Send(ctx.Parent(), Fault{Stage: m.stage, Code: code, Message: "the engine " + m.fault.Engine + " failed", Recovered: m.fault.Recovered})
}

func (c *Conversation) play(ctx actor.Context, said speech.Utterance) {
	c.unsay()
	c.stopSaying = said.Stop
	c.beginSegment()
	c.credit()
	c.quietNow()
	asked := c.since
	if !c.since.IsZero() {
		c.slowest, c.since = max(c.slowest, time.Since(c.since)), time.Time{}
	}
	c.stages.sounds(time.Now(), asked)
	c.sounding++
	if said.Feed != nil {
		c.cfg.Sound.PlayFeed(c.sounding, said.Feed)
	} else {
		c.cfg.Sound.Play(c.sounding, said.Clip)
	}
	c.turn.paused = false
	if c.turn.on && c.interruptible() {
		c.pause()
	}
	c.prepare(ctx)
}

// prepare has the texts that may come next spoken meanwhile.
func (c *Conversation) prepare(ctx actor.Context) {
	for _, text := range c.state.Upcoming() {
		c.prepareText(ctx, text)
	}
}

func (c *Conversation) prepareText(ctx actor.Context, text string) {
	r := c.request(text)
	if c.prepared[r] || len(c.prepared) >= clipsKept {
		return
	}
	c.prepared[r] = true
	speaker := c.cfg.Speaker
	mailbox.Work(ctx, speakLimit, func(bound context.Context) any {
		say := speaker.Speak
		if s, ok := speaker.(streamer); ok {
			say = s.Prepare
		}
		clip, err := once(bound, say, r)
		if err != nil {
			return nil // it is told when the prompt is due
		}
		return prepared{r, clip}
	})
}

func (c *Conversation) keep(r speech.Request, clip media.Clip) {
	if len(c.clips) < clipsKept {
		c.clips[r] = clip
	}
}

// hush stops the prompt, or what is being made of it.
func (c *Conversation) hush() {
	c.supersede()
	c.unsay()
	c.beside.busy, c.beside.on = false, false
	if c.current >= 0 {
		c.endSegment(true)
		c.cfg.Sound.StopPlaying()
	}
	c.sounding++
}
