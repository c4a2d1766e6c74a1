package sip

import (
	"bytes"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	sipmsg "github.com/emiago/sipgo/sip"
)

const (
	methodInvite  = "INVITE"
	methodAck     = "ACK"
	methodBye     = "BYE"
	methodCancel  = "CANCEL"
	methodOptions = "OPTIONS"
	methodInfo    = "INFO"
	methodUpdate  = "UPDATE"
	methodPrack   = "PRACK"
	methodRefer   = "REFER"
	methodNotify  = "NOTIFY"
	methodMessage = "MESSAGE"

	contentSDP   = "application/sdp"
	contentRelay = "application/dtmf-relay"
	contentDTMF  = "application/dtmf"
	contentMixed = "multipart/mixed"
)

// maxVias is how many hops a request may have made. A user agent does not judge
// Max-Forwards (RFC 4475 section 3.3.11), and nodes that pass on are one.
const maxVias = 70

// message is a received message as the dialogs need it.
type message struct {
	method, version string // of the request line, or the version of the status line
	uri             sipmsg.Uri
	code            int // 0 for a request
	phrase          string
	vias            []*sipmsg.ViaHeader
	from, to        *party
	callID          string
	cseq            uint32
	proved          bool // the trunk, by digest
	traced          bool // belongs to a dialog, and so do its answers
	cseqMethod      string
	contact         string
	routes          []string // Record-Route, in order of appearance
	require         []string
	accept          []string // in lower case, without parameters; nil: no such header
	contentType     string
	encoding        string
	body            []byte // or the part of it that we understand, see selectPart
	partType        string // the content type of that part, with its parameters
	unknownPart     string // the kind of a part that we lack and must understand
	headers         []sipmsg.Header
	repeated        string // a single-value header that stands twice
	flow            flow
	trunk           string // of the source, as admitted
	phone           string // the account of the phone that calls, once proved
	raw             []byte // as received; the reader's, gone once the message is handled
	waited          time.Duration
	passed          *passed // by another node, or to be passed on; nil: it is for us
	traceTag        string
}

// party is a From or a To.
type party struct {
	value string // as received
	name  string
	uri   sipmsg.Uri
	tag   string
}

func (m *message) isRequest() bool { return m.code == 0 }

// spellMethod takes the method as it stands on the wire: sipgo writes all of it in capitals, and methods in other letters are
// other methods (RFC 3261 section 7.1).
func (m *message) spellMethod(raw []byte) {
	if method, _, found := bytes.Cut(raw, []byte(" ")); found && m.isRequest() && string(method) != m.method {
		m.method = string(method)
	}
}

// key names the dialog at our side: by From-tag for answers to our requests,
// by To-tag for requests of the far end.
func (m *message) key() dialogKey {
	if m.isRequest() {
		return dialogKey{m.callID, m.to.tag}
	}
	return dialogKey{m.callID, m.from.tag}
}

func (m *message) branch() string { return param(m.via().Params, "branch") }

// get is the first header of a name, "" without one.
func (m *message) get(name string) string {
	for _, h := range m.headers {
		if named(h.Name(), name) {
			return h.Value()
		}
	}
	return ""
}

// named compares header names, compact forms included.
func named(have, want string) bool {
	return strings.EqualFold(have, want) || len(have) == 1 && strings.EqualFold(canonical(have), want)
}

func (m *message) all(name string) []string {
	var found []string
	for _, h := range m.headers {
		if named(h.Name(), name) {
			found = append(found, h.Value())
		}
	}
	return found
}

// parsers are the headers that sipgo reads for us; the rest arrive as text,
// so that a broken Contact costs a 400 and not the message.
func parsers() map[string]sipmsg.HeaderParser {
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
	cseq := all["cseq"] // takes one space only, where the grammar allows more (RFC 3261 §25.1)
	kept["cseq"] = func(name []byte, value string) (sipmsg.Header, error) {
		return cseq(name, strings.Join(strings.Fields(value), " "))
	}
	return kept
}

// trimSentBy moves white space that may stand around the slashes and the colon of a Via (RFC 3261 §25.1) to its
// front, where the parser ignores it. The length stays, for the parser counts it in a list.
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

