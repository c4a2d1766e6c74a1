package pebble

import (
	"errors"
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

const (
	// recentMost keys are in each of the two generations of what is remembered,
	// some 16 MB in all. Deliveries are queued far ahead of their results, and to
	// look for the row of each on disk costs more than all else that a commit does
	// with it.
	recentMost = 32768
	// rangesMost bounds the ranges of keys whose ends are known.
	rangesMost = 16384
)

// recent remembers what the last batches changed, as the store has it, and what
// the one in the making changes. Only the committer uses it.
//
// It also knows what cannot be stored. Ids grow with time, so most rows are
// written behind all others of their kind, or of their owner, where many have
// rows of one kind: beyond is, for each kind of id of each table and of each
// log's subjects, and for each owner in a table, the greatest key that may be
// stored and is not remembered. What stands behind it and is not remembered is
// new, without a look at the disk.
type recent struct {
	most       int // of each generation, roughly
	young, old map[string][]byte
	beyond     map[string]string // by the key's beginning
}

func newRecent(most int) *recent {
	return &recent{most: most, young: make(map[string][]byte), beyond: make(map[string]string)}
}

// find is what is remembered of a key; nil and known: it is not stored.
func (r *recent) find(k []byte) (v []byte, known bool) {
	if v, known = r.young[string(k)]; !known {
		v, known = r.old[string(k)]
	}
	return v, known
}

// fresh says that a key that is not remembered is not stored. Not fresh: who
// knows.
func (r *recent) fresh(db *pebble.DB, k []byte) (bool, error) {
	if k[0] != rowSpace && k[0] != sequenceSpace {
		return false, nil
	}
	for _, begin := range [...][]byte{rangeOf(k), ofOne(k)} {
		if len(begin) == 0 {
			continue
		}
		last, known := r.beyond[string(begin)]
		if !known {
			var err error
			if last, err = lastKey(db, begin); err != nil {
				return false, err
			}
			r.shrink()
			r.beyond[string(begin)] = last
		}
		if string(k) > last {
			return true, nil
		}
	}
	return false, nil
}

// shrink makes room among the ranges: some that chance picks are read again when
// they are asked for.
func (r *recent) shrink() {
	if len(r.beyond) < rangesMost {
		return
	}
	n := 0
	for begin := range r.beyond {
		delete(r.beyond, begin)
		if n++; n == rangesMost/16 {
			return
		}
	}
}

// rangeOf is the beginning that the ids of one kind have in common: table or log,
// and the id's prefix, if it has one.
func rangeOf[K string | []byte](k K) K {
	for i := range len(k) {
		if k[i] != 0 {
			continue
		}
		for j := i + 1; j < len(k); j++ {
			if k[j] == '_' {
				return k[:j+1]
			}
		}
		return k[:i+1]
	}
	return k[:0]
}

// ofOne is the beginning that the rows of one owner have in common: what stands
// before the last stroke of an id, and the prefix behind it; "": no stroke.
func ofOne[K string | []byte](k K) K {
	end := 0
	for i := len(k) - 1; i > 0 && k[i] != 0; i-- {
		switch k[i] {
		case '/':
			return k[:max(end, i+1)]
		case '_':
			end = i + 1
		}
	}
	return k[:0]
}

// lastKey is the greatest stored key that begins so; "": there is none.
func lastKey(db *pebble.DB, begin []byte) (last string, err error) {
	end := slices.Clone(begin)
	end[len(end)-1]++ // zero, "_" or "/"
	it, err := db.NewIter(&pebble.IterOptions{LowerBound: begin, UpperBound: end})
	if err != nil {
		return "", err
	}
	if it.Last() {
		last = string(it.Key())
	}
	return last, errors.Join(it.Error(), it.Close())
}

// age bounds what is remembered, once a batch is applied: within one nothing of
// it may be lost.
func (r *recent) age() {
	if len(r.young) <= r.most {
		return
	}
	for k, v := range r.old {
		if v == nil {
			continue
		}
		for _, begin := range [...]string{rangeOf(k), ofOne(k)} {
			if last, known := r.beyond[begin]; known && k > last {
				r.beyond[begin] = k
			}
		}
	}
	r.young, r.old = make(map[string][]byte, r.most), r.young
}

// clear is for batches of which nobody knows what they did.
func (r *recent) clear() { *r = *newRecent(r.most) }
