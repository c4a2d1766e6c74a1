package knowledge

import "strings"

// Index is the search index of the passages of a knowledge base: word positions, lengths and embeddings, without
// texts. It is built once and then read concurrently. The zero value has no passages.
type Index struct {
	docs   []indexedPassage
	length int // number of words in all passages
	terms  map[string]*[]posting
	bytes  int
}

// indexedPassage is a passage in the index. source and number are the identification that Index.Add received.
type indexedPassage struct {
	source, number int32
	length         int32 // number of words
	norm           float64
	embedding      []byte
}

// posting is the number of times that a word occurs in a passage. doc is the index of the passage in Index.docs.
type posting struct{ doc, count int32 }

// Approximate memory in bytes of one passage, term and posting of an index, without texts and embeddings.
const (
	docBytes     = 56
	termBytes    = 64
	postingBytes = 8
)

// Add adds a passage. The caller chooses source and number, and a search returns them in its hits. meaning is the
// packed embedding of the passage, or nil.
func (x *Index) Add(source, number int, p Passage, meaning []byte) {
	if x.terms == nil {
		x.terms = make(map[string]*[]posting)
	}
	n := int32(len(x.docs)) //nolint:gosec // a base has some ten thousand
	body := splitWords(p.Text)
	for _, w := range body {
		x.countWord(w, n, 1)
	}
	for _, w := range splitWords(p.Heading) { // words of headings count twice
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
		x.terms[strings.Clone(word)] = all // the clone does not keep the whole text in memory
		x.bytes += termBytes + len(word)
	}
	if last := len(*all) - 1; last >= 0 && (*all)[last].doc == n {
		(*all)[last].count += times
		return
	}
	*all = append(*all, posting{n, times})
	x.bytes += postingBytes
}

// Bytes returns the approximate memory of the index in bytes.
func (x *Index) Bytes() int { return x.bytes }
