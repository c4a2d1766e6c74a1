package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/callboard/callboard/media/speech/text/grammar"
)

// inlineMarkup removes the marks within a line.
type inlineMarkup struct {
	lang         *grammar.Language
	text         string
	out          strings.Builder
	doubleQuoted bool
	singleQuoted bool
	lastStar     int // place of the last mark that can end emphasis
	lastScore    int
}

// removeInlineMarkup removes links, footnote marks, emphasis, placeholders, quotation marks and emoji of a line. The
// texts of links stay.
func removeInlineMarkup(s string, l *grammar.Language) string {
	s = removePlaceholders(removeEmoji(replaceLinks(s)), l)
	m := inlineMarkup{lang: l, text: s, lastStar: lastClosing(s, '*'), lastScore: lastClosing(s, '_')}
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch r {
		case '*', '_':
			size = m.emphasis(i, byte(r))
		case '`':
		case '~':
			size = m.strike(i)
		case '"', '\'', '’', '‘', '‚', '“', '”', '„', '«', '»', '‹', '›', '‟', '‛':
			m.quote(i, size, r)
		default:
			m.out.WriteString(s[i : i+size])
		}
		i += size
	}
	return m.out.String()
}

// lastClosing returns the place of the last mark that stands behind a word, or -1.
func lastClosing(s string, mark byte) int {
	for i := len(s) - 1; i > 0; i-- {
		if s[i] == mark && s[i-1] != ' ' && s[i-1] != mark && !grammar.WordAfter(s, i+1) {
			return i
		}
	}
	return -1
}

// emphasis writes the mark if it is a sign of the text, and returns the size of the run of marks.
func (m *inlineMarkup) emphasis(at int, mark byte) int {
	size := 1
	for at+size < len(m.text) && m.text[at+size] == mark {
		size++
	}
	inWord := grammar.WordBefore(m.text, at) && grammar.WordAfter(m.text, at+size)
	last := m.lastStar
	if mark == '_' {
		last = m.lastScore
	}
	switch {
	case mark == '_' && inWord:
		m.out.WriteString(m.text[at : at+size])
	case size > 1:
	case inWord:
		m.out.WriteByte(mark)
	case at < last && !grammar.WordBefore(m.text, at) && at+1 < len(m.text) && m.text[at+1] != ' ': // the start of emphasis
	case grammar.WordBefore(m.text, at) && grammar.StartsWithDigit(m.text[at-1:]) && mark == '*':
		m.out.WriteByte(mark)
	case at > 0 && m.text[at-1] != ' ': // the end of emphasis
	default:
		m.out.WriteByte(mark)
	}
	return size
}

// strike removes "~~" and keeps the "~" of an approximate number.
func (m *inlineMarkup) strike(at int) int {
	if strings.HasPrefix(m.text[at:], "~~") {
		return 2
	}
	m.out.WriteByte('~')
	return 1
}

// quote removes a quotation mark, and keeps apostrophes and the marks of feet, inches and minutes.
func (m *inlineMarkup) quote(at, size int, r rune) {
	before, after := grammar.RuneBefore(m.text, at), grammar.RuneAfter(m.text, at+size)
	switch r {
	case '"':
		if unicode.IsDigit(before) && !m.doubleQuoted {
			m.out.WriteRune('″')
			return
		}
		m.doubleQuoted = !m.doubleQuoted
	case '‘', '‚', '‛':
		if unicode.IsDigit(after) {
			m.out.WriteByte('\'')
			return
		}
		m.singleQuoted = true
	case '\'', '’':
		m.apostrophe(before, after, m.text[at+size:])
	}
}

func (m *inlineMarkup) apostrophe(before, after rune, rest string) {
	switch {
	case grammar.IsWordRune(before) && grammar.IsWordRune(after), unicode.IsDigit(after):
	case grammar.IsWordRune(before) && m.singleQuoted:
		m.singleQuoted = false
		return
	case unicode.IsDigit(before):
		m.out.WriteRune('′')
		return
	case grammar.IsWordRune(before): // the plural of a genitive, or an elision
	case unicode.IsLetter(after) && !m.lang.Elisions[strings.ToLower(grammar.FirstWord(rest))]:
		m.singleQuoted = true
		return
	case !unicode.IsLetter(after):
		return
	}
	m.out.WriteByte('\'')
}

// replaceLinks replaces links and images by their texts, and removes footnote marks.
func replaceLinks(s string) string {
	if !strings.Contains(s, "[") {
		return s
	}
	var out strings.Builder
	for {
		at := strings.IndexByte(s, '[')
		if at < 0 {
			out.WriteString(s)
			return out.String()
		}
		end := strings.IndexAny(s[at+1:], "[]")
		if end < 0 || s[at+1+end] == '[' {
			out.WriteString(s[:at+1])
			s = s[at+1:]
			continue
		}
		content, rest := s[at+1:at+1+end], s[at+2+end:]
		switch target := linkTarget(rest); {
		case target > 0:
			out.WriteString(strings.TrimSuffix(s[:at], "!"))
			out.WriteString(content)
			rest = rest[target:]
		case isFootnote(content):
			out.WriteString(strings.TrimRight(s[:at], " "))
		default:
			out.WriteString(s[:at] + "[" + content + "]")
		}
		s = rest
	}
}

// linkTarget returns the size of "(address)" at the beginning of s, or 0.
func linkTarget(s string) int {
	if !strings.HasPrefix(s, "(") {
		return 0
	}
	depth := 0
	for i := range min(len(s), grammar.TagMost) {
		switch s[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

func isFootnote(s string) bool {
	return s != "" && (s[0] == '^' || grammar.DigitsAt(s) == len(s) && len(s) <= 3)
}

// removePlaceholders removes "{{name}}" with the space before it, and "{name}" where the language reads it in the same
// way.
func removePlaceholders(s string, l *grammar.Language) string {
	s = removeBetween(s, "{{", "}}")
	if l.DropsBraces {
		s = removeBetween(s, "{", "}")
	}
	return s
}

// removeBetween removes short pieces between two marks and the space before them.
func removeBetween(s, start, end string) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(s, start)
		name, _, closed := strings.Cut(rest[:min(len(rest), grammar.Window)], end)
		if !found || !closed || strings.Contains(name, start) {
			out.WriteString(before)
			if !found {
				return out.String()
			}
			out.WriteString(start)
			s = rest
			continue
		}
		out.WriteString(strings.TrimRight(before, " "))
		s = rest[len(name)+len(end):]
	}
}
