package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// isWordRune reports whether the rune is a letter, a combining mark or a digit.
func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

func isLetter(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) }

// runeBefore returns the rune that ends at s[at], or -1.
func runeBefore(s string, at int) rune {
	if at <= 0 {
		return -1
	}
	r, _ := utf8.DecodeLastRuneInString(s[:at])
	return r
}

// runeAfter returns the rune at s[at], or -1.
func runeAfter(s string, at int) rune {
	if at >= len(s) {
		return -1
	}
	r, _ := utf8.DecodeRuneInString(s[at:])
	return r
}

func wordBefore(s string, at int) bool { return isWordRune(runeBefore(s, at)) }

func wordAfter(s string, at int) bool { return isWordRune(runeAfter(s, at)) }

// digitsAt returns the number of ASCII digits at the beginning of s.
func digitsAt(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

func startsWithDigit(s string) bool { return digitsAt(s[:min(len(s), 1)]) == 1 }

// lettersAt returns the size of the letters at the beginning of s.
func lettersAt(s string) int {
	for i, r := range s {
		if !isLetter(r) {
			return i
		}
	}
	return len(s)
}

// firstWord returns the letters at the beginning of s, behind spaces.
func firstWord(s string) string {
	s = strings.TrimLeft(s, " ")
	return s[:lettersAt(s)]
}

// lastWord returns the letters at the end of s, before spaces.
func lastWord(s string) string {
	s = strings.TrimRight(s, " ")
	start := strings.LastIndexFunc(s, func(r rune) bool { return !isLetter(r) })
	if start < 0 {
		return s
	}
	_, size := utf8.DecodeRuneInString(s[start:])
	return s[start+size:]
}

// isCapitalized reports whether s begins with an upper-case letter.
func isCapitalized(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(r)
}

// capitalize returns s with an upper-case first letter.
func capitalize(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[size:]
}

// startsSentence reports whether a sentence begins behind the text.
func startsSentence(before string) bool {
	before = strings.TrimRight(before, " ¿¡(")
	return before == "" || strings.ContainsRune(".!?…", runeBefore(before, len(before)))
}
