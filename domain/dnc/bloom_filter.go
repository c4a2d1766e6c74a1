package dnc

import "math/bits"

// Parameters of the Bloom filter: bitsPerNumber is the filter size for each number, and probes is the number of bits
// that are set for each number. About one in 250 unlisted numbers is reported as possibly listed.
const (
	bitsPerNumber = 12
	probes        = 8
)

// Filter is an immutable Bloom filter for the numbers of one bucket.
type Filter struct {
	Edition uint64 // edition of the bucket
	Count   int    // number of numbers in the bucket
	Unknown bool   // the filter is missing; every lookup must read the store
	words   []uint64
	erased  map[string]bool // hashes of erased numbers; nil: none
}

// NewFilter returns the filter for the numbers of a bucket.
func NewFilter(edition uint64, numbers []uint64) *Filter {
	f := &Filter{Edition: edition, Count: len(numbers)}
	if len(numbers) == 0 {
		return f
	}
	f.words = make([]uint64, (len(numbers)*bitsPerNumber+63)/64)
	for _, n := range numbers {
		at, step := f.probeStart(n)
		for range probes {
			word, bit := f.probeBit(at)
			f.words[word] |= bit
			at += step
		}
	}
	return f
}

// HasErased reports whether the bucket has erased entries. A lookup must then also search the hash of the number.
func (f *Filter) HasErased() bool { return f.erased != nil }

// IsErased reports whether an erased entry has this hash.
func (f *Filter) IsErased(hash string) bool { return f.erased[hash] }

// MayContain reports whether a number may be listed. If it returns false, the number is certainly not listed.
func (f *Filter) MayContain(n uint64) bool {
	if f.Unknown {
		return true
	}
	if len(f.words) == 0 {
		return false
	}
	at, step := f.probeStart(n)
	for range probes {
		word, bit := f.probeBit(at)
		if f.words[word]&bit == 0 {
			return false
		}
		at += step
	}
	return true
}

// probeStart returns the first probe position and the distance between probes. It uses bits of the hash that do not
// select the bucket, because those are equal for all numbers of a bucket.
func (f *Filter) probeStart(n uint64) (at, step uint64) {
	h := mixBits(n)
	return mixBits(h), h<<12 | 1
}

// probeBit returns the word and the bit of a probe. The high half of a product maps the hash evenly to the number of
// words.
func (f *Filter) probeBit(at uint64) (word, probeBit uint64) {
	word, low := bits.Mul64(at, uint64(len(f.words)))
	return word, 1 << (low >> 58)
}
