package message

import "strings"

// maxParams is the maximum number of parameters that are read from one header. Further parameters are ignored.
const maxParams = 32

// AuthParams are the comma-separated name=value pairs of a digest header, with names in lower case and values
// without quotes.
type AuthParams []struct{ name, value string }

// Get returns the value of a parameter, and whether the parameter exists.
func (p AuthParams) Get(name string) (string, bool) {
	for _, kv := range p {
		if kv.name == name {
			return kv.value, true
		}
	}
	return "", false
}

// HasRepeated reports whether a name occurs twice, which makes its value ambiguous.
func (p AuthParams) HasRepeated() bool {
	for i, kv := range p {
		if _, twice := p[:i].Get(kv.name); twice {
			return true
		}
	}
	return false
}

// ParseAuthParams parses the parameters of a digest header. Parts without an equals sign are skipped.
func ParseAuthParams(s string) AuthParams {
	var out AuthParams
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
		if IsToken(name) {
			out = append(out, struct{ name, value string }{name, value})
		}
	}
	return out
}

// paramValue reads a token or a quoted string at the start of s. rest is the text after it.
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
