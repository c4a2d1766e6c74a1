// Package knowledge cuts texts into passages and finds those that answer words:
// a plain search, best first, without any model. It knows no store and reads no
// file.
package knowledge

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of a knowledge base and of a search.
const (
	MaxSources  = 100     // of a base
	MaxBytes    = 1 << 20 // of a source's text
	MaxPaper    = 6 << 20 // bytes of a PDF file, whose text is MaxBytes at most
	MaxBase     = 8 << 20 // of a base's text
	MaxQuery    = 500     // letters
	DefaultTop  = 5
	passageSize = 900 // bytes that a passage aims at
	passageMost = 1600
)

// Passage is a piece of a text, under the headings that it stands below.
type Passage struct {
	Heading string
	Text    string
}

// Cut cuts a text into passages: at its headings (# of Markdown) where marked
// says that it has such, else at empty lines, at the ends of sentences, and
// between words where nothing else will do.
func Cut(text string, marked bool) []Passage {
	c := cutter{}
	for block := range blocks(text) {
		if level, title := heading(block); marked && level > 0 {
			c.flush()
			c.under(level, title)
			continue
		}
		for len(block) > passageMost {
			n := split(block)
			c.add(block[:n])
			block = strings.TrimSpace(block[n:])
		}
		c.add(block)
	}
	c.flush()
	return c.out
}

// blocks are the paragraphs of a text; a heading is one of its own.
func blocks(text string) func(func(string) bool) {
	return func(yield func(string) bool) {
		var b strings.Builder
		flush := func() bool {
			block := strings.TrimSpace(b.String())
			b.Reset()
			return block == "" || yield(block)
		}
		for line := range strings.Lines(strings.ReplaceAll(text, "\r\n", "\n")) {
			level, _ := heading(strings.TrimSpace(line))
			if level > 0 || strings.TrimSpace(line) == "" {
				if !flush() {
					return
				}
			}
			b.WriteString(line)
			if level > 0 && !flush() {
				return
			}
		}
		flush()
	}
}

// heading is the level of a Markdown heading, 1 to 6, and its words.
func heading(line string) (level int, title string) {
	rest := strings.TrimLeft(line, "#")
	level = len(line) - len(rest)
	if level == 0 || level > 6 || !strings.HasPrefix(rest, " ") || strings.Contains(line, "\n") {
		return 0, ""
	}
	return level, strings.Trim(rest, " #")
}

// split is where a block that is too long is cut.
func split(block string) int {
	room := block[:passageSize]
	for _, mark := range []string{"\n", ". ", "? ", "! ", "; ", " "} {
		if i := strings.LastIndex(room, mark); i > passageSize/3 {
			return i + len(mark)
		}
	}
	n := passageSize
	for !utf8.RuneStart(block[n]) {
		n--
	}
	return n
}

type cutter struct {
	out   []Passage
	path  [6]string
	title string
	text  strings.Builder
}

func (c *cutter) under(level int, title string) {
	c.path[level-1] = title
	for i := level; i < len(c.path); i++ {
		c.path[i] = ""
	}
	c.title = strings.Join(slices.DeleteFunc(slices.Clone(c.path[:]), func(s string) bool { return s == "" }), " › ")
}

func (c *cutter) add(block string) {
	if c.text.Len() > 0 && c.text.Len()+len(block) > passageSize {
		c.flush()
	}
	if c.text.Len() > 0 {
		c.text.WriteString("\n\n")
	}
	c.text.WriteString(block)
}

func (c *cutter) flush() {
	if text := strings.TrimSpace(c.text.String()); text != "" {
		c.out = append(c.out, Passage{Heading: c.title, Text: text})
	}
	c.text.Reset()
}

// Search ranks passages against words as they come by: BM25, over one walk.
// Words that stand in a heading count double. The zero value is not usable:
// see NewSearch.
type Search[T any] struct {
	terms  []string
	seen   []int // passages that hold each term
	total  int
	length int
	found  []candidate[T]
}

type candidate[T any] struct {
	what   T
	length int
	counts []int
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

// Look looks at a passage.
func (s *Search[T]) Look(what T, p Passage) { s.LookAlike(what, p, 0) }

// LookAlike looks at a passage of which is known how near its meaning is.
func (s *Search[T]) LookAlike(what T, p Passage, alike float64) {
	body, head := words(p.Text), words(p.Heading)
	s.total++
	s.length += len(body)
	counts := make([]int, len(s.terms))
	hit := false
	for i, t := range s.terms {
		for _, w := range body {
			if w == t {
				counts[i]++
			}
		}
		for _, w := range head {
			if w == t {
				counts[i] += 2
			}
		}
		if counts[i] > 0 {
			s.seen[i]++
			hit = true
		}
	}
	if alike < alikeLeast {
		alike = 0
	}
	if hit || alike > 0 {
		s.found = append(s.found, candidate[T]{what, len(body), counts, alike})
	}
}

// Hit is a passage that was found.
type Hit[T any] struct {
	What  T
	Score float64
}

// The constants of BM25 as everybody uses them.
const (
	saturation = 1.2
	lengthwise = 0.75
)

// Best are the best passages, at most most; those that are as good stand in
// the order in which they came.
func (s *Search[T]) Best(most int) []Hit[T] {
	mean := float64(s.length) / float64(max(1, s.total))
	out := make([]Hit[T], 0, len(s.found))
	bestWords, bestAlike := 0.0, 0.0
	for _, c := range s.found {
		score := 0.0
		for i, n := range c.counts {
			if n == 0 {
				continue
			}
			rare := math.Log(1 + (float64(s.total-s.seen[i])+0.5)/(float64(s.seen[i])+0.5))
			f := float64(n)
			score += rare * f * (saturation + 1) / (f + saturation*(1-lengthwise+lengthwise*float64(c.length)/max(mean, 1)))
		}
		out = append(out, Hit[T]{c.what, score})
		bestWords, bestAlike = max(bestWords, score), max(bestAlike, c.alike)
	}
	for i, c := range s.found {
		if bestAlike > 0 {
			out[i].Score = bothWorth * ((1-alikePart)*out[i].Score/max(bestWords, 1) + alikePart*c.alike/bestAlike)
		}
		out[i].Score = math.Round(out[i].Score*1e4) / 1e4
	}
	slices.SortStableFunc(out, func(a, b Hit[T]) int { return cmp.Compare(b.Score, a.Score) })
	return out[:min(len(out), most)]
}

// words are the words of a text, folded: runs of letters, marks and digits in
// lower case, without the s of an English plural.
func words(text string) []string {
	all := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r)
	})
	for i, w := range all {
		if len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") {
			all[i] = w[:len(w)-1]
		}
	}
	return all
}
