package pebble

import (
	"io"

	"github.com/cockroachdb/pebble/v2"
)

// draft is a batch in the making. What is read back while commits are decided
// (rows, counters, tokens, answers) is kept beside it, so that the batch itself
// needs no index.
type draft struct {
	db    *pebble.DB
	batch *pebble.Batch
	kept  map[string][]byte // nil: deleted
}

func newDraft(db *pebble.DB) *draft {
	return &draft{db: db, batch: db.NewBatch(), kept: make(map[string][]byte)}
}

// Get reads what the draft says, and beneath it what is stored.
func (d *draft) Get(k []byte) ([]byte, io.Closer, error) {
	v, changed := d.kept[string(k)]
	switch {
	case !changed:
		return d.db.Get(k)
	case v == nil:
		return nil, nil, pebble.ErrNotFound
	}
	return v, io.NopCloser(nil), nil
}

// set changes what may be read back.
func (d *draft) set(k, v []byte) error {
	d.kept[string(k)] = v
	return d.batch.Set(k, v, nil)
}

// drop deletes what may be read back.
func (d *draft) drop(k []byte) error {
	d.kept[string(k)] = nil
	return d.batch.Delete(k, nil)
}
