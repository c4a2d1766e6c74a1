package sip

import "strings"

// maxParams bounds the parameters of one header; more are not looked at.
const maxParams = 32

// params are the comma-separated name=value pairs of a digest header, names
// in lower case, quotes taken off.
type params []struct{ name, value string }

func (p params) get(name string) (string, bool) {
	for _, kv := range p {
		if kv.name == name {
			return kv.value, true
		}
	}
	return "", false
}

// repeated tells whether a name stands twice: of two values nobody knows
// which one counts.
func (p params) repeated() bool {
	for i, kv := range p {
		if _, twice := p[:i].get(kv.name); twice {
			return true
		}
	}
	return false
}

// paramsOf reads them; what is no pair is skipped.
func paramsOf(s string) params {
	var out params
	for s != "" && len(out) < maxParams {
		s = strings.TrimLeft(s, ", \t")
		end := strings.IndexAny(s, "=,")
		if end < 0 {
			break
		}
		if s[end] == ',' {
			s = s[end+1:]
			continue
		}
		name := strings.ToLower(strings.TrimSpace(s[:end]))
		var value string
		value, s = paramValue(strings.TrimLeft(s[end+1:], " \t"))
		if isToken(name) {
			out = append(out, struct{ name, value string }{name, value})
		}
	}
	return out
}

// paramValue reads a token or a quoted string and returns what follows it.
func paramValue(s string) (value, rest string) {
	if s == "" || s[0] != '"' {
		value, rest, _ = strings.Cut(s, ",")
		return strings.TrimSpace(value), rest
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			return b.String(), s[i+1:]
		case '\\':
			i++
			if i == len(s) {
				return b.String(), ""
			}
			fallthrough
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String(), ""
}
