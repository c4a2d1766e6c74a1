package text

import (
	"strings"

	"github.com/rivo/uniseg"

	"github.com/callboard/callboard/media/speech/text/grammar"
)

// Sentences splits a text into sentences by the rules of Unicode (UAX 29) and by the abbreviations of the language. The
// text is the original of a model or a prompt: reasoning blocks, code blocks and JSON objects are never split.
func Sentences(s, language string) []string {
	l := languageOf(language)
	s = strings.ReplaceAll(strings.ToValidUTF8(s, " "), "\r\n", "\n")
	joins := sentenceJoins{Scanner: &grammar.Scanner{Language: l, Text: s}, blocks: unsplitBlocks(s), ends: abbreviationEnds(s, l)}
	var out []string
	start, end, state := 0, 0, -1
	for rest := s; rest != ""; {
		var piece string
		piece, rest, state = uniseg.FirstSentenceInString(rest, state)
		end += len(piece)
		if rest != "" && joins.continues(start, end) {
			continue
		}
		if sentence := strings.TrimSpace(s[start:end]); sentence != "" {
			out = append(out, sentence)
		}
		start = end
	}
	return out
}

// sentenceJoins decides at which boundaries of Unicode a sentence continues.
type sentenceJoins struct {
	*grammar.Scanner
	blocks []int                        // start and end of blocks that are not split, in ascending order
	ends   map[int]grammar.Abbreviation // abbreviations by their end in the text
}

// continues reports whether the sentence that begins at start continues behind the boundary at end.
func (j *sentenceJoins) continues(start, end int) bool {
	for len(j.blocks) > 1 && j.blocks[1] <= end {
		j.blocks = j.blocks[2:]
	}
	if len(j.blocks) > 1 && j.blocks[0] < end {
		return true
	}
	head := strings.TrimRight(j.Text[start:end], " \n\t")
	last := start + len(head)
	after := j.Text[end:min(len(j.Text), end+grammar.Window)]
	next := grammar.FirstWord(after)
	starts := grammar.IsCapitalized(next) && j.SentenceStarts[strings.ToLower(next)]
	switch {
	case strings.Contains(j.Text[last:end], "\n"):
		return !endsSentence(head) && next != "" && !grammar.IsCapitalized(next)
	case !strings.HasSuffix(head, "."):
		return false
	case isListNumber(head):
		return true
	}
	if a, ok := j.ends[last]; ok {
		return a.Joins(after, starts)
	}
	if digits := trailingDigits(strings.TrimSuffix(head, ".")); digits > 0 && j.OrdinalPeriod != nil {
		j.Pos = last - 1 - digits
		return j.OrdinalPeriod(j.Scanner)
	}
	return endsInInitial(head) && !starts
}

// isListNumber reports whether the text is a number of a list, such as "1.".
func isListNumber(head string) bool {
	head = strings.TrimLeft(head, " \n")
	n := grammar.DigitsAt(head)
	return n > 0 && n <= 3 && n == len(head)-1
}

// trailingDigits returns the number of digits at the end of s.
func trailingDigits(s string) int {
	n := 0
	for n < len(s) && s[len(s)-1-n] >= '0' && s[len(s)-1-n] <= '9' {
		n++
	}
	return n
}

// endsInInitial reports whether the text ends in an initial or in an acronym with periods, such as "U.S.".
func endsInInitial(head string) bool {
	word := grammar.LastWord(strings.TrimSuffix(head, "."))
	before := grammar.RuneBefore(head, len(head)-1-len(word))
	single := word != "" && len(word) == len(string(grammar.RuneAfter(word, 0)))
	return single && (before == '.' || grammar.IsCapitalized(word) && (before == ' ' || before == -1 || before == '\n'))
}

// abbreviationEnds returns the abbreviations of the text by their end. The inner ends of an abbreviation of several words
// are included. Months and weekdays count as abbreviations.
func abbreviationEnds(s string, l *grammar.Language) map[int]grammar.Abbreviation {
	ends := map[int]grammar.Abbreviation{}
	for i := 0; i < len(s); {
		n := grammar.LettersAt(s[i:])
		if n == 0 {
			i++
			continue
		}
		if n <= 16 && !grammar.WordBefore(s, i) {
			addEnds(ends, s[i:min(len(s), i+grammar.Window)], i, n, l)
		}
		i += n
	}
	return ends
}

// addEnds adds the abbreviation that begins at the beginning of s with a word of n bytes.
func addEnds(ends map[int]grammar.Abbreviation, s string, offset, n int, l *grammar.Language) {
	word := strings.ToLower(s[:n])
	if strings.HasPrefix(s[n:], ".") && (l.ShortMonths[word] != 0 || l.Weekdays[word].Name != "" && !l.Weekdays[word].Cautious) {
		ends[offset+n+1] = grammar.Abbreviation{}
	}
	for _, a := range l.Abbreviations[word] {
		size := grammar.ShortFormSize(s, a.Short)
		if size == 0 {
			continue
		}
		for i := range size - 1 {
			if s[i] == '.' {
				ends[offset+i+1] = grammar.Abbreviation{}
			}
		}
		if previous, known := ends[offset+size]; !known || a.When == grammar.BeforeName && previous.When != grammar.BeforeName {
			ends[offset+size] = a
		}
	}
}

// unsplitBlocks returns the starts and ends of reasoning blocks, code blocks and JSON objects.
func unsplitBlocks(s string) []int {
	var blocks []int
	for i := 0; i < len(s); {
		size := blockSize(s[i:])
		if size == 0 {
			i++
			continue
		}
		blocks = append(blocks, i, i+size)
		i += size
	}
	return blocks
}

// blockSize returns the size of the block at the beginning of s, or 0. A block without its end extends to the end.
func blockSize(s string) int {
	switch s[0] {
	case '`':
		if rest, ok := strings.CutPrefix(s, "```"); ok {
			if end := strings.Index(rest, "```"); end >= 0 {
				return end + 6
			}
			return len(s)
		}
	case '{':
		if startsData(s) {
			if size := closingBracket(s); size > 0 {
				return size
			}
			return len(s)
		}
	case '<':
		at, size, closing := nextReasoningTag(s[:min(len(s), 100)])
		if at != 0 || closing {
			return 0
		}
		for end := size; end < len(s); {
			at, size, closing = nextReasoningTag(s[end:])
			if at < 0 {
				break
			}
			if end += at + size; closing {
				return end
			}
		}
		return len(s)
	}
	return 0
}
