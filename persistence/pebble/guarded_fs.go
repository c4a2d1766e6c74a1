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

// guardedFS stands between Pebble and the disk, because Pebble ends the process
// when its log or its manifest cannot be written (it panics with its mutex in
// the wrong state, which no recover heals). Here such an operation marks the
// store as failed and never returns: Pebble does not learn of the error, its
// goroutine stays parked, and everybody else is told by failed.
// Errors of tables are returned, slowly: Pebble tries those again without a pause.
type guardedFS struct {
	vfs.FS
	log    *slog.Logger
	armed  atomic.Bool // errors are returned while the store opens and closes
	once   sync.Once
	failed chan struct{}
	cause  error // before failed is closed
}

// pause is how long a failed operation on a table holds up Pebble's next try.
const pause = 250 * time.Millisecond

func newGuardedFS(fs vfs.FS, log *slog.Logger) *guardedFS {
	return &guardedFS{FS: fs, log: log, failed: make(chan struct{})}
}

func (g *guardedFS) arm()    { g.armed.Store(true) }
func (g *guardedFS) disarm() { g.armed.Store(false) }

// fail marks the store as failed; the first cause stays.
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

// vital says whether Pebble cannot live with an error on this file.
func (g *guardedFS) vital(name string) bool {
	base := g.PathBase(name)
	return strings.HasSuffix(base, ".log") || strings.HasPrefix(base, "MANIFEST") || strings.HasPrefix(base, "marker.")
}

// judge is what becomes of an operation's error.
func (g *guardedFS) judge(vital bool, err error) error {
	if err == nil || !g.armed.Load() {
		return err
	}
	if vital {
		g.fail(err)
		select {} // parked for good
	}
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-t.C:
	case <-g.failed:
	}
	return err
}

// Unwrap tells Pebble what lies below.
func (g *guardedFS) Unwrap() vfs.FS { return g.FS }

// Create makes a file that is watched.
func (g *guardedFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := g.FS.Create(name, category)
	return g.watch(name, f, err)
}

// ReuseForWrite recycles a file, watched from then on.
func (g *guardedFS) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := g.FS.ReuseForWrite(oldname, newname, category)
	return g.watch(newname, f, err)
}

// OpenDir opens a folder whose syncs are watched.
func (g *guardedFS) OpenDir(name string) (vfs.File, error) {
	f, err := g.FS.OpenDir(name)
	if err = g.judge(true, err); err != nil {
		return nil, err
	}
	return &guardedFile{File: f, fs: g, vital: true}, nil
}

func (g *guardedFS) watch(name string, f vfs.File, err error) (vfs.File, error) {
	vital := g.vital(name)
	if err = g.judge(vital, err); err != nil {
		return nil, err
	}
	return &guardedFile{File: f, fs: g, vital: vital, log: strings.HasSuffix(name, ".log")}, nil
}

type guardedFile struct {
	vfs.File
	fs    *guardedFS
	vital bool
	// A log takes disk space ahead of its end. It is written by one goroutine.
	log            bool
	written, taken int64
}

// logStep is how much space a log takes ahead. Pebble would take that of a whole
// table in memory at once, and the log would end where a nearly full disk has less.
const logStep = 1 << 20

func (f *guardedFile) Write(p []byte) (int, error) {
	if f.written += int64(len(p)); f.log && f.written > f.taken {
		length := (f.written - f.taken + logStep - 1) / logStep * logStep
		_ = f.File.Preallocate(f.taken, length) // without it, a write takes its space itself
		f.taken += length
	}
	n, err := f.File.Write(p)
	return n, f.fs.judge(f.vital, err)
}

func (f *guardedFile) WriteAt(p []byte, off int64) (int, error) {
	n, err := f.File.WriteAt(p, off)
	return n, f.fs.judge(f.vital, err)
}

// Preallocate does nothing for a log: Write takes space step by step.
func (f *guardedFile) Preallocate(offset, length int64) error {
	if f.log {
		return nil
	}
	return f.fs.judge(f.vital, f.File.Preallocate(offset, length))
}

func (f *guardedFile) Sync() error     { return f.fs.judge(f.vital, f.File.Sync()) }
func (f *guardedFile) SyncData() error { return f.fs.judge(f.vital, f.File.SyncData()) }
func (f *guardedFile) Close() error    { return f.fs.judge(f.vital, f.File.Close()) }

func (f *guardedFile) SyncTo(length int64) (bool, error) {
	full, err := f.File.SyncTo(length)
	return full, f.fs.judge(f.vital, err)
}

// logger hears what Pebble has to say. Its own one ends the process on Fatalf.
type logger struct{ fs *guardedFS }

var _ pebble.Logger = logger{}

func (l logger) Infof(string, ...any) {}

func (l logger) Errorf(format string, args ...any) {
	l.fs.log.Error("pebble", slog.String("error", fmt.Sprintf(format, args...)))
}

func (l logger) Fatalf(format string, args ...any) {
	l.fs.fail(fmt.Errorf(format, args...)) //nolint:err113 // Pebble's words
}
