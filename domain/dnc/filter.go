package dnc

import "math/bits"

// A filter spends bitsPerNumber and sets probes of them for each number: about
// one in 250 of the numbers that are not listed is taken for one that may be.
const (
	bitsPerNumber = 12
	probes        = 8
)

// Filter answers for the numbers of one bucket. It is never changed.
type Filter struct {
	Edition uint64 // of the bucket that it was made of
	Count   int    // numbers in the bucket
	Unknown bool   // only the store can say
	words   []uint64
	erased  map[string]bool // hashes of numbers of people who were erased; nil: none
}

// NewFilter makes the filter of a bucket's numbers.
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

// HasErased reports whether the bucket has entries of people who were erased: then
// a number is to be looked for by its hash too.
func (f *Filter) HasErased() bool { return f.erased != nil }

// IsErased reports whether a number is listed by its hash.
func (f *Filter) IsErased(hash string) bool { return f.erased[hash] }

// MayContain reports whether a number may be listed as such. False is sure.
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

// probeStart begins with bits of the hash that do not choose the bucket.
func (f *Filter) probeStart(n uint64) (at, step uint64) {
	h := mixBits(n)
	return mixBits(h), h<<12 | 1
}

// probeBit is a place in the filter: the high half of a product is a fair share of
// its length.
func (f *Filter) probeBit(at uint64) (word, probeBit uint64) {
	word, low := bits.Mul64(at, uint64(len(f.words)))
	return word, 1 << (low >> 58)
}
