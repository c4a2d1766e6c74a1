package conversation

import (
	"context"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media/speech"
)

// realtimeOpenLimit is for the look-up of the tools; the connection follows.
const realtimeOpenLimit = 10 * time.Second

// unnoticedAfter: an engine that has not noticed the caller's silence by then, as our voice activity detection has, counts as
// failed.
const unnoticedAfter = 10 * time.Second

// lateBegin: an engine hears the caller begin at most so long after our voice activity detection has heard the end. Otherwise
// only the engine hears the caller, and knows best when the caller ends.
const lateBegin = 3 * time.Second

type (
	realtimeOpened struct {
		round int
		talk  RealtimeConnection
		err   error
	}
	realtimeEvent struct { // bounded by the mailbox
		round int
		event speech.RealtimeEvent
	}
	// realtimeLost is the end of a session. It is always admitted.
	realtimeLost struct {
		round int
		err   error
	}
	// endUnnoticed says that the engine has not noticed a silence of the caller.
	endUnnoticed struct{ round, silence int }
)

func (realtimeOpened) Control() {}
func (realtimeLost) Control()   {}
func (endUnnoticed) Control()   {}

// hasRealtime says whether a realtime engine can get the caller at converse nodes.
func (c *Conversation) hasRealtime() bool {
	_, can := c.cfg.AgentRuntime.(RealtimeRuntime)
	return can && c.cfg.Script.Realtime != nil && c.cfg.AudioTap != nil && !c.realtimeEnded
}

// startRealtime hands the caller to a realtime engine.
func (c *Conversation) startRealtime(ctx actor.Context, d pathway.Live) {
	c.model.cancel()
	c.input.end()
	c.leaveTurnToKeywords(ctx)
	may := c.turnTaking().Interruptible
	d.Interruptible = d.Interruptible && (may == nil || *may)
	c.realtime = newRealtimeSession(d)
	opening, root, self, script := c.realtime.opening, ctx.ActorSystem().Root, ctx.Self(), c.cfg.Script
	mind, ok := c.cfg.AgentRuntime.(RealtimeRuntime)
	if !ok {
		root.Send(self, realtimeLost{d.Round, speech.ErrEngineSuspended})
		return
	}
	brief := c.state.Brief(script.System, d.Think)
	mailbox.RunTask(ctx, realtimeOpenLimit, func(bound context.Context) any {
		m := realtimeOpened{round: d.Round}
		defer func() {
			if m.err == nil {
				opening.opened(m.talk)
			}
		}()
		m.talk, m.err = mind.OpenRealtime(bound, &script, brief, d, func(e speech.RealtimeEvent) {
			if e.Kind == speech.RealtimeFailed {
				root.Send(self, realtimeLost{d.Round, e.Err})
				return
			}
			root.Send(self, realtimeEvent{d.Round, e})
		})
		return m
	})
}

// realtimeOpened lets the engine hear the caller.
func (c *Conversation) realtimeOpened(ctx actor.Context, m realtimeOpened) {
	r := &c.realtime
	if m.round != r.round || c.finished {
		return // it was closed when the caller was taken back
	}
	r.talk = m.talk
	if m.err != nil {
		c.realtimeFailed(ctx, m.err)
		return
	}
	c.cfg.AudioTap.Begin(m.talk, noticed+before)
	for _, e := range r.setOpen() {
		if r.round == m.round {
			c.actOnRealtime(ctx, e)
		}
	}
	if c.listening.speaking && r.round == m.round && m.talk.AudioOnly {
		c.beginTurn(ctx) // it reports nothing of what the caller has begun to say
	}
}

// endRealtime takes the caller back.
func (c *Conversation) endRealtime(ctx actor.Context) {
	r := &c.realtime
	if r.round == 0 {
		return
	}
	r.stopEndTimer()
	if r.open {
		c.cfg.AudioTap.End()
	}
	if t := &c.listening.turn; t.open && t.duringRealtime && !t.over {
		c.listening.endTurn(ctx) // the caller may have opted out
	}
	c.awaitRealtimeWords(ctx)
	playing := r.isPlaying()
	c.realtime = realtimeSession{}
	if playing {
		c.stopPrompt()
	}
}

