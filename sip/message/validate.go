package message

import (
	"slices"
	"strings"
)

// The values of the headers Allow and Supported.
const (
	AllowedMethods      = "INVITE, ACK, CANCEL, BYE, OPTIONS, INFO, UPDATE, PRACK, REFER, NOTIFY, MESSAGE"
	SupportedExtensions = "timer, replaces, 100rel"
)

// validationRule is a rule that a request must satisfy and that the parser does not check.
type validationRule struct {
	name   string
	code   int
	broken func(*Message) bool
}

// rules are checked in order. The status code of the first broken rule is sent. Rules that depend on dialogs (481, 482,
// 491) are checked in package sip.
var rules = []validationRule{
	{"version", 505, func(m *Message) bool { return m.Version != "SIP/2.0" }},
	{"repeated header", 400, func(m *Message) bool { return m.RepeatedHeader != "" }},
	{"CSeq of another method", 400, func(m *Message) bool { return m.CSeqMethod != m.Method }},
	{"From without tag", 400, func(m *Message) bool { return m.From.Tag == "" }},
	{"oversized name", 400, func(m *Message) bool {
		return len(m.CallID) > 256 || len(m.From.Tag) > 256 || len(m.To.Tag) > 256 || len(m.Branch()) > 256
	}},
	{"method unknown", 501, func(m *Message) bool { return !slices.Contains(KnownMethods(), m.Method) }},
	{"scheme", 416, func(m *Message) bool { return !slices.Contains([]string{"sip", "sips", "tel"}, m.URI.Scheme) }},
	{"extension required", 420, func(m *Message) bool { return len(m.UnsupportedExtensions()) > 0 && m.Method != MethodCancel }},
	{"method not served", 405, func(m *Message) bool {
		return m.Method != MethodRegister && !strings.Contains(AllowedMethods, m.Method)
	}},
	{"contact missing", 400, func(m *Message) bool { return m.Method == MethodInvite && !IsSIPURI(m.Contact) }},
	{"answer not accepted", 406, func(m *Message) bool {
		return m.Method == MethodInvite && m.accept != nil && !slices.ContainsFunc(m.accept, func(a string) bool {
			return a == ContentSDP || a == "application/*" || a == "*/*"
		})
	}},
	{"content encoded", 415, func(m *Message) bool {
		return len(m.Body) > 0 && m.Encoding != "" && m.Encoding != "identity"
	}},
	{"content type", 415, func(m *Message) bool {
		return len(m.Body) > 0 && m.ContentType != ContentSDP &&
			(m.Method == MethodInvite || m.Method == MethodUpdate)
	}},
	{"part not understood", 415, func(m *Message) bool {
		return m.UnknownPart != "" && slices.Contains([]string{MethodInvite, MethodUpdate, MethodPrack, MethodInfo, MethodMessage}, m.Method)
	}},
}

// Validate returns the status code and the name of the first rule that a request breaks; code is 0 if it breaks none.
func (m *Message) Validate() (code int, rule string) {
	for i := range rules {
		if rules[i].broken(m) {
			return rules[i].code, rules[i].name
		}
	}
	return 0, ""
}

// ValidationRules returns the status code of each rule, by its name.
func ValidationRules() map[string]int {
	codes := make(map[string]int, len(rules))
	for _, r := range rules {
		codes[r.name] = r.code
	}
	return codes
}

// KnownMethods returns the methods of SIP and its extensions. A known but unsupported method gets 405, an unknown
// method 501.
func KnownMethods() []string {
	return []string{
		MethodInvite, MethodAck, MethodBye, MethodCancel, MethodOptions, MethodInfo, MethodUpdate, MethodPrack, MethodRefer, MethodNotify,
		MethodMessage, "REGISTER", "SUBSCRIBE", "PUBLISH",
	}
}

// UnsupportedExtensions returns the extensions that a request requires and Callboard does not support.
func (m *Message) UnsupportedExtensions() []string {
	var lacking []string
	for _, option := range m.require {
		if !hasToken(SplitList(SupportedExtensions), option) {
			lacking = append(lacking, option)
		}
	}
	return lacking
}
