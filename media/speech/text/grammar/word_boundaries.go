package grammar

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Runes for private use stand for words that are converted already.
const (
	FirstPrivate = '\uE000'
	LastPrivate  = '\uF8FF'
)

// IsPrivate reports whether the rune is from FirstPrivate to LastPrivate.
func IsPrivate(r rune) bool { return r >= FirstPrivate && r <= LastPrivate }

// IsWordRune reports whether the rune is a letter, a combining mark or a digit. A private rune is a letter.
func IsWordRune(r rune) bool { return IsLetter(r) || unicode.IsDigit(r) }

// IsLetter reports whether the rune is a letter, a combining mark or a private rune.
func IsLetter(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) || IsPrivate(r) }

// RuneBefore returns the rune that ends at s[at], or -1.
func RuneBefore(s string, at int) rune {
	if at <= 0 {
		return -1
	}
	r, _ := utf8.DecodeLastRuneInString(s[:at])
	return r
}

// RuneAfter returns the rune at s[at], or -1.
func RuneAfter(s string, at int) rune {
	if at >= len(s) {
		return -1
	}
	r, _ := utf8.DecodeRuneInString(s[at:])
	return r
}

// WordBefore reports whether a letter or a digit ends at s[at].
func WordBefore(s string, at int) bool { return IsWordRune(RuneBefore(s, at)) }

// WordAfter reports whether a letter or a digit begins at s[at].
func WordAfter(s string, at int) bool { return IsWordRune(RuneAfter(s, at)) }

// DigitsAt returns the number of ASCII digits at the beginning of s.
func DigitsAt(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// StartsWithDigit reports whether s begins with an ASCII digit.
func StartsWithDigit(s string) bool { return DigitsAt(s[:min(len(s), 1)]) == 1 }

// LettersAt returns the size of the letters at the beginning of s.
func LettersAt(s string) int {
	for i, r := range s {
		if !IsLetter(r) {
			return i
		}
	}
	return len(s)
}

// FirstWord returns the letters at the beginning of s, behind spaces.
func FirstWord(s string) string {
	s = strings.TrimLeft(s, " ")
	return s[:LettersAt(s)]
}

// LastWord returns the letters at the end of s, before spaces.
func LastWord(s string) string {
	s = strings.TrimRight(s, " ")
	start := strings.LastIndexFunc(s, func(r rune) bool { return !IsLetter(r) })
	if start < 0 {
		return s
	}
	_, size := utf8.DecodeRuneInString(s[start:])
	return s[start+size:]
}

// IsCapitalized reports whether s begins with an upper-case letter.
func IsCapitalized(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(r)
}

// Capitalize returns s with an upper-case first letter.
func Capitalize(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[size:]
}

// StartsSentence reports whether a sentence begins behind the text.
func StartsSentence(before string) bool {
	before = strings.TrimRight(before, " ¿¡(")
	return before == "" || strings.ContainsRune(".!?…", RuneBefore(before, len(before)))
}
