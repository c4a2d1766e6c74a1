package pathway

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/callboard/callboard/domain"
)

// Pronounce replaces words of a text with their pronunciation. It matches whole words, ignores case, and prefers
// longer entries. A replacement is not searched for further words.
func Pronounce(text string, pronunciations []domain.Pronunciation) string {
	if len(pronunciations) == 0 {
		return text
	}
	longest := slices.SortedStableFunc(slices.Values(pronunciations), func(a, b domain.Pronunciation) int { return len(b.Word) - len(a.Word) })
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

// matchPronunciation finds the entry whose word is at the start of a text. n is the matched length in bytes, or 0, and
// say is the replacement.
func matchPronunciation(text string, pronunciations []domain.Pronunciation) (n int, say string) {
	for _, p := range pronunciations {
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

// foldedPrefixLength returns the length in bytes of the prefix of text that equals word, ignoring case, or 0.
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
