package text

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/callboard/callboard/media/speech/text/grammar"
)

// MaxBreak limits the silence of a break element.
const MaxBreak = 5 * time.Second

// Part is a piece of speakable text and the silence before it.
type Part struct {
	Pause time.Duration // of the break elements before the text
	Text  string        // can be empty behind the last break element
}

// Parts returns the speakable text of s, divided at the break elements of SSML. Other elements are handled as in
// Speakable.
func Parts(s, language string) []Part {
	s, elements := extractElements(s, language, func(name string) bool { return name == "break" })
	s = speakableOf(s, languageOf(language))
	parts := []Part{{}}
	var out strings.Builder
	finish := func() {
		parts[len(parts)-1].Text = strings.TrimLeft(strings.Join(strings.Fields(out.String()), " "), ".,;:!? ")
		out.Reset()
	}
	for _, r := range s {
		e := elementOf(r, elements)
		switch {
		case e == nil:
			out.WriteRune(r)
		case e.name == "":
			out.WriteString(e.words)
		case e.pause > 0:
			finish()
			if last := &parts[len(parts)-1]; last.Text == "" {
				last.Pause = min(last.Pause+e.pause, MaxBreak)
			} else {
				parts = append(parts, Part{Pause: e.pause})
			}
		}
	}
	finish()
	return parts
}

// SSML returns the text as an SSML document (W3C, version 1.1) for a synthesizer that reads one. The elements speak,
// break, prosody, emphasis and phoneme of s stay, with the attributes that SSML defines for them. The text between them
// is that of Speakable, escaped. All other markup is removed, elements without an end tag are closed, and a break lasts
// MaxBreak at most. ok is false if s has none of these elements.
func SSML(s, language string) (document string, ok bool) {
	s, elements := extractElements(s, language, func(string) bool { return true })
	w := documentWriter{root: "<speak>"}
	for i := range elements {
		if e := &elements[i]; e.name != "" {
			ok = true
			if e.name == "speak" && e.kind == startTag {
				w.root = e.tag()
			}
		}
	}
	if !ok {
		return "", false
	}
	for _, r := range speakableOf(s, languageOf(language)) {
		w.writeRune(r, elementOf(r, elements))
	}
	for len(w.open) > 0 {
		w.close()
	}
	return w.root + strings.TrimSpace(w.out.String()) + "</speak>", true
}

// documentWriter writes the content of an SSML document with balanced tags.
type documentWriter struct {
	root      string // start tag of the speak element
	out       bytes.Buffer
	open      []string // names of the open elements
	skipSpace bool     // the next space was inserted by extractElements
}

// writeRune writes a rune of the text, or the element that it stands for.
func (w *documentWriter) writeRune(r rune, e *element) {
	switch {
	case e == nil:
		if r != ' ' || !w.skipSpace && !w.endsInSpace() {
			w.escape(string(r))
		}
		w.skipSpace = false
	case e.name == "":
		w.escape(e.words)
		w.skipSpace = false
	case e.name == "speak":
	case e.kind == endTag:
		w.endElement(e)
	default:
		if e.glued {
			w.trimSpace()
		}
		w.out.WriteString(e.tag())
		if w.skipSpace = e.kind == startTag; w.skipSpace {
			w.open = append(w.open, e.name)
		}
	}
}

// endElement closes the innermost open element of the name and the elements within it.
func (w *documentWriter) endElement(e *element) {
	depth := len(w.open)
	for depth > 0 && w.open[depth-1] != e.name {
		depth--
	}
	if depth == 0 {
		return // it has no start tag
	}
	w.trimSpace()
	for len(w.open) >= depth {
		w.close()
	}
	w.skipSpace = e.glued
}

func (w *documentWriter) close() {
	w.out.WriteString("</" + w.open[len(w.open)-1] + ">")
	w.open = w.open[:len(w.open)-1]
}

func (w *documentWriter) trimSpace() {
	if w.endsInSpace() {
		w.out.Truncate(w.out.Len() - 1)
	}
}

func (w *documentWriter) endsInSpace() bool { return bytes.HasSuffix(w.out.Bytes(), []byte(" ")) }

