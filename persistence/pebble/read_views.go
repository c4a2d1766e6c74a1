package pebble

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence"
)

// readView is a snapshot of the store after an fsync. Reads use it, so that they never see a change that a power cut
// could undo.
type readView struct {
	*pebble.Snapshot
	users int // reads that use the view, plus one while it is the current view
}

type readViews struct {
	mu      sync.Mutex
	current *readView
	closing sync.WaitGroup
}

func (v *readViews) renew(db *pebble.DB) {
	next := &readView{Snapshot: db.NewSnapshot(), users: 1}
	v.mu.Lock()
	old := v.current
	v.current = next
	v.mu.Unlock()
	if old != nil {
		v.release(old)
	}
}

// closeLast releases the current read view. The returned channel is closed once all read views are closed.
func (v *readViews) closeLast() (closed <-chan struct{}) {
	v.mu.Lock()
	old := v.current
	v.current = nil
	v.mu.Unlock()
	v.release(old)
	done := make(chan struct{})
	go func() {
		v.closing.Wait()
		close(done)
	}()
	return done
}

func (v *readViews) acquire() *readView {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.current != nil {
		v.current.users++
	}
	return v.current
}

// release ends one use of a read view, and closes the view after its last use. The close runs in a goroutine, because
// Pebble may wait for its manifest, and waits forever if the manifest cannot be written.
func (v *readViews) release(w *readView) {
	v.mu.Lock()
	w.users--
	last := w.users == 0
	v.mu.Unlock()
	if last {
		v.closing.Go(func() { _ = w.Close() }) // Close fails only if called twice
	}
}

// ReadRow reads a row of the store in a folder without changing the folder. It returns domain.ErrNotFound if there is
// no such row, and fs.ErrNotExist if the folder holds no store. ReadRow takes no lock and may fail while a process
// writes to the store.
func ReadRow(dir string, k persistence.Key) (value []byte, version uint64, err error) {
	if _, err = os.Stat(dir); err != nil {
		return nil, 0, err
	}
	fs := unlockedFS{vfs.Default}
	db, err := pebble.Open(dir, &pebble.Options{FS: fs, ReadOnly: true, Logger: logger{newGuardedFS(fs, slog.New(slog.DiscardHandler))}})
	if errors.Is(err, pebble.ErrDBDoesNotExist) {
		return nil, 0, fmt.Errorf("pebble: %s: %w", dir, os.ErrNotExist)
	}
	if err != nil {
		return nil, 0, openError(dir, err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err = checkLayout(db, dir); errors.Is(err, pebble.ErrNotFound) {
		return nil, 0, domain.ErrNotFound
	}
	if err != nil {
		return nil, 0, err
	}
	stored, closer, err := db.Get(rowKey(k))
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, 0, domain.ErrNotFound
	}
	if err != nil {
		return nil, 0, fmt.Errorf("pebble: read %s: %w", dir, err)
	}
	r, err := decodeValue(bytes.Clone(stored))
	return r.value, r.version, errors.Join(err, closer.Close())
}

// unlockedFS is a file system that does not lock the database, so that ReadRow can open a database in use.
type unlockedFS struct{ vfs.FS }

type noLock struct{}

func (noLock) Close() error { return nil }

func (unlockedFS) Lock(string) (io.Closer, error) { return noLock{}, nil }

// withView calls f with the current read view. Close waits until f has returned.
func (d *Driver) withView(ctx context.Context, f func(*readView) error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("pebble: read: %w", err)
	}
	d.lifecycle.RLock()
	defer d.lifecycle.RUnlock()
	if d.closed {
		return persistence.ErrClosed
	}
	w := d.views.acquire()
	defer d.views.release(w)
	return f(w)
}

// Get returns the value and the version of a row, or domain.ErrNotFound.
func (d *Driver) Get(ctx context.Context, k persistence.Key) (value []byte, version uint64, err error) {
	err = d.withView(ctx, func(w *readView) error {
		r, errRow := getValue(w, rowKey(k))
		value, version = r.value, r.version
		return errRow
	})
	if err == nil && version == 0 {
		err = domain.ErrNotFound
	}
	return value, version, err
}

// Scan returns one page of the rows of a table, or of a list if r.List is set.
func (d *Driver) Scan(ctx context.Context, r persistence.Range) (page persistence.Page, err error) {
	err = d.withView(ctx, func(w *readView) error {
		page, err = scan(ctx, w, r)
		return err
	})
	return page, err
}

