package conversation

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
)

// inputWait is the time limit of the input that the pathway collects. Each prompt and each wait supersedes the one before:
// results and timeouts that carry an older generation are stale.
type inputWait struct {
	generation int
	cancel     func()        // nil: no time runs
	limit      time.Duration // of the input that is collected; 0: none is
}

// inputTimeout says that the time limit has passed.
type inputTimeout struct{ generation int }

func (inputTimeout) Control() {}

// start gives the caller so much time from now on.
func (w *inputWait) start(ctx actor.Context, limit time.Duration) {
	w.cancel = mailbox.SendAfter(ctx, limit, inputTimeout{w.supersede()})
	w.limit = limit
}

// isRunning says whether the time runs.
func (w *inputWait) isRunning() bool { return w.cancel != nil }

// stop stops the time; the limit stays, so that the wait can start again.
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

// supersede stops the time and begins a new generation.
func (w *inputWait) supersede() (generation int) {
	w.stop()
	w.generation++
	return w.generation
}

// silenceTimer measures how long neither side has said or pressed anything.
type silenceTimer struct {
	generation int
	cancel     func()
}

// silenceTimeout says that the silence has lasted for its limit.
type silenceTimeout struct{ generation int }

func (silenceTimeout) Control() {}

// start measures from now on. The timer must be stopped.
func (t *silenceTimer) start(ctx actor.Context, limit time.Duration) {
	t.cancel = mailbox.SendAfter(ctx, limit, silenceTimeout{t.generation})
}

// stop makes a timeout that is under way stale.
func (t *silenceTimer) stop() {
	t.generation++
	if t.cancel != nil {
		t.cancel()
		t.cancel = nil
	}
}
