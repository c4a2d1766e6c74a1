package sip

import (
	"bytes"
	"slices"
	"strings"
)

// unreadable takes what passed the gate but not the parser. A request of a
// source that we answer anyhow is told so (RFC 3261 section 8.2), with those of
// the headers that an answer repeats that it has; never with more bytes than it
// had.
func (u *UserAgent) unreadable(came arrival) {
	defer u.recovered("unreadable", nil)
	u.stats.malformed.Add(1)
	if !u.admitted(Source{Addr: came.flow.addr, Network: came.flow.network}).Allow {
		return
	}
	b := refusal(came.raw)
	if b == nil || len(b) > len(came.raw) {
		return
	}
	u.stats.rejected.Add(1)
	if err := u.send(came.flow, b, nil); err != nil {
		u.stats.transport.Add(1)
	}
}

// refusal is the answer to a request that cannot be read: 416 where nothing
// but the scheme of its URI is strange to us, else 400.
func refusal(raw []byte) []byte {
	head, _, found := bytes.Cut(raw, []byte("\r\n\r\n"))
	if !found {
		return nil
	}
	lines := unfolded(string(head))
	method, rest, _ := strings.Cut(lines[0], " ")
	if method == methodAck || !isMethod([]byte(method)) || !strings.HasSuffix(strings.TrimRight(rest, " "), " SIP/2.0") {
		return nil
	}
	w := newResponse(400, phraseOf(400))
	if scheme, _, found := strings.Cut(rest, ":"); found && isScheme(scheme) {
		w = newResponse(416, phraseOf(416))
	}
	wanted := []string{"via", "from", "to", "call-id", "cseq"}
	seen := make([]int, len(wanted))
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ":")
		at := slices.Index(wanted, canonical(strings.TrimSpace(name)))
		value = strings.TrimSpace(value)
		if at < 0 || value == "" {
			continue
		}
		if seen[at]++; at > 0 && seen[at] > 1 {
			return nil
		}
		w.repeat([]string{"Via", "From", "To", "Call-ID", "CSeq"}[at], value)
	}
	if seen[0] == 0 || seen[0] > maxVias {
		return nil
	}
	b, err := w.finish(nil)
	if err != nil {
		return nil
	}
	return b
}

// isScheme tells whether a URI has a scheme that we do not serve.
func isScheme(s string) bool {
	for i := range len(s) {
		if !isAlnum(s[i]) && !strings.ContainsRune("+-.", rune(s[i])) {
			return false
		}
	}
	return s != "" && !slices.Contains([]string{"sip", "sips", "tel"}, strings.ToLower(s))
}

// unfolded are the lines of a head, those that go on over several put together.
func unfolded(head string) []string {
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
