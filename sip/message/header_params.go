package message

import (
	"strings"

	sipmsg "github.com/emiago/sipgo/sip"
)

// ContactParam returns a parameter of a Contact header. It ignores the parameters of the URI in that header.
func ContactParam(contact, name string) (string, bool) {
	rest := contact
	if end := uriEnd(contact); end >= 0 {
		rest = contact[end+1:]
	}
	_, rest, found := strings.Cut(rest, ";")
	for found {
		var one string
		one, rest, found = strings.Cut(rest, ";")
		key, value, _ := strings.Cut(one, "=")
		if strings.EqualFold(strings.TrimSpace(key), name) {
			return strings.Trim(strings.TrimSpace(value), `"`), true
		}
	}
	return "", false
}

// uriEnd returns the index of the ">" that ends the URI of a name-addr; -1 if there is no such character.
func uriEnd(s string) int {
	quote, angle := false, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote && c == '\\':
			i++
		case c == '"' && !angle:
			quote = !quote
		case quote:
		case c == '<':
			angle = true
		case c == '>' && angle:
			return i
		}
	}
	return -1
}

// ParamValue returns the value of the parameter with this name; "" if it does not exist.
func ParamValue(p sipmsg.HeaderParams, name string) string {
	for _, kv := range p {
		if strings.EqualFold(strings.TrimSpace(kv.K), name) {
			return strings.TrimSpace(kv.V)
		}
	}
	return ""
}

// HasParam reports whether a parameter with this name exists.
func HasParam(p sipmsg.HeaderParams, name string) bool {
	for _, kv := range p {
		if strings.EqualFold(strings.TrimSpace(kv.K), name) {
			return true
		}
	}
	return false
}
