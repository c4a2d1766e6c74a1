package pathway

import (
	"fmt"
	"html"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxTextBytes limits a text after its placeholders are replaced, because the values come from callers and other
// services.
const MaxTextBytes = 8000

// placeholder is one {{name}}, {{name | fallback}}, {{name | say-as: form}} or {{name | fallback | say-as: form}} in a
// text.
type placeholder struct {
	name        string
	fallback    string
	hasFallback bool
	hasSayAs    bool   // false: the text around the value decides how it is spoken
	sayAs       string // one of SayAsForms
}

// SayAsForms are the forms of say-as in a placeholder. An ISO 4217 code follows "money:".
func SayAsForms() []string {
	return []string{"cardinal", "date", "digits", "money:EUR", "ordinal", "spell", "telephone", "time", "verbatim", "year"}
}

// isSayAsForm reports whether the form is one of SayAsForms, or one of them with another currency.
func isSayAsForm(form string) bool {
	code, isMoney := strings.CutPrefix(form, "money:")
	return isMoney && len(code) == 3 && strings.Trim(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" || !isMoney && slices.Contains(SayAsForms(), form)
}

// parsePlaceholder parses the content between {{ and }}.
func parsePlaceholder(content string) placeholder {
	name, rest, has := strings.Cut(content, "|")
	p := placeholder{name: strings.TrimSpace(name), hasFallback: has}
	last := strings.LastIndexByte(rest, '|')
	if form, isForm := strings.CutPrefix(strings.TrimSpace(rest[last+1:]), "say-as:"); has && isForm {
		p.hasSayAs, p.sayAs, p.hasFallback = true, strings.TrimSpace(form), last >= 0
		rest = rest[:max(last, 0)]
	}
	p.fallback = strings.TrimSpace(rest)
	return p
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
		hole(parsePlaceholder(text[open+2 : open+2+end]))
		text = text[open+2+end+2:]
	}
	literal(text)
}

// FillPlaceholders replaces {{name}} and {{name | fallback}} in a text with values. Placeholders in values are not
// replaced. The fallback replaces a missing or empty value. A missing value without a fallback is replaced with "" and
// listed in missing. A name such as "order.eta" is a field of a variable that holds JSON. say-as has no effect.
func FillPlaceholders(text string, values map[string]string) (filled string, missing []string) {
	return fillWith(text, func(p placeholder) (string, bool) {
		return valueOf(values, p.name)
	})
}

// fillSpoken is FillPlaceholders for a text that is spoken: a value with say-as is put into an SSML element of that name,
// which the synthesizer speaks in the requested form.
func fillSpoken(text string, values map[string]string) (filled string, missing []string) {
	return fillWith(text, func(p placeholder) (string, bool) {
		v, ok := valueOf(values, p.name)
		if p.hasSayAs && strings.TrimSpace(v) != "" {
			v = fmt.Sprintf("<say-as interpret-as=%q>%s</say-as>", p.sayAs, html.EscapeString(v))
		}
		return v, ok
	})
}

func fillWith(text string, value func(placeholder) (string, bool)) (filled string, missing []string) {
	if !strings.Contains(text, "{{") {
		return truncateText(text), nil // this text is shared by all calls of the pathway
	}
	var b strings.Builder
	splitPlaceholders(text, func(s string) { b.WriteString(s) }, func(p placeholder) {
		v, ok := value(p)
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

// placeholdersIn returns the placeholders of a text in order.
func placeholdersIn(text string) []placeholder {
	var found []placeholder
	splitPlaceholders(text, func(string) {}, func(p placeholder) { found = append(found, p) })
	return found
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
