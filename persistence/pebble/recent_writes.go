package pebble

import (
	"errors"
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

const (
	// maxRecentKeys is the number of keys in each of the two generations, which take about 16 MB. Deliveries are
	// queued long before their results: reading their rows from disk would cost more than the rest of the commit.
	maxRecentKeys = 32768
	// maxKnownRanges bounds the key ranges whose last stored key is known.
	maxKnownRanges = 16384
)

// recentWrites remembers the keys that recent batches and the current batch changed, with their stored values. Only
// the committing goroutine uses it.
//
// It also knows which keys cannot exist. Ids grow with time, so most new rows are the last of their kind, or of
// their owner. For each such range of keys, lastKeyInRange is the greatest key that may be stored without being
// remembered. A greater key that is not remembered does not exist, so it needs no read from disk.
type recentWrites struct {
	maxKeys        int // approximate maximum of each generation
	newer, older   map[string][]byte
	lastKeyInRange map[string]string // by the common beginning of the keys
}

func newRecent(most int) *recentWrites {
	return &recentWrites{maxKeys: most, newer: make(map[string][]byte), lastKeyInRange: make(map[string]string)}
}

// find returns the remembered value of a key. nil with known set: the key is not stored.
func (r *recentWrites) find(k []byte) (v []byte, known bool) {
	if v, known = r.newer[string(k)]; !known {
		v, known = r.older[string(k)]
	}
	return v, known
}

// isAbsent reports whether a key that is not remembered is certainly not stored. false: unknown.
func (r *recentWrites) isAbsent(db *pebble.DB, k []byte) (bool, error) {
	if k[0] != rowSpace && k[0] != sequenceSpace {
		return false, nil
	}
	for _, begin := range [...][]byte{kindRange(k), ownerRange(k)} {
		if len(begin) == 0 {
			continue
		}
		last, known := r.lastKeyInRange[string(begin)]
		if !known {
			var err error
			if last, err = lastKey(db, begin); err != nil {
				return false, err
			}
			r.dropSomeRanges()
			r.lastKeyInRange[string(begin)] = last
		}
		if string(k) > last {
			return true, nil
		}
	}
	return false, nil
}

// dropSomeRanges removes some random ranges if there are too many. They are read again when they are needed.
func (r *recentWrites) dropSomeRanges() {
	if len(r.lastKeyInRange) < maxKnownRanges {
		return
	}
	n := 0
	for begin := range r.lastKeyInRange {
		delete(r.lastKeyInRange, begin)
		if n++; n == maxKnownRanges/16 {
			return
		}
	}
}

// kindRange returns the common beginning of the ids of one kind: the table or log, and the prefix of the id if it
// has one.
func kindRange[K string | []byte](k K) K {
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

// ownerRange returns the common beginning of the rows of one owner: the key up to its last slash, and the id prefix
// after it. "": the key has no slash.
func ownerRange[K string | []byte](k K) K {
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

// lastKey returns the greatest stored key that begins with begin; "": there is none.
func lastKey(db *pebble.DB, begin []byte) (last string, err error) {
	end := slices.Clone(begin)
	end[len(end)-1]++ // the last byte is zero, "_" or "/"
	it, err := db.NewIter(&pebble.IterOptions{LowerBound: begin, UpperBound: end})
	if err != nil {
		return "", err
	}
	if it.Last() {
		last = string(it.Key())
	}
	return last, errors.Join(it.Error(), it.Close())
}

// rotate bounds the memory by dropping the older generation. It is called between batches only, as nothing of the
// current batch may be lost.
func (r *recentWrites) rotate() {
	if len(r.newer) <= r.maxKeys {
		return
	}
	for k, v := range r.older {
		if v == nil {
			continue
		}
		for _, begin := range [...]string{kindRange(k), ownerRange(k)} {
			if last, known := r.lastKeyInRange[begin]; known && k > last {
				r.lastKeyInRange[begin] = k
			}
		}
	}
	r.newer, r.older = make(map[string][]byte, r.maxKeys), r.newer
}

// clear forgets everything after a batch with an unknown outcome.
func (r *recentWrites) clear() { *r = *newRecent(r.maxKeys) }
