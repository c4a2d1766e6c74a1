package speech

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	textMost     = 4000 // bytes
	sentenceMost = 600  // bytes; longer sentences are split between words
)

// clean replaces control characters and runs of spaces with one space, so that equal speech has equal cache keys.
func clean(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, ""), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
}

// Sentences splits a text into sentences. Each sentence is synthesized and cached separately.
func Sentences(text string) []string {
	text = clean(text)
	var out []string
	start, space := 0, -1
	for i, r := range text {
		if r == ' ' {
			space = i
		}
		end := i + utf8.RuneLen(r)
		next, _ := utf8.DecodeRuneInString(text[min(end, len(text)):])
		after := end == len(text) || next == ' '
		switch {
		case strings.ContainsRune(".!?…;:", r) && after && !abbreviation(text[start:i], r):
		case end-start > sentenceMost && space > start:
			end = space
		default:
			continue
		}
		out = add(out, text[start:end])
		start = end
	}
	return add(out, text[start:])
}

func add(out []string, sentence string) []string {
	if sentence = strings.TrimSpace(sentence); sentence != "" {
		out = append(out, sentence)
	}
	return out
}

// abbreviation reports whether the period after before ends an abbreviation such as "Dr" or an initial, so that the
// sentence continues.
func abbreviation(before string, mark rune) bool {
	if mark != '.' {
		return false
	}
	word := before[strings.LastIndexByte(before, ' ')+1:]
	if utf8.RuneCountInString(word) == 1 {
		r, _ := utf8.DecodeRuneInString(word)
		return unicode.IsUpper(r)
	}
	switch word {
	case "Dr", "Mr", "Mrs", "Ms", "St", "Prof", "No", "Nr":
		return true
	}
	return false
}

// Slug returns the file name of a text in the prompt directory, without ".wav": its words joined by hyphens.
func Slug(text string) string {
	words := strings.FieldsFunc(strings.ToLower(clean(text)), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	slug := strings.Join(words, "-")
	for len(slug) > 80 {
		_, size := utf8.DecodeLastRuneInString(slug)
		slug = slug[:len(slug)-size]
	}
	return strings.TrimRight(slug, "-")
}
