package sip

import "strings"

// contactParam is a parameter of the header, not of the URI, in a name-addr.
func contactParam(contact, name string) (string, bool) {
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

// uriEnd is the place of the ">" that ends the URI of a name-addr; -1: there
// is none.
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

// every are all values of a header, its compact form included.
func (m *message) every(name string) []string {
	var found []string
	for _, h := range m.headers {
		if canonical(h.Name()) == name {
			found = append(found, h.Value())
		}
	}
	return found
}
