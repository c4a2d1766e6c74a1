package llm

import (
	"strings"
	"unicode"

	"github.com/callboard/callboard/media/speech/text"
)

const (
	sentenceMost = 400  // bytes; a longer text without an end of a sentence is split between words
	blockMost    = 4000 // bytes; a longer text, such as a block of code, is searched only after it has grown by a quarter
)

// Sentences splits a text into sentences while it arrives in pieces. Blocks of code and JSON objects are never split.
type Sentences struct {
	Language string // BCP 47 tag of the language whose abbreviations end no sentence
	left     strings.Builder
	searchAt int // length of left from which it is searched
}

// Add appends a piece of valid UTF-8 and returns the sentences that are complete now. The last sentence is complete when the next one
// begins.
func (s *Sentences) Add(piece string) (whole []string) {
	s.left.WriteString(strings.ReplaceAll(piece, "\r\n", "\n"))
	if s.left.Len() < s.searchAt {
		return nil
	}
	s.searchAt = 0
	pending := s.left.String()
	whole = text.Sentences(pending, s.Language)
	if len(whole) == 0 {
		return nil
	}
	last := whole[len(whole)-1]
	whole = whole[:len(whole)-1]
	rest := pending
	if len(whole) > 0 {
		rest = pending[len(strings.TrimRightFunc(pending, unicode.IsSpace))-len(last):]
	}
	if end := strings.LastIndexByte(last[:min(len(last), sentenceMost)], ' '); len(last) > sentenceMost && end > 0 && !strings.ContainsAny(last, "`{<") {
		whole = append(whole, last[:end])
		rest = rest[end:]
	}
	if len(whole) > 0 {
		s.left.Reset()
		s.left.WriteString(rest)
	}
	if len(rest) > blockMost {
		s.searchAt = len(rest) + len(rest)/4
	}
	return whole
}

// Rest returns the text after the last complete sentence and clears it.
func (s *Sentences) Rest() string {
	rest := strings.TrimSpace(s.left.String())
	s.left.Reset()
	s.searchAt = 0
	return rest
}
