package sip

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	sipmsg "github.com/emiago/sipgo/sip"
)

// maxURI is what we take of a URI that the far end wants us to call.
const maxURI = 512

// rack is what a PRACK acknowledges (RFC 3262 7.2).
type rack struct {
	rseq, cseq uint32
	method     string
}

// parseRAck reads "776656 1 INVITE".
func parseRAck(s string) (r rack, ok bool) {
	f := strings.Fields(s)
	if len(f) != 3 || !isToken(f[2]) {
		return rack{}, false
	}
	rseq, err := strconv.ParseUint(f[0], 10, 32)
	if err != nil || rseq == 0 {
		return rack{}, false
	}
	cseq, err := strconv.ParseUint(f[1], 10, 32)
	if err != nil {
		return rack{}, false
	}
	return rack{uint32(rseq), uint32(cseq), f[2]}, true
}

// rseq is the number of a reliable provisional answer, 0 for another one.
func (m *message) rseq() uint32 {
	n, err := strconv.ParseUint(strings.TrimSpace(m.get("RSeq")), 10, 31)
	if err != nil || m.code == 100 || !m.requires("100rel") {
		return 0
	}
	return uint32(n)
}

func (m *message) requires(option string) bool { return hasToken(m.require, option) }

// supports tells whether the sender knows an option: it lists or requires it.
func (m *message) supports(option string) bool {
	if m.requires(option) {
		return true
	}
	for _, value := range m.all("Supported") {
		if hasToken(list(value), option) {
			return true
		}
	}
	return false
}

// allows tells whether the sender's Allow names a method.
func (m *message) allows(method string) bool {
	for _, value := range m.all("Allow") {
		if hasToken(list(value), method) {
			return true
		}
	}
	return false
}

func hasToken(tokens []string, one string) bool {
	for _, t := range tokens {
		if strings.EqualFold(t, one) {
			return true
		}
	}
	return false
}

// parseDelta reads the seconds of Session-Expires or Min-SE, and a refresher.
func parseDelta(s string) (d time.Duration, refresher string, ok bool) {
	head, params, _ := strings.Cut(s, ";")
	n, err := strconv.ParseUint(strings.TrimSpace(head), 10, 32)
	if err != nil {
		return 0, "", false
	}
	for p := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(p), "=")
		if !strings.EqualFold(strings.TrimSpace(name), "refresher") {
			continue
		}
		switch who := strings.ToLower(strings.TrimSpace(value)); who {
		case "uac", "uas":
			refresher = who
		default:
			return 0, "", false
		}
	}
	return time.Duration(n) * time.Second, refresher, true
}

// parseReplaces reads a Replaces header (RFC 3891 6.1). to and from are the
// tags as they stand there.
func parseReplaces(s string) (callID, to, from string, earlyOnly, ok bool) {
	callID, params, _ := strings.Cut(s, ";")
	callID = strings.TrimSpace(callID)
	for p := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(p), "=")
		name, value = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)
		switch name {
		case "to-tag":
			if to != "" {
				return "", "", "", false, false
			}
			to = value
		case "from-tag":
			if from != "" {
				return "", "", "", false, false
			}
			from = value
		case "early-only":
			earlyOnly = true
		}
	}
	if !isCallID(callID) || len(callID) > 256 || !isToken(to) || !isToken(from) || len(to) > 128 || len(from) > 128 {
		return "", "", "", false, false
	}
	return callID, to, from, earlyOnly, true
}

func isCallID(s string) bool {
	for i := range len(s) {
		if !isAlnum(s[i]) && !strings.ContainsRune(`-.!%*_+'~()<>:\"/[]?{}@`+"`", rune(s[i])) {
			return false
		}
	}
	return s != ""
}

// replacesOf writes one: what the far end calls its own tag is our RemoteTag.
func replacesOf(id *DialogID) (string, error) {
	s := id.CallID + ";to-tag=" + id.RemoteTag + ";from-tag=" + id.LocalTag
	if _, _, _, _, ok := parseReplaces(s); !ok {
		return "", fmt.Errorf("sip: %q names no dialog", s)
	}
	return s, nil
}

// parseReferTo reads whom a REFER wants us to call. Headers of the URI other
// than Replaces, and any method but INVITE, would let a stranger word our
// request: the first are left out, the second is refused.
func parseReferTo(s string) (uri string, replaces *DialogID, ok bool) {
	uri = address(s)
	if len(uri) > maxURI || !isReference(uri) {
		return "", nil, false
	}
	uri, headers, _ := strings.Cut(uri, "?")
	if !isDialable(uri) {
		return "", nil, false
	}
	for h := range strings.SplitSeq(headers, "&") {
		name, value, _ := strings.Cut(h, "=")
		if !strings.EqualFold(name, "replaces") {
			continue
		}
		value, fits := unescape(value)
		if !fits || replaces != nil {
			return "", nil, false
		}
		callID, to, from, _, fits := parseReplaces(value)
		if !fits {
			return "", nil, false
		}
		replaces = &DialogID{CallID: callID, LocalTag: from, RemoteTag: to}
	}
	return uri, replaces, true
}

// isReference has only what a URI may hold.
func isReference(s string) bool {
	for i := range len(s) {
		if !isAlnum(s[i]) && !strings.ContainsRune("-_.!~*'()%&=+$,;?/:@[]", rune(s[i])) {
			return false
		}
	}
	return s != ""
}

// isDialable takes sip:, sips: and tel: URIs without headers.
func isDialable(uri string) bool {
	if !isReference(uri) || strings.Contains(uri, "?") {
		return false
	}
	scheme, rest, _ := strings.Cut(uri, ":")
	if strings.EqualFold(scheme, "tel") {
		number, _, _ := strings.Cut(rest, ";")
		_, err := userPart(number)
		return err == nil
	}
	var parsed sipmsg.Uri
	if !isSIPURI(uri) || sipmsg.ParseUri(uri, &parsed) != nil || !isHost(parsed.Host) {
		return false
	}
	method := param(parsed.UriParams, "method")
	return method == "" || method == methodInvite
}

// escape writes a header value into a URI (RFC 3261 25.1, hvalue).
func escape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if isAlnum(s[i]) || strings.ContainsRune("-_.!~*'()", rune(s[i])) {
			b.WriteByte(s[i])
			continue
		}
		fmt.Fprintf(&b, "%%%02X", s[i])
	}
	return b.String()
}

func unescape(s string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b.WriteByte(s[i])
			continue
		}
		if i+2 >= len(s) {
			return "", false
		}
		c, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
		if err != nil {
			return "", false
		}
		b.WriteByte(byte(c))
		i += 2
	}
	return b.String(), clean(b.String())
}

// parseSipfrag reads the status line of a message/sipfrag (RFC 3420).
func parseSipfrag(body []byte) (code int, phrase string, ok bool) {
	text := strings.TrimLeft(string(body[:min(len(body), 256)]), "\r\n \t")
	line, _, _ := strings.Cut(text, "\n")
	line, _, _ = strings.Cut(line, "\r")
	version, rest, _ := strings.Cut(line, " ")
	if !strings.EqualFold(version, "SIP/2.0") {
		return 0, "", false
	}
	digits, phrase, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || n < 100 || n > 699 {
		return 0, "", false
	}
	phrase = strings.Map(printable, strings.TrimSpace(phrase))
	return int(n), strings.ToValidUTF8(phrase[:min(len(phrase), 64)], ""), true
}
