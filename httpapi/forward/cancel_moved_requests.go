package forward

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ownerCheckInterval is the time between two checks of shard owners. After an owner change, the previous owner may
// still respond for lateResponseTimeout, because a node that hands over a shard completes its requests.
const (
	ownerCheckInterval  = 100 * time.Millisecond
	lateResponseTimeout = time.Second
)

// errOwnerChanged cancels a request whose shard has moved to another node, because the previous owner may never
// respond.
var errOwnerChanged = errors.New("another node owns the shard now")

// requestTracker holds the requests that are being forwarded. After an owner change it cancels the requests to which
// the previous owner does not respond in time.
type requestTracker struct {
	mu  sync.Mutex
	all map[*forwardedRequest]struct{}
	end context.CancelFunc
}

// forwardedRequest is a request that is being forwarded, with the node that has it.
type forwardedRequest struct {
	tracker   *requestTracker
	client    context.Context //nolint:containedctx // ends when the client stops waiting
	cancelAll context.CancelFunc
	body      []byte // body that can be sent again; nil: no body, or a longer one that is streamed
	shard     int

	repeatable bool // the request may run twice, also if its method is not idempotent

	addr       string    // node that has the request; under requestTracker.mu like the fields below
	movedAt    time.Time // when the tracker first saw another owner of the shard; zero: never
	cancel     context.CancelCauseFunc
	responding bool // the response has begun
}

type requestKey struct{}

// track adds a request to the tracker. The returned context ends when the request is finished.
func (f *requestTracker) track(client, ctx context.Context, shard int, body []byte) (*forwardedRequest, context.Context) {
	ctx, whole := context.WithCancel(ctx)
	fr := &forwardedRequest{tracker: f, client: client, cancelAll: whole, body: body, shard: shard}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all[fr] = struct{}{}
	return fr, context.WithValue(ctx, requestKey{}, fr)
}

// startAttempt returns the context for sending the request to the node at addr. It cancels the previous attempt.
func (fr *forwardedRequest) startAttempt(ctx context.Context, addr string) context.Context {
	ctx, cancel := context.WithCancelCause(ctx)
	fr.tracker.mu.Lock()
	defer fr.tracker.mu.Unlock()
	fr.cancelAttempt(nil)
	fr.addr, fr.cancel, fr.movedAt = addr, cancel, time.Time{}
	return ctx
}

// markResponding records that the node has begun to respond. If the node fails afterwards, the request is not sent
// again.
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

// watchOwners checks the owners of shards until ctx ends. It cancels requests to nodes
// that have lost their shard.
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
		if request.responding { // an upgraded connection ends only when the whole request is canceled
			request.cancelAll()
		}
	}
}
