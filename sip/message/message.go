// Package message parses and writes SIP messages (RFC 3261).
//
// A Message is read from a message that sipgo has parsed. A Writer writes messages and refuses values that would
// add a header.
package message

import (
	"bytes"
	"strings"

	sipmsg "github.com/emiago/sipgo/sip"
)

// Methods of SIP requests, and content types of their bodies.
const (
	MethodInvite   = "INVITE"
	MethodAck      = "ACK"
	MethodBye      = "BYE"
	MethodCancel   = "CANCEL"
	MethodOptions  = "OPTIONS"
	MethodInfo     = "INFO"
	MethodUpdate   = "UPDATE"
	MethodPrack    = "PRACK"
	MethodRefer    = "REFER"
	MethodNotify   = "NOTIFY"
	MethodMessage  = "MESSAGE"
	MethodRegister = "REGISTER"

	ContentSDP       = "application/sdp"
	ContentDTMFRelay = "application/dtmf-relay"
	ContentDTMF      = "application/dtmf"
	ContentMixed     = "multipart/mixed"
	ContentCPIM      = "message/cpim"
	ContentText      = "text/plain"
	ContentSipfrag   = "message/sipfrag"
)

// MaxVias is the maximum number of Via values of a message. Max-Forwards is not checked, because a user agent does not
// check it (RFC 4475 §3.3.11). The nodes of an installation count as one user agent.
const MaxVias = 70

// Message is a received message.
type Message struct {
	Method, Version string // of the request line, or the version of the status line
	URI             sipmsg.Uri
	Code            int // 0 for a request
	Phrase          string
	Vias            []*sipmsg.ViaHeader
	Relayed         bool // another node relayed the message, whose Via is the topmost
	From, To        *Party
	CallID          string
	CSeq            uint32
	CSeqMethod      string
	Contact         string
	Routes          []string // Record-Route, in order of appearance
	require         []string
	accept          []string // content types in lower case, without parameters; nil: no Accept header
	ContentType     string
	Encoding        string
	Body            []byte // the whole body, or the part that Callboard understands, see SelectBodyPart
	PartType        string // content type of that part, with its parameters
	UnknownPart     string // content type of a required part that is not understood
	Headers         []sipmsg.Header
	RepeatedHeader  string // name of a single-value header that occurs twice
}

// Party is a From or a To header.
type Party struct {
	Value string // as received
	Name  string
	URI   sipmsg.Uri
	Tag   string
}

// IsRequest reports whether a message is a request.
func (m *Message) IsRequest() bool { return m.Code == 0 }

// RestoreMethodCase sets the method as it was on the wire. Methods are case-sensitive (RFC 3261 §7.1), but sipgo
// converts them to upper case.
func (m *Message) RestoreMethodCase(raw []byte) {
	if method, _, found := bytes.Cut(raw, []byte(" ")); found && m.IsRequest() && string(method) != m.Method {
		m.Method = string(method)
	}
}

// Branch returns the branch of the Via that the original sender wrote.
func (m *Message) Branch() string { return ParamValue(m.SenderVia().Params, "branch") }

// HeaderValue returns the value of the first header with this name; "" if there is none.
func (m *Message) HeaderValue(name string) string {
	for _, h := range m.Headers {
		if named(h.Name(), name) {
			return h.Value()
		}
	}
	return ""
}

// named reports whether two header names are equal, including compact forms.
func named(have, want string) bool {
	return strings.EqualFold(have, want) || len(have) == 1 && strings.EqualFold(CanonicalName(have), want)
}

// HeaderValues returns the values of all headers with this name.
func (m *Message) HeaderValues(name string) []string {
	var found []string
	for _, h := range m.Headers {
		if named(h.Name(), name) {
			found = append(found, h.Value())
		}
	}
	return found
}

// HeaderParsers returns the parsers of the headers that sipgo shall parse. sipgo passes all other headers as text, so
// that a malformed Contact is answered with 400 instead of dropping the message.
func HeaderParsers() map[string]sipmsg.HeaderParser {
	kept := make(map[string]sipmsg.HeaderParser)
	all := sipmsg.DefaultHeadersParser()
	for _, name := range []string{
		"f", "from", "to", "t", "i", "call-id", "cseq", "via", "v", "max-forwards", "content-length", "l",
	} {
		kept[name] = all[name]
	}
	via := all["via"]
	kept["via"] = func(name []byte, value string) (sipmsg.Header, error) { return via(name, trimSentBy(value)) }
	kept["v"] = kept["via"]
	cseq := all["cseq"] // accepts one space only, although the grammar allows more (RFC 3261 §25.1)
	kept["cseq"] = func(name []byte, value string) (sipmsg.Header, error) {
		return cseq(name, strings.Join(strings.Fields(value), " "))
	}
	return kept
}

