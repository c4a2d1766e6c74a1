package pebble

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/callboard/callboard/persistence"
)

// guardedFS protects the process from Pebble's reaction to disk errors. If the write-ahead log or the manifest
// cannot be written, Pebble panics with its mutex in a bad state, which no recover can repair.
//
// guardedFS marks the store as failed and never returns from such an operation. Pebble does not learn of the error,
// and its goroutine stays blocked. Callers learn of the failure by the channel failed. Errors of table files are
// returned with a delay, because Pebble retries those without one.
type guardedFS struct {
	vfs.FS
	log    *slog.Logger
	armed  atomic.Bool // false while the store opens or closes: then errors are returned
	once   sync.Once
	failed chan struct{}
	cause  error // set before failed is closed
}

// retryDelay is the delay before an error of a table file is returned to Pebble, which retries at once.
const retryDelay = 250 * time.Millisecond

func newGuardedFS(fs vfs.FS, log *slog.Logger) *guardedFS {
	return &guardedFS{FS: fs, log: log, failed: make(chan struct{})}
}

func (g *guardedFS) arm()    { g.armed.Store(true) }
func (g *guardedFS) disarm() { g.armed.Store(false) }

// fail marks the store as failed. The first cause is kept.
func (g *guardedFS) fail(err error) {
	g.once.Do(func() {
		g.cause = fmt.Errorf("%w: %w", persistence.ErrUnavailable, err)
		g.log.Error("the store has failed and needs a restart", slog.Any("error", err))
		close(g.failed)
	})
}

func (g *guardedFS) failure() error {
	select {
	case <-g.failed:
		return g.cause
	default:
		return nil
	}
}

// isVital reports whether Pebble panics on an error of this file.
func (g *guardedFS) isVital(name string) bool {
	base := g.PathBase(name)
	return strings.HasSuffix(base, ".log") || strings.HasPrefix(base, "MANIFEST") || strings.HasPrefix(base, "marker.")
}

// handleError returns what Pebble gets for the error of an operation.
func (g *guardedFS) handleError(vital bool, err error) error {
	if err == nil || !g.armed.Load() {
		return err
	}
	if vital {
		g.fail(err)
		select {} // blocked forever
	}
	t := time.NewTimer(retryDelay)
	defer t.Stop()
	select {
	case <-t.C:
	case <-g.failed:
	}
	return err
}

// Unwrap returns the wrapped file system to Pebble.
func (g *guardedFS) Unwrap() vfs.FS { return g.FS }

// Create creates a guarded file.
func (g *guardedFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := g.FS.Create(name, category)
	return g.watch(name, f, err)
}

// ReuseForWrite recycles a file, which is guarded from then on.
func (g *guardedFS) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := g.FS.ReuseForWrite(oldname, newname, category)
	return g.watch(newname, f, err)
}

// OpenDir opens a directory with guarded syncs.
func (g *guardedFS) OpenDir(name string) (vfs.File, error) {
	f, err := g.FS.OpenDir(name)
	if err = g.handleError(true, err); err != nil {
		return nil, err
	}
	return &guardedFile{File: f, fs: g, vital: true}, nil
}

func (g *guardedFS) watch(name string, f vfs.File, err error) (vfs.File, error) {
	vital := g.isVital(name)
	if err = g.handleError(vital, err); err != nil {
		return nil, err
	}
	return &guardedFile{File: f, fs: g, vital: vital, log: strings.HasSuffix(name, ".log")}, nil
}

type guardedFile struct {
	vfs.File
	fs    *guardedFS
	vital bool
	// A log allocates disk space ahead of its end. One goroutine writes it.
	log                bool
	written, allocated int64
}

// logStep is the number of bytes that a log allocates at a time. Pebble would allocate as much as a whole memtable,
// and a nearly full disk would end the log.
const logStep = 1 << 20

func (f *guardedFile) Write(p []byte) (int, error) {
	if f.written += int64(len(p)); f.log && f.written > f.allocated {
		length := (f.written - f.allocated + logStep - 1) / logStep * logStep
		_ = f.File.Preallocate(f.allocated, length) // without preallocation the write allocates its space itself
		f.allocated += length
	}
	n, err := f.File.Write(p)
	return n, f.fs.handleError(f.vital, err)
}

func (f *guardedFile) WriteAt(p []byte, off int64) (int, error) {
	n, err := f.File.WriteAt(p, off)
	return n, f.fs.handleError(f.vital, err)
}

// Preallocate does nothing for a log, as Write allocates space in steps.
func (f *guardedFile) Preallocate(offset, length int64) error {
	if f.log {
		return nil
	}
	return f.fs.handleError(f.vital, f.File.Preallocate(offset, length))
}

func (f *guardedFile) Sync() error     { return f.fs.handleError(f.vital, f.File.Sync()) }
func (f *guardedFile) SyncData() error { return f.fs.handleError(f.vital, f.File.SyncData()) }
func (f *guardedFile) Close() error    { return f.fs.handleError(f.vital, f.File.Close()) }

func (f *guardedFile) SyncTo(length int64) (bool, error) {
	full, err := f.File.SyncTo(length)
	return full, f.fs.handleError(f.vital, err)
}

// logger receives Pebble's log messages. Pebble's own logger ends the process in Fatalf.
type logger struct{ fs *guardedFS }

var _ pebble.Logger = logger{}

func (l logger) Infof(string, ...any) {}

func (l logger) Errorf(format string, args ...any) {
	l.fs.log.Error("pebble", slog.String("error", fmt.Sprintf(format, args...)))
}

func (l logger) Fatalf(format string, args ...any) {
	l.fs.fail(fmt.Errorf(format, args...)) //nolint:err113 // Pebble's words
}
