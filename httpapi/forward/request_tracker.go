package forward

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ownerCheckInterval is the time between two checks of shard owners. lateResponseTimeout is how long a previous
// owner may still respond, because a node that hands a shard over completes its requests.
const (
	ownerCheckInterval  = 100 * time.Millisecond
	lateResponseTimeout = time.Second
)

// errOwnerChanged cancels a request whose shard has a new owner: the previous owner may never respond.
var errOwnerChanged = errors.New("another node owns the shard now")

// requestTracker holds the requests that are being forwarded. It cancels a request if another node owns the shard
// now and the previous owner does not respond.
type requestTracker struct {
	mu  sync.Mutex
	all map[*forwardedRequest]struct{}
	end context.CancelFunc
}

// forwardedRequest is a request that is being forwarded.
type forwardedRequest struct {
	tracker   *requestTracker
	client    context.Context //nolint:containedctx // ends when the client stops waiting
	cancelAll context.CancelFunc
	body      []byte // kept for another attempt; nil: no body, or a longer one
	shard     int

	repeatable bool // may run twice, whatever its method

	addr       string    // node that has the request; under requestTracker.mu like the fields below
	movedAt    time.Time // when another owner was first seen; zero: never
	cancel     context.CancelCauseFunc
	responding bool // the response has begun
}

type requestKey struct{}

// track adds a request. The returned context ends with the request.
func (f *requestTracker) track(client, ctx context.Context, shard int, body []byte) (*forwardedRequest, context.Context) {
	ctx, whole := context.WithCancel(ctx)
	fr := &forwardedRequest{tracker: f, client: client, cancelAll: whole, body: body, shard: shard}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all[fr] = struct{}{}
	return fr, context.WithValue(ctx, requestKey{}, fr)
}

// startAttempt returns the context of an attempt at a node.
func (fr *forwardedRequest) startAttempt(ctx context.Context, addr string) context.Context {
	ctx, cancel := context.WithCancelCause(ctx)
	fr.tracker.mu.Lock()
	defer fr.tracker.mu.Unlock()
	fr.cancelAttempt(nil)
	fr.addr, fr.cancel, fr.movedAt = addr, cancel, time.Time{}
	return ctx
}

// markResponding records that the node has begun to respond. From then on the request fails if the node fails.
func (fr *forwardedRequest) markResponding() {
	fr.tracker.mu.Lock()
	defer fr.tracker.mu.Unlock()
	fr.responding = true
}

// finish removes the request from the tracker.
func (fr *forwardedRequest) finish() {
	defer fr.cancelAll()
	fr.tracker.mu.Lock()
	defer fr.tracker.mu.Unlock()
	fr.cancelAttempt(nil)
	delete(fr.tracker.all, fr)
}

func (fr *forwardedRequest) cancelAttempt(cause error) {
	if fr.cancel != nil {
		fr.cancel(cause)
		fr.cancel = nil
	}
}

// watchOwners cancels requests at nodes that lost their shard, until ctx ends.
func (f *requestTracker) watchOwners(ctx context.Context, owner func(shard int) (string, bool)) {
	tick := time.NewTicker(ownerCheckInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			f.cancelMoved(owner)
		}
	}
}

func (f *requestTracker) cancelMoved(owner func(shard int) (string, bool)) {
	type place struct {
		addr string
		ok   bool // false: the owner is unknown
	}
	now := make(map[int]place)
	f.mu.Lock()
	defer f.mu.Unlock()
	for request := range f.all {
		at, asked := now[request.shard]
		if !asked {
			at.addr, at.ok = owner(request.shard)
			now[request.shard] = at
		}
		switch {
		case !at.ok || request.addr == at.addr:
			continue
		case request.movedAt.IsZero():
			request.movedAt = time.Now()
			continue
		case time.Since(request.movedAt) < lateResponseTimeout:
			continue
		}
		request.cancelAttempt(errOwnerChanged)
		if request.responding { // an upgraded connection ends only with its request
			request.cancelAll()
		}
	}
}
