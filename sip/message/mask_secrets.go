package message

import (
	"bytes"
	"strings"
)

// RelayHeader is the first header of a message that one node relays to another. It contains the original source or the
// destination of the message.
const (
	RelayHeader      = "Callboard-Relay"
	RelayHeaderLower = "callboard-relay"
)

// MaskSecrets returns a copy of a message in which asterisks replace its secrets. It recognizes them in every notation
// that the parsers accept: folded lines, white space, any case.
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

// CutHeader splits a header section after its first header, which includes its continuation lines.
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

// hideCredentials masks the response parameter of a digest header. User, realm and URI stay readable. A value of
// another scheme is masked completely.
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

// hideURIs masks the passwords in the SIP URIs of a line.
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

// EqualHeaderName reports whether a header name equals name without regard to case. name is in lower case.
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

// maskDTMF masks the pressed keys in a line of the body of an INFO, whatever the content type of the body is.
func maskDTMF(line []byte) {
	name, value, found := bytes.Cut(line, []byte("="))
	switch {
	case !found:
		overwrite(line)
	case !bytes.EqualFold(bytes.TrimSpace(name), []byte("duration")):
		overwrite(value)
	}
}

// maskSDPKeys masks the SRTP keys in a line of SDP. The tag and the crypto suite stay readable.
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

// cutField splits a text at its first space or tab.
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
