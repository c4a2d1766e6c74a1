package sip

import (
	"slices"
	"strings"
)

const allow = "INVITE, ACK, CANCEL, BYE, OPTIONS, INFO, UPDATE"

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
			return len(m.callID) > 256 || len(m.from.tag) > 128 || len(m.to.tag) > 128 || len(m.branch()) > 256
		}},
		{"method unknown", 501, func(m *message) bool { return !slices.Contains(methods(), m.method) }},
		{"scheme", 416, func(m *message) bool { return !slices.Contains([]string{"sip", "sips", "tel"}, m.uri.Scheme) }},
		{"hops used up", 483, func(m *message) bool { return m.hops == 0 }},
		{"extension required", 420, func(m *message) bool { return len(m.require) > 0 && m.method != methodCancel }},
		{"method not served", 405, func(m *message) bool { return !strings.Contains(allow, m.method) }},
		{"contact missing", 400, func(m *message) bool { return m.method == methodInvite && !isSIPURI(m.contact) }},
		{"content encoded", 415, func(m *message) bool {
			return len(m.body) > 0 && m.encoding != "" && m.encoding != "identity"
		}},
		{"content type", 415, func(m *message) bool {
			return len(m.body) > 0 && m.contentType != contentSDP &&
				(m.method == methodInvite || m.method == methodUpdate)
		}},
	}
}

// methods are those that exist; the ones we do not serve get 405, others 501.
func methods() []string {
	return []string{
		methodInvite, methodAck, methodBye, methodCancel, methodOptions, methodInfo, methodUpdate,
		"REGISTER", "SUBSCRIBE", "NOTIFY", "REFER", "MESSAGE", "PRACK", "PUBLISH",
	}
}

func isSIPURI(s string) bool {
	s = strings.ToLower(s)
	return strings.HasPrefix(s, "sip:") || strings.HasPrefix(s, "sips:")
}

// phrases of the answers we give.
func phraseOf(code int) string {
	switch code {
	case 100:
		return "Trying"
	case 180:
		return "Ringing"
	case 183:
		return "Session Progress"
	case 200:
		return "OK"
	case 400:
		return "Bad Request"
	case 403:
		return "Forbidden"
	case 404:
		return "Not Found"
	case 405:
		return "Method Not Allowed"
	case 408:
		return "Request Timeout"
	case 415:
		return "Unsupported Media Type"
	case 416:
		return "Unsupported URI Scheme"
	case 420:
		return "Bad Extension"
	case 480:
		return "Temporarily Unavailable"
	case 481:
		return "Call/Transaction Does Not Exist"
	case 482:
		return "Loop Detected"
	case 483:
		return "Too Many Hops"
	case 486:
		return "Busy Here"
	case 487:
		return "Request Terminated"
	case 488:
		return "Not Acceptable Here"
	case 491:
		return "Request Pending"
	case 500:
		return "Server Internal Error"
	case 501:
		return "Not Implemented"
	case 503:
		return "Service Unavailable"
	case 505:
		return "Version Not Supported"
	case 600:
		return "Busy Everywhere"
	case 603:
		return "Decline"
	default:
		return "Answer"
	}
}
