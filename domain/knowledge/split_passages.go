// Package knowledge splits documents into passages and searches them by words (BM25) and embeddings. It does no
// I/O.
package knowledge

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of a knowledge base and of a search.
const (
	MaxSources         = 100     // of a knowledge base
	MaxSourceBytes     = 1 << 20 // text of a source
	MaxPDFBytes        = 6 << 20 // bytes of a PDF file, whose text is limited by MaxSourceBytes
	MaxBaseBytes       = 8 << 20 // text of a knowledge base
	MaxQueryLength     = 500     // characters
	DefaultHits        = 5
	MaxHits            = 50
	targetPassageBytes = 900 // target size of a passage in bytes
	maxPassageBytes    = 1600
)

// Passage is a part of a text with the headings above it.
type Passage struct {
	Heading string
	Text    string
}

// SplitPassages splits a text into passages. If marked is true, Markdown headings (#) start new passages. Long blocks
// are split at line ends, at sentence ends and, if necessary, between words.
func SplitPassages(text string, marked bool) []Passage {
	c := passageBuilder{}
	for block := range splitBlocks(text) {
		if level, title := parseHeading(block); marked && level > 0 {
			c.finishPassage()
			c.setHeading(level, title)
			continue
		}
		for len(block) > maxPassageBytes {
			n := splitPosition(block)
			c.addBlock(block[:n])
			block = strings.TrimSpace(block[n:])
		}
		c.addBlock(block)
	}
	c.finishPassage()
	return c.out
}

// splitBlocks returns an iterator over the paragraphs of a text. A Markdown heading is a paragraph of its own.
func splitBlocks(text string) func(func(string) bool) {
	return func(yield func(string) bool) {
		var b strings.Builder
		flush := func() bool {
			block := strings.TrimSpace(b.String())
			b.Reset()
			return block == "" || yield(block)
		}
		for line := range strings.Lines(strings.ReplaceAll(text, "\r\n", "\n")) {
			level, _ := parseHeading(strings.TrimSpace(line))
			if level > 0 || strings.TrimSpace(line) == "" {
				if !flush() {
					return
				}
			}
			b.WriteString(line)
			if level > 0 && !flush() {
				return
			}
		}
		flush()
	}
}

// parseHeading returns the level of a Markdown heading, 1 to 6, and its title. Other lines have level 0.
func parseHeading(line string) (level int, title string) {
	rest := strings.TrimLeft(line, "#")
	level = len(line) - len(rest)
	if level == 0 || level > 6 || !strings.HasPrefix(rest, " ") || strings.Contains(line, "\n") {
		return 0, ""
	}
	return level, strings.Trim(rest, " #")
}

// splitPosition returns the byte position at which a long block is split: the last line end, sentence end or space
// within targetPassageBytes.
func splitPosition(block string) int {
	room := block[:targetPassageBytes]
	for _, mark := range []string{"\n", ". ", "? ", "! ", "; ", " "} {
		if i := strings.LastIndex(room, mark); i > targetPassageBytes/3 {
			return i + len(mark)
		}
	}
	n := targetPassageBytes
	for !utf8.RuneStart(block[n]) {
		n--
	}
	return n
}

type passageBuilder struct {
	out   []Passage
	path  [6]string
	title string
	text  strings.Builder
}

func (c *passageBuilder) setHeading(level int, title string) {
	c.path[level-1] = title
	for i := level; i < len(c.path); i++ {
		c.path[i] = ""
	}
	c.title = strings.Join(slices.DeleteFunc(slices.Clone(c.path[:]), func(s string) bool { return s == "" }), " › ")
}

func (c *passageBuilder) addBlock(block string) {
	if c.text.Len() > 0 && c.text.Len()+len(block) > targetPassageBytes {
		c.finishPassage()
	}
	if c.text.Len() > 0 {
		c.text.WriteString("\n\n")
	}
	c.text.WriteString(block)
}

func (c *passageBuilder) finishPassage() {
	if text := strings.TrimSpace(c.text.String()); text != "" {
		c.out = append(c.out, Passage{Heading: c.title, Text: text})
	}
	c.text.Reset()
}

// splitWords returns the words of a text in lower case: runs of letters, marks and digits, without the s of an
// English plural.
func splitWords(text string) []string {
	all := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		if r < utf8.RuneSelf {
			return (r < 'a' || r > 'z') && (r < '0' || r > '9')
		}
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r)
	})
	for i, w := range all {
		if len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") {
			all[i] = w[:len(w)-1]
		}
	}
	return all
}
