// Package text converts text of models, prompts and variables to the words that a synthesizer speaks, and splits text
// into sentences. All functions are pure and safe for concurrent use. Their time is linear in the length of the text.
package text

import (
	"maps"
	"slices"
	"strings"

	"github.com/callboard/callboard/media/speech/text/grammar"
)

// Speakable returns the text as a person reads it aloud: without markup, code, reasoning and emoji, with numbers, money,
// dates, times, units and abbreviations in words. Language is a BCP 47 tag such as "en-US". For an unknown language
// Speakable removes the markup, names the signs and keeps the digits. The SSML elements say-as and sub decide how their
// values are spoken.
func Speakable(s, language string) string {
	s, elements := extractElements(s, language, func(string) bool { return false })
	s = speakableOf(s, languageOf(language))
	if len(elements) == 0 {
		return s
	}
	var out strings.Builder
	for _, r := range s {
		if e := elementOf(r, elements); e != nil {
			out.WriteString(e.words)
			continue
		}
		out.WriteRune(r)
	}
	return out.String()
}

// speakableOf returns the speakable form of a text whose elements extractElements has replaced.
func speakableOf(s string, l *grammar.Language) string {
	for range passesMost {
		spoken := speakOnce(s, l)
		if spoken == s {
			break
		}
		s = spoken
	}
	return s
}

// passesMost limits the passes over a text. A second pass is needed where words of the first one complete a form, and it
// makes the result of Speakable speakable: engines and caches may pass it through Speakable again.
const passesMost = 4

// speakOnce runs the stages: the text of each stage has fewer kinds of marks than the one before.
func speakOnce(s string, l *grammar.Language) string {
	s = normalize(s)
	s = removeReasoning(s)
	s = removeCodeBlocks(s)
	s = removeData(s)
	s = removeHTML(s)
	s = renderBlocks(s, l)
	s = grammar.ReplaceAll(s, l)
	return tidy(s, l)
}

// Languages returns the tags of the languages that Speakable knows, in alphabetical order.
func Languages() []string {
	return slices.Sorted(maps.Keys(knownLanguages()))
}

// languageOf returns the language of a BCP 47 tag, or the fallback language. A regional variant precedes its language.
func languageOf(tag string) *grammar.Language {
	known := knownLanguages()
	tag = strings.ReplaceAll(tag, "_", "-")
	for tag != "" {
		for name, l := range known {
			if strings.EqualFold(name, tag) {
				return l
			}
		}
		tag = tag[:max(strings.LastIndexByte(tag, '-'), 0)]
	}
	return fallback()
}
