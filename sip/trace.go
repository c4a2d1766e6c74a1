package sip

import (
	"bytes"
	"net/netip"
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
	Data          []byte // the receiver's to keep
}

// send puts a message of the dialog on the wire.
func (d *Dialog) send(to flow, b []byte, failed func(error)) error {
	if !d.untold {
		d.ua.trace(d.key.callID, to, true, b)
	}
	return d.ua.send(to, b, failed)
}

func (u *UserAgent) trace(callID string, f flow, out bool, b []byte) {
	if u.cfg.Trace == nil || len(b) == 0 {
		return
	}
	defer u.recovered("trace", nil)
	u.cfg.Trace(callID, TracedMessage{
		At: time.Now(), Out: out, Local: u.localOf(f), Remote: f.addr, Network: f.network, Data: masked(b),
	})
}

// heard traces a received message once it is known to belong to a dialog.
func (d *Dialog) heard(m *message) {
	if d.untold {
		return
	}
	m.traced = true
	d.ua.trace(m.callID, m.flow, false, m.raw)
}

// masked is a copy of a message without its secrets.
func masked(b []byte) []byte {
	b = bytes.Clone(b)
	head, body, _ := bytes.Cut(b, []byte("\r\n\r\n"))
	digits := false
	for line := range bytes.SplitSeq(head, []byte("\r\n")) {
		hideURIs(line)
		name, value, found := bytes.Cut(line, []byte(":"))
		if !found {
			continue
		}
		switch canonical(string(bytes.ToLower(bytes.TrimSpace(name)))) {
		case "authorization", "proxy-authorization":
			hideCredentials(value)
		case "content-type":
			digits = bytes.Contains(bytes.ToLower(value), []byte("dtmf"))
		}
	}
	for line := range bytes.SplitSeq(body, []byte("\n")) {
		hideBody(line, digits)
	}
	return b
}

// hideCredentials keeps who asks and where, and hides the proof.
func hideCredentials(value []byte) {
	value = bytes.TrimLeft(value, " \t")
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
		i := bytes.Index(bytes.ToLower(rest), []byte("sip"))
		if i < 0 {
			return
		}
		rest = bytes.TrimPrefix(rest[i+3:], []byte("s"))
		if len(rest) == 0 || rest[0] != ':' {
			continue
		}
		user := rest[1:]
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

func hideBody(line []byte, digits bool) {
	switch {
	case digits:
		if _, after, found := bytes.Cut(line, []byte("=")); !found {
			stars(line)
		} else if bytes.HasPrefix(bytes.ToLower(line), []byte("signal")) {
			stars(after)
		}
	case bytes.HasPrefix(line, []byte("a=crypto:")):
		if _, key, found := bytes.Cut(line, []byte("inline:")); found {
			stars(key)
		}
	case bytes.HasPrefix(line, []byte("k=")):
		stars(line[2:])
	}
}

func stars(b []byte) {
	for i, c := range b {
		if c != '\r' && c != ' ' && c != '\t' {
			b[i] = '*'
		}
	}
}
