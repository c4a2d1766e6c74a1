// Package pebble is the embedded driver of the store: a Pebble database in one directory.
//
// One goroutine decides commits in order and makes all waiting commits durable with one fsync. The driver neither
// retries nor repairs.
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
	// resultTTL is how long the result of a commit with an ID is stored.
	resultTTL = 10 * time.Minute
	// diskCheckInterval is how often the free disk space is checked.
	diskCheckInterval = time.Second
	// A batch that follows a batch of several commits within gatherAfter collects further commits for gatherFor, up
	// to maxGather commits.
	gatherAfter = 2 * time.Millisecond
	gatherFor   = time.Millisecond
	maxGather   = 12
	// cacheBytes is the block cache, from which Pebble also reserves two memtables.
	cacheBytes = 48 << 20
	// indexBlock holds the whole index of a table.
	indexBlock = 256 << 10
	// dataBlock is the size of the blocks in which a table is written and read. Most rows are small and similar:
	// larger blocks than the default of 4 KiB are cheaper to build and compress better.
	dataBlock = 16 << 10
	// Twice l0CompactionThreshold is the number of overlapping L0 tables that are compacted. At
	// l0StopWritesThreshold of them, commits wait.
	l0CompactionThreshold, l0StopWritesThreshold = 12, 24
)

// Options configure how a directory is opened. The zero value is right for a service.
type Options struct {
	FS     vfs.FS       // Default: the file system of the machine
	NoSync bool         // commits do not wait for the disk: a power cut loses commits
	Logger *slog.Logger // Default: no log
	// MinFree is the free disk space in bytes below which commits are refused with persistence.ErrDiskFull before
	// they are written. Default: 64 MiB.
	MinFree uint64
	// MemTable is the size in bytes of the memtables. Default: 8 MiB.
	MemTable uint64
}

// Driver is an open database directory.
type Driver struct {
	db    *pebble.DB
	lock  *pebble.Lock
	fs    *guardedFS
	dir   string
	opts  Options
	write *pebble.WriteOptions

	queue     chan *request
	quit      chan struct{}
	done      chan struct{}
	lifecycle sync.RWMutex // held shared by readers and writers, exclusively by Close
	closed    bool
	views     readViews
	recent    *recentWrites // used by the committing goroutine only

	diskFull      atomic.Bool
	background    atomic.Pointer[error] // error of the last flush or compaction
	diskCheckedAt time.Time             // used by the committing goroutine only
	reserved      bool                  // the reserve file exists; used by the committing goroutine only
	lastBatch     struct {              // the last batch; used by the committing goroutine only
		at      time.Time
		commits int
	}
}

var _ persistence.Driver = (*Driver)(nil)

// Open opens or creates the store in a directory and locks it. persistence.ErrInUse: another process uses the
// directory. persistence.ErrFormat: its data have another format.
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
		lock: lock, fs: newGuardedFS(o.FS, o.Logger), dir: dir, opts: o,
		write: pebble.Sync, recent: newRecent(maxRecentKeys),
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
	_ = d.checkDisk() // reported by commits and by Healthy
	d.fs.arm()
	d.views.renew(d.db)
	go d.commitLoop()
	return d, nil
}

func lockError(dir string, err error) error {
	if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EWOULDBLOCK) || err.Error() == "lock held by current process" {
		return fmt.Errorf("%w: %s", persistence.ErrInUse, dir)
	}
	return fmt.Errorf("pebble: lock %s: %w", dir, err)
}

// openError returns an ErrFormat if a newer Pebble has written the files.
func openError(dir string, err error) error {
	if strings.Contains(err.Error(), "unknown format major version") {
		return fmt.Errorf("%w: %s has files of a newer Pebble: %s", persistence.ErrFormat, dir, persistence.NewerFormatRemedy)
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
		MemTableSize:       d.opts.MemTable,
		// Every flushed table has rows of all tables, so each compaction rewrites most of the next level. It is
		// postponed until more tables have been flushed. Bloom filters avoid reads of those tables.
		L0CompactionThreshold: l0CompactionThreshold,
		L0StopWritesThreshold: l0StopWritesThreshold,
	}
	for i := range o.Levels {
		// Most rows that commits look up do not exist: a bloom filter avoids searching them on every level.
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
		o.Levels[i].BlockSize = dataBlock
		o.Levels[i].IndexBlockSize = indexBlock
	}
	return o
}

// checkLayout returns pebble.ErrNotFound for an empty directory.
func checkLayout(db *pebble.DB, dir string) error {
	have, closer, err := db.Get(layoutKey)
	if err != nil {
		return fmt.Errorf("pebble: read the layout of %s: %w", dir, err)
	}
	return errors.Join(persistence.CheckLayout(dir, string(have)), closer.Close())
}

// Healthy returns nil while commits can be expected to succeed. After an error of the write-ahead log it returns an
// error until the process restarts.
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

// Close finishes the commits under way and releases the directory. A failed store keeps the directory locked until
// the process ends, because Pebble may still have open files in it.
func (d *Driver) Close() error {
	d.lifecycle.Lock()
	if d.closed {
		d.lifecycle.Unlock()
		return nil
	}
	d.closed = true
	d.lifecycle.Unlock()
	close(d.quit)
	<-d.done
	select {
	case <-d.views.closeLast():
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
	c := persistence.Commit{Shard: persistence.WholeStore, Token: token}
	if err := c.Check(); err != nil {
		return err
	}
	_, err := d.submit(ctx, &request{commit: c, claim: claimAll})
	return err
}

func (d *Driver) submit(ctx context.Context, r *request) (persistence.Result, error) {
	r.cancelled, r.answer = ctx.Done(), make(chan outcome, 1)
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
	d.lifecycle.RLock()
	defer d.lifecycle.RUnlock()
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
