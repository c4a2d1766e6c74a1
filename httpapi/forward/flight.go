package forward

import (
	"context"
	"errors"
	"sync"
	"time"
)

// look is how often it is looked whether another node has the work by now, and
// lateAnswer how long the one that was asked may still answer after that: a
// node that gives the work away in order has done the request, and its answer
// may be on its way.
const (
	look       = 100 * time.Millisecond
	lateAnswer = time.Second
)

// errMoved: another node has the work; the one that was asked may never answer.
var errMoved = errors.New("another node has the work by now")

// flights are the requests that are being passed on. Where the node that has
// one no longer has the work and says nothing, because it hangs or cannot be
// reached, nobody waits for it any longer.
type flights struct {
	mu  sync.Mutex
	all map[*flight]struct{}
	end context.CancelFunc
}

// flight is one request.
type flight struct {
	of     *flights
	client context.Context //nolint:containedctx // ends when nobody waits for it any more
	whole  context.CancelFunc
	body   []byte // that it can be sent with again; nil: it has none, or one that is longer
	shard  int

	harmless bool // it may be done twice, whatever it is

	addr   string    // of the node that has it; this and what follows under flights.mu
	moved  time.Time // when another node was first seen to have the work; zero: it has not
	cancel context.CancelCauseFunc
	goes   bool // its answer has begun
}

type flightKey struct{}

func (f *flights) begin(client, ctx context.Context, shard int, body []byte) (*flight, context.Context) {
	ctx, whole := context.WithCancel(ctx)
	one := &flight{of: f, client: client, whole: whole, body: body, shard: shard}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all[one] = struct{}{}
	return one, context.WithValue(ctx, flightKey{}, one)
}

// to is the context of an attempt at a node.
func (one *flight) to(ctx context.Context, addr string) context.Context {
	ctx, cancel := context.WithCancelCause(ctx)
	one.of.mu.Lock()
	defer one.of.mu.Unlock()
	one.done(nil)
	one.addr, one.cancel, one.moved = addr, cancel, time.Time{}
	return ctx
}

// begun: the node answers. From now on the request is lost with it.
func (one *flight) begun() {
	one.of.mu.Lock()
	defer one.of.mu.Unlock()
	one.goes = true
}

// land: the request is over.
func (one *flight) land() {
	defer one.whole()
	one.of.mu.Lock()
	defer one.of.mu.Unlock()
	one.done(nil)
	delete(one.of.all, one)
}

func (one *flight) done(cause error) {
	if one.cancel != nil {
		one.cancel(cause)
		one.cancel = nil
	}
}

// watch gives up what nodes have that no longer have the shard, until ctx ends.
func (f *flights) watch(ctx context.Context, owner func(shard int) (string, bool)) {
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			f.moved(owner)
		}
	}
}

func (f *flights) moved(owner func(shard int) (string, bool)) {
	type place struct {
		addr string
		ok   bool // false: the node may have it again
	}
	now := make(map[int]place)
	f.mu.Lock()
	defer f.mu.Unlock()
	for one := range f.all {
		at, asked := now[one.shard]
		if !asked {
			at.addr, at.ok = owner(one.shard)
			now[one.shard] = at
		}
		switch {
		case !at.ok || one.addr == at.addr:
			continue
		case one.moved.IsZero():
			one.moved = time.Now()
			continue
		case time.Since(one.moved) < lateAnswer:
			continue
		}
		one.done(errMoved)
		if one.goes { // a connection that has changed its protocol ends with the request alone
			one.whole()
		}
	}
}
