package pathway

import (
	"strings"
	"unicode/utf8"
)

// MaxSpoken is the maximum length of a text after its placeholders are filled in, in
// bytes. Values come from callers and other services.
const MaxTextBytes = 8000

// placeholder is one {{name | fallback}} of a text.
type placeholder struct {
	name        string
	fallback    string
	hasFallback bool
}

// splitPlaceholders cuts a text into literals and placeholders, in order. An opening
// without its closing is literal.
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

// FillPlaceholders puts values into the {{name}} and {{name | fallback}} of a text. Values
// are data: braces in them mean nothing. The fallback stands in for a value
// that is missing or empty; without one a missing value leaves nothing, and
// its name is reported.
func FillPlaceholders(text string, values map[string]string) (filled string, missing []string) {
	filled, missing = fillWith(text, func(name string) (string, bool) {
		v, ok := values[name]
		return v, ok
	})
	return filled, missing
}

func fillWith(text string, value func(string) (string, bool)) (filled string, missing []string) {
	if !strings.Contains(text, "{{") {
		return truncateText(text), nil // shared by all calls of the pathway
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

// truncateText bounds a text without breaking a letter.
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

// placeholderNames are the variables that a text uses, those with a fallback apart.
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

// phoneKeysIn keeps the keys of a phone and drops everything else: filled digits
// are strangers' data.
func phoneKeysIn(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(phoneKeys, r) {
			return r
		}
		return -1
	}, strings.ToUpper(s))
}

// keys are those of a phone.
const phoneKeys = "0123456789*#ABCD"
