package knowledge

import "strings"

// Index is what a search needs of the passages of a knowledge base: where their
// words stand, how long they are and what they mean; not their texts. It is
// built once and read by many. The zero value has no passages.
type Index struct {
	docs   []indexedPassage
	length int // words of all
	terms  map[string]*[]posting
	bytes  int
}

// indexedPassage is a passage: who it is to whoever built the index.
type indexedPassage struct {
	source, number int32
	length         int32 // words
	norm           float64
	embedding      []byte
}

// posting says how often a word counts in a passage.
type posting struct{ doc, count int32 }

// What an entry takes beside its bytes: more or less, for the bound of whoever
// keeps indexes.
const (
	docBytes     = 56
	termBytes    = 64
	postingBytes = 8
)

// Add adds a passage, the next in order: its source by a number of the caller's,
// its own number in that, and its packed meaning; nil: it has none.
func (x *Index) Add(source, number int, p Passage, meaning []byte) {
	if x.terms == nil {
		x.terms = make(map[string]*[]posting)
	}
	n := int32(len(x.docs)) //nolint:gosec // a base has some ten thousand
	body := splitWords(p.Text)
	for _, w := range body {
		x.countWord(w, n, 1)
	}
	for _, w := range splitWords(p.Heading) { // counts double
		x.countWord(w, n, 2)
	}
	x.length += len(body)
	x.bytes += docBytes + len(meaning)
	x.docs = append(x.docs, indexedPassage{
		source: int32(source), number: int32(number), length: int32(len(body)), norm: vectorLength(meaning), embedding: meaning, //nolint:gosec // bounded by a base
	})
}

func (x *Index) countWord(word string, n, times int32) {
	all := x.terms[word]
	if all == nil {
		all = new([]posting)
		x.terms[strings.Clone(word)] = all // the word is a piece of a whole text, which must not stay for it
		x.bytes += termBytes + len(word)
	}
	if last := len(*all) - 1; last >= 0 && (*all)[last].doc == n {
		(*all)[last].count += times
		return
	}
	*all = append(*all, posting{n, times})
	x.bytes += postingBytes
}

// Bytes is about what the index takes of memory.
func (x *Index) Bytes() int { return x.bytes }
