package message

import (
	"fmt"
	"strconv"
	"strings"

	sipmsg "github.com/emiago/sipgo/sip"
)

// IsSingleLine reports whether a text has no CR, LF or NUL.
func IsSingleLine(s string) bool { return !strings.ContainsAny(s, "\r\n\x00") }

// IsToken reports whether a text is a token (RFC 3261 §25.1).
func IsToken(s string) bool {
	for i := range len(s) {
		if !IsAlnum(s[i]) && !strings.ContainsRune("-.!%*_+`'~", rune(s[i])) {
			return false
		}
	}
	return s != ""
}

// IsAlnum reports whether a character is an ASCII letter or digit.
func IsAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// EscapeUser escapes the user part of a telephone URI (RFC 3261 §25.1). It returns an error if the user contains
// characters that Callboard does not allow in a user.
func EscapeUser(s string) (string, error) {
	for i := range len(s) {
		if !IsAlnum(s[i]) && !strings.ContainsRune("+-_.!~*#", rune(s[i])) {
			return "", fmt.Errorf("sip: %q is not a valid user", s)
		}
	}
	if s == "" || len(s) > 64 {
		return "", fmt.Errorf("sip: %q is not a valid user", s)
	}
	return strings.ReplaceAll(s, "#", "%23"), nil
}

// IsHost reports whether a text has only characters of a host name or an IP address.
func IsHost(s string) bool {
	for i := range len(s) {
		if !IsAlnum(s[i]) && !strings.ContainsRune("-._:[]", rune(s[i])) {
			return false
		}
	}
	return s != "" && len(s) <= 253
}

// QuoteString returns a display name or a text as a quoted string (RFC 3261 §25.1).
func QuoteString(s string) string {
	if !strings.ContainsAny(s, `\"`) {
		return `"` + s + `"`
	}
	return `"` + strings.ReplaceAll(strings.ReplaceAll(s, `\`, `\\`), `"`, `\"`) + `"`
}

// ReplaceControlChar returns a space for a control character, and any other character unchanged. It is meant for
// strings.Map.
func ReplaceControlChar(r rune) rune {
	if r < ' ' || r == 0x7F {
		return ' '
	}
	return r
}

// IsMethod reports whether a text can be a method (RFC 3261 §25.1).
func IsMethod(b []byte) bool { return IsToken(string(b)) }

// IsSIPURI reports whether a text begins with sip: or sips:.
func IsSIPURI(s string) bool {
	s = strings.ToLower(s)
	return strings.HasPrefix(s, "sip:") || strings.HasPrefix(s, "sips:")
}

// hasOnlyURIChars reports whether a text has only characters that a URI may contain.
func hasOnlyURIChars(s string) bool {
	for i := range len(s) {
		if !IsAlnum(s[i]) && !strings.ContainsRune("-_.!~*'()%&=+$,;?/:@[]", rune(s[i])) {
			return false
		}
	}
	return s != ""
}

// IsDialable reports whether a text is a sip:, sips: or tel: URI without headers.
func IsDialable(uri string) bool {
	if !hasOnlyURIChars(uri) || strings.Contains(uri, "?") {
		return false
	}
	scheme, rest, _ := strings.Cut(uri, ":")
	if strings.EqualFold(scheme, "tel") {
		number, _, _ := strings.Cut(rest, ";")
		_, err := EscapeUser(number)
		return err == nil
	}
	var parsed sipmsg.Uri
	if !IsSIPURI(uri) || sipmsg.ParseUri(uri, &parsed) != nil || !IsHost(parsed.Host) {
		return false
	}
	method := ParamValue(parsed.UriParams, "method")
	return method == "" || method == MethodInvite
}

// EscapeHeaderValue escapes a header value for a URI (hvalue of RFC 3261 §25.1).
func EscapeHeaderValue(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if IsAlnum(s[i]) || strings.ContainsRune("-_.!~*'()", rune(s[i])) {
			b.WriteByte(s[i])
			continue
		}
		fmt.Fprintf(&b, "%%%02X", s[i])
	}
	return b.String()
}

func unescape(s string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b.WriteByte(s[i])
			continue
		}
		if i+2 >= len(s) {
			return "", false
		}
		c, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
		if err != nil {
			return "", false
		}
		b.WriteByte(byte(c))
		i += 2
	}
	return b.String(), IsSingleLine(b.String())
}

func isCallID(s string) bool {
	for i := range len(s) {
		if !IsAlnum(s[i]) && !strings.ContainsRune(`-.!%*_+'~()<>:\"/[]?{}@`+"`", rune(s[i])) {
			return false
		}
	}
	return s != ""
}

// maxContactURI is the maximum length of the URI in a Contact.
const maxContactURI = 256

// IsContactURI reports whether the URI of a Contact can be used as a Request-URI.
func IsContactURI(s string) bool {
	var u sipmsg.Uri
	return IsSIPURI(s) && len(s) <= maxContactURI && IsSingleLine(s) && !strings.ContainsAny(s, "<>\" \t") &&
		sipmsg.ParseUri(s, &u) == nil && u.Host != "" && len(u.Headers) == 0
}
