package server

import (
	"context"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	actornode "github.com/callboard/callboard/actors/node"
	"github.com/callboard/callboard/cmd/callboard/blobstore"
	"github.com/callboard/callboard/cmd/callboard/services"
	"github.com/callboard/callboard/cmd/callboard/store"
	"github.com/callboard/callboard/httpapi"
	"github.com/callboard/callboard/persistence/lease"
	"github.com/callboard/callboard/service/workspaces"
)

// shard is a shard that this process owns: its store, its node with the services, and its API. A process may own several; one that
// is alone owns the only one. Its memory ends with it, so a shard that comes back is read again.
type shard struct {
	*Service
	number        int
	token         lease.Token // "": the process is alone
	store         *store.Store
	blobs         blobstore.Store // where recordings lie; nil: in the data folder
	actors        *actornode.Node
	services      *services.Services
	http          *httpapi.Server
	listener      net.Listener // of clients, or of what nodes pass on
	firstStart    *workspaces.FirstStart
	listenerEnded chan error      // a listener has ended
	life          context.Context //nolint:containedctx // ends with the seat
	cancel        context.CancelFunc

	drainDeadline      time.Time    // what is under way then is cut off; zero: nothing drains
	handingOver        atomic.Bool  // it takes no calls any more, and is to be given back
	holdingSince       atomic.Int64 // since when requests wait for the next node, in nanoseconds since 1970; 0: they do not
	stopping           atomic.Bool  // it is being given back
	stopOnce           sync.Once    // it has ended
	leaseLost          bool         // another node has the work: what is under way cannot be kept
	hasCallsToHandOver bool         // another node is to go on with the calls that live
}

// startShard takes a shard up. On an error nothing of it is left but what the process
// has once.
func (s *Service) startShard(ctx context.Context, t *shard) (err error) {
	t.Service, t.listenerEnded = s, make(chan error, 8)
	if t.token == "" {
		t.listenerEnded = s.ended
	}
	t.life, t.cancel = context.WithCancel(s.processCtx)
	defer func() {
		if err != nil {
			t.stop()
		}
	}()
	defer context.AfterFunc(ctx, t.cancel)() // another node has the shard meanwhile: what has begun ends
	if t.token != "" {                       // who comes from now on waits for the seat
		t.listener = t.node.http.connRouter.Listen(t.number)
	}
	if err = t.openStore(ctx); err != nil {
		return err
	}
	if t.number == 0 {
		if err = t.createFirstWorkspace(ctx); err != nil {
			return err
		}
	}
	if err = t.readQuarantine(ctx); err != nil {
		return err
	}
	if err = t.listenHTTP(ctx); err != nil {
		return err
	}
	if err = t.buildOnce(func() error { return s.openShared(t.store.Records.RootKey()) }); err != nil {
		return err
	}
	if err = t.buildServices(ctx); err != nil {
		return err
	}
	s.shards.add(t)
	s.router.Add(t.actors)
	if err = t.buildOnce(s.openSIP); err != nil {
		return err
	}
	if !t.quarantined { // the bucket may be that of another service
		go t.sweepUploads(t.life)
	}
	t.startAPI()
	return t.startActors()
}

// buildOnce does what the first seat does for all of the process.
func (t *shard) buildOnce(do func() error) error {
	t.sharedMu.Lock()
	defer t.sharedMu.Unlock()
	return do()
}

// restart has the process close everything and start anew.
func (s *Service) restart() {
	select {
	case s.released <- struct{}{}:
	default:
	}
}

// shardList are the shards that a process runs. Several goroutines may use it.
type shardList struct {
	mu   sync.Mutex
	list []*shard
}

func (l *shardList) add(t *shard) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, t)
}

func (l *shardList) remove(t *shard) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = slices.DeleteFunc(l.list, func(x *shard) bool { return x == t })
}

func (l *shardList) all() []*shard {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.list)
}
