package llm

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// An end mark ends a sentence only after sentenceLeast letters. A text of more than sentenceMost bytes without an end
// mark is split between words.
const (
	sentenceLeast = 2
	sentenceMost  = 400
)

// abbreviations are words whose period does not end a sentence.
var abbreviations = map[string]bool{ //nolint:gochecknoglobals // a table
	"mr.": true, "mrs.": true, "ms.": true, "dr.": true, "prof.": true, "st.": true, "no.": true, "nr.": true, "vs.": true, "e.g.": true, "i.e.": true,
	"a.m.": true, "p.m.": true, "approx.": true, "ca.": true, "z.b.": true, "bzw.": true,
}

// Sentences splits a text into sentences while it arrives in pieces.
type Sentences struct {
	left strings.Builder
}

// Add appends a piece and returns the sentences that are complete now.
func (s *Sentences) Add(piece string) (whole []string) {
	s.left.WriteString(piece)
	text := s.left.String()
	from := 0
	for {
		n := sentenceEnd(text[from:])
		if n == 0 {
			break
		}
		if one := strings.TrimSpace(text[from : from+n]); one != "" {
			whole = append(whole, one)
		}
		from += n
	}
	if from > 0 {
		s.left.Reset()
		s.left.WriteString(text[from:])
	}
	return whole
}

// Rest returns the text after the last complete sentence and clears it.
func (s *Sentences) Rest() string {
	text := strings.TrimSpace(s.left.String())
	s.left.Reset()
	return text
}

// sentenceEnd returns the index after the first sentence of a text, or 0 if the sentence is not complete. A punctuation
// mark ends a sentence only before a space, because "3.5" is a number.
func sentenceEnd(text string) int {
	for i, r := range text {
		next := i + utf8.RuneLen(r)
		switch {
		case r == utf8.RuneError:
			continue
		case strings.ContainsRune("。！？", r) || r == '\n' && i > 0:
			return next
		case !strings.ContainsRune(".!?:;…", r) || next >= len(text):
			continue
		}
		after, size := utf8.DecodeRuneInString(text[next:])
		if strings.ContainsRune(`"')”’`, after) && next+size < len(text) {
			next += size
			after, _ = utf8.DecodeRuneInString(text[next:])
		}
		if !unicode.IsSpace(after) || r == '.' && isContinued(text[:i+1]) || letters(text[:i]) < sentenceLeast {
			continue
		}
		return next
	}
	if len(text) > sentenceMost {
		if i := strings.LastIndexByte(text[:sentenceMost], ' '); i > 0 {
			return i + 1
		}
	}
	return 0
}

// isContinued reports whether the period at the end of a text does not end the sentence: after an abbreviation, a
// single letter or the number of a list item.
func isContinued(text string) bool {
	word := text[strings.LastIndexAny(text, " \n")+1:]
	bare := strings.TrimSuffix(word, ".")
	if utf8.RuneCountInString(bare) == 1 && !strings.ContainsAny(bare, "I0123456789") {
		return true
	}
	number := bare != "" && strings.Trim(bare, "0123456789") == "" && len(word) == len(text)
	return number || abbreviations[strings.ToLower(word)]
}

func letters(text string) (n int) {
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			n++
		}
	}
	return n
}
