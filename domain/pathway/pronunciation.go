package pathway

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/callboard/callboard/domain"
)

// Pronounce writes a text as it is said: whole words, in any case, the longest first, each by its entry. What is put in is
// not looked at again.
func Pronounce(text string, how []domain.Pronunciation) string {
	if len(how) == 0 {
		return text
	}
	longest := slices.SortedStableFunc(slices.Values(how), func(a, b domain.Pronunciation) int { return len(b.Word) - len(a.Word) })
	var out strings.Builder
	before := rune(0)
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		if !isWordRune(before) || !isWordRune(r) {
			if n, say := matchPronunciation(text[at:], longest); n > 0 {
				out.WriteString(say)
				before, _ = utf8.DecodeLastRuneInString(text[at : at+n])
				at += n
				continue
			}
		}
		out.WriteString(text[at : at+size])
		before = r
		at += size
	}
	return out.String()
}

// matchPronunciation finds the entry with which a text begins, and how many bytes it takes.
func matchPronunciation(text string, how []domain.Pronunciation) (n int, say string) {
	for _, p := range how {
		n = foldedPrefixLength(text, p.Word)
		if n == 0 {
			continue
		}
		last, _ := utf8.DecodeLastRuneInString(text[:n])
		if next, size := utf8.DecodeRuneInString(text[n:]); size == 0 || !isWordRune(last) || !isWordRune(next) {
			return n, p.Say
		}
	}
	return 0, ""
}

// foldedPrefixLength is how many bytes of a text are the word in any case; 0: it does not begin with it.
func foldedPrefixLength(text, word string) (n int) {
	for _, r := range word {
		got, size := utf8.DecodeRuneInString(text[n:])
		if size == 0 || got != r && unicode.ToLower(got) != unicode.ToLower(r) {
			return 0
		}
		n += size
	}
	return n
}

// isWordRune reports whether a rune belongs to a word.
func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }
