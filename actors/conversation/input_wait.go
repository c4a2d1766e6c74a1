package conversation

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
)

// inputWait is the timer for the input that the pathway collects from the caller. Each prompt and each wait starts a new
// generation. Results and timeouts of older generations are ignored.
type inputWait struct {
	generation int
	cancel     func()        // nil: the timer is stopped
	limit      time.Duration // 0: no input is collected
}

// inputTimeout is the timer message that the caller has given no input in time.
type inputTimeout struct{ generation int }

func (inputTimeout) Control() {}

// start starts the timer. The caller then has the given time to give input.
func (w *inputWait) start(ctx actor.Context, limit time.Duration) {
	w.cancel = mailbox.SendAfter(ctx, limit, inputTimeout{w.supersede()})
	w.limit = limit
}

// isRunning reports whether the timer runs.
func (w *inputWait) isRunning() bool { return w.cancel != nil }

// stop stops the timer and keeps the limit, so that the wait can start again.
func (w *inputWait) stop() {
	if w.cancel != nil {
		w.cancel()
		w.cancel = nil
	}
}

// end ends the wait for input. It keeps the generation, so a prompt that is being synthesized is still played.
func (w *inputWait) end() {
	w.stop()
	w.limit = 0
}

// supersede stops the timer and starts a new generation, so that older results and timeouts are ignored.
func (w *inputWait) supersede() (generation int) {
	w.stop()
	w.generation++
	return w.generation
}

// silenceTimer measures the time since the caller or the agent last spoke, or the caller pressed a key.
type silenceTimer struct {
	generation int
	cancel     func()
}

// silenceTimeout is the timer message that the silence has lasted for the limit.
type silenceTimeout struct{ generation int }

func (silenceTimeout) Control() {}

// start starts the timer. The timer must not be running.
func (t *silenceTimer) start(ctx actor.Context, limit time.Duration) {
	t.cancel = mailbox.SendAfter(ctx, limit, silenceTimeout{t.generation})
}

// stop stops the timer. It also invalidates a timeout message that is already in the mailbox.
func (t *silenceTimer) stop() {
	t.generation++
	if t.cancel != nil {
		t.cancel()
		t.cancel = nil
	}
}
