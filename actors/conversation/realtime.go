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

// realtimeOpenLimit limits the lookup of the tools; the connection has a limit of its own.
const realtimeOpenLimit = 10 * time.Second

// maxUnnoticedSilence is how long after the voice activity detection the engine may take to report the end of
// speech. Afterwards the engine counts as failed.
const maxUnnoticedSilence = 10 * time.Second

// maxLateOnset is the largest delay between the detected end of speech and the engine's report of its start. Beyond
// this delay only the engine hears the caller, and its report of the end is trusted.
const maxLateOnset = 3 * time.Second

type (
	realtimeOpened struct {
		round      int
		connection RealtimeConnection
		err        error
	}
	realtimeEvent struct { // the mailbox bounds the number of these messages
		round int
		event speech.RealtimeEvent
	}
	// realtimeEnded is the end of a session. A full mailbox accepts it.
	realtimeEnded struct {
		round int
		err   error
	}
	// silenceUnnoticed reports that the engine has not noticed the end of the caller's speech.
	silenceUnnoticed struct{ round, silence int }
)

func (realtimeOpened) Control()   {}
func (realtimeEnded) Control()    {}
func (silenceUnnoticed) Control() {}

// hasRealtime reports whether a realtime engine may take over the caller at converse nodes.
func (c *Conversation) hasRealtime() bool {
	_, can := c.cfg.AgentRuntime.(RealtimeRuntime)
	return can && c.cfg.Script.Realtime != nil && c.cfg.AudioTap != nil && !c.realtimeEnded
}

// startRealtime connects the caller to a realtime engine.
func (c *Conversation) startRealtime(ctx actor.Context, d pathway.StartRealtime) {
	c.model.cancel()
	c.input.end()
	c.keepTurnForKeywords(ctx)
	setting := c.turnTaking().Interruptible
	d.Interruptible = d.Interruptible && (setting == nil || *setting)
	c.realtime = newRealtimeSession(d)
	opening, root, self, script := c.realtime.opening, ctx.ActorSystem().Root, ctx.Self(), c.cfg.Script
	runtime, ok := c.cfg.AgentRuntime.(RealtimeRuntime)
	if !ok {
		root.Send(self, realtimeEnded{d.Round, speech.ErrEngineSuspended})
		return
	}
	brief := c.state.SystemPrompt(script.System, d.ModelRequest)
	mailbox.RunTask(ctx, realtimeOpenLimit, func(bound context.Context) any {
		m := realtimeOpened{round: d.Round}
		defer func() {
			if m.err == nil {
				opening.setLive(m.connection)
			}
		}()
		m.connection, m.err = runtime.OpenRealtime(bound, &script, brief, d, func(e speech.RealtimeEvent) {
			if e.Kind == speech.RealtimeFailed {
				root.Send(self, realtimeEnded{d.Round, e.Err})
				return
			}
			root.Send(self, realtimeEvent{d.Round, e})
		})
		return m
	})
}

// realtimeOpened passes the caller's audio to the engine.
func (c *Conversation) realtimeOpened(ctx actor.Context, m realtimeOpened) {
	r := &c.realtime
	if m.round != r.round || c.finished {
		return // the session was closed when the caller was taken back
	}
	r.connection = m.connection
	if m.err != nil {
		c.realtimeFailed(ctx, m.err)
		return
	}
	c.cfg.AudioTap.Begin(m.connection, speechOnset+preRoll)
	for _, e := range r.setOpen() {
		if r.round == m.round {
			c.actOnRealtime(ctx, e)
		}
	}
	if c.listening.speaking && r.round == m.round && m.connection.AudioOnly {
		c.beginTurn(ctx) // the engine does not report speech that has begun
	}
}

// endRealtime takes the caller back from the engine.
func (c *Conversation) endRealtime(ctx actor.Context) {
	r := &c.realtime
	if r.round == 0 {
		return
	}
	r.stopEndTimer()
	if r.open {
		c.cfg.AudioTap.End()
	}
	if t := &c.listening.turn; t.open && t.duringRealtime && !t.recognizing {
		c.listening.endTurn(ctx) // the caller may have opted out
	}
	c.awaitRealtimeWords(ctx)
	playing := r.isPlaying()
	c.realtime = realtimeSession{}
	if playing {
		c.stopPrompt()
	}
}

// realtimeEvent handles an event of the current session, or of the previous one.
func (c *Conversation) realtimeEvent(ctx actor.Context, m realtimeEvent) {
	switch {
	case c.pending.isFor(m.round):
		c.pendingEvent(ctx, m.event)
	case m.round != c.realtime.round || c.finished:
	case c.realtime.open:
		c.actOnRealtime(ctx, m.event)
	default:
		c.realtime.addEarly(m.event)
	}
}

// realtimeClosed handles the end of a session.
func (c *Conversation) realtimeClosed(ctx actor.Context, m realtimeEnded) {
	switch {
	case c.pending.isFor(m.round):
		c.endPending(ctx)
	case m.round == c.realtime.round && !c.finished:
		c.realtimeFailed(ctx, m.err)
	}
}

