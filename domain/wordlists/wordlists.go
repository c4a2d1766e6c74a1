// Package wordlists holds the words that callers use in a conversation, by language: greetings, interruptions,
// acknowledgements, farewells, answers to an offer, digits, and the words after which a sentence goes on. Languages are BCP
// 47 tags. English words serve for languages without a list.
package wordlists

import (
	"strings"
	"unicode"
)

// Normalize converts words to lower case and joins them with single spaces. Apostrophes and hyphens within
// words are kept.
func Normalize(text string) string {
	words := strings.FieldsFunc(strings.ToLower(strings.ReplaceAll(text, "’", "'")), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) && r != '\'' && r != '-'
	})
	return strings.Join(words, " ")
}

// inLanguage returns the entries of a table by language, or the English ones if it lacks the language of a BCP 47 tag.
func inLanguage[T any](table map[string]T, tag string) T {
	language, _, _ := strings.Cut(strings.ToLower(tag), "-")
	if entries, ok := table[language]; ok {
		return entries
	}
	return table["en"]
}

// splitTable splits the texts of a table at the vertical bars.
func splitTable(table map[string]string) map[string][]string {
	all := make(map[string][]string, len(table))
	for language, text := range table {
		all[language] = strings.Split(text, "|")
	}
	return all
}
