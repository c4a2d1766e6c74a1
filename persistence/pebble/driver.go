// Package pebble is the embedded driver of the store: Pebble in one directory,
// one goroutine that decides commits in order and makes all that wait durable
// with one fsync. It knows no noun; it does not retry and does not repair.
package pebble

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/callboard/callboard/persistence"
)

const (
	queueLength = 1024
	batchBytes  = 8 << 20
	// rememberFor is how long the answer of a commit with an ID is kept.
	rememberFor = 10 * time.Minute
	// diskEvery is how often the free space is looked at.
	diskEvery = time.Second
	// A batch that follows one of several commits within gatherWithin takes in
	// what comes in gatherFor, up to gatherMost commits.
	gatherWithin = 2 * time.Millisecond
	gatherFor    = time.Millisecond
	gatherMost   = 12
	// cacheBytes holds blocks, and what Pebble takes of it for two tables in memory.
	cacheBytes = 48 << 20
	// indexBlock holds the index of a table in one piece.
	indexBlock = 256 << 10
	// dataBlock is how much of a table is written and read in one piece. Rows of one kind are alike, and small ones are
	// many: larger pieces than the usual 4 KiB are fewer to make, and shrink better.
	dataBlock = 16 << 10
	// l0Gather is twice the number of overlapping fresh tables that are
	// compacted; at l0Most of them commits wait.
	l0Gather, l0Most = 12, 24
)

// Options are how a directory is opened. The zero value is right for a service.
type Options struct {
	FS     vfs.FS       // nil: the machine's
	NoSync bool         // do not wait for the disk: a power cut loses commits
	Logger *slog.Logger // nil: silent
	// MinFree is the free space in bytes below which commits are refused with
	// persistence.ErrDiskFull before they are written; 0: 64 MiB.
	MinFree uint64
	// MemTable is how many bytes of commits are kept in memory, besides the
	// log, before they become a table; 0: 8 MiB.
	MemTable uint64
}

// Driver is an open directory.
type Driver struct {
	db    *pebble.DB
	lock  *pebble.Lock
	fs    *guardedFS
	dir   string
	o     Options
	write *pebble.WriteOptions

	queue  chan *request
	quit   chan struct{}
	done   chan struct{}
	life   sync.RWMutex // readers and writers hold it shared, Close alone
	closed bool
	views  views
	recent *recent // the committer's

	diskFull   atomic.Bool
	background atomic.Pointer[error] // the last flush or compaction failed so
	lookedAt   time.Time             // the committer's
	reserved   bool                  // the reserve is there; the committer's
	last       struct {              // batch; the committer's
		at      time.Time
		commits int
	}
}

var _ persistence.Driver = (*Driver)(nil)

// Open opens or creates the store in a directory and locks it. A directory in
// use is persistence.ErrInUse, one of another format persistence.ErrFormat.
func Open(dir string, o Options) (*Driver, error) {
	if o.FS == nil {
		o.FS = vfs.Default
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.MinFree == 0 {
		o.MinFree = 64 << 20
	}
	if o.MemTable == 0 {
		o.MemTable = 8 << 20
	}
	if err := o.FS.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("pebble: %s: %w", dir, err)
	}
	lock, err := pebble.LockDirectory(dir, o.FS)
	if err != nil {
		return nil, lockError(dir, err)
	}
	d := &Driver{
		lock: lock, fs: newGuardedFS(o.FS, o.Logger), dir: dir, o: o,
		write: pebble.Sync, recent: newRecent(recentMost),
		queue: make(chan *request, queueLength), quit: make(chan struct{}), done: make(chan struct{}),
	}
	if o.NoSync {
		d.write = pebble.NoSync
	}
	if d.db, err = pebble.Open(dir, d.settings()); err != nil {
		return nil, errors.Join(openError(dir, err), lock.Close())
	}
	if err = checkLayout(d.db, dir); errors.Is(err, pebble.ErrNotFound) {
		err = d.db.Set(layoutKey, []byte(persistence.Layout), pebble.Sync)
	}
	if err != nil {
		return nil, errors.Join(err, d.db.Close(), lock.Close())
	}
	_ = d.checkDisk() // commits and Healthy tell
	d.fs.arm()
	d.views.renew(d.db)
	go d.run()
	return d, nil
}

func lockError(dir string, err error) error {
	if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EWOULDBLOCK) || err.Error() == "lock held by current process" {
		return fmt.Errorf("%w: %s", persistence.ErrInUse, dir)
	}
	return fmt.Errorf("pebble: lock %s: %w", dir, err)
}

// openError is an ErrFormat where Pebble does not know the format of its files.
func openError(dir string, err error) error {
	if strings.Contains(err.Error(), "unknown format major version") {
		return fmt.Errorf("%w: %s has files of a newer Pebble: %s", persistence.ErrFormat, dir, persistence.TooNew)
	}
	return fmt.Errorf("pebble: open %s: %w", dir, err)
}

