package pebble

import (
	"errors"
	"io"
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

// batchDraft is a batch that is being built. Values that are read back during the build (row headers, counters,
// tokens, results) are kept in recent, so the batch needs no index. Most of them stay in recent after the batch, so
// a row that changes often is not read from disk each time.
type batchDraft struct {
	db         *pebble.DB
	batch      *pebble.Batch
	recent     *recentWrites
	scratch    []byte // reused; the batch copies it
	deletedLog bool   // a whole log was deleted, so recent is outdated
}

func newDraft(db *pebble.DB, r *recentWrites) *batchDraft {
	return &batchDraft{db: db, batch: db.NewBatch(), recent: r}
}

// Get reads a key as the draft has it, otherwise as the store has it. For a recently changed row it returns the row
// without its value.
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

// lookUpKey reads a key from the store. A missing key and a token are remembered: a guard and then a Put ask for
// the same new row, and every commit asks for the token.
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

// set changes a key that may be read back.
func (d *batchDraft) set(k, v []byte) error {
	d.recent.newer[string(k)] = v
	return d.batch.Set(k, v, nil)
}

// setRow changes a row, of which only the header may be read back.
func (d *batchDraft) setRow(k []byte, r row) error {
	v := r.appendTo(d.scratch[:0])
	d.scratch = v
	d.recent.newer[string(k)] = append([]byte(nil), v[:len(v)-len(r.value)]...)
	return d.batch.Set(k, v, nil)
}

// delete deletes a key that may be read back.
func (d *batchDraft) delete(k []byte) error {
	d.recent.newer[string(k)] = nil
	return d.batch.Delete(k, nil)
}
