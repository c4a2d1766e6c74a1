package sip

import (
	"bytes"
	"net/netip"
	"strings"
	"time"
)

// Trace hears each message of a dialog, in the order in which this process
// sends and takes them. It runs on the path of the message: it must not block
// and must not call the dialog. The first message of a Call-ID is its INVITE;
// messages that belong to no dialog are not told. Whoever keeps them sets the
// bound.
type Trace func(callID string, m TracedMessage)

// TracedMessage is one message as it stood on the wire, but for its secrets:
// digest answers, SRTP keys, passwords in URIs and pressed keys are stars of
// the same length.
type TracedMessage struct {
	At            time.Time
	Out           bool // sent by us
	Local, Remote netip.AddrPort
	Network       string // udp, tcp or tls
	Tag           string // ours, of a dialog that came in, for others choose its Call-ID; "" of one of ours
	Data          []byte // the receiver's to keep
}

// send puts a message of the dialog on the wire.
func (d *Dialog) send(to flow, b []byte) error { return d.post(to, parcel{b: b}) }

// post sends a parcel and traces it, unless the environment forbids the flow.
func (d *Dialog) post(to flow, p parcel) error {
	if !d.inbound && !d.ua.allowsTarget(d.environment, to) {
		return ErrTestEnvironment
	}
	if !d.untold {
		d.ua.trace(d.key.callID, d.traceTag(), to, true, p.b)
	}
	return d.ua.post(to, p)
}

// traceTag tells dialogs that came in with the same Call-ID apart. That of a
// dialog of ours nobody else can have made.
func (d *Dialog) traceTag() string {
	if d.inbound {
		return d.key.tag
	}
	return ""
}

func (u *UserAgent) trace(callID, tag string, f flow, out bool, b []byte) {
	if u.cfg.Trace == nil || len(b) == 0 {
		return
	}
	defer u.recovered("trace", nil)
	u.cfg.Trace(callID, TracedMessage{
		At: time.Now(), Out: out, Local: u.localOf(f), Remote: f.addr, Network: f.network, Tag: tag, Data: masked(b),
	})
}

// heard traces a received message once it is known to belong to a dialog.
func (d *Dialog) heard(m *message) {
	if d.untold {
		return
	}
	m.traced, m.traceTag = true, d.traceTag()
	d.ua.trace(m.callID, m.traceTag, m.seen(), false, m.raw)
}

// masked is a copy of a message without its secrets. What our parsers take
// must be hidden in each spelling that they take: folded lines, blanks, any case.
func masked(b []byte) []byte {
	b = bytes.Clone(b)
	head, body := b, []byte(nil)
	if end := bytes.Index(b, []byte("\r\n\r\n")); end >= 0 {
		head, body = b[:end], b[end+4:]
	}
	digits := bytes.HasPrefix(head, []byte("INFO "))
	for len(head) > 0 {
		var line []byte
		line, head = firstHeader(head)
		hideURIs(line)
		name, value, found := bytes.Cut(line, []byte(":"))
		if !found {
			continue
		}
		switch name = bytes.TrimSpace(name); {
		case isName(name, "authorization"), isName(name, "proxy-authorization"):
			hideCredentials(value)
		case isName(name, sealLower):
			stars(value)
		case isName(name, "content-type"), isName(name, "c"):
			digits = digits || bytes.Contains(bytes.ToLower(value), []byte("dtmf"))
		}
	}
	for line := range bytes.SplitSeq(body, []byte("\n")) {
		if digits {
			hideDigits(line)
		} else {
			hideKeys(line)
		}
	}
	return b
}

// firstHeader cuts off the first header with the lines over which it goes on.
func firstHeader(head []byte) (line, rest []byte) {
	for from := 0; ; {
		i := bytes.Index(head[from:], []byte("\r\n"))
		if i < 0 {
			return head, nil
		}
		from += i + 2
		if from == len(head) || head[from] != ' ' && head[from] != '\t' {
			return head[:from-2], head[from:]
		}
	}
}

// hideCredentials keeps who asks and where, and hides the proof.
func hideCredentials(value []byte) {
	value = bytes.TrimLeft(value, " \t\r\n")
	lower := bytes.ToLower(value)
	if !bytes.HasPrefix(lower, []byte("digest ")) {
		stars(value)
		return
	}
	for start := 0; ; {
		i := bytes.Index(lower[start:], []byte("response"))
		if i < 0 {
			return
		}
		start += i + len("response")
		end := len(value)
		if comma := bytes.IndexByte(value[start:], ','); comma >= 0 {
			end = start + comma
		}
		for j := start; j < end; j++ {
			if isAlnum(value[j]) {
				value[j] = '*'
			}
		}
	}
}

// hideURIs hides the passwords of SIP URIs.
func hideURIs(line []byte) {
	for rest := line; ; {
		colon := bytes.IndexByte(rest, ':')
		if colon < 0 {
			return
		}
		scheme, user := rest[:colon], rest[colon+1:]
		rest = user
		if !endsIn(scheme, "sip") && !endsIn(scheme, "sips") {
			continue
		}
		if end := bytes.IndexAny(user, " \t<>\"\r\n"); end >= 0 {
			user = user[:end]
		}
		if end := bytes.IndexByte(user, '@'); end >= 0 {
			if colon := bytes.IndexByte(user[:end], ':'); colon >= 0 {
				stars(user[colon+1 : end])
			}
		}
	}
}

// isName compares without regard to case; name is in small letters.
func isName(b []byte, name string) bool {
	return len(b) == len(name) && endsIn(b, name)
}

func endsIn(b []byte, name string) bool {
	if len(b) < len(name) {
		return false
	}
	b = b[len(b)-len(name):]
	for i := range b {
		if lower(b[i]) != name[i] {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// hideDigits hides the keys that an INFO tells, whatever its type.
func hideDigits(line []byte) {
	name, value, found := bytes.Cut(line, []byte("="))
	switch {
	case !found:
		stars(line)
	case !bytes.EqualFold(bytes.TrimSpace(name), []byte("duration")):
		stars(value)
	}
}

// hideKeys hides the keys of a line of SDP, and keeps the tag and the suite.
func hideKeys(line []byte) {
	kind, value, found := bytes.Cut(line, []byte("="))
	if !found {
		return
	}
	switch strings.ToLower(strings.TrimSpace(string(kind))) {
	case "k":
		stars(value)
	case "a":
		name, rest, _ := bytes.Cut(value, []byte(":"))
		switch strings.ToLower(strings.TrimSpace(string(name))) {
		case "key-mgmt", "ice-pwd":
			stars(rest)
		case "crypto":
			rest = bytes.TrimLeft(rest, " \t")
			for range 2 {
				_, rest = cutField(rest)
			}
			if i := len("inline:"); len(rest) > i && bytes.EqualFold(rest[:i], []byte("inline:")) {
				rest = rest[i:]
			}
			stars(rest)
		}
	}
}

// cutField parts a text at its first blanks.
func cutField(text []byte) (field, rest []byte) {
	i := bytes.IndexAny(text, " \t")
	if i < 0 {
		return text, nil
	}
	return text[:i], bytes.TrimLeft(text[i:], " \t")
}

func stars(b []byte) {
	for i, c := range b {
		if c != '\r' && c != '\n' && c != ' ' && c != '\t' {
			b[i] = '*'
		}
	}
}
