package domain

import (
	"strings"
	"unicode"
)

// Bounds of a search in transcripts.
const (
	MaxTranscriptQuery = 200 // letters
	maxTranscriptTerms = 10
)

// TranscriptQuery is what is searched for in transcripts: terms that all have to be said
// in a call, each of them within one turn.
type TranscriptQuery [][]string

// ParseTranscriptQuery reads a search: words, and phrases in quotes. Letters of any case
// are alike, and what is neither letter nor digit only parts words.
func ParseTranscriptQuery(text string) (TranscriptQuery, error) {
	var out TranscriptQuery
	var p Problems
	for i, part := range strings.Split(text, `"`) {
		words := transcriptWords(part)
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
	case len(out) > maxTranscriptTerms:
		p.Add("transcript", CodeValidation, "has %d words and phrases; %d at most", len(out), maxTranscriptTerms)
	}
	return out, p.Err()
}

func transcriptWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
}

// Matches says whether all terms were said.
func (s TranscriptQuery) Matches(t *Transcript) bool {
	found := make([]bool, len(s))
	left := len(s)
	for i := range t.Segments {
		said := transcriptWords(t.Segments[i].Text)
		for j, term := range s {
			if !found[j] && containsPhrase(said, term) {
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

// containsPhrase says whether words follow each other somewhere.
func containsPhrase(said, words []string) bool {
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
