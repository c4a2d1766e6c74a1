package message

import (
	"bytes"
	"slices"
	"strings"
)

// BuildParseErrorResponse returns the response to a request that cannot be parsed: 416 if only the scheme of its
// Request-URI is unsupported, otherwise 400.
func BuildParseErrorResponse(raw []byte) []byte {
	head, _, found := bytes.Cut(raw, []byte("\r\n\r\n"))
	if !found {
		return nil
	}
	lines := UnfoldLines(string(head))
	method, rest, _ := strings.Cut(lines[0], " ")
	if method == MethodAck || !IsMethod([]byte(method)) || !strings.HasSuffix(strings.TrimRight(rest, " "), " SIP/2.0") {
		return nil
	}
	w := NewResponse(400, ReasonPhrase(400))
	if scheme, _, found := strings.Cut(rest, ":"); found && isUnsupportedScheme(scheme) {
		w = NewResponse(416, ReasonPhrase(416))
	}
	wanted := []string{"via", "from", "to", "call-id", "cseq"}
	seen := make([]int, len(wanted))
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ":")
		at := slices.Index(wanted, CanonicalName(strings.TrimSpace(name)))
		value = strings.TrimSpace(value)
		if at < 0 || value == "" {
			continue
		}
		if seen[at]++; at > 0 && seen[at] > 1 {
			return nil
		}
		w.RepeatHeader([]string{"Via", "From", "To", "Call-ID", "CSeq"}[at], value)
	}
	if seen[0] == 0 || seen[0] > MaxVias {
		return nil
	}
	b, err := w.Finish(nil)
	if err != nil {
		return nil
	}
	return b
}

// isUnsupportedScheme reports whether a URI has a scheme that Callboard does not support.
func isUnsupportedScheme(s string) bool {
	for i := range len(s) {
		if !IsAlnum(s[i]) && !strings.ContainsRune("+-.", rune(s[i])) {
			return false
		}
	}
	return s != "" && !slices.Contains([]string{"sip", "sips", "tel"}, strings.ToLower(s))
}

// UnfoldLines returns the lines of a header section. Continuation lines are joined.
func UnfoldLines(head string) []string {
	var lines []string
	for line := range strings.SplitSeq(head, "\r\n") {
		if len(lines) > 0 && line != "" && (line[0] == ' ' || line[0] == '\t') {
			lines[len(lines)-1] += " " + strings.TrimLeft(line, " \t")
			continue
		}
		lines = append(lines, line)
	}
	return lines
}
