package domain

import (
	"strings"
	"unicode"
)

// Limits of a transcript search.
const (
	MaxTranscriptQuery = 200 // characters
	maxTranscriptTerms = 10
)

// TranscriptQuery is a parsed transcript search. Each element is a phrase. A call matches if every phrase occurs within
// a single segment of the transcript.
type TranscriptQuery [][]string

// ParseTranscriptQuery parses a search text of words and quoted phrases. Case and punctuation are ignored.
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

// Matches reports whether a transcript contains all phrases of the query.
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

// containsPhrase reports whether said contains words in sequence.
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
