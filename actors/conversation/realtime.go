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

// realtimeOpenLimit limits the time for looking up the tools of a session. The connection to the engine has its own limit.
const realtimeOpenLimit = 10 * time.Second

// maxUnnoticedSilence is the time that the engine has to report the end of the caller's speech after the voice activity
// detection has reported it. If the time passes, the engine counts as failed.
const maxUnnoticedSilence = 10 * time.Second

// maxLateOnset is the maximum delay between the end of speech, found by voice activity detection, and the engine's report
// that this speech began. A later report concerns speech that only the engine hears, so no timer runs for its end.
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
	// realtimeEnded reports the end of a session. A full mailbox accepts it.
	realtimeEnded struct {
		round int
		err   error
	}
	// silenceUnnoticed is the timer message that the engine has not reported the end of the caller's speech in time.
	silenceUnnoticed struct{ round, silence int }
)

func (realtimeOpened) Control()   {}
func (realtimeEnded) Control()    {}
func (silenceUnnoticed) Control() {}

// hasRealtime reports whether a realtime engine may talk to the caller at converse nodes of the pathway.
func (c *Conversation) hasRealtime() bool {
	_, can := c.cfg.AgentRuntime.(RealtimeRuntime)
	return can && c.cfg.Script.Realtime != nil && c.cfg.AudioTap != nil && !c.realtimeEnded
}

// startRealtime connects the caller to a realtime engine.
func (c *Conversation) startRealtime(ctx actor.Context, d pathway.StartRealtime) {
	c.model.cancel()
	c.input.end()
	c.keepTurnForKeywords(ctx)
	setting := turnTaking(&c.cfg.Script, c.state).Interruptible
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

// realtimeOpened starts to pass the caller's audio to the engine once its session is open.
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

// endRealtime ends the session of the engine. The pathway talks to the caller again.
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

// realtimeEvent handles an event of the current session, or the awaited transcript of the previous session.
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

// realtimeClosed handles the end of a session by the engine.
func (c *Conversation) realtimeClosed(ctx actor.Context, m realtimeEnded) {
	switch {
	case c.pending.isFor(m.round):
		c.endTranscriptWait(ctx)
	case m.round == c.realtime.round && !c.finished:
		c.realtimeFailed(ctx, m.err)
	}
}

// actOnRealtime handles an event of the open session.
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
		now := c.cfg.Player.Position()
		c.latency.beginByWords(max(now-time.Duration(turnTaking(&c.cfg.Script, c.state).EndOfTurnMs)*time.Millisecond, 0), now, time.Now())
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

// realtimeCallerBegan handles the report that the caller began to speak. It stops the playing answer if it is interruptible.
func (c *Conversation) realtimeCallerBegan(ctx actor.Context, e speech.RealtimeEvent) {
	r, l := &c.realtime, &c.listening
	c.input.end()
	c.silence.stop()
	r.callerBegan(&c.transcript, e.Item)
	if !l.speaking && !r.connection.AudioOnly && l.spokeUntil > 0 && c.cfg.Player.Position()-l.spokeUntil < maxLateOnset {
		c.awaitRealtimeEnd(ctx)
	}
	if r.interruptible {
		r.dropWaiting()
		c.stopAnswer()
	}
}

// realtimeSpeech handles voice activity while an engine talks to the caller. The playing answer pauses at once, because the
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
		r.setCallerSpeaks(&c.transcript, speaks, c.listening.endSilence)
		if !speaks {
			c.reportRealtimeIdle(ctx)
		}
	case speaks && r.interruptible && r.isPlaying() && !r.stopped:
		c.playback.pause()
	case !speaks && c.playback.paused && c.playback.isPlaying() && !r.stopped:
		c.playback.resume()
	}
}

// awaitRealtimeEnd starts the timer in which the engine has to report that the caller has stopped speaking.
func (c *Conversation) awaitRealtimeEnd(ctx actor.Context) {
	r := &c.realtime
	r.stopEndTimer()
	r.silence++
	wait := maxUnnoticedSilence + time.Duration(turnTaking(&c.cfg.Script, c.state).EndOfTurnMs)*time.Millisecond
	r.cancelEndTimer = mailbox.SendAfter(ctx, wait, silenceUnnoticed{r.round, r.silence})
}

// stopAnswer stops the playing answer. The player then reports how much of the answer was heard.
func (c *Conversation) stopAnswer() {
	if c.realtime.markStopped() {
		c.cfg.Player.StopPlaying()
	}
}

// playNextAnswer plays the next waiting answer of the engine, unless a prompt is playing.
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

// realtimePlayed tells the pathway which part of an answer the caller has heard.
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

// continueRealtime plays waiting out-of-band prompts and then the next waiting answer.
func (c *Conversation) continueRealtime(ctx actor.Context) {
	if c.realtime.round == 0 || c.speakNextOutOfBand(ctx, nil) {
		return
	}
	c.playNextAnswer()
	c.reportRealtimeIdle(ctx)
}

// reportRealtimeIdle tells the pathway that neither the engine nor the caller speaks.
func (c *Conversation) reportRealtimeIdle(ctx actor.Context) {
	if c.realtime.isIdle() && !c.playback.isPlaying() && !c.agentPause.active {
		c.advance(ctx, pathway.RealtimeIdle{Round: c.realtime.round})
	}
}

// realtimeFailed reports that the engine has failed and continues the conversation without it.
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
		text = pathway.MarkInterrupted(heardText(s.Text, c.cfg.Player.Position()-time.Duration(s.StartMs)*time.Millisecond, r.playing.Feed.Len()), s.Text)
	}
	c.realtimeEnded, r.failed = true, true
	if text != "" {
		c.advance(ctx, pathway.RealtimeTranscript{Round: round, By: pathway.ByAgent, Text: text})
	}
	c.endRealtime(ctx)
	c.advance(ctx, pathway.RealtimeLost{Round: round, HasFallback: instead})
}