// realtimeEvent takes an event of the session that has the caller, or of the one that had.
func (c *Conversation) realtimeEvent(ctx actor.Context, m realtimeEvent) {
	switch {
	case c.pending.is(m.round):
		c.pendingEvent(ctx, m.event)
	case m.round != c.realtime.round || c.finished:
	case c.realtime.open:
		c.actOnRealtime(ctx, m.event)
	default:
		c.realtime.addEarly(m.event)
	}
}

// realtimeClosed takes the end of a session.
func (c *Conversation) realtimeClosed(ctx actor.Context, m realtimeLost) {
	switch {
	case c.pending.is(m.round):
		c.endPending(ctx)
	case m.round == c.realtime.round && !c.finished:
		c.realtimeFailed(ctx, m.err)
	}
}

// actOnRealtime acts on an event of the engine.
func (c *Conversation) actOnRealtime(ctx actor.Context, e speech.RealtimeEvent) {
	r := &c.realtime
	switch e.Kind { //nolint:exhaustive // the end has a message of its own
	case speech.RealtimeReady:
		c.reportRealtimeRest(ctx)
	case speech.RealtimeSpeechStarted:
		c.realtimeCallerBegan(ctx, e)
	case speech.RealtimeSpeechEnded:
		r.stopEndTimer()
		r.callerEnded(&c.transcript, e.Item)
		c.restartSilence(ctx)
		now := c.cfg.Player.Mark()
		c.latency.beginByWords(max(now-hangover, 0), now, time.Now())
	case speech.RealtimeCallerTranscript:
		if e.Text != "" {
			r.callerText(&c.transcript, e)
			c.checkWords(ctx, e.Text)
			c.advance(ctx, pathway.Overheard{Round: r.round, By: pathway.ByCaller, Text: e.Text})
		}
	case speech.RealtimeAudioStarted:
		r.addAnswer(e)
		c.playNextAnswer()
	case speech.RealtimeAgentTranscript:
		r.answerText(&c.transcript, e)
	case speech.RealtimeIdle:
		r.busy = false
		c.reportRealtimeRest(ctx)
	case speech.RealtimeAudioCleared:
		r.busy, r.waiting = false, nil
		c.stopAnswer()
		c.reportRealtimeRest(ctx)
	case speech.RealtimeEnded:
		r.busy = false
		c.advance(ctx, pathway.Left{Round: r.round})
		c.reportRealtimeRest(ctx)
	case speech.RealtimeResponseDone:
		r.busy = false
		c.advance(ctx, r.toolCalls(e.Calls))
		c.reportRealtimeRest(ctx) // if the engine still has the caller
	}
}

// realtimeCallerBegan interrupts what the caller hears, if that may be interrupted.
func (c *Conversation) realtimeCallerBegan(ctx actor.Context, e speech.RealtimeEvent) {
	r, l := &c.realtime, &c.listening
	c.input.end()
	c.silence.stop()
	r.callerBegan(&c.transcript, e.Item)
	if !l.speaking && !r.talk.AudioOnly && l.spokeUntil > 0 && c.cfg.Player.Mark()-l.spokeUntil < lateBegin {
		c.awaitRealtimeEnd(ctx)
	}
	if r.interruptible {
		r.cutWaiting()
		c.stopAnswer()
	}
}

// realtimeSpeech takes what our voice activity detection reports while an engine has the caller: the answer pauses at once,
// for the engine notices the caller later.
func (c *Conversation) realtimeSpeech(ctx actor.Context, speaks bool) {
	r := &c.realtime
	r.stopEndTimer()
	if !speaks && r.open && r.callerSpeaks && !r.talk.AudioOnly {
		c.awaitRealtimeEnd(ctx)
	}
	switch {
	case r.round == 0:
	case r.hearsWithoutReporting():
		if speaks {
			c.input.end()
		}
		r.setCallerSpeaks(&c.transcript, speaks)
		if !speaks {
			c.reportRealtimeRest(ctx)
		}
	case speaks && r.interruptible && r.isPlaying() && !r.stopped:
		c.playback.pause()
	case !speaks && c.playback.paused && c.playback.isPlaying() && !r.stopped:
		c.playback.resume()
	}
}

