package text

import (
	"encoding/json"
	"strings"
)

// removeCodeBlocks removes blocks between ``` fences with their content. A block without its end extends to the end of
// the text.
func removeCodeBlocks(s string) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(s, "```")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		_, after, closed := strings.Cut(rest, "```")
		if !closed {
			return out.String()
		}
		out.WriteByte(' ')
		s = after
	}
}

// removeData removes JSON objects, and JSON arrays at the beginning of a line. Models write tool calls in this form.
func removeData(s string) string {
	var out strings.Builder
	lineStart, balanced := true, true
	for i := 0; i < len(s); {
		c := s[i]
		if c == '{' || c == '[' && lineStart {
			size, ends := dataSize(s[i:], balanced)
			balanced = balanced && ends
			if size > 0 {
				i += size
				continue
			}
		}
		lineStart = c == '\n' || lineStart && c == ' '
		out.WriteByte(c)
		i++
	}
	return out.String()
}

// dataSize returns the size of the JSON value at the beginning of s, or 0. Ends is false if the brackets are not closed:
// then no bracket behind them is closed either, and search is false from then on, which keeps the time linear.
func dataSize(s string, search bool) (size int, ends bool) {
	if !startsData(s) {
		return 0, true
	}
	end := 0
	if search {
		end = closingBracket(s)
	}
	if end == 0 { // a cut tool call
		if s[0] == '{' {
			return len(s), false
		}
		return 0, false
	}
	if json.Valid([]byte(s[:end])) {
		return end, true
	}
	return 0, true
}

// startsData reports whether s begins like an object with a quoted key, or like an array of objects or values.
func startsData(s string) bool {
	inside := strings.TrimLeft(s[1:min(len(s), 200)], " \n")
	if inside == "" {
		return false
	}
	if s[0] == '{' {
		return inside[0] == '"' || inside[0] == '}'
	}
	return strings.IndexByte(`"{[]`, inside[0]) >= 0
}

// closingBracket returns the end of the bracket at the beginning of s, or 0.
func closingBracket(s string) int {
	depth, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}
