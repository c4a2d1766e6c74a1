package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/callboard/callboard/media/speech/text/grammar"
)

// line is a line of the text without its block marks.
type line struct {
	text string
	kind lineKind
}

type lineKind int

const (
	textLine lineKind = iota
	blankLine
	ruleLine
	headingLine
	itemLine
	rowLine // a row of a table
)

// renderBlocks removes the marks of headings, lists, quotes, tables and rules, and joins the lines by spaces. Headings,
// items, rows and lines before an empty line get a period.
func renderBlocks(s string, l *grammar.Language) string {
	lines := classify(strings.Split(s, "\n"), l)
	var out strings.Builder
	for i, n := range lines {
		if n.kind == blankLine || n.kind == ruleLine {
			continue
		}
		content := strings.TrimSpace(removeInlineMarkup(n.text, l))
		if content == "" {
			continue
		}
		if out.Len() > 0 {
			out.WriteByte(' ')
		}
		out.WriteString(content)
		if (n.kind != textLine || pausesBehind(lines, i)) && !endsSentence(content) {
			out.WriteByte('.')
		}
	}
	return out.String()
}

// pausesBehind reports whether an empty line or a rule follows line i and text follows them, or whether the line stands
// between two rules.
func pausesBehind(lines []line, i int) bool {
	if i+1 >= len(lines) {
		return false
	}
	switch lines[i+1].kind {
	case ruleLine:
		return true
	case blankLine:
		return i+2 < len(lines) // trailing empty lines are removed before
	case textLine, headingLine, itemLine, rowLine:
	}
	return false
}

// endsSentence reports whether the text ends in punctuation at which speech pauses.
func endsSentence(s string) bool {
	s = strings.TrimRightFunc(s, func(r rune) bool { return r == ' ' || r == ')' || r == '\'' })
	r, _ := utf8.DecodeLastRuneInString(s)
	return s == "" || strings.ContainsRune(".!?:;…,", r)
}

// classify determines the kind of each line and removes the block marks.
func classify(raw []string, l *grammar.Language) []line {
	for len(raw) > 0 && strings.TrimSpace(raw[len(raw)-1]) == "" {
		raw = raw[:len(raw)-1]
	}
	lines := make([]line, 0, len(raw))
	numbered := 0
	for _, s := range raw {
		if _, _, ok := listNumber(strings.TrimSpace(s)); ok {
			numbered++
		}
	}
	for i, s := range raw {
		if isTableSeparator(s) {
			if n := len(lines); n > 0 && lines[n-1].kind == textLine {
				lines[n-1] = line{text: cells(lines[n-1].text), kind: rowLine}
			}
			continue
		}
		inTable := i > 0 && (isTableSeparator(raw[i-1]) || len(lines) > 0 && lines[len(lines)-1].kind == rowLine)
		lines = append(lines, classifyLine(s, inTable, numbered > 1, l))
	}
	return lines
}

func classifyLine(s string, inTable, inList bool, l *grammar.Language) line {
	s = strings.TrimSpace(s)
	for strings.HasPrefix(s, ">") && !grammar.StartsWithDigit(strings.TrimLeft(s, "> ")) {
		s = strings.TrimSpace(s[1:])
	}
	switch {
	case s == "":
		return line{kind: blankLine}
	case isRule(s):
		return line{kind: ruleLine}
	case strings.HasPrefix(s, "|") || inTable && strings.Contains(s, "|"):
		return line{text: cells(s), kind: rowLine}
	}
	if marks := len(s) - len(strings.TrimLeft(s, "#")); marks > 0 && marks <= 6 && strings.HasPrefix(s[marks:], " ") && strings.Trim(s, "# ") != "" {
		return line{text: strings.TrimRight(s[marks:], "# "), kind: headingLine}
	}
	for _, mark := range []string{"- ", "* ", "+ ", "• ", "· ", "◦ ", "▪ ", "– "} {
		if item, ok := strings.CutPrefix(s, mark); ok && strings.TrimSpace(item) != "" {
			return line{text: checkBox(strings.TrimSpace(item), l), kind: itemLine}
		}
	}
	if number, item, ok := listNumber(s); ok && (inList || !l.IsMonth(grammar.FirstWord(item))) {
		return line{text: number + ", " + checkBox(item, l), kind: itemLine}
	}
	return line{text: s}
}

// listNumber splits "1. Item" or "1) Item".
func listNumber(s string) (number, item string, ok bool) {
	n := grammar.DigitsAt(s)
	if n == 0 || n > 3 || len(s) < n+3 || s[n] != '.' && s[n] != ')' || s[n+1] != ' ' {
		return "", "", false
	}
	item = strings.TrimSpace(s[n+2:])
	first, _ := utf8.DecodeRuneInString(item)
	return s[:n], item, item != "" && !unicode.IsDigit(first)
}

// checkBox replaces the box of a task by the state of the task.
func checkBox(item string, l *grammar.Language) string {
	for mark, state := range map[string]string{"[x] ": l.Words.Checked, "[X] ": l.Words.Checked, "[ ] ": l.Words.Unchecked} {
		if rest, ok := strings.CutPrefix(item, mark); ok {
			return state + ", " + rest
		}
	}
	return item
}

// isRule reports whether the line is a horizontal rule or the underline of a heading.
func isRule(s string) bool {
	marks := strings.ReplaceAll(s, " ", "")
	return len(marks) >= 3 && strings.ContainsRune("-*_=", rune(marks[0])) && strings.Trim(marks, marks[:1]) == ""
}

// isTableSeparator reports whether the line separates the head of a table from its rows.
func isTableSeparator(s string) bool {
	return strings.Contains(s, "|") && strings.Contains(s, "-") && strings.Trim(s, "|-: ") == ""
}

// cells joins the cells of a row by commas.
func cells(row string) string {
	parts := strings.Split(strings.Trim(row, " |"), "|")
	kept := parts[:0]
	for _, p := range parts {
		if p = strings.TrimSpace(p); p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, ", ")
}
