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
// If such a write fails, guardedFS marks the store as failed and blocks the calling goroutine of Pebble forever, so
// that Pebble does not see the error. The closed channel failed reports the failure to the driver. guardedFS returns
// errors of table files with a delay, because Pebble retries them at once.
type guardedFS struct {
	vfs.FS
	log    *slog.Logger
	armed  atomic.Bool // false while the store opens or closes: Pebble then gets each error at once
	once   sync.Once
	failed chan struct{}
	cause  error // reason of the failure, set before failed is closed
}

// retryDelay is the delay before an error of a table file is returned to Pebble, which retries at once.
const retryDelay = 250 * time.Millisecond

func newGuardedFS(fs vfs.FS, log *slog.Logger) *guardedFS {
	return &guardedFS{FS: fs, log: log, failed: make(chan struct{})}
}

func (g *guardedFS) arm()    { g.armed.Store(true) }
func (g *guardedFS) disarm() { g.armed.Store(false) }

// fail marks the store as failed because of err. Only the first call has an effect.
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

// isVital reports whether Pebble panics if writing this file fails.
func (g *guardedFS) isVital(name string) bool {
	base := g.PathBase(name)
	return strings.HasSuffix(base, ".log") || strings.HasPrefix(base, "MANIFEST") || strings.HasPrefix(base, "marker.")
}

// handleError returns the error that Pebble gets for a failed file operation. For a vital file it marks the store as
// failed and never returns. For other files it returns err after retryDelay.
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

// Create creates a file whose errors handleError handles.
func (g *guardedFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := g.FS.Create(name, category)
	return g.watch(name, f, err)
}

// ReuseForWrite renames oldname to newname for writing. handleError handles the errors of the file from then on.
func (g *guardedFS) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := g.FS.ReuseForWrite(oldname, newname, category)
	return g.watch(newname, f, err)
}

// OpenDir opens a directory. A failed sync of the directory marks the store as failed.
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
	// log is set for a file of the write-ahead log. Write preallocates disk space for such a file. Only one goroutine
	// writes it, so written and allocated need no lock.
	log                bool
	written, allocated int64
}

// logStep is the number of bytes that Write preallocates at a time for a file of the write-ahead log. Pebble would
// preallocate a whole memtable, which fails on a nearly full disk.
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

// Preallocate does nothing for a file of the write-ahead log, because Write preallocates its space in steps.
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

// logger receives Pebble's log messages. Its Fatalf marks the store as failed, while Fatalf of Pebble's default logger
// ends the process.
type logger struct{ fs *guardedFS }

var _ pebble.Logger = logger{}

func (l logger) Infof(string, ...any) {}

func (l logger) Errorf(format string, args ...any) {
	l.fs.log.Error("pebble", slog.String("error", fmt.Sprintf(format, args...)))
}

func (l logger) Fatalf(format string, args ...any) {
	l.fs.fail(fmt.Errorf(format, args...)) //nolint:err113 // Pebble's words
}
