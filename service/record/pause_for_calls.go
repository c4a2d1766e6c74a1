package record

import (
	"context"
	"runtime"
	"time"
)

// collectEvery is how many steps a long task runs between two garbage collections. The rows of a long task leave
// much garbage.
const collectEvery = 640

// YieldToCalls returns a function that a long task calls after each step of its work. While there are live calls,
// the function pauses the task; a busy machine gets longer pauses.
func YieldToCalls(ctx context.Context, onCalls func() bool) func() error {
	steps, pauses := 0, callPauses{since: time.Now(), factor: minPauseFactor}
	return func() error {
		if steps++; steps%collectEvery == 0 {
			runtime.GC()
		}
		if !onCalls() {
			pauses.since = time.Now()
			return ctx.Err()
		}
		return pauses.pause(ctx)
	}
}

// Length of a pause as a multiple of the time that the step took. A machine that wakes the task late gets longer
// pauses.
const (
	minPauseFactor = 4
	maxPauseFactor = 24
	maxWakeDelay   = 2 * time.Millisecond // a task that is woken later than this finds a busy machine
)

// callPauses pauses a long task after each step while there are live calls. The delay of a wake-up shows how busy
// the machine is: media and dialing are delayed just as long.
type callPauses struct {
	since  time.Time
	factor int
}

func (g *callPauses) pause(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	rest := min(time.Since(g.since)*time.Duration(g.factor), time.Second)
	from := time.Now()
	t := time.NewTimer(rest)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	g.since = time.Now()
	if g.since.Sub(from)-rest > maxWakeDelay {
		g.factor = min(2*g.factor, maxPauseFactor)
	} else {
		g.factor = max(g.factor-1, minPauseFactor)
	}
	return nil
}
