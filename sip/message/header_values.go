package message

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	sipmsg "github.com/emiago/sipgo/sip"
)

// MaxURI is the maximum length of the target URI of a REFER, in bytes.
const MaxURI = 512

// RAck identifies the response that a PRACK acknowledges (RFC 3262 §7.2).
type RAck struct {
	RSeq, CSeq uint32
	Method     string
}

// ParseRAck parses a RAck header such as "776656 1 INVITE".
func ParseRAck(s string) (r RAck, ok bool) {
	f := strings.Fields(s)
	if len(f) != 3 || !IsToken(f[2]) {
		return RAck{}, false
	}
	rseq, err := strconv.ParseUint(f[0], 10, 32)
	if err != nil || rseq == 0 {
		return RAck{}, false
	}
	cseq, err := strconv.ParseUint(f[1], 10, 32)
	if err != nil {
		return RAck{}, false
	}
	return RAck{uint32(rseq), uint32(cseq), f[2]}, true
}

// RSeq returns the RSeq of a reliable provisional response; 0 for any other message.
func (m *Message) RSeq() uint32 {
	n, err := strconv.ParseUint(strings.TrimSpace(m.HeaderValue("RSeq")), 10, 31)
	if err != nil || m.Code == 100 || !m.Requires("100rel") {
		return 0
	}
	return uint32(n)
}

// Requires reports whether the Require header of a message contains an option tag.
func (m *Message) Requires(option string) bool { return hasToken(m.require, option) }

// Supports reports whether the sender supports an option. Its Supported or Require header then contains the option tag.
func (m *Message) Supports(option string) bool {
	if m.Requires(option) {
		return true
	}
	for _, value := range m.HeaderValues("Supported") {
		if hasToken(SplitList(value), option) {
			return true
		}
	}
	return false
}

// Allows reports whether the Allow header names a method.
func (m *Message) Allows(method string) bool {
	for _, value := range m.HeaderValues("Allow") {
		if hasToken(SplitList(value), method) {
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

// ParseSessionExpires parses a Session-Expires or Min-SE header: the interval and the refresher.
func ParseSessionExpires(s string) (d time.Duration, refresher string, ok bool) {
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

// ParseReplaces parses a Replaces header (RFC 3891 §6.1). to and from are the values of to-tag and from-tag.
func ParseReplaces(s string) (callID, to, from string, earlyOnly, ok bool) {
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
	if !isCallID(callID) || len(callID) > 256 || !IsToken(to) || !IsToken(from) || len(to) > 128 || len(from) > 128 {
		return "", "", "", false, false
	}
	return callID, to, from, earlyOnly, true
}

// FormatReplaces returns the value of a Replaces header for a dialog. The to-tag is the RemoteTag of the dialog.
func FormatReplaces(id *DialogID) (string, error) {
	s := id.CallID + ";to-tag=" + id.RemoteTag + ";from-tag=" + id.LocalTag
	if _, _, _, _, ok := ParseReplaces(s); !ok {
		return "", fmt.Errorf("sip: %q is not a valid Replaces header", s)
	}
	return s, nil
}

// ParseReferTo parses the Refer-To header of a REFER. ok is false for a method other than INVITE. All headers in the URI
// except Replaces are dropped, because they would let a peer write parts of the new request.
func ParseReferTo(s string) (uri string, replaces *DialogID, ok bool) {
	uri = ReadURI(s)
	if len(uri) > MaxURI || !hasOnlyURIChars(uri) {
		return "", nil, false
	}
	uri, headers, _ := strings.Cut(uri, "?")
	if !IsDialable(uri) {
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
		callID, to, from, _, fits := ParseReplaces(value)
		if !fits {
			return "", nil, false
		}
		replaces = &DialogID{CallID: callID, LocalTag: from, RemoteTag: to}
	}
	return uri, replaces, true
}

// ParseSipfrag parses the status line of a message/sipfrag body (RFC 3420).
func ParseSipfrag(body []byte) (code int, phrase string, ok bool) {
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
	phrase = strings.Map(ReplaceControlChar, strings.TrimSpace(phrase))
	return int(n), strings.ToValidUTF8(phrase[:min(len(phrase), 64)], ""), true
}

// SplitList splits a header value at the commas outside quotes and angle brackets.
func SplitList(s string) []string {
	var found []string
	start, quote, angle := 0, false, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote && c == '\\':
			i++
		case c == '"':
			quote = !quote
		case quote:
		case c == '<':
			angle = true
		case c == '>':
			angle = false
		case c == ',' && !angle:
			found = append(found, strings.TrimSpace(s[start:i]))
			start = i + 1
		}
	}
	if last := strings.TrimSpace(s[start:]); last != "" {
		found = append(found, last)
	}
	return found
}

func firstOfList(s string) string {
	if all := SplitList(s); len(all) > 0 {
		return all[0]
	}
	return ""
}

// ReadURI returns the URI of a name-addr or addr-spec, with its URI parameters.
func ReadURI(s string) string {
	quote := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote && c == '\\':
			i++
		case c == '"':
			quote = !quote
		case c == '<' && !quote:
			return TextBefore(s[i+1:], ">")
		}
	}
	return strings.TrimSpace(TextBefore(s, ";"))
}

// TextBefore returns the text before the first separator, or the whole text if it contains no separator.
func TextBefore(s, sep string) string {
	head, _, _ := strings.Cut(s, sep)
	return head
}

// displayName returns the text of a quoted display name with quoted pairs resolved. Invalid UTF-8 is read as ISO
// 8859-1, which some phones write.
func displayName(quoted string) string {
	var b []byte
	for i := 0; i < len(quoted); i++ {
		if quoted[i] == '\\' && i+1 < len(quoted) {
			i++
		}
		b = append(b, quoted[i])
	}
	text := string(b)
	if !utf8.ValidString(text) {
		runes := make([]rune, len(b))
		for i, c := range b {
			runes[i] = rune(c)
		}
		text = string(runes)
	}
	return strings.TrimSpace(strings.Map(ReplaceControlChar, text))
}

// URIUser returns the unescaped user of a URI (RFC 3261 §19.1.2), usually a number. Invalid escapes are kept.
func URIUser(u sipmsg.Uri) string {
	user := TextBefore(u.User, ";")
	if u.Scheme == "tel" {
		user = TextBefore(u.Raw(), ";")
	}
	if plain, ok := unescape(user); ok {
		return plain
	}
	return user
}

// ParseReason returns the Q.850 cause and the text of Reason headers (RFC 3326).
func ParseReason(values []string) (q850 int, text string) {
	for _, value := range values {
		for _, one := range SplitList(value) {
			isdn := strings.HasPrefix(strings.ToLower(one), "q.850")
			for p := range strings.SplitSeq(one, ";") {
				name, v, _ := strings.Cut(strings.TrimSpace(p), "=")
				switch {
				case isdn && strings.EqualFold(name, "cause"):
					if n, err := strconv.ParseUint(v, 10, 7); err == nil {
						q850 = int(n)
					}
				case strings.EqualFold(name, "text") && text == "":
					text = strings.Trim(v, `"`)
				}
			}
		}
	}
	return q850, text
}

// FormatReason returns the value of a Reason header (RFC 3326).
func FormatReason(q850 int, text string) string {
	value := "Q.850;cause=" + strconv.Itoa(q850)
	if text != "" {
		value += ";text=" + QuoteString(text)
	}
	return value
}
