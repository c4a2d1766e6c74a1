package call

import (
	"errors"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media"
)

// Messages for live listening and for pauses of the recording.
type (
	// AddListener adds a listener to an answered call, or to a call that plays early media. OnFrame receives the mixed
	// audio of both sides in frames, and nil after the last frame. The answer is ListenerAdded or a *domain.Error.
	// TapReceiver, a channel with capacity 1, also receives the tap, so that the sender can close it if the answer is lost.
	AddListener struct {
		CallID      string
		Mode        media.TapMode
		OnFrame     func(frame []byte)
		TapReceiver chan<- *media.Tap
	}
	// ListenerAdded answers AddListener. The recipient of the answer must close Tap.
	ListenerAdded struct{ Tap *media.Tap }
	// PauseRecording pauses the recording, or resumes it if Paused is false. The recording contains silence for the pause.
	// The answer is RecordingPaused or a *domain.Error.
	PauseRecording struct {
		CallID string
		Paused bool
	}
	// RecordingPaused answers PauseRecording. Paused is the new state of the recording.
	RecordingPaused struct{ Paused bool }
)

// Control implements mailbox.Control: a full mailbox accepts this message. The API's rate limits bound the number of requests.
func (PauseRecording) Control() {}

// tappable is a media session that supports listeners.
type tappable interface {
	Tap(mode media.TapMode, out func(frame []byte)) (*media.Tap, error)
}

// forwardToCall forwards the current message to the actor of the call that the message names.
func (c *Calls) forwardToCall(ctx actor.Context, callID string) {
	b := c.entries[callID]
	switch {
	case b == nil:
		ctx.Respond(domain.Errorf(domain.CodeInvalidState, "the call is not live"))
	case b.pid == nil:
		ctx.Respond(domain.Errorf(domain.CodeInvalidState, "the call is over"))
	default:
		ctx.Forward(b.pid)
	}
}

func (c *call) listen(ctx actor.Context, m AddListener) {
	s, ok := c.currentSession().(tappable)
	if !ok {
		ctx.Respond(c.notTalking())
		return
	}
	tap, err := s.Tap(m.Mode, m.OnFrame)
	switch {
	case errors.Is(err, media.ErrTaps):
		ctx.Respond(domain.Errorf(domain.CodeRateLimit, "the call has the maximum number of listeners; try again later").With("retry_after", 5))
	case err != nil:
		ctx.Respond(c.notTalking())
	default:
		select {
		case m.TapReceiver <- tap:
		default:
		}
		ctx.Respond(ListenerAdded{Tap: tap})
	}
}

// currentSession returns the session of an answered call, or the session that plays early media. It returns nil if there
// is nothing to listen to.
func (c *call) currentSession() leg.Session {
	switch {
	case c.stage == talking:
		return c.audio.session
	case c.stage == preparing && c.audio.early:
		return c.resources.Session()
	}
	return nil
}

func (c *call) pauseRecording(ctx actor.Context, m PauseRecording) {
	switch {
	case c.stage != talking:
		ctx.Respond(c.notTalking())
		return
	case !c.call.Record:
		ctx.Respond(domain.Errorf(domain.CodeInvalidState, "the call is not recorded"))
		return
	case m.Paused:
		c.audio.session.PauseRecording()
	default:
		c.audio.session.ResumeRecording()
	}
	c.audio.recordingPaused = m.Paused
	done := RecordingPaused{Paused: m.Paused}
	if !c.cfg.StoreCheckpoints {
		ctx.Respond(done)
		return
	}
	requester := ctx.Sender() // gets the reply once the pause is stored, so that a crash does not undo it
	c.commit(ctx, "", nil, func(ctx actor.Context, durable bool) {
		switch {
		case requester == nil:
		case durable:
			ctx.Send(requester, done)
		default:
			ctx.Send(requester, c.notTalking())
		}
	})
}
