package domain

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// Redaction selects the words of calls and inbound messages that are replaced before storage.
type Redaction struct {
	Patterns []string `json:"patterns"` // regular expressions (RE2)
}

// Limits of redaction. One search for a pattern takes at most one step for each instruction of the pattern and each
// byte of the text. The search is repeated after each match, so the number of steps also grows with the matches.
const (
	MaxRedactionPatterns = 20
	MaxRedactionSteps    = 500 // for each byte, of all patterns together
	MaxPatternBytes      = 500

	maxRedactedBytes = 16 << 10                             // of one text
	redactionWork    = maxRedactedBytes * MaxRedactionSteps // steps for one text: one search of the longest text with all patterns
)

// Redacted is the text that replaces a match of a pattern.
const Redacted = "[redacted]"

// The notation of pressed keys in transcripts: "[pressed 12]".
const (
	pressedKeysPrefix = "[pressed "
	pressedKeysSuffix = "]"
)

// CheckRedactionPattern returns an error for an invalid pattern. Otherwise it returns the maximum number of search
// steps for each byte of a text.
func CheckRedactionPattern(pattern string) (steps int, err error) {
	switch {
	case strings.TrimSpace(pattern) == "":
		return 0, errors.New("is empty")
	case len(pattern) > MaxPatternBytes:
		return 0, fmt.Errorf("has more than %d bytes", MaxPatternBytes)
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0, fmt.Errorf("is not a regular expression: %w", err)
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return 0, fmt.Errorf("is not a regular expression: %w", err)
	}
	return len(prog.Inst), nil
}

// Redactor redacts texts. The zero value and nil change nothing. A Redactor may be used concurrently.
type Redactor struct{ patterns []redactionPattern }

type redactionPattern struct {
	*regexp.Regexp

	steps int // for each byte
}

// Redactor returns a Redactor for the patterns, or nil without patterns.
func (r Redaction) Redactor() *Redactor {
	var all Redactor
	for _, p := range r.Patterns {
		steps, err := CheckRedactionPattern(p)
		if err != nil {
			continue // patterns are validated when they are set
		}
		all.patterns = append(all.patterns, redactionPattern{regexp.MustCompile(p), steps})
	}
	if len(all.patterns) == 0 {
		return nil
	}
	return &all
}

// RedactText replaces each match in a text with Redacted. Overlapping matches become one Redacted. In the notation of
// pressed keys only the keys are searched. A text that needs too many search steps is replaced as a whole.
func (r *Redactor) RedactText(s string) string {
	if r == nil || s == "" {
		return s
	}
	if keys, ok := strings.CutPrefix(s, pressedKeysPrefix); ok && strings.HasSuffix(keys, pressedKeysSuffix) {
		return pressedKeysPrefix + r.redactPatterns(strings.TrimSuffix(keys, pressedKeysSuffix)) + pressedKeysSuffix
	}
	return r.redactPatterns(s)
}

func (r *Redactor) redactPatterns(s string) string {
	if len(s) > maxRedactedBytes {
		return Redacted
	}
	var found [][]int
	left := redactionWork
	for _, p := range r.patterns {
		once := p.steps * len(s)
		most := left / once // number of searches
		if most == 0 {
			return Redacted
		}
		all := p.FindAllStringIndex(s, most)
		if len(all) == most {
			return Redacted
		}
		left -= once * (len(all) + 1)
		for _, at := range all {
			if at[0] < at[1] {
				found = append(found, at)
			}
		}
	}
	if len(found) == 0 {
		return s
	}
	slices.SortFunc(found, func(a, b []int) int { return a[0] - b[0] })
	var b strings.Builder
	end := 0
	for _, at := range found {
		if at[0] >= end {
			b.WriteString(s[end:at[0]])
			b.WriteString(Redacted)
		}
		end = max(end, at[1])
	}
	b.WriteString(s[end:])
	return b.String()
}

// RedactMap returns a copy of a map with redacted values.
func (r *Redactor) RedactMap(all map[string]string) map[string]string {
	if r == nil || len(all) == 0 {
		return all
	}
	kept := maps.Clone(all)
	for name, value := range kept {
		kept[name] = r.RedactText(value)
	}
	return kept
}

// RedactSegments returns copies of the segments with redacted text.
func (r *Redactor) RedactSegments(all []Segment) []Segment {
	if r == nil || len(all) == 0 {
		return all
	}
	kept := slices.Clone(all)
	for i := range kept {
		kept[i].Text = r.RedactText(kept[i].Text)
	}
	return kept
}

// RedactJSON redacts the strings, numbers and member names of a JSON value. Redacted numbers become strings. Member
// names that become equal get a suffix, such as (2), in the order of the names. Invalid JSON is redacted as text and
// becomes a JSON string.
func (r *Redactor) RedactJSON(raw json.RawMessage) json.RawMessage {
	if r == nil || len(raw) == 0 {
		return raw
	}
	var v any = string(raw)
	if json.Valid(raw) {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		_ = d.Decode(&v) // the text is valid JSON
	}
	kept, changed := r.redactValue(v)
	if !changed {
		return raw
	}
	b, _ := json.Marshal(kept) // decoded JSON can always be encoded
	return b
}

func (r *Redactor) redactValue(v any) (kept any, changed bool) {
	switch v := v.(type) {
	case string:
		s := r.RedactText(v)
		return s, s != v
	case json.Number:
		if s := r.RedactText(v.String()); s != v.String() {
			return s, true
		}
	case []any:
		for i := range v {
			of, is := r.redactValue(v[i])
			v[i], changed = of, changed || is
		}
		return v, changed
	case map[string]any:
		all := make(map[string]any, len(v))
		again := make(map[string]int)
		for _, name := range slices.Sorted(maps.Keys(v)) {
			member, is := r.redactValue(v[name])
			kept := r.RedactText(name)
			shown := kept
			for _, taken := all[shown]; taken; _, taken = all[shown] {
				again[kept]++
				shown = fmt.Sprintf("%s (%d)", kept, again[kept]+1)
			}
			all[shown], changed = member, changed || is || shown != name
		}
		return all, changed
	}
	return v, false
}