// actOnRealtime handles an event of the engine.
func (c *Conversation) actOnRealtime(ctx actor.Context, e speech.RealtimeEvent) {
	r := &c.realtime
	switch e.Kind { //nolint:exhaustive // realtimeEnded reports the end of the session
	case speech.RealtimeReady:
		c.reportRealtimeIdle(ctx)
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
			c.advance(ctx, pathway.RealtimeTranscript{Round: r.round, By: pathway.ByCaller, Text: e.Text})
		}
	case speech.RealtimeAudioStarted:
		r.addAnswer(e)
		c.playNextAnswer()
	case speech.RealtimeAgentTranscript:
		r.answerText(&c.transcript, e)
	case speech.RealtimeIdle:
		r.busy = false
		c.reportRealtimeIdle(ctx)
	case speech.RealtimeAudioCleared:
		r.busy, r.waiting = false, nil
		c.stopAnswer()
		c.reportRealtimeIdle(ctx)
	case speech.RealtimeEnded:
		r.busy = false
		c.advance(ctx, pathway.RealtimeDone{Round: r.round})
		c.reportRealtimeIdle(ctx)
	case speech.RealtimeResponseDone:
		r.busy = false
		c.advance(ctx, r.toolCalls(e.Calls))
		c.reportRealtimeIdle(ctx) // if the engine still has the caller
	}
}

// realtimeCallerBegan interrupts the answer if it is interruptible.
func (c *Conversation) realtimeCallerBegan(ctx actor.Context, e speech.RealtimeEvent) {
	r, l := &c.realtime, &c.listening
	c.input.end()
	c.silence.stop()
	r.callerBegan(&c.transcript, e.Item)
	if !l.speaking && !r.connection.AudioOnly && l.spokeUntil > 0 && c.cfg.Player.Mark()-l.spokeUntil < maxLateOnset {
		c.awaitRealtimeEnd(ctx)
	}
	if r.interruptible {
		r.dropWaiting()
		c.stopAnswer()
	}
}

// realtimeSpeech handles voice activity while an engine has the caller. The answer pauses at once, because the
// engine notices speech later.
func (c *Conversation) realtimeSpeech(ctx actor.Context, speaks bool) {
	r := &c.realtime
	r.stopEndTimer()
	if !speaks && r.open && r.callerSpeaks && !r.connection.AudioOnly {
		c.awaitRealtimeEnd(ctx)
	}
	switch {
	case r.round == 0:
	case r.isAudioOnly():
		if speaks {
			c.input.end()
		}
		r.setCallerSpeaks(&c.transcript, speaks)
		if !speaks {
			c.reportRealtimeIdle(ctx)
		}
	case speaks && r.interruptible && r.isPlaying() && !r.stopped:
		c.playback.pause()
	case !speaks && c.playback.paused && c.playback.isPlaying() && !r.stopped:
		c.playback.resume()
	}
}

// awaitRealtimeEnd starts the timer in which the engine has to notice that the caller is silent.
func (c *Conversation) awaitRealtimeEnd(ctx actor.Context) {
	r := &c.realtime
	r.stopEndTimer()
	r.silence++
	wait := maxUnnoticedSilence + time.Duration(c.turnTaking().EndOfTurnMs)*time.Millisecond
	r.cancelEndTimer = mailbox.SendAfter(ctx, wait, silenceUnnoticed{r.round, r.silence})
}

// stopAnswer stops the answer that plays. The media report how much of it was heard.
func (c *Conversation) stopAnswer() {
	if c.realtime.markStopped() {
		c.cfg.Player.StopPlaying()
	}
}

// playNextAnswer plays the next waiting answer.
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

// realtimePlayed reports the heard part of an answer to the pathway.
func (c *Conversation) realtimePlayed(ctx actor.Context, heard time.Duration, interrupted bool) {
	r := &c.realtime
	text := c.transcript.segments[c.playback.segment].Text
	c.playback.end(interrupted)
	c.playback.busy = false
	text = r.played(text, heard, interrupted)
	if !r.connection.AudioOnly {
		c.advance(ctx, pathway.RealtimeTranscript{Round: r.round, By: pathway.ByAgent, Text: text})
	}
	c.restartSilence(ctx)
	c.continueRealtime(ctx)
}

// continueRealtime plays what waits, out-of-band prompts first.
func (c *Conversation) continueRealtime(ctx actor.Context) {
	if c.realtime.round == 0 || c.speakNextOutOfBand(ctx, nil) {
		return
	}
	c.playNextAnswer()
	c.reportRealtimeIdle(ctx)
}

// reportRealtimeIdle reports to the pathway that neither side speaks.
func (c *Conversation) reportRealtimeIdle(ctx actor.Context) {
	if c.realtime.isIdle() && !c.playback.isPlaying() && !c.agentPause.active {
		c.advance(ctx, pathway.RealtimeIdle{Round: c.realtime.round})
	}
}

// realtimeFailed continues the conversation without the engine.
func (c *Conversation) realtimeFailed(ctx actor.Context, err error) {
	r := &c.realtime
	round, name := r.round, r.connection.Engine
	if s := c.cfg.Script.Realtime; name == "" && s != nil {
		name = s.Engine
	}
	runtime, ok := c.cfg.AgentRuntime.(RealtimeRuntime)
	instead := ok && runtime.CanReplaceRealtime(&c.cfg.Script) && c.cfg.Recognizer != nil
	c.cfg.Log.Error("realtime engine failed", slog.String("engine", name), slog.Any("error", err), slog.Bool("recovered", instead))
	ctx.Send(ctx.Parent(), Fault{Stage: "realtime", Code: speech.ErrorCode(err), Message: "the engine " + name + " failed", Recovered: instead})
	text := ""
	if c.playback.isPlaying() && r.isPlaying() && !r.connection.AudioOnly {
		s := c.transcript.segments[c.playback.segment]
		text = pathway.MarkInterrupted(heardText(s.Text, c.cfg.Player.Mark()-time.Duration(s.StartMs)*time.Millisecond, r.playing.Feed.Len()))
	}
	c.realtimeEnded, r.failed = true, true
	if text != "" {
		c.advance(ctx, pathway.RealtimeTranscript{Round: round, By: pathway.ByAgent, Text: text})
	}
	c.endRealtime(ctx)
	c.advance(ctx, pathway.RealtimeLost{Round: round, HasFallback: instead})
}
