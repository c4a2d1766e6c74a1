// Package pebble is the embedded driver of the store: a Pebble database in one directory.
//
// One goroutine checks and applies commits in order and makes all waiting commits durable with one fsync. The driver
// does not retry failed commits and does not repair a damaged database.
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
	// resultTTL is how long the driver stores the result of a commit that has an ID. A repeated commit with the same ID
	// gets this result.
	resultTTL = 10 * time.Minute
	// diskCheckInterval is how often the free disk space is checked.
	diskCheckInterval = time.Second
	// If the last batch is less than gatherAfter ago, and it or the current batch has several commits, the driver waits
	// up to gatherFor for further commits. It stops waiting when the current batch has maxGather commits.
	gatherAfter = 2 * time.Millisecond
	gatherFor   = time.Millisecond
	maxGather   = 12
	// cacheBytes is the size of Pebble's block cache. Pebble also takes the memory of two memtables from it.
	cacheBytes = 48 << 20
	// indexBlock is the size in bytes of the index blocks of a table file. It is large enough for the whole index in one
	// block.
	indexBlock = 256 << 10
	// dataBlock is the size in bytes of the data blocks of a table file. Most rows are small and similar: larger blocks
	// than Pebble's default of 4 KiB are cheaper to build and compress better.
	dataBlock = 16 << 10
	// Pebble compacts level 0 when it has twice l0CompactionThreshold overlapping table files. With
	// l0StopWritesThreshold of these files, commits wait for the compaction.
	l0CompactionThreshold, l0StopWritesThreshold = 12, 24
)

// Options configure how Open opens a directory. The zero value is right for production use.
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

// Open opens or creates the store in a directory and locks the directory. It returns persistence.ErrInUse if another
// process uses the directory, and persistence.ErrFormat if the stored data have another format.
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

// openError wraps an error of pebble.Open. It returns persistence.ErrFormat if a newer version of Pebble has written
// the files.
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
		// Every flushed table file has rows of all tables, so each compaction rewrites most of the next level. The high
		// thresholds postpone a compaction until more files have been flushed. Bloom filters avoid reads of those files.
		L0CompactionThreshold: l0CompactionThreshold,
		L0StopWritesThreshold: l0StopWritesThreshold,
	}
	for i := range o.Levels {
		// Most rows that commits look up do not exist. A bloom filter avoids a search for them on every level.
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
		o.Levels[i].BlockSize = dataBlock
		o.Levels[i].IndexBlockSize = indexBlock
	}
	return o
}

// checkLayout returns an error if the stored layout differs from persistence.Layout, and pebble.ErrNotFound if the
// database is empty.
func checkLayout(db *pebble.DB, dir string) error {
	have, closer, err := db.Get(layoutKey)
	if err != nil {
		return fmt.Errorf("pebble: read the layout of %s: %w", dir, err)
	}
	return errors.Join(persistence.CheckLayout(dir, string(have)), closer.Close())
}

// Healthy returns nil while commits can be expected to succeed. After a failed write of the write-ahead log it returns
// an error until the process restarts.
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

// Commit queues c and waits until c is durable or refused.
func (d *Driver) Commit(ctx context.Context, c persistence.Commit) (persistence.Result, error) {
	if err := c.Check(); err != nil {
		return persistence.Result{}, err
	}
	return d.submit(ctx, &request{commit: c})
}

// Claim makes the process with this token the owner of a shard. Later commits to the shard with another token are
// refused.
func (d *Driver) Claim(ctx context.Context, shard, token string) error {
	c := persistence.Commit{Shard: shard, Token: token}
	if err := c.Check(); err != nil {
		return err
	}
	_, err := d.submit(ctx, &request{commit: c, claim: claimShard})
	return err
}

// ClaimAll makes the process with this token the owner of all shards.
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
