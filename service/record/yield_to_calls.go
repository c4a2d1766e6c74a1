package record

import (
	"context"
	"runtime"
	"time"
)

// collectEvery is the number of steps after which a long task runs the garbage
// collector: its rows leave much memory behind.
const collectEvery = 640

// YieldToCalls returns the function that a long task calls after each step of its
// work. It rests while there are live calls, longer while the machine is busy.
func YieldToCalls(ctx context.Context, onCalls func() bool) func() error {
	pieces, way := 0, callYield{since: time.Now(), rest: minRest}
	return func() error {
		if pieces++; pieces%collectEvery == 0 {
			runtime.GC()
		}
		if !onCalls() {
			way.since = time.Now()
			return ctx.Err()
		}
		return way.pause(ctx)
	}
}

// How long an upload rests beside live calls, in times of its work: four
// times, and more while the machine is late.
const (
	minRest = 4
	maxRest = 24
	lateBy  = 2 * time.Millisecond
)

// callYield makes a worker rest after each piece of work. How late it is woken
// tells how busy the machine is: media and dialling wait just as long.
type callYield struct {
	since time.Time
	rest  int
}

func (g *callYield) pause(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	rest := min(time.Since(g.since)*time.Duration(g.rest), time.Second)
	from := time.Now()
	t := time.NewTimer(rest)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	g.since = time.Now()
	if g.since.Sub(from)-rest > lateBy {
		g.rest = min(2*g.rest, maxRest)
	} else {
		g.rest = max(g.rest-1, minRest)
	}
	return nil
}
