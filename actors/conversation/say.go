package conversation

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
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
	c.current = -1
	c.since = time.Now()
	r := c.request(text)
	if clip, ok := c.clips[r]; ok {
		c.play(ctx, clip)
		return
	}
	speaker := c.cfg.Speaker
	mailbox.Work(ctx, 2*speakLimit+time.Second, func(bound context.Context) any {
		return speak(bound, speaker, r, generation)
	})
}

// speak tries twice.
func speak(ctx context.Context, speaker speech.Speaker, r speech.Request, generation int) spoken {
	m := spoken{generation: generation}
	for range 2 {
		if m.clip, m.err = once(ctx, speaker, r); m.err == nil {
			return m
		}
		if m.first == nil {
			m.first = m.err
		}
	}
	return m
}

// once speaks in bounded time; a speaker that panics has failed.
func once(ctx context.Context, speaker speech.Speaker, r speech.Request) (clip media.Clip, err error) {
	bound, cancel := context.WithTimeout(ctx, speakLimit)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("conversation: speaking panicked: %v", v)
		}
	}()
	return speaker.Speak(bound, r)
}

func (c *Conversation) request(text string) speech.Request {
	v := c.cfg.Script.Voice
	r := speech.Request{Text: text, Voice: v.Name}
	if r.Voice == "" {
		r.Voice = strings.ToLower(c.cfg.Script.Language)
	}
	if d := v.Rate - 1; v.Rate > 0 && (d > normalPlenty || d < -normalPlenty) {
		r.Rate = int(wordsPerMin * v.Rate)
	}
	return r
}

func (c *Conversation) spoken(ctx actor.Context, m spoken) {
	if m.first != nil {
		c.cfg.Log.Error("a prompt could not be spoken at once", slog.String("node", c.asked.Node), slog.Any("error", m.first), slog.Bool("recovered", m.err == nil))
		ctx.Send(ctx.Parent(), Fault{
			Stage: "tts", Code: "synthesis_failed",
			Message: "the prompt of node " + c.asked.Node + " could not be spoken", Recovered: m.err == nil,
		})
	}
	if m.generation != c.generation || c.finished {
		return
	}
	if m.err != nil {
		c.sounded(ctx, pathway.PromptDone{})
		return
	}
	if !c.asked.Sensitive {
		c.keep(c.request(c.asked.Text), m.clip)
	}
	c.play(ctx, m.clip)
}

func (c *Conversation) play(ctx actor.Context, clip media.Clip) {
	c.beginSegment()
	c.credit()
	c.quietNow()
	if !c.since.IsZero() {
		c.slowest, c.since = max(c.slowest, time.Since(c.since)), time.Time{}
	}
	c.sounding++
	c.cfg.Sound.Play(c.sounding, clip)
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
		clip, err := once(bound, speaker, r)
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
	c.beside.busy, c.beside.on = false, false
	if c.current >= 0 {
		c.endSegment(true)
		c.cfg.Sound.StopPlaying()
	}
	c.sounding++
}