// trimSentBy moves white space around the slashes and the colon of a Via (RFC 3261 §25.1) to its front, where sipgo's
// parser ignores it. The length stays the same, because the parser uses it to find the next value of a list.
func trimSentBy(value string) string {
	head := value[:strings.IndexAny(value+";", ";,")]
	var b strings.Builder
	for field := range strings.FieldsSeq(head) {
		s := b.String()
		first, last := field[0], byte('/')
		if s != "" {
			last = s[len(s)-1]
		}
		joins := first == '/' || last == '/' || last == ':' || first == ':' && !strings.HasPrefix(field, "::")
		if !joins {
			b.WriteByte(' ')
		}
		b.WriteString(field)
	}
	return strings.Repeat(" ", len(head)-b.Len()) + b.String() + value[len(head):]
}

// CanonicalName returns the full name of a header in lower case. It expands compact forms (RFC 3261 §7.3.3).
func CanonicalName(name string) string {
	switch lower := strings.ToLower(name); lower {
	case "v":
		return "via"
	case "f":
		return "from"
	case "t":
		return "to"
	case "i":
		return "call-id"
	case "m":
		return "contact"
	case "l":
		return "content-length"
	case "c":
		return "content-type"
	case "e":
		return "content-encoding"
	case "k":
		return "supported"
	case "x":
		return "session-expires"
	case "r":
		return "refer-to"
	case "b":
		return "referred-by"
	case "o":
		return "event"
	case "y":
		return "identity"
	default:
		return lower
	}
}

// Parse copies the contents of a message that sipgo has parsed. ok is false if the message lacks a header without which
// not even an error response can be written.
func (m *Message) Parse(in sipmsg.Message) (ok bool) {
	switch in := in.(type) {
	case *sipmsg.Request:
		m.Method, m.Version, m.URI, m.Headers = string(in.Method), in.SipVersion, in.Recipient, in.Headers()
	case *sipmsg.Response:
		m.Code, m.Version, m.Phrase, m.Headers = in.StatusCode, in.SipVersion, in.Reason, in.Headers()
		if m.Code < 100 || m.Code > 699 {
			return false
		}
	default:
		return false
	}
	m.Body = in.Body()
	seen := make(map[string]bool, 8)
	for _, h := range m.Headers {
		m.addHeader(h, seen)
	}
	return len(m.Vias) > 0 && len(m.Vias) <= MaxVias && m.From != nil && m.To != nil && m.CallID != "" && m.CSeqMethod != ""
}

// addHeader stores the contents of one header in the fields of m. seen holds the names of single-value headers so far.
func (m *Message) addHeader(h sipmsg.Header, seen map[string]bool) {
	name := CanonicalName(h.Name())
	switch name {
	case "from", "to", "call-id", "cseq", "max-forwards", "content-length", "content-type":
		if seen[name] {
			m.RepeatedHeader = name
			return
		}
		seen[name] = true
	}
	switch h := h.(type) {
	case *sipmsg.ViaHeader:
		m.Vias = append(m.Vias, h)
		return
	case *sipmsg.FromHeader:
		m.From = &Party{Value: h.Value(), Name: displayName(h.DisplayName), URI: h.Address, Tag: ParamValue(h.Params, "tag")}
		return
	case *sipmsg.ToHeader:
		m.To = &Party{Value: h.Value(), Name: displayName(h.DisplayName), URI: h.Address, Tag: ParamValue(h.Params, "tag")}
		return
	case *sipmsg.CSeqHeader:
		m.CSeq, m.CSeqMethod = h.SeqNo, string(h.MethodName)
		return
	case *sipmsg.CallIDHeader:
		m.CallID = h.Value()
		return
	}
	switch name {
	case "contact":
		if m.Contact == "" {
			m.Contact = ReadURI(firstOfList(h.Value()))
		}
	case "record-route":
		for _, one := range SplitList(h.Value()) {
			m.Routes = append(m.Routes, ReadURI(one))
		}
	case "require":
		m.require = append(m.require, SplitList(h.Value())...)
	case "accept":
		m.accept = append(m.accept, "") // an empty Accept header accepts nothing
		for _, one := range SplitList(h.Value()) {
			m.accept = append(m.accept, strings.ToLower(strings.TrimSpace(TextBefore(one, ";"))))
		}
	case "content-type":
		m.ContentType = strings.ToLower(strings.TrimSpace(TextBefore(h.Value(), ";")))
	case "content-encoding":
		m.Encoding = strings.ToLower(strings.TrimSpace(h.Value()))
	}
}

// SenderVia returns the Via that the original sender wrote, below the Via of a relaying node.
func (m *Message) SenderVia() *sipmsg.ViaHeader {
	if m.Relayed && len(m.Vias) > 1 {
		return m.Vias[1]
	}
	return m.Vias[0]
}
