package llm

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A sentence is told once it has so many letters and its end; a text without
// any end is cut between words.
const (
	sentenceLeast = 2
	sentenceMost  = 400
)

// short are words whose full stop ends no sentence.
var short = map[string]bool{ //nolint:gochecknoglobals // a table
	"mr.": true, "mrs.": true, "ms.": true, "dr.": true, "prof.": true, "st.": true, "no.": true, "nr.": true, "vs.": true, "e.g.": true, "i.e.": true,
	"a.m.": true, "p.m.": true, "approx.": true, "ca.": true, "z.b.": true, "bzw.": true,
}

// Sentences cuts a text into sentences while it comes in pieces.
type Sentences struct {
	left strings.Builder
}

// Add takes a piece and returns the sentences that are whole now.
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

// Rest is what is left at the end of the text.
func (s *Sentences) Rest() string {
	text := strings.TrimSpace(s.left.String())
	s.left.Reset()
	return text
}

// sentenceEnd is where the first sentence of a text ends; 0: it is not whole
// yet. A mark ends one only once a space follows it: "3.5" is a number.
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
		if !unicode.IsSpace(after) || r == '.' && open(text[:i+1]) || letters(text[:i]) < sentenceLeast {
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

// open says whether the full stop at the end of a text ends no sentence: it
// stands behind an abbreviation, one letter or a bare number of a list.
func open(text string) bool {
	word := text[strings.LastIndexAny(text, " \n")+1:]
	bare := strings.TrimSuffix(word, ".")
	if utf8.RuneCountInString(bare) == 1 && !strings.ContainsAny(bare, "I0123456789") {
		return true
	}
	number := bare != "" && strings.Trim(bare, "0123456789") == "" && len(word) == len(text)
	return number || short[strings.ToLower(word)]
}

func letters(text string) (n int) {
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			n++
		}
	}
	return n
}