func scan(ctx context.Context, w *readView, r persistence.Range) (page persistence.Page, err error) {
	base := append(key(rowSpace, r.Table), 0)
	if r.List != "" {
		base = append(key(placeSpace, r.Table, r.List), 0)
	}
	low, high := r.Bounds()
	o := &pebble.IterOptions{LowerBound: slices.Concat(base, []byte(low)), UpperBound: slices.Concat(base, []byte(high))}
	if high == "" {
		o.UpperBound[len(base)-1] = 1 // the upper bound is above every position
	}
	if bytes.Compare(o.LowerBound, o.UpperBound) >= 0 {
		return page, nil
	}
	it, err := w.NewIterWithContext(ctx, o)
	if err != nil {
		return page, err
	}
	defer func() {
		if closed := it.Close(); err == nil {
			err = closed
		}
	}()
	begin, next := it.First, it.Next
	if r.Reverse {
		begin, next = it.Last, it.Prev
	}
	limit, size := r.PageLimit(), 0
	rows := &sequentialReader{ctx: ctx, w: w, table: r.Table}
	defer func() {
		if closed := rows.close(); err == nil {
			err = closed
		}
	}()
	for ok := begin(); ok; ok = next() {
		if len(page.Rows) == limit || size > persistence.PageBytes {
			page.More = true
			break
		}
		found, err := rowAt(rows, r, string(it.Key()[len(base):]), it.Value())
		if err != nil {
			return page, err
		}
		size += len(found.Value)
		page.Rows = append(page.Rows, found)
	}
	return page, nil
}

// rowAt returns the row at a position of a table or list. value is the stored value of the key at that position.
func rowAt(rows *sequentialReader, r persistence.Range, place string, value []byte) (persistence.Row, error) {
	if r.List == "" {
		kept, err := decodeValue(append([]byte(nil), value...))
		return persistence.Row{ID: place, Position: place, Value: kept.value, Version: kept.version}, err
	}
	_, id, _ := strings.Cut(place, "\x00")
	kept, err := rows.get(rowKey(persistence.Key{Table: r.Table, ID: id}))
	if err == nil && kept.version == 0 {
		err = fmt.Errorf("%w: %s %s is in list %s but does not exist", errCorrupt, r.Table, id, r.List)
	}
	return persistence.Row{ID: id, Position: place, Value: kept.value, Version: kept.version}, err
}

// sequentialReader reads the rows of a table that a list names. If their keys come in ascending order, an iterator
// moves to the next row, which is cheaper than a search from the root.
type sequentialReader struct {
	ctx   context.Context //nolint:containedctx // of the single scan that uses the reader
	w     *readView
	table string
	it    *pebble.Iterator
	last  []byte
	run   int // rows read in key order so far
}

// sequentialRun is the number of consecutive reads in key order after which sequentialReader uses an iterator.
const sequentialRun = 4

func (o *sequentialReader) get(k []byte) (row, error) {
	if bytes.Compare(k, o.last) < 0 {
		o.run = 0
	}
	o.last = k
	if o.run++; o.run < sequentialRun {
		return getValue(o.w, k)
	}
	if o.it == nil {
		base := append(key(rowSpace, o.table), 0)
		above := slices.Clone(base)
		above[len(above)-1] = 1
		it, err := o.w.NewIterWithContext(o.ctx, &pebble.IterOptions{LowerBound: base, UpperBound: above})
		if err != nil {
			return row{}, err
		}
		o.it = it
	}
	if !o.it.SeekGE(k) || !bytes.Equal(o.it.Key(), k) {
		return row{}, o.it.Error()
	}
	v, err := o.it.ValueAndErr()
	if err != nil {
		return row{}, err
	}
	return decodeValue(slices.Clone(v))
}

func (o *sequentialReader) close() error {
	if o.it == nil {
		return nil
	}
	return o.it.Close()
}

// LastOffset returns the offset of the last entry of an event log, or 0 if the log is empty.
func (d *Driver) LastOffset(ctx context.Context, log string) (last uint64, err error) {
	err = d.withView(ctx, func(w *readView) (err error) {
		last, err = getCounter(w, key(offsetSpace, log))
		return err
	})
	return last, err
}

// Events returns at most limit entries of an event log, in order, beginning after the offset after.
func (d *Driver) Events(ctx context.Context, log string, after uint64, limit int) (entries []persistence.LogEntry, err error) {
	err = d.withView(ctx, func(w *readView) (err error) {
		it, err := w.NewIterWithContext(ctx, &pebble.IterOptions{
			LowerBound: eventKey(log, after+1), UpperBound: append(key(eventSpace, log), 1),
		})
		if err != nil {
			return err
		}
		defer func() {
			if closed := it.Close(); err == nil {
				err = closed
			}
		}()
		size := 0
		for ok := it.First(); ok && len(entries) < limit && size <= persistence.PageBytes; ok = it.Next() {
			k := it.Key()
			e, err := decodeEntry(binary.BigEndian.Uint64(k[len(k)-8:]), it.Value())
			if err != nil {
				return err
			}
			size += len(e.Payload)
			entries = append(entries, e)
		}
		return nil
	})
	return entries, err
}

// Tables returns the names of all tables that have rows and whose name ends in ending.
func (d *Driver) Tables(ctx context.Context, ending string) (tables []string, err error) {
	err = d.withView(ctx, func(w *readView) error {
		it, failed := w.NewIterWithContext(ctx, &pebble.IterOptions{LowerBound: []byte{rowSpace}, UpperBound: []byte{rowSpace + 1}})
		if failed != nil {
			return failed
		}
		for ok := it.First(); ok; {
			name, _, _ := strings.Cut(string(it.Key()[1:]), "\x00")
			if strings.HasSuffix(name, ending) {
				tables = append(tables, name)
			}
			ok = it.SeekGE(append(key(rowSpace, name), 1))
		}
		return errors.Join(it.Error(), it.Close())
	})
	return tables, err
}
