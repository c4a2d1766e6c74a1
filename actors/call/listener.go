package call

import (
	"errors"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media"
)

// What a call hears of those who listen to it and of its recording.
type (
	// Listen lets somebody listen to an answered call, or to one that hears our
	// sound before its answer. Out is handed what both
	// sides say and, once, nil at the end, as with media.Session.Tap. The
	// answer is Listening or a *domain.Error; Held, of room for one, is given the
	// tap as well, for when nobody waits for the answer any more.
	AddListener struct {
		CallID      string
		Mode        media.TapMode
		OnFrame     func(frame []byte)
		TapReceiver chan<- *media.Tap
	}
	// Listening answers Listen. Whoever holds it closes the tap.
	ListenerAdded struct{ Tap *media.Tap }
	// PauseRecording leaves a gap in the recording until it is told Paused
	// false. The answer is RecordingPaused or a *domain.Error.
	PauseRecording struct {
		CallID string
		Paused bool
	}
	// RecordingPaused answers PauseRecording.
	RecordingPaused struct{ Paused bool }
)

// Control admits it always: the API's limits bound it.
func (PauseRecording) Control() {}

// tappable is a media session that can be listened to.
type tappable interface {
	Tap(mode media.TapMode, out func(frame []byte)) (*media.Tap, error)
}

// forwardToCall forwards a request to its call.
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
	s, ok := c.audible().(tappable)
	if !ok {
		ctx.Respond(c.notTalking())
		return
	}
	tap, err := s.Tap(m.Mode, m.OnFrame)
	switch {
	case errors.Is(err, media.ErrTaps):
		ctx.Respond(domain.Errorf(domain.CodeRateLimit, "as many listen to this call as may").With("retry_after", 5))
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

// audible is the sound that is heard now, also before the answer where that is
// ours; nil: none.
func (c *call) audible() leg.Session {
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
	whoever := ctx.Sender() // may count on it, whatever becomes of this process
	c.commit(ctx, "", nil, func(ctx actor.Context, durable bool) {
		switch {
		case whoever == nil:
		case durable:
			ctx.Send(whoever, done)
		default:
			ctx.Send(whoever, c.notTalking())
		}
	})
}
