package knowledge

import (
	"math"
	"slices"
)

// Search ranks the passages of several indexes by a query. BM25 uses the statistics of all indexes together, so
// that scores are comparable. A value of type T identifies an index for the caller. Use NewSearch to create a Search.
type Search[T any] struct {
	terms  []string
	seen   []int // number of passages that contain each term
	total  int
	length int
	found  []candidate[T]
}

type candidate[T any] struct {
	index      T
	doc        *indexedPassage
	counts     []int32 // occurrences of each term
	similarity float64
}

// NewSearch returns a search for the words of a query.
func NewSearch[T any](query string) *Search[T] {
	var terms []string
	for _, w := range splitWords(query) {
		if !slices.Contains(terms, w) {
			terms = append(terms, w)
		}
	}
	return &Search[T]{terms: terms, seen: make([]int, len(terms))}
}

// Weights for combining the word score with the embedding score of a passage. Both scores are relative to the best
// passage, so that a rare but irrelevant word does not dominate.
const (
	minSimilarity    = 0.25 // lower similarities count as 0
	maxCombinedScore = 4.0
	similarityWeight = 0.6
)

// AddIndex adds the passages of an index to the search. meaning is the packed embedding of the query. If it is nil,
// only words count.
func (s *Search[T]) AddIndex(of T, x *Index, meaning []byte) {
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
	length := vectorLength(meaning)
	for i := range x.docs {
		d := &x.docs[i]
		alike := 0.0
		if meaning != nil {
			if alike = cosineSimilarity(meaning, length, d.embedding, d.norm); alike < minSimilarity {
				alike = 0
			}
		}
		if counts[i] != nil || alike > 0 {
			s.found = append(s.found, candidate[T]{of, d, counts[i], alike})
		}
	}
}

// Hit is a found passage: the index that contains it, the source and number that Index.Add received, and the score.
type Hit[T any] struct {
	Index          T
	Source, Number int
	Score          float64
}

// The usual parameters of BM25: termSaturation is k1, and the other constant is b.
const (
	termSaturation      = 1.2
	lengthNormalization = 0.75
)

// BestHits returns the passages with the highest scores, at most most passages. Passages with equal scores are in the
// order in which they were added.
func (s *Search[T]) BestHits(most int) []Hit[T] {
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
			score += rare[i] * f * (termSaturation + 1) / (f + termSaturation*(1-lengthNormalization+lengthNormalization*float64(c.doc.length)/max(mean, 1)))
		}
		scores[k] = score
		bestWords, bestAlike = max(bestWords, score), max(bestAlike, c.similarity)
	}
	var out []Hit[T]
	for k, c := range s.found {
		score := scores[k]
		if bestAlike > 0 {
			score = maxCombinedScore * ((1-similarityWeight)*score/max(bestWords, 1) + similarityWeight*c.similarity/bestAlike)
		}
		score = math.Round(score*1e4) / 1e4
		at := len(out)
		for at > 0 && out[at-1].Score < score {
			at--
		}
		if at < most {
			out = slices.Insert(out[:min(len(out), most-1)], at, Hit[T]{c.index, int(c.doc.source), int(c.doc.number), score})
		}
	}
	return out
}
