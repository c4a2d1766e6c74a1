package domain

import (
	"strings"
	"unicode"
)

// Bounds of a search in transcripts.
const (
	MaxSpokenQuery = 200 // letters
	maxSpokenTerms = 10
)

// Spoken is what is searched for in transcripts: terms that all have to be said
// in a call, each of them within one turn.
type Spoken [][]string

// ReadSpoken reads a search: words, and phrases in quotes. Letters of any case
// are alike, and what is neither letter nor digit only parts words.
func ReadSpoken(text string) (Spoken, error) {
	var out Spoken
	var p Problems
	for i, part := range strings.Split(text, `"`) {
		words := spokenWords(part)
		if i%2 == 1 && len(words) > 0 {
			out = append(out, words)
			continue
		}
		for _, w := range words {
			out = append(out, []string{w})
		}
	}
	switch {
	case len(out) == 0:
		p.Add("transcript", CodeValidation, "holds no word to look for")
	case strings.Count(text, `"`)%2 == 1:
		p.Add("transcript", CodeValidation, "has a quote that is not closed")
	case len(out) > maxSpokenTerms:
		p.Add("transcript", CodeValidation, "has %d words and phrases; %d at most", len(out), maxSpokenTerms)
	}
	return out, p.Err()
}

func spokenWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
}

// In says whether all terms were said.
func (s Spoken) In(t *Transcript) bool {
	found := make([]bool, len(s))
	left := len(s)
	for i := range t.Segments {
		said := spokenWords(t.Segments[i].Text)
		for j, term := range s {
			if !found[j] && holds(said, term) {
				found[j] = true
				left--
			}
		}
		if left == 0 {
			return true
		}
	}
	return false
}

// holds says whether words follow each other somewhere.
func holds(said, words []string) bool {
	for i := 0; i+len(words) <= len(said); i++ {
		n := 0
		for n < len(words) && said[i+n] == words[n] {
			n++
		}
		if n == len(words) {
			return true
		}
	}
	return false
}
