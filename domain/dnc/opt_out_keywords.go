package dnc

import (
	"strings"
	"sync"
	"unicode"
)

// FindOptOutKeyword returns the first keyword that a text contains as whole words, ignoring case, or "". Words are
// runs of letters, marks, digits, * and #. The words of a keyword with several words must be adjacent in the text.
func FindOptOutKeyword(text string, keywords []string) string {
	if len(keywords) == 0 {
		return ""
	}
	words := splitWords(text)
	for _, k := range keywords {
		if wanted := splitWords(k); len(wanted) > 0 && containsPhrase(words, wanted) {
			return k
		}
	}
	return ""
}

// SpokenKeywords returns the keywords that can be spoken, in lower case. Keywords that consist only of telephone keys
// are omitted.
func SpokenKeywords(keywords []string) []string {
	var words []string
	for _, w := range keywords {
		if strings.Trim(w, "0123456789*# ") != "" {
			words = append(words, strings.ToLower(w))
		}
	}
	return words
}

func splitWords(text string) []string {
	return strings.FieldsFunc(foldLetters(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) && r != '*' && r != '#'
	})
}

// foldReplacer returns the replacements of foldLetters. It creates them once, and they never change.
var foldReplacer = sync.OnceValue(func() *strings.Replacer { //nolint:gochecknoglobals // as above
	return strings.NewReplacer("ß", "ss", "ẞ", "ss", "İ", "i", "ς", "σ", "\u0307", "")
})

// foldLetters converts text to lower case. It also replaces German, Turkish and Greek letters that have several
// spellings, for example ß by ss.
func foldLetters(text string) string {
	return foldReplacer().Replace(strings.ToLower(text))
}

func containsPhrase(words, wanted []string) bool {
	for i := 0; i+len(wanted) <= len(words); i++ {
		j := 0
		for j < len(wanted) && words[i+j] == wanted[j] {
			j++
		}
		if j == len(wanted) {
			return true
		}
	}
	return false
}
