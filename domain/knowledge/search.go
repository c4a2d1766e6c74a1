package knowledge

import (
	"math"
	"slices"
)

// Search ranks the passages of indexes against words: BM25 over all of them
// together, as scores of several would be of several scales. T names an index
// to the caller. The zero value is not usable: see NewSearch.
type Search[T any] struct {
	terms  []string
	seen   []int // passages that hold each term
	total  int
	length int
	found  []candidate[T]
}

type candidate[T any] struct {
	of     T
	doc    *doc
	counts []int32 // of each term
	alike  float64
}

// NewSearch looks for the words of a query.
func NewSearch[T any](query string) *Search[T] {
	var terms []string
	for _, w := range words(query) {
		if !slices.Contains(terms, w) {
			terms = append(terms, w)
		}
	}
	return &Search[T]{terms: terms, seen: make([]int, len(terms))}
}

// Where meanings are known, a passage is worth as much of bothWorth as its words
// and its meaning are near to those of the best: a rare word that says nothing
// must not outdo what was meant.
const (
	alikeLeast = 0.25 // below it nothing is alike
	bothWorth  = 4.0
	alikePart  = 0.6
)

// Look looks at an index. meaning is that of the query; nil: words decide.
func (s *Search[T]) Look(of T, x *Index, meaning []byte) {
	s.total += len(x.docs)
	s.length += x.length
	counts := make([][]int32, len(x.docs))
	for i, t := range s.terms {
		all := x.terms[t]
		if all == nil {
			continue
		}
		s.seen[i] += len(*all)
		for _, p := range *all {
			if counts[p.doc] == nil {
				counts[p.doc] = make([]int32, len(s.terms))
			}
			counts[p.doc][i] = p.count
		}
	}
	length := norm(meaning)
	for i := range x.docs {
		d := &x.docs[i]
		alike := 0.0
		if meaning != nil {
			if alike = cosine(meaning, length, d.meaning, d.norm); alike < alikeLeast {
				alike = 0
			}
		}
		if counts[i] != nil || alike > 0 {
			s.found = append(s.found, candidate[T]{of, d, counts[i], alike})
		}
	}
}

// Hit is a passage that was found: its index, and what Add was told of it.
type Hit[T any] struct {
	Of             T
	Source, Number int
	Score          float64
}

// The constants of BM25 as everybody uses them.
const (
	saturation = 1.2
	lengthwise = 0.75
)

// Best are the best passages, at most most; those that are as good stand in
// the order in which they were added.
func (s *Search[T]) Best(most int) []Hit[T] {
	mean := float64(s.length) / float64(max(1, s.total))
	rare := make([]float64, len(s.terms))
	for i, seen := range s.seen {
		rare[i] = math.Log(1 + (float64(s.total-seen)+0.5)/(float64(seen)+0.5))
	}
	scores := make([]float64, len(s.found))
	bestWords, bestAlike := 0.0, 0.0
	for k, c := range s.found {
		score := 0.0
		for i, n := range c.counts {
			f := float64(n)
			score += rare[i] * f * (saturation + 1) / (f + saturation*(1-lengthwise+lengthwise*float64(c.doc.length)/max(mean, 1)))
		}
		scores[k] = score
		bestWords, bestAlike = max(bestWords, score), max(bestAlike, c.alike)
	}
	var out []Hit[T]
	for k, c := range s.found {
		score := scores[k]
		if bestAlike > 0 {
			score = bothWorth * ((1-alikePart)*score/max(bestWords, 1) + alikePart*c.alike/bestAlike)
		}
		score = math.Round(score*1e4) / 1e4
		at := len(out)
		for at > 0 && out[at-1].Score < score {
			at--
		}
		if at < most {
			out = slices.Insert(out[:min(len(out), most-1)], at, Hit[T]{c.of, int(c.doc.source), int(c.doc.number), score})
		}
	}
	return out
}
