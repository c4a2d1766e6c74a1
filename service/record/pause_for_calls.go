package record

import (
	"context"
	"runtime"
	"time"
)

// collectEvery is how many steps a long task runs between two forced garbage collections. They limit the memory that the
// rows read by the task leave behind.
const collectEvery = 640

// YieldToCalls returns a function that a long task calls after each step of its work. While there are live calls,
// the function pauses the task. The pauses get longer if the machine is busy.
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

// Limits for the length of a pause. The length is the duration of the task's last step times a factor. The factor grows
// if the task wakes up late after a pause, because then the machine is busy.
const (
	minPauseFactor = 4
	maxPauseFactor = 24
	maxWakeDelay   = 2 * time.Millisecond // a task that is woken later than this finds a busy machine
)

// callPauses computes the pauses of a long task while there are live calls. It measures how late the task wakes up after
// a pause, because media and dialing are delayed just as long.
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
