package sip

import (
	"slices"
	"strings"
)

const (
	allow     = "INVITE, ACK, CANCEL, BYE, OPTIONS, INFO, UPDATE, PRACK, REFER, NOTIFY, MESSAGE"
	supported = "timer, replaces, 100rel"
)

// rule is one thing the parser lets through and we do not.
type rule struct {
	name   string
	code   int
	broken func(*message) bool
}

// rules are tried in order; the first broken one is answered. A rule that
// needs to know the dialogs (481, 482, 491) stands where they are known.
func rules() []rule {
	return []rule{
		{"version", 505, func(m *message) bool { return m.version != "SIP/2.0" }},
		{"repeated header", 400, func(m *message) bool { return m.repeated != "" }},
		{"CSeq of another method", 400, func(m *message) bool { return m.cseqMethod != m.method }},
		{"From without tag", 400, func(m *message) bool { return m.from.tag == "" }},
		{"oversized name", 400, func(m *message) bool {
			return len(m.callID) > 256 || len(m.from.tag) > 256 || len(m.to.tag) > 256 || len(m.branch()) > 256
		}},
		{"method unknown", 501, func(m *message) bool { return !slices.Contains(methods(), m.method) }},
		{"scheme", 416, func(m *message) bool { return !slices.Contains([]string{"sip", "sips", "tel"}, m.uri.Scheme) }},
		{"extension required", 420, func(m *message) bool { return len(m.unsupported()) > 0 && m.method != methodCancel }},
		{"method not served", 405, func(m *message) bool { return m.method != methodRegister && !strings.Contains(allow, m.method) }},
		{"contact missing", 400, func(m *message) bool { return m.method == methodInvite && !isSIPURI(m.contact) }},
		{"answer not accepted", 406, func(m *message) bool {
			return m.method == methodInvite && m.accept != nil && !slices.ContainsFunc(m.accept, func(a string) bool {
				return a == contentSDP || a == "application/*" || a == "*/*"
			})
		}},
		{"content encoded", 415, func(m *message) bool {
			return len(m.body) > 0 && m.encoding != "" && m.encoding != "identity"
		}},
		{"content type", 415, func(m *message) bool {
			return len(m.body) > 0 && m.contentType != contentSDP &&
				(m.method == methodInvite || m.method == methodUpdate)
		}},
		{"part not understood", 415, func(m *message) bool {
			return m.unknownPart != "" && slices.Contains([]string{methodInvite, methodUpdate, methodPrack, methodInfo, methodMessage}, m.method)
		}},
	}
}

// methods are those that exist; the ones we do not serve get 405, others 501.
func methods() []string {
	return []string{
		methodInvite, methodAck, methodBye, methodCancel, methodOptions, methodInfo, methodUpdate, methodPrack, methodRefer, methodNotify,
		methodMessage, "REGISTER", "SUBSCRIBE", "PUBLISH",
	}
}

// unsupported are the extensions that a request needs and we lack.
func (m *message) unsupported() []string {
	var lacking []string
	for _, option := range m.require {
		if !hasToken(list(supported), option) {
			lacking = append(lacking, option)
		}
	}
	return lacking
}

func isSIPURI(s string) bool {
	s = strings.ToLower(s)
	return strings.HasPrefix(s, "sip:") || strings.HasPrefix(s, "sips:")
}

// phrases of the answers we give.
var phrases = map[int]string{
	100: "Trying",
	181: "Call Is Being Forwarded",
	180: "Ringing",
	183: "Session Progress",
	200: "OK",
	202: "Accepted",
	400: "Bad Request",
	401: "Unauthorized",
	403: "Forbidden",
	404: "Not Found",
	405: "Method Not Allowed",
	406: "Not Acceptable",
	408: "Request Timeout",
	415: "Unsupported Media Type",
	416: "Unsupported URI Scheme",
	420: "Bad Extension",
	422: "Session Interval Too Small",
	423: "Interval Too Brief",
	480: "Temporarily Unavailable",
	481: "Call/Transaction Does Not Exist",
	482: "Loop Detected",
	483: "Too Many Hops",
	486: "Busy Here",
	487: "Request Terminated",
	488: "Not Acceptable Here",
	489: "Bad Event",
	491: "Request Pending",
	500: "Server Internal Error",
	501: "Not Implemented",
	503: "Service Unavailable",
	504: "Server Time-out",
	505: "Version Not Supported",
	600: "Busy Everywhere",
	603: "Decline",
}

func phraseOf(code int) string {
	if p, ok := phrases[code]; ok {
		return p
	}
	return "Answer"
}
