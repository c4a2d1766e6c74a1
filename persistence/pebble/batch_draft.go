package pebble

import (
	"errors"
	"io"
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

// draft is a batch in the making. What is read back while commits are decided
// (rows without their values, counters, tokens, answers) is kept beside it, so
// that the batch itself needs no index, and most of it survives the batch, so
// that a row that changes often is not looked for on disk each time.
type draft struct {
	db      *pebble.DB
	batch   *pebble.Batch
	recent  *recent
	scratch []byte // the batch copies
	forgot  bool   // a whole log: what is remembered of it is no longer so
}

func newDraft(db *pebble.DB, r *recent) *draft {
	return &draft{db: db, batch: db.NewBatch(), recent: r}
}

// Get reads what the draft says, and beneath it what is stored; of a row that
// was changed lately without its value.
func (d *draft) Get(k []byte) ([]byte, io.Closer, error) {
	v, known := d.recent.find(k)
	if !known {
		fresh, err := d.recent.fresh(d.db, k)
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
	return v, open{}, nil
}

// open is what needs no closing.
type open struct{}

// Close does nothing.
func (open) Close() error { return nil }

// lookUpKey reads what is stored. What is not there is looked for once: a guard asks
// for a new row, and then whoever writes it. So is a token, which each commit
// shows.
func (d *draft) lookUpKey(k []byte) ([]byte, io.Closer, error) {
	v, closer, err := d.db.Get(k)
	switch {
	case errors.Is(err, pebble.ErrNotFound):
		d.recent.young[string(k)] = nil
	case err == nil && k[0] == tokenSpace:
		d.recent.young[string(k)] = slices.Clone(v)
	}
	return v, closer, err
}

// set changes what may be read back.
func (d *draft) set(k, v []byte) error {
	d.recent.young[string(k)] = v
	return d.batch.Set(k, v, nil)
}

// setRow changes a row, of which only the head may be read back.
func (d *draft) setRow(k []byte, r row) error {
	v := r.appendTo(d.scratch[:0])
	d.scratch = v
	d.recent.young[string(k)] = append([]byte(nil), v[:len(v)-len(r.value)]...)
	return d.batch.Set(k, v, nil)
}

// drop deletes what may be read back.
func (d *draft) drop(k []byte) error {
	d.recent.young[string(k)] = nil
	return d.batch.Delete(k, nil)
}