// awaitRealtimeEnd gives the engine some time to notice that the caller is silent.
func (c *Conversation) awaitRealtimeEnd(ctx actor.Context) {
	r := &c.realtime
	r.stopEndTimer()
	r.silence++
	wait := unnoticedAfter + time.Duration(c.turnTaking().EndOfTurnMs)*time.Millisecond
	r.cancelEndTimer = mailbox.SendAfter(ctx, wait, endUnnoticed{r.round, r.silence})
}

// stopAnswer stops the answer that is heard; the media report how much was.
func (c *Conversation) stopAnswer() {
	if c.realtime.markStopped() {
		c.cfg.Player.StopPlaying()
	}
}

// playNextAnswer plays the next answer that waits.
func (c *Conversation) playNextAnswer() {
	if c.playback.isPlaying() || c.playback.outOfBand.active {
		return
	}
	text, ok := c.realtime.playNext()
	if !ok {
		return
	}
	c.input.end()
	c.input.supersede()
	c.silence.stop()
	c.playback.playRealtime(pathway.Say{Text: text, Shown: text, Interruptible: c.realtime.interruptible}, c.realtime.playing.Feed)
	c.realtime.items[c.realtime.playing.Item] = c.playback.segment
	c.latency.end(time.Now(), time.Time{})
}

// realtimePlayed reports an answer to the pathway as far as it was heard.
func (c *Conversation) realtimePlayed(ctx actor.Context, heard time.Duration, interrupted bool) {
	r := &c.realtime
	text := c.transcript.segments[c.playback.segment].Text
	c.playback.end(interrupted)
	c.playback.busy = false
	text = r.played(text, heard, interrupted)
	if !r.talk.AudioOnly {
		c.advance(ctx, pathway.Overheard{Round: r.round, By: pathway.ByAgent, Text: text})
	}
	c.restartSilence(ctx)
	c.continueRealtime(ctx)
}

// continueRealtime plays what waits: out-of-band prompts first.
func (c *Conversation) continueRealtime(ctx actor.Context) {
	if c.realtime.round == 0 || c.speakNextOutOfBand(ctx, nil) {
		return
	}
	c.playNextAnswer()
	c.reportRealtimeRest(ctx)
}

// reportRealtimeRest reports to the pathway that nobody speaks.
func (c *Conversation) reportRealtimeRest(ctx actor.Context) {
	if c.realtime.isAtRest() && !c.playback.isPlaying() && !c.absence.on {
		c.advance(ctx, pathway.Rested{Round: c.realtime.round})
	}
}

// realtimeFailed goes on without the engine.
func (c *Conversation) realtimeFailed(ctx actor.Context, err error) {
	r := &c.realtime
	round, name := r.round, r.talk.Engine
	if s := c.cfg.Script.Realtime; name == "" && s != nil {
		name = s.Engine
	}
	mind, ok := c.cfg.AgentRuntime.(RealtimeRuntime)
	instead := ok && mind.CanReplaceRealtime(&c.cfg.Script) && c.cfg.Recognizer != nil
	c.cfg.Log.Error("an engine that speaks by itself is gone", slog.String("engine", name), slog.Any("error", err), slog.Bool("recovered", instead))
	ctx.Send(ctx.Parent(), Fault{Stage: "realtime", Code: speech.ErrorCode(err), Message: "the engine " + name + " failed", Recovered: instead})
	text := ""
	if c.playback.isPlaying() && r.isPlaying() && !r.talk.AudioOnly {
		s := c.transcript.segments[c.playback.segment]
		text = pathway.CutShort(heardText(s.Text, c.cfg.Player.Mark()-time.Duration(s.StartMs)*time.Millisecond, r.playing.Feed.Len()))
	}
	c.realtimeEnded, r.failed = true, true
	if text != "" {
		c.advance(ctx, pathway.Overheard{Round: round, By: pathway.ByAgent, Text: text})
	}
	c.endRealtime(ctx)
	c.advance(ctx, pathway.Broke{Round: round, Instead: instead})
}
