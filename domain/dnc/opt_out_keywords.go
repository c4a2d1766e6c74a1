package dnc

import (
	"strings"
	"sync"
	"unicode"
)

// FindOptOutKeyword is the first of the keywords that a text holds as whole words, in any
// case; "" where it holds none. Words are runs of letters, marks and digits,
// so that any language will do; a keyword of several words wants them one
// after another.
func FindOptOutKeyword(text string, keywords []string) string {
	if len(keywords) == 0 {
		return ""
	}
	said := splitWords(text)
	for _, k := range keywords {
		if wanted := splitWords(k); len(wanted) > 0 && containsPhrase(said, wanted) {
			return k
		}
	}
	return ""
}

// SpokenKeywords are the keywords that can be said, in small letters: those that are
// not keys alone.
func SpokenKeywords(keywords []string) []string {
	var said []string
	for _, w := range keywords {
		if strings.Trim(w, "0123456789*# ") != "" {
			said = append(said, strings.ToLower(w))
		}
	}
	return said
}

func splitWords(text string) []string {
	return strings.FieldsFunc(foldLetters(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) && r != '*' && r != '#'
	})
}

// alike is made once and never changes.
var foldReplacer = sync.OnceValue(func() *strings.Replacer { //nolint:gochecknoglobals // as above
	return strings.NewReplacer("ß", "ss", "ẞ", "ss", "İ", "i", "ς", "σ", "\u0307", "")
})

// foldLetters writes letters of one kind alike: upper and lower case, and the Turkish
// and German ones that have no single counterpart.
func foldLetters(text string) string {
	return foldReplacer().Replace(strings.ToLower(text))
}

func containsPhrase(said, wanted []string) bool {
	for i := 0; i+len(wanted) <= len(said); i++ {
		j := 0
		for j < len(wanted) && said[i+j] == wanted[j] {
			j++
		}
		if j == len(wanted) {
			return true
		}
	}
	return false
}
