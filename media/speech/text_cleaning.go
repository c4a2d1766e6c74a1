package speech

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/callboard/callboard/media/speech/text"
)

const (
	textMost     = 4000 // bytes
	sentenceMost = 600  // bytes; longer sentences are split between words
)

// clean replaces control characters and runs of spaces with one space, so that equal speech has equal cache keys.
func clean(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, ""), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
}

// cleanLines cleans each line of a text. The line breaks stay, because lists, tables and headings depend on them.
func cleanLines(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i, line := range lines {
		lines[i] = clean(line)
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// SpeakableSentences returns the sentences of a text in the form in which they are spoken: without markup and with
// numbers, dates and abbreviations in words of the language, a BCP 47 tag. Each sentence is synthesized and cached
// separately. A sentence of more than 600 bytes is split between words.
func SpeakableSentences(s, language string) []string {
	return splitSentences(text.Speakable(s, language), language)
}

func splitSentences(speakable, language string) []string {
	var out []string
	for _, sentence := range text.Sentences(speakable, language) {
		for len(sentence) > sentenceMost {
			end := strings.LastIndexByte(sentence[:sentenceMost+1], ' ')
			if end <= 0 {
				if end = strings.IndexByte(sentence, ' '); end < 0 {
					break
				}
			}
			out = append(out, sentence[:end])
			sentence = strings.TrimSpace(sentence[end:])
		}
		if sentence != "" {
			out = append(out, sentence)
		}
	}
	return out
}

// pausedSentence is a sentence and the silence before it.
type pausedSentence struct {
	pause time.Duration
	text  string // empty: only the pause
}

// pausedSentences returns the speakable sentences of a request. The silence before a sentence is that of the SSML element
// break, or sentencePause.
func pausedSentences(r Request) []pausedSentence {
	var out []pausedSentence
	for _, part := range text.Parts(r.Text, r.Language) {
		sentences := splitSentences(part.Text, r.Language)
		if len(sentences) == 0 && part.Pause > 0 {
			sentences = []string{""}
		}
		for i, sentence := range sentences {
			pause := sentencePause
			switch {
			case i == 0 && part.Pause > 0:
				pause = part.Pause
			case len(out) == 0:
				pause = 0
			}
			out = append(out, pausedSentence{pause, sentence})
		}
	}
	return out
}

func sentenceTexts(sentences []pausedSentence) []string {
	texts := make([]string, len(sentences))
	for i, s := range sentences {
		texts[i] = s.text
	}
	return texts
}

// Slug returns the file name of a text in the prompt directory, without ".wav": its words joined by hyphens.
func Slug(s string) string {
	words := strings.FieldsFunc(strings.ToLower(clean(s)), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	slug := strings.Join(words, "-")
	for len(slug) > 80 {
		_, size := utf8.DecodeLastRuneInString(slug)
		slug = slug[:len(slug)-size]
	}
	return strings.TrimRight(slug, "-")
}
