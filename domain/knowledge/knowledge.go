// Package knowledge cuts texts into passages and finds those that answer words:
// a search by words, best first, and by meanings where somebody tells them. It
// knows no store and reads no file.
package knowledge

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of a knowledge base and of a search.
const (
	MaxSources  = 100     // of a base
	MaxBytes    = 1 << 20 // of a source's text
	MaxPaper    = 6 << 20 // bytes of a PDF file, whose text is MaxBytes at most
	MaxBase     = 8 << 20 // of a base's text
	MaxQuery    = 500     // letters
	DefaultTop  = 5
	MaxTop      = 50
	passageSize = 900 // bytes that a passage aims at
	passageMost = 1600
)

// Passage is a piece of a text, under the headings that it stands below.
type Passage struct {
	Heading string
	Text    string
}

// Cut cuts a text into passages: at its headings (# of Markdown) where marked
// says that it has such, else at empty lines, at the ends of sentences, and
// between words where nothing else will do.
func Cut(text string, marked bool) []Passage {
	c := cutter{}
	for block := range blocks(text) {
		if level, title := heading(block); marked && level > 0 {
			c.flush()
			c.under(level, title)
			continue
		}
		for len(block) > passageMost {
			n := split(block)
			c.add(block[:n])
			block = strings.TrimSpace(block[n:])
		}
		c.add(block)
	}
	c.flush()
	return c.out
}

// blocks are the paragraphs of a text; a heading is one of its own.
func blocks(text string) func(func(string) bool) {
	return func(yield func(string) bool) {
		var b strings.Builder
		flush := func() bool {
			block := strings.TrimSpace(b.String())
			b.Reset()
			return block == "" || yield(block)
		}
		for line := range strings.Lines(strings.ReplaceAll(text, "\r\n", "\n")) {
			level, _ := heading(strings.TrimSpace(line))
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

// heading is the level of a Markdown heading, 1 to 6, and its words.
func heading(line string) (level int, title string) {
	rest := strings.TrimLeft(line, "#")
	level = len(line) - len(rest)
	if level == 0 || level > 6 || !strings.HasPrefix(rest, " ") || strings.Contains(line, "\n") {
		return 0, ""
	}
	return level, strings.Trim(rest, " #")
}

// split is where a block that is too long is cut.
func split(block string) int {
	room := block[:passageSize]
	for _, mark := range []string{"\n", ". ", "? ", "! ", "; ", " "} {
		if i := strings.LastIndex(room, mark); i > passageSize/3 {
			return i + len(mark)
		}
	}
	n := passageSize
	for !utf8.RuneStart(block[n]) {
		n--
	}
	return n
}

type cutter struct {
	out   []Passage
	path  [6]string
	title string
	text  strings.Builder
}

func (c *cutter) under(level int, title string) {
	c.path[level-1] = title
	for i := level; i < len(c.path); i++ {
		c.path[i] = ""
	}
	c.title = strings.Join(slices.DeleteFunc(slices.Clone(c.path[:]), func(s string) bool { return s == "" }), " › ")
}

func (c *cutter) add(block string) {
	if c.text.Len() > 0 && c.text.Len()+len(block) > passageSize {
		c.flush()
	}
	if c.text.Len() > 0 {
		c.text.WriteString("\n\n")
	}
	c.text.WriteString(block)
}

func (c *cutter) flush() {
	if text := strings.TrimSpace(c.text.String()); text != "" {
		c.out = append(c.out, Passage{Heading: c.title, Text: text})
	}
	c.text.Reset()
}

// words are the words of a text, folded: runs of letters, marks and digits in
// lower case, without the s of an English plural.
func words(text string) []string {
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
