package pebble

import (
	"errors"
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

const (
	// maxRecentKeys is the number of keys in each of the two generations of recentWrites, which take about 16 MB. A
	// delivery is queued long before its result is stored: reading its row from disk would dominate the cost of that commit.
	maxRecentKeys = 32768
	// maxKnownRanges limits the size of recentWrites.lastKeyInRange.
	maxKnownRanges = 16384
)

// recentWrites caches the keys that recent batches and the current batch changed, with their stored values. Only the
// committing goroutine uses it.
//
// It also knows which keys cannot exist. Ids grow with time, so most new rows have the greatest key of their kind, or
// of their owner. For each range of keys, lastKeyInRange is the greatest key that may be stored without being cached.
// A greater key that is not cached does not exist, so it needs no read from disk.
type recentWrites struct {
	maxKeys        int // approximate maximum of each generation
	newer, older   map[string][]byte
	lastKeyInRange map[string]string // by the common prefix of the keys in the range
}

func newRecent(most int) *recentWrites {
	return &recentWrites{maxKeys: most, newer: make(map[string][]byte), lastKeyInRange: make(map[string]string)}
}

// find returns the cached value of a key, and whether the key is cached. A cached nil value means that the key is not
// stored.
func (r *recentWrites) find(k []byte) (v []byte, known bool) {
	if v, known = r.newer[string(k)]; !known {
		v, known = r.older[string(k)]
	}
	return v, known
}

// isAbsent reports whether a key that is not cached is certainly not stored. It returns false if that is unknown.
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

// dropSomeRanges removes some random entries of lastKeyInRange if it has too many. isAbsent reads them from the
// database again when it needs them.
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

// kindRange returns the common prefix of all keys of one kind of id. It consists of the table or log and, if the id
// has a prefix such as "call_", of that prefix.
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

// ownerRange returns the common prefix of the keys of one owner's rows: the key up to its last slash, and the id prefix
// after that slash. It returns an empty range if the key has no slash.
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

// lastKey returns the greatest stored key that begins with begin, or "" if there is none.
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

// rotate bounds the memory by dropping the older generation of keys. Only the time between two batches is safe for a
// call, because the keys of the current batch must stay cached.
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

// clear empties the cache. It is called after a batch that may or may not have been written.
func (r *recentWrites) clear() { *r = *newRecent(r.maxKeys) }
