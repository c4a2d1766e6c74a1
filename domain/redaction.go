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

// Redaction says which words of a workspace's calls and received messages must
// not be kept.
type Redaction struct {
	Patterns []string `json:"patterns"` // regular expressions (RE2)
}

// Bounds of a redaction. To look for a pattern once takes at most as many steps as
// it has instructions, for each letter of a text. Behind each find it is looked for
// again, and a pattern may look at all that follows to find one letter: the steps
// grow with the finds, too.
const (
	MaxRedactionPatterns = 20
	MaxRedactionSteps    = 500 // for a letter, of all patterns together
	MaxPatternBytes      = 500

	maxRedactedBytes = 16 << 10                             // of one text
	redactionWork    = maxRedactedBytes * MaxRedactionSteps // steps for one text: all patterns look once at the longest
)

// Redacted stands for what a pattern found.
const Redacted = "[redacted]"

// What transcripts say of keys: "[pressed 12]".
const (
	pressedKeysPrefix = "[pressed "
	pressedKeysSuffix = "]"
)

// CheckRedactionPattern says what is wrong with a pattern, and otherwise how
// many steps it takes for a letter at most.
func CheckRedactionPattern(pattern string) (steps int, err error) {
	switch {
	case strings.TrimSpace(pattern) == "":
		return 0, errors.New("is empty")
	case len(pattern) > MaxPatternBytes:
		return 0, fmt.Errorf("has more than %d bytes", MaxPatternBytes)
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0, fmt.Errorf("is no regular expression: %w", err)
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return 0, fmt.Errorf("is no regular expression: %w", err)
	}
	return len(prog.Inst), nil
}

// Redactor takes out of texts what must not be kept. The zero and the nil
// Redactor leave all as it is. It may be used from any goroutine.
type Redactor struct{ patterns []redactionPattern }

type redactionPattern struct {
	*regexp.Regexp

	steps int // for a letter
}

// Redactor makes one of the patterns; nil where there are none.
func (r Redaction) Redactor() *Redactor {
	var all Redactor
	for _, p := range r.Patterns {
		steps, err := CheckRedactionPattern(p)
		if err != nil {
			continue // it was checked where it was set
		}
		all.patterns = append(all.patterns, redactionPattern{regexp.MustCompile(p), steps})
	}
	if len(all.patterns) == 0 {
		return nil
	}
	return &all
}

// RedactText is a text as it may be kept: what any pattern finds in it is one
// Redacted, and so is what several find that overlap. Of keys that were pressed
// the keys alone are looked at. A text in which looking takes too many steps is
// Redacted as a whole.
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
		most := left / once // looks
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

// RedactMap are values by name as they may be kept; the map given stays as it is.
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

// RedactSegments are those of a transcript as they may be kept.
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

// RedactJSON is a JSON value as it may be kept: its texts, its numbers, which become
// texts, and the names of its members; of those that become the same the second
// is told by a (2), in the order of the names. What is no JSON is looked at as a text,
// and is a JSON text then.
func (r *Redactor) RedactJSON(raw json.RawMessage) json.RawMessage {
	if r == nil || len(raw) == 0 {
		return raw
	}
	var v any = string(raw)
	if json.Valid(raw) {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		_ = d.Decode(&v) // it is valid
	}
	kept, changed := r.redactValue(v)
	if !changed {
		return raw
	}
	b, _ := json.Marshal(kept) // was decoded: cannot fail
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
