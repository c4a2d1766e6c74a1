package pebble

import (
	"errors"
	"io"
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

// batchDraft is a Pebble batch that is being built. recent holds the values that later commits of the batch read:
// row headers, counters, tokens and results. The batch therefore needs no index. Most values stay in recent after the
// batch, so that a row that changes often is not read from disk each time.
type batchDraft struct {
	db         *pebble.DB
	batch      *pebble.Batch
	recent     *recentWrites
	scratch    []byte // reused buffer; the batch copies its content
	deletedLog bool   // a whole log was deleted, so recent is outdated
}

func newDraft(db *pebble.DB, r *recentWrites) *batchDraft {
	return &batchDraft{db: db, batch: db.NewBatch(), recent: r}
}

// Get reads a key from the draft, or from the database if the draft does not have it. For a recently changed row it
// returns the row header without the value.
func (d *batchDraft) Get(k []byte) ([]byte, io.Closer, error) {
	v, known := d.recent.find(k)
	if !known {
		fresh, err := d.recent.isAbsent(d.db, k)
		switch {
		case err != nil:
			return nil, nil, err
		case !fresh:
			return d.lookUpKey(k)
		}
	}
	if v == nil {
		return nil, nil, pebble.ErrNotFound
	}
	return v, openEmpty{}, nil
}

// openEmpty is the io.Closer of a value that needs no release.
type openEmpty struct{}

// Close does nothing.
func (openEmpty) Close() error { return nil }

// lookUpKey reads a key from the database. It caches missing keys, because a guard and then a Put read the same new row.
// It also caches tokens, because every commit reads the token.
func (d *batchDraft) lookUpKey(k []byte) ([]byte, io.Closer, error) {
	v, closer, err := d.db.Get(k)
	switch {
	case errors.Is(err, pebble.ErrNotFound):
		d.recent.newer[string(k)] = nil
	case err == nil && k[0] == tokenSpace:
		d.recent.newer[string(k)] = slices.Clone(v)
	}
	return v, closer, err
}

// set writes a key to the batch and caches its value, because a later commit may read it.
func (d *batchDraft) set(k, v []byte) error {
	d.recent.newer[string(k)] = v
	return d.batch.Set(k, v, nil)
}

// setRow writes a row to the batch and caches its header, because later commits read only the header.
func (d *batchDraft) setRow(k []byte, r row) error {
	v := r.appendTo(d.scratch[:0])
	d.scratch = v
	d.recent.newer[string(k)] = append([]byte(nil), v[:len(v)-len(r.value)]...)
	return d.batch.Set(k, v, nil)
}

// delete deletes a key in the batch and caches that it is missing.
func (d *batchDraft) delete(k []byte) error {
	d.recent.newer[string(k)] = nil
	return d.batch.Delete(k, nil)
}
