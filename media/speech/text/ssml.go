package text

import (
	"html"
	"regexp"
	"strings"

	"github.com/callboard/callboard/media/speech/text/grammar"
)

// sayAsElement matches the element say-as of SSML with its form and its value.
var sayAsElement = regexp.MustCompile(`(?is)<say-as\s+interpret-as\s*=\s*["']([^"'<>]{1,40})["'][^<>]*>([^<>]{0,1000})</say-as>`)

// subElement matches the element sub of SSML with its alias.
var subElement = regexp.MustCompile(`(?is)<sub\s+alias\s*=\s*"([^"<>]{0,1000})"[^<>]*>[^<>]{0,1000}</sub>`)

// sayAsNames are the names that SSML gives to forms of SpeakAs.
var sayAsNames = map[string]string{"characters": "spell", "spell-out": "spell", "number": "cardinal", "phone": "telephone"} //nolint:gochecknoglobals // a table

// extractSayAs replaces the say-as elements of a text by private runes and returns their spoken values, in the order of
// the runes. An element whose value is not of its form is replaced by the value. Private runes of the text are removed.
func extractSayAs(s, tag string) (text string, spoken []string) {
	s = strings.Map(func(r rune) rune {
		if grammar.IsPrivate(r) {
			return -1
		}
		return r
	}, s)
	if !strings.Contains(s, "<") {
		return s, nil
	}
	s = subElement.ReplaceAllString(s, "$1")
	s = sayAsElement.ReplaceAllStringFunc(s, func(element string) string {
		parts := sayAsElement.FindStringSubmatch(element)
		form, value := parts[1], html.UnescapeString(parts[2])
		if name, ok := sayAsNames[strings.ToLower(form)]; ok {
			form = name
		}
		words, err := SpeakAs(value, form, tag)
		if err != nil || len(spoken) > grammar.LastPrivate-grammar.FirstPrivate {
			return value
		}
		spoken = append(spoken, words)
		return string(grammar.FirstPrivate + rune(len(spoken)-1)) //nolint:gosec // below LastPrivate
	})
	return s, spoken
}

// insertSpoken replaces the private runes of extractSayAs by the spoken values.
func insertSpoken(s string, spoken []string) string {
	if len(spoken) == 0 {
		return s
	}
	var out strings.Builder
	for _, r := range s {
		if i := int(r - grammar.FirstPrivate); grammar.IsPrivate(r) && i < len(spoken) {
			out.WriteString(spoken[i])
			continue
		}
		out.WriteRune(r)
	}
	return out.String()
}
