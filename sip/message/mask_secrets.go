package message

import (
	"bytes"
	"strings"
)

// RelayHeader is the first header of a message that one node relays to another: the
// original source, or the destination.
const (
	RelayHeader      = "Callboard-Relay"
	RelayHeaderLower = "callboard-relay"
)

// MaskSecrets is a copy of a message without its secrets. They are hidden in each spelling that our parsers accept: folded
// lines, blanks, any case.
func MaskSecrets(b []byte) []byte {
	b = bytes.Clone(b)
	head, body := b, []byte(nil)
	if end := bytes.Index(b, []byte("\r\n\r\n")); end >= 0 {
		head, body = b[:end], b[end+4:]
	}
	digits := bytes.HasPrefix(head, []byte("INFO "))
	for len(head) > 0 {
		var line []byte
		line, head = CutHeader(head)
		hideURIs(line)
		name, value, found := bytes.Cut(line, []byte(":"))
		if !found {
			continue
		}
		switch name = bytes.TrimSpace(name); {
		case EqualHeaderName(name, "authorization"), EqualHeaderName(name, "proxy-authorization"):
			hideCredentials(value)
		case EqualHeaderName(name, RelayHeaderLower):
			overwrite(value)
		case EqualHeaderName(name, "content-type"), EqualHeaderName(name, "c"):
			digits = digits || bytes.Contains(bytes.ToLower(value), []byte("dtmf"))
		}
	}
	for line := range bytes.SplitSeq(body, []byte("\n")) {
		if digits {
			maskDTMF(line)
		} else {
			maskSDPKeys(line)
		}
	}
	return b
}

// CutHeader cuts off the first header with the lines over which it goes on.
func CutHeader(head []byte) (line, rest []byte) {
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
		overwrite(value)
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
			if IsAlnum(value[j]) {
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
				overwrite(user[colon+1 : end])
			}
		}
	}
}

// EqualHeaderName compares without regard to case; name is in small letters.
func EqualHeaderName(b []byte, name string) bool {
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

// maskDTMF hides the keys that an INFO tells, whatever its type.
func maskDTMF(line []byte) {
	name, value, found := bytes.Cut(line, []byte("="))
	switch {
	case !found:
		overwrite(line)
	case !bytes.EqualFold(bytes.TrimSpace(name), []byte("duration")):
		overwrite(value)
	}
}

// maskSDPKeys hides the keys of a line of SDP, and keeps the tag and the suite.
func maskSDPKeys(line []byte) {
	kind, value, found := bytes.Cut(line, []byte("="))
	if !found {
		return
	}
	switch strings.ToLower(strings.TrimSpace(string(kind))) {
	case "k":
		overwrite(value)
	case "a":
		name, rest, _ := bytes.Cut(value, []byte(":"))
		switch strings.ToLower(strings.TrimSpace(string(name))) {
		case "key-mgmt", "ice-pwd":
			overwrite(rest)
		case "crypto":
			rest = bytes.TrimLeft(rest, " \t")
			for range 2 {
				_, rest = cutField(rest)
			}
			if i := len("inline:"); len(rest) > i && bytes.EqualFold(rest[:i], []byte("inline:")) {
				rest = rest[i:]
			}
			overwrite(rest)
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

func overwrite(b []byte) {
	for i, c := range b {
		if c != '\r' && c != '\n' && c != ' ' && c != '\t' {
			b[i] = '*'
		}
	}
}