// compact forms (RFC 3261 7.3.3) and the spelling of names we look at.
func canonical(name string) string {
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

// read turns sipgo's message into ours. ok is false when not even an error
// could be answered.
func read(in sipmsg.Message) (m *message, ok bool) {
	m = &message{}
	switch in := in.(type) {
	case *sipmsg.Request:
		m.method, m.version, m.uri, m.headers = string(in.Method), in.SipVersion, in.Recipient, in.Headers()
	case *sipmsg.Response:
		m.code, m.version, m.phrase, m.headers = in.StatusCode, in.SipVersion, in.Reason, in.Headers()
		if m.code < 100 || m.code > 699 {
			return nil, false
		}
	default:
		return nil, false
	}
	m.body = in.Body()
	seen := make(map[string]bool, 8)
	for _, h := range m.headers {
		m.note(h, seen)
	}
	return m, len(m.vias) > 0 && len(m.vias) <= maxVias && m.from != nil && m.to != nil && m.callID != "" && m.cseqMethod != ""
}

// note files one header.
func (m *message) note(h sipmsg.Header, seen map[string]bool) {
	name := canonical(h.Name())
	switch name {
	case "from", "to", "call-id", "cseq", "max-forwards", "content-length", "content-type":
		if seen[name] {
			m.repeated = name
			return
		}
		seen[name] = true
	}
	switch h := h.(type) {
	case *sipmsg.ViaHeader:
		m.vias = append(m.vias, h)
		return
	case *sipmsg.FromHeader:
		m.from = &party{value: h.Value(), name: displayName(h.DisplayName), uri: h.Address, tag: param(h.Params, "tag")}
		return
	case *sipmsg.ToHeader:
		m.to = &party{value: h.Value(), name: displayName(h.DisplayName), uri: h.Address, tag: param(h.Params, "tag")}
		return
	case *sipmsg.CSeqHeader:
		m.cseq, m.cseqMethod = h.SeqNo, string(h.MethodName)
		return
	case *sipmsg.CallIDHeader:
		m.callID = h.Value()
		return
	}
	switch name {
	case "contact":
		if m.contact == "" {
			m.contact = address(firstOf(h.Value()))
		}
	case "record-route":
		for _, one := range list(h.Value()) {
			m.routes = append(m.routes, address(one))
		}
	case "require":
		m.require = append(m.require, list(h.Value())...)
	case "accept":
		m.accept = append(m.accept, "") // an empty header accepts nothing
		for _, one := range list(h.Value()) {
			m.accept = append(m.accept, strings.ToLower(strings.TrimSpace(before(one, ";"))))
		}
	case "content-type":
		m.contentType = strings.ToLower(strings.TrimSpace(before(h.Value(), ";")))
	case "content-encoding":
		m.encoding = strings.ToLower(strings.TrimSpace(h.Value()))
	}
}

// list splits a header value at the commas outside quotes and angle brackets.
func list(s string) []string {
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

func firstOf(s string) string {
	if all := list(s); len(all) > 0 {
		return all[0]
	}
	return ""
}

// address is the URI of a name-addr or addr-spec, with its URI parameters.
func address(s string) string {
	quote := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote && c == '\\':
			i++
		case c == '"':
			quote = !quote
		case c == '<' && !quote:
			return before(s[i+1:], ">")
		}
	}
	return strings.TrimSpace(before(s, ";"))
}

func before(s, sep string) string {
	head, _, _ := strings.Cut(s, sep)
	return head
}

func param(p sipmsg.HeaderParams, name string) string {
	for _, kv := range p {
		if strings.EqualFold(strings.TrimSpace(kv.K), name) {
			return strings.TrimSpace(kv.V)
		}
	}
	return ""
}

func hasParam(p sipmsg.HeaderParams, name string) bool {
	for _, kv := range p {
		if strings.EqualFold(strings.TrimSpace(kv.K), name) {
			return true
		}
	}
	return false
}

// displayName is the name that stands in quotes, as it is meant: quoted pairs are resolved, and what is no UTF-8 is read as
// ISO 8859-1, which is what else phones write.
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
	return strings.TrimSpace(strings.Map(printable, text))
}

// userOf is the user of a URI, unescaped (RFC 3261 section 19.1.2): a number most of the time. What cannot be unescaped stays
// as it is.
func userOf(u sipmsg.Uri) string {
	user := before(u.User, ";")
	if u.Scheme == "tel" {
		user = before(u.Raw(), ";")
	}
	if plain, ok := unescape(user); ok {
		return plain
	}
	return user
}

// reasonOf reads a Reason header (RFC 3326): its Q.850 cause and its text.
func reasonOf(values []string) (q850 int, text string) {
	for _, value := range values {
		for _, one := range list(value) {
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

func reasonHeader(q850 int, text string) string {
	value := "Q.850;cause=" + strconv.Itoa(q850)
	if text != "" {
		value += ";text=" + quoted(text)
	}
	return value
}
