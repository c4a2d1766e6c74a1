package forward

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ownerCheckInterval is the time between two checks of the owner of a shard.
// lateResponseTimeout is how long the previous owner may still respond: a node that hands a
// shard over in order completes its requests.
const (
	ownerCheckInterval  = 100 * time.Millisecond
	lateResponseTimeout = time.Second
)

// errOwnerChanged: another node owns the shard; the previous owner may never respond.
var errOwnerChanged = errors.New("another node has the work by now")

// requestTracker holds the requests that are being forwarded. It cancels those at a node
// that does not own the shard any more and does not respond.
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
	body      []byte // for another attempt; nil: the request has none, or a longer one
	shard     int

	repeatable bool // it may run twice, whatever its method

	addr       string    // of the node that has the request; this field and those below under requestTracker.mu
	movedAt    time.Time // when another node was first seen as the owner; zero: never
	cancel     context.CancelCauseFunc
	responding bool // the response has begun
}

type requestKey struct{}

// track adds a request.
func (f *requestTracker) track(client, ctx context.Context, shard int, body []byte) (*forwardedRequest, context.Context) {
	ctx, whole := context.WithCancel(ctx)
	one := &forwardedRequest{tracker: f, client: client, cancelAll: whole, body: body, shard: shard}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all[one] = struct{}{}
	return one, context.WithValue(ctx, requestKey{}, one)
}

// startAttempt returns the context of an attempt at a node.
func (one *forwardedRequest) startAttempt(ctx context.Context, addr string) context.Context {
	ctx, cancel := context.WithCancelCause(ctx)
	one.tracker.mu.Lock()
	defer one.tracker.mu.Unlock()
	one.cancelAttempt(nil)
	one.addr, one.cancel, one.movedAt = addr, cancel, time.Time{}
	return ctx
}

// markResponding: the node responds. From now on the request fails with the node.
func (one *forwardedRequest) markResponding() {
	one.tracker.mu.Lock()
	defer one.tracker.mu.Unlock()
	one.responding = true
}

// finish removes the request.
func (one *forwardedRequest) finish() {
	defer one.cancelAll()
	one.tracker.mu.Lock()
	defer one.tracker.mu.Unlock()
	one.cancelAttempt(nil)
	delete(one.tracker.all, one)
}

func (one *forwardedRequest) cancelAttempt(cause error) {
	if one.cancel != nil {
		one.cancel(cause)
		one.cancel = nil
	}
}

// watchOwners cancels requests at nodes that do not own their shard any more, until ctx
// ends.
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
	for one := range f.all {
		at, asked := now[one.shard]
		if !asked {
			at.addr, at.ok = owner(one.shard)
			now[one.shard] = at
		}
		switch {
		case !at.ok || one.addr == at.addr:
			continue
		case one.movedAt.IsZero():
			one.movedAt = time.Now()
			continue
		case time.Since(one.movedAt) < lateResponseTimeout:
			continue
		}
		one.cancelAttempt(errOwnerChanged)
		if one.responding { // a connection with another protocol ends with the request only
			one.cancelAll()
		}
	}
}