func (d *Driver) settings() *pebble.Options {
	listener := &pebble.EventListener{
		BackgroundError: func(err error) { d.background.Store(&err) },
		FlushEnd: func(i pebble.FlushInfo) {
			if i.Err == nil {
				d.background.Store(nil)
			}
		},
		DataCorruption: func(i pebble.DataCorruptionInfo) { d.fs.fail(fmt.Errorf("corrupt file %s: %w", i.Path, i.Details)) },
	}
	o := &pebble.Options{
		FS:                 d.fs,
		Lock:               d.lock,
		Logger:             logger{d.fs},
		EventListener:      listener,
		FormatMajorVersion: pebble.FormatTableFormatV6,
		CacheSize:          cacheBytes,
		MemTableSize:       d.o.MemTable,
		// Rows of all tables stand in every flushed table, so whatever is compacted rewrites most of the level below:
		// it is worth it once some more have gathered. The filters spare looking into them.
		L0CompactionThreshold: l0Gather,
		L0StopWritesThreshold: l0Most,
	}
	for i := range o.Levels {
		// Most rows that a commit asks for are new: a filter spares looking for them on every level.
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
		o.Levels[i].BlockSize = dataBlock
		o.Levels[i].IndexBlockSize = indexBlock
	}
	return o
}

// checkLayout fails with pebble.ErrNotFound where the folder holds nothing yet.
func checkLayout(db *pebble.DB, dir string) error {
	have, closer, err := db.Get(layoutKey)
	if err != nil {
		return fmt.Errorf("pebble: read the layout of %s: %w", dir, err)
	}
	return errors.Join(persistence.CheckLayout(dir, string(have)), closer.Close())
}

// Healthy is nil while commits can be expected to succeed. After an error of
// the write-ahead log it stays unhealthy until the process starts anew.
func (d *Driver) Healthy() error {
	if err := d.fs.failure(); err != nil {
		return err
	}
	if d.diskFull.Load() {
		return persistence.ErrDiskFull
	}
	if err := d.background.Load(); err != nil {
		return fmt.Errorf("%w: %w", persistence.ErrUnavailable, *err)
	}
	return nil
}

// Close finishes the commits under way and releases the directory. A store
// that failed keeps it locked until the process ends, because Pebble may still
// hold files of it.
func (d *Driver) Close() error {
	d.life.Lock()
	if d.closed {
		d.life.Unlock()
		return nil
	}
	d.closed = true
	d.life.Unlock()
	close(d.quit)
	<-d.done
	select {
	case <-d.views.drop():
	case <-d.fs.failed:
	}
	if err := d.fs.failure(); err != nil {
		return err
	}
	d.fs.disarm()
	if err := errors.Join(d.db.Close(), d.lock.Close()); err != nil {
		return fmt.Errorf("pebble: close %s: %w", d.dir, err)
	}
	return nil
}

// Commit queues c and waits until it is durable or refused.
func (d *Driver) Commit(ctx context.Context, c persistence.Commit) (persistence.Result, error) {
	if err := c.Check(); err != nil {
		return persistence.Result{}, err
	}
	return d.submit(ctx, &request{commit: c})
}

// Claim makes token the owner of a shard.
func (d *Driver) Claim(ctx context.Context, shard, token string) error {
	c := persistence.Commit{Shard: shard, Token: token}
	if err := c.Check(); err != nil {
		return err
	}
	_, err := d.submit(ctx, &request{commit: c, claim: claimShard})
	return err
}

// ClaimAll makes token the owner of all shards.
func (d *Driver) ClaimAll(ctx context.Context, token string) error {
	c := persistence.Commit{Shard: persistence.Whole, Token: token}
	if err := c.Check(); err != nil {
		return err
	}
	_, err := d.submit(ctx, &request{commit: c, claim: claimAll})
	return err
}

func (d *Driver) submit(ctx context.Context, r *request) (persistence.Result, error) {
	r.cancelled, r.answer = ctx.Done(), make(chan answer, 1)
	if err := d.enqueue(ctx, r); err != nil {
		return persistence.Result{}, err
	}
	select {
	case a := <-r.answer:
		return a.result, a.err
	case <-ctx.Done():
		return persistence.Result{}, fmt.Errorf("pebble: commit: %w", ctx.Err())
	}
}

func (d *Driver) enqueue(ctx context.Context, r *request) error {
	d.life.RLock()
	defer d.life.RUnlock()
	if d.closed {
		return persistence.ErrClosed
	}
	select {
	case d.queue <- r:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("pebble: commit: %w", ctx.Err())
	}
}
