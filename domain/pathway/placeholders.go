package pathway

import (
	"strings"
	"unicode/utf8"
)

// MaxTextBytes limits a text after its placeholders are replaced, because the values come from callers and other
// services.
const MaxTextBytes = 8000

// placeholder is one {{name}} or {{name | fallback}} in a text.
type placeholder struct {
	name        string
	fallback    string
	hasFallback bool
}

// splitPlaceholders calls literal and hole for the literal parts and the placeholders of a text, in order. "{{"
// without "}}" is literal.
func splitPlaceholders(text string, literal func(string), hole func(placeholder)) {
	for {
		open := strings.Index(text, "{{")
		if open < 0 {
			break
		}
		end := strings.Index(text[open+2:], "}}")
		if end < 0 {
			break
		}
		literal(text[:open])
		name, fallback, has := strings.Cut(text[open+2:open+2+end], "|")
		hole(placeholder{strings.TrimSpace(name), strings.TrimSpace(fallback), has})
		text = text[open+2+end+2:]
	}
	literal(text)
}

// FillPlaceholders replaces {{name}} and {{name | fallback}} in a text with values. Placeholders in values are not
// replaced. The fallback replaces a missing or empty value. A missing value without a fallback is replaced with "" and
// listed in missing.
func FillPlaceholders(text string, values map[string]string) (filled string, missing []string) {
	filled, missing = fillWith(text, func(name string) (string, bool) {
		v, ok := values[name]
		return v, ok
	})
	return filled, missing
}

func fillWith(text string, value func(string) (string, bool)) (filled string, missing []string) {
	if !strings.Contains(text, "{{") {
		return truncateText(text), nil // this text is shared by all calls of the pathway
	}
	var b strings.Builder
	splitPlaceholders(text, func(s string) { b.WriteString(s) }, func(p placeholder) {
		v, ok := value(p.name)
		switch {
		case strings.TrimSpace(v) != "":
			b.WriteString(v)
		case p.hasFallback:
			b.WriteString(p.fallback)
		case !ok:
			missing = append(missing, p.name)
		}
	})
	return truncateText(b.String()), missing
}

// truncateText limits a text to MaxTextBytes without splitting a character.
func truncateText(s string) string {
	if len(s) <= MaxTextBytes {
		return s
	}
	n := MaxTextBytes
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// placeholderNames returns the variables that a text uses. needed have no fallback, and optional have one.
func placeholderNames(text string) (needed, optional []string) {
	splitPlaceholders(text, func(string) {}, func(p placeholder) {
		if p.hasFallback {
			optional = append(optional, p.name)
			return
		}
		needed = append(needed, p.name)
	})
	return needed, optional
}

// phoneKeysIn returns the phone keys in a text and drops other characters, because the text may contain untrusted
// values.
func phoneKeysIn(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(phoneKeys, r) {
			return r
		}
		return -1
	}, strings.ToUpper(s))
}

// phoneKeys are the keys of a phone.
const phoneKeys = "0123456789*#ABCD"
