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

// shard is one shard of this process: its store, its actors, its services and its API. A process outside of a
// cluster has a single shard. Each start of a shard reads everything from the store again.
type shard struct {
	*Service
	number        int
	token         lease.Token // lease token; "": the process is not part of a cluster
	store         *store.Store
	blobs         blobstore.Store // bucket or shared folder of recordings; nil: the data folder
	actors        *actornode.Node
	services      *services.Services
	http          *httpapi.Server
	listener      net.Listener // of clients, or of requests that nodes forward
	firstStart    *workspaces.FirstStart
	listenerEnded chan error      // receives when a listener ends
	life          context.Context //nolint:containedctx // ends with the shard
	cancel        context.CancelFunc

	drainDeadline      time.Time    // requests in progress then end; zero: the shard is not draining
	handingOver        atomic.Bool  // refuses new calls because the shard is being released
	holdingSince       atomic.Int64 // since when requests wait for the next owner, in Unix nanoseconds; 0: they do not wait
	stopping           atomic.Bool  // the shard is being released
	stopOnce           sync.Once
	leaseLost          bool // another node owns the shard: unfinished work cannot be stored
	hasCallsToHandOver bool // another node resumes the live calls
}

// startShard starts a shard. After an error it closes what belongs to the shard, but not what the shards of the process
// share.
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
	defer context.AfterFunc(ctx, t.cancel)() // if another node gets the shard meanwhile, the start ends
	if t.token != "" {                       // requests that arrive from now on wait until the shard has started
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
	if err = t.withSharedLock(func() error { return s.openShared(t.store.Records.RootKey()) }); err != nil {
		return err
	}
	if err = t.buildServices(ctx); err != nil {
		return err
	}
	s.shards.add(t)
	s.router.Add(t.actors)
	if err = t.withSharedLock(s.openSIP); err != nil {
		return err
	}
	if !t.quarantined { // a restored copy in quarantine may use the same bucket as the original service
		go t.sweepUploads(t.life)
	}
	t.startAPI()
	return t.startActors()
}

// withSharedLock runs do while it holds the lock for the components that the shards of the process share.
func (t *shard) withSharedLock(do func() error) error {
	t.sharedMu.Lock()
	defer t.sharedMu.Unlock()
	return do()
}

// restart makes the process close the service and start it again, after a quarantined store was released.
func (s *Service) restart() {
	select {
	case s.released <- struct{}{}:
	default:
	}
}

// shardList holds the shards of a process. It is safe for concurrent use.
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