// escape writes text. Quotes stay, because some synthesizers read elements in a text that is no XML. Characters that XML
// does not permit are removed.
func (w *documentWriter) escape(s string) {
	for _, r := range s {
		switch {
		case r == '&':
			w.out.WriteString("&amp;")
		case r == '<':
			w.out.WriteString("&lt;")
		case r == '>':
			w.out.WriteString("&gt;")
		case r == '\t' || r >= ' ' && r != 0xFFFE && r != 0xFFFF:
			w.out.WriteRune(r)
		}
	}
}

// Kinds of tags.
const (
	emptyTag = iota
	startTag
	endTag
)

// element is what a private rune stands for: words, or a tag of SSML.
type element struct {
	words      string // spoken form of a say-as element
	name       string // name of the tag; empty: words
	kind       int
	attributes []xml.Attr
	pause      time.Duration // of a break element
	glued      bool          // no space separates the outer side of the tag from a word
}

// tag returns the start tag or the empty tag of the element.
func (e *element) tag() string {
	var out strings.Builder
	out.WriteString("<" + e.name)
	for _, a := range e.attributes {
		out.WriteString(" " + a.Name.Local + `="`)
		_ = xml.EscapeText(&out, []byte(a.Value)) // a Builder returns no error
		out.WriteByte('"')
	}
	if e.kind == emptyTag {
		out.WriteByte('/')
	}
	return out.String() + ">"
}

// elementOf returns the element that a rune stands for, or nil.
func elementOf(r rune, elements []element) *element {
	if i := int(r - grammar.FirstPrivate); grammar.IsPrivate(r) && i < len(elements) {
		return &elements[i]
	}
	return nil
}

// ssmlAttributes are the elements that an SSML document can have, with their attributes.
var ssmlAttributes = map[string][]string{ //nolint:gochecknoglobals // a table
	"speak":    {"version", "xmlns", "xml:lang"},
	"break":    {"time", "strength"},
	"prosody":  {"rate", "pitch", "range", "contour", "volume", "duration"},
	"emphasis": {"level"},
	"phoneme":  {"alphabet", "ph"},
}

var (
	// sayAsElement matches the element say-as of SSML with its form and its value.
	sayAsElement = regexp.MustCompile(`(?is)<say-as\s+interpret-as\s*=\s*["']([^"'<>]{1,40})["'][^<>]*>([^<>]{0,1000})</say-as>`)
	// subElement matches the element sub of SSML with its alias.
	subElement = regexp.MustCompile(`(?is)<sub\s+alias\s*=\s*"([^"<>]{0,1000})"[^<>]*>[^<>]{0,1000}</sub>`)
	// ssmlTag matches a tag of SSML with its slashes, name and attributes.
	ssmlTag       = regexp.MustCompile(`(?i)<(/?)(speak|break|prosody|emphasis|phoneme)((?:\s+[a-z:]{1,20}\s*=\s*(?:"[^"<>]{0,300}"|'[^'<>]{0,300}'))*)\s*(/?)>`)
	ssmlAttribute = regexp.MustCompile(`(?i)([a-z:]+)\s*=\s*(?:"([^"]*)"|'([^']*)')`)
	breakTime     = regexp.MustCompile(`^\+?([0-9]{0,6}(?:\.[0-9]{1,6})?)(ms|s)$`)
)

// sayAsNames are the names that SSML gives to forms of SpeakAs.
var sayAsNames = map[string]string{"characters": "spell", "spell-out": "spell", "number": "cardinal", "phone": "telephone"} //nolint:gochecknoglobals // a table

// breakStrengths are the pauses of the attribute strength of a break element.
var breakStrengths = map[string]time.Duration{ //nolint:gochecknoglobals // a table
	"none": 0, "x-weak": 100 * time.Millisecond, "weak": 200 * time.Millisecond, "medium": 400 * time.Millisecond,
	"strong": 700 * time.Millisecond, "x-strong": 1200 * time.Millisecond,
}

