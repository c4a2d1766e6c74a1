package conversation

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
)

// inputWait is the time limit of the input that the pathway collects. Each prompt and each wait begins a new
// generation; results and timeouts of older generations are ignored.
type inputWait struct {
	generation int
	cancel     func()        // nil: the timer is stopped
	limit      time.Duration // 0: no input is collected
}

// inputTimeout reports that the time limit has passed.
type inputTimeout struct{ generation int }

func (inputTimeout) Control() {}

// start gives the caller the time limit from now on.
func (w *inputWait) start(ctx actor.Context, limit time.Duration) {
	w.cancel = mailbox.SendAfter(ctx, limit, inputTimeout{w.supersede()})
	w.limit = limit
}

// isRunning reports whether the timer runs.
func (w *inputWait) isRunning() bool { return w.cancel != nil }

// stop stops the timer. The limit stays, so that the wait can start again.
func (w *inputWait) stop() {
	if w.cancel != nil {
		w.cancel()
		w.cancel = nil
	}
}

// end ends the wait. A prompt that is being synthesized stays current.
func (w *inputWait) end() {
	w.stop()
	w.limit = 0
}

// supersede stops the timer and begins a new generation.
func (w *inputWait) supersede() (generation int) {
	w.stop()
	w.generation++
	return w.generation
}

// silenceTimer measures the time since either side last spoke or pressed a key.
type silenceTimer struct {
	generation int
	cancel     func()
}

// silenceTimeout reports that the silence has reached its limit.
type silenceTimeout struct{ generation int }

func (silenceTimeout) Control() {}

// start starts the timer, which must be stopped.
func (t *silenceTimer) start(ctx actor.Context, limit time.Duration) {
	t.cancel = mailbox.SendAfter(ctx, limit, silenceTimeout{t.generation})
}

// stop stops the timer. A timeout that is already on its way is ignored.
func (t *silenceTimer) stop() {
	t.generation++
	if t.cancel != nil {
		t.cancel()
		t.cancel = nil
	}
}