// extractElements replaces the say-as elements of a text, and the tags of the SSML elements that keep selects by name,
// by private runes. It returns what the runes stand for, in their order. A sub element is replaced by its alias, a
// say-as element whose value is not of its form by the value. Private runes of the text are removed.
func extractElements(s, language string, keep func(name string) bool) (text string, elements []element) {
	s = strings.Map(func(r rune) rune {
		if grammar.IsPrivate(r) {
			return -1
		}
		return r
	}, s)
	if !strings.Contains(s, "<") {
		return s, nil
	}
	s = subElement.ReplaceAllString(s, "$1")
	// placeholder returns the rune for an element; ok is false if no rune is left.
	placeholder := func(e element) (r string, ok bool) {
		if len(elements) > grammar.LastPrivate-grammar.FirstPrivate {
			return "", false
		}
		elements = append(elements, e)
		return string(grammar.FirstPrivate + rune(len(elements)-1)), true //nolint:gosec // below LastPrivate
	}
	s = sayAsElement.ReplaceAllStringFunc(s, func(found string) string {
		parts := sayAsElement.FindStringSubmatch(found)
		form, value := parts[1], html.UnescapeString(parts[2])
		if name, ok := sayAsNames[strings.ToLower(form)]; ok {
			form = name
		}
		if words, err := SpeakAs(value, form, language); err == nil {
			if r, ok := placeholder(element{words: words}); ok {
				return r
			}
		}
		return value
	})
	return extractTags(s, keep, placeholder), elements
}

// extractTags replaces the tags of the SSML elements that keep selects. A space on each side separates the placeholder
// from the words beside the tag.
func extractTags(s string, keep func(name string) bool, placeholder func(element) (string, bool)) string {
	var out strings.Builder
	last := 0
	for _, at := range ssmlTag.FindAllStringSubmatchIndex(s, -1) {
		e := element{name: strings.ToLower(s[at[4]:at[5]])}
		if !keep(e.name) {
			continue
		}
		switch {
		case at[3] > at[2]:
			e.kind = endTag
		case e.name != "break" && at[9] == at[8]:
			e.kind = startTag
		}
		e.readAttributes(s[at[6]:at[7]])
		before, after := s[:at[0]], s[at[1]:]
		e.glued = e.kind == startTag && grammar.WordBefore(before, len(before)) || e.kind == endTag && startsWithWord(after)
		out.WriteString(s[last:at[0]])
		last = at[1]
		if e.name == "break" && e.kind == endTag {
			continue
		}
		if r, ok := placeholder(e); ok {
			out.WriteString(" " + r + " ")
		}
	}
	return out.String() + s[last:]
}

func startsWithWord(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// readAttributes sets the attributes that SSML defines for the element, and the pause of a break.
func (e *element) readAttributes(s string) {
	if e.name == "break" {
		e.pause = breakStrengths["medium"]
	}
	for _, found := range ssmlAttribute.FindAllStringSubmatch(s, -1) {
		name, value := strings.ToLower(found[1]), html.UnescapeString(found[2]+found[3])
		for _, known := range ssmlAttributes[e.name] {
			if name == known {
				e.attributes = append(e.attributes, xml.Attr{Name: xml.Name{Local: name}, Value: value})
			}
		}
	}
	if e.name == "break" {
		e.readPause()
	}
}

// readPause sets the pause of a break element from its attributes. The attribute time takes precedence. A longer time
// than MaxBreak becomes MaxBreak, and a time that is not valid is removed.
func (e *element) readPause() {
	valid, timed := e.attributes[:0], false
	for _, a := range e.attributes {
		switch pause, ok := breakStrengths[strings.ToLower(a.Value)]; {
		case a.Name.Local == "strength" && ok:
			if !timed {
				e.pause = pause
			}
		case a.Name.Local == "time" && breakTime.MatchString(strings.ToLower(a.Value)):
			if e.pause, timed = parseBreakTime(a.Value), true; e.pause > MaxBreak {
				e.pause = MaxBreak
				a.Value = fmt.Sprintf("%ds", MaxBreak/time.Second)
			}
		default:
			continue
		}
		valid = append(valid, a)
	}
	e.attributes = valid
}

// parseBreakTime returns the duration of a time that breakTime matches, such as "300ms" or "1.5s".
func parseBreakTime(value string) time.Duration {
	parts := breakTime.FindStringSubmatch(strings.ToLower(value))
	number, err := strconv.ParseFloat(parts[1], 64)
	if err != nil {
		return 0
	}
	unit := time.Second
	if parts[2] == "ms" {
		unit = time.Millisecond
	}
	return time.Duration(number * float64(unit))
}
