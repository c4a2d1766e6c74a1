package apitest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/callboard/callboard/httpapi/openapi"
)

// valueMaker creates values that the schemas of the document allow.
type valueMaker struct {
	*rand.Rand
	doc  *openapi.Document
	pool *idPool
	url  string // base of URLs that the service may fetch or notify; "": example.com
}

// maxDepth is the depth at which generated values stop to nest, because schemas may be recursive.
const maxDepth = 6

// value returns a valid value for a schema. name is the name of the field that holds the value. With edge, numbers and
// lengths are at a limit of the schema.
func (m *valueMaker) value(s *openapi.Schema, name string, deep int, edge bool) any {
	s, null := m.doc.Resolve(s)
	if null && m.IntN(8) == 0 {
		return nil
	}
	if len(s.AnyOf) > 0 {
		return m.value(s.AnyOf[m.IntN(len(s.AnyOf))], name, deep+1, edge)
	}
	if len(s.OneOf) > 0 {
		return m.value(s.OneOf[m.IntN(len(s.OneOf))], name, deep+1, edge)
	}
	if len(s.Enum) > 0 {
		return s.Enum[m.IntN(len(s.Enum))]
	}
	if all := slices.Concat(s.Examples, listOf(s.Default)); len(all) > 0 && !edge && m.IntN(2) == 0 {
		return m.localURL(name, all[m.IntN(len(all))])
	}
	switch s.Type() {
	case "object":
		return m.object(s, deep, edge)
	case "array":
		return m.list(s, name, deep, edge)
	case "string":
		return m.text(s, name, edge)
	case "integer":
		return m.number(s, edge, true)
	case "number":
		return m.number(s, edge, false)
	case "boolean":
		return m.IntN(2) == 0
	}
	return []any{"text", 1.0, true, []any{1.0}, map[string]any{"a": "b"}}[m.IntN(5)]
}

func listOf(v any) []any {
	if v == nil {
		return nil
	}
	return []any{v}
}

func (m *valueMaker) object(s *openapi.Schema, deep int, edge bool) map[string]any {
	out := make(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if !slices.Contains(s.Required, name) && (deep >= maxDepth || m.IntN(3) > 0) {
			continue
		}
		out[name] = m.value(s.Properties[name], name, deep+1, edge)
	}
	if s.Additional != nil && s.Additional.Allowed && deep < maxDepth {
		for i := range m.IntN(3) {
			name := "key" + string(rune('a'+i))
			if s.Additional.Schema == nil {
				out[name] = "value"
				continue
			}
			out[name] = m.value(s.Additional.Schema, name, deep+1, edge)
		}
	}
	return out
}

func (m *valueMaker) list(s *openapi.Schema, name string, deep int, edge bool) []any {
	minimum, maximum := 0, 3
	if s.MinItems != nil {
		minimum = *s.MinItems
	}
	if s.MaxItems != nil {
		maximum = *s.MaxItems
	}
	n := minimum + m.IntN(3)
	if edge && m.IntN(2) == 0 {
		n = minimum
	}
	if deep >= maxDepth {
		n = minimum
	}
	out := make([]any, 0, n)
	for range min(n, maximum) {
		out = append(out, m.value(s.Items, strings.TrimSuffix(name, "s"), deep+1, edge))
	}
	return out
}

// text returns a string for a field. The name of the field determines its content, such as a phone number, because
// schemas describe the content in words only.
func (m *valueMaker) text(s *openapi.Schema, name string, edge bool) string {
	minimum, maximum := 0, 64
	if s.MinLength != nil {
		minimum = *s.MinLength
	}
	if s.MaxLength != nil {
		maximum = *s.MaxLength
	}
	switch s.Format {
	case "date-time":
		at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(m.IntN(1000)) * time.Hour)
		return []string{at.Format(time.RFC3339), at.Format("2006-01-02T15:04:05.000Z"), at.Format("2006-01-02T15:04:05+02:00")}[m.IntN(3)]
	case "date":
		return "2026-03-01"
	}
	if s.Pattern != "" {
		return textMatching(s.Pattern)
	}
	if edge {
		return m.edgeText(minimum, maximum)
	}
	if v := m.guessByName(name); v != "" && len(v) >= minimum && len(v) <= maximum {
		return v
	}
	v := "word" + strconv.Itoa(m.IntN(1000))
	for len(v) < minimum {
		v += v
	}
	return v[:max(minimum, min(len(v), maximum))]
}

// edgeText returns a string of the minimum or maximum length, or a string that programs often handle wrongly.
func (m *valueMaker) edgeText(least, most int) string {
	all := []string{
		strings.Repeat("a", least), strings.Repeat("b", most), strings.Repeat("ü", most), "", " ", "0", "-1", "null", "../../etc/passwd", "' OR 1=1 --", "{{name}}",
		"=1+1", "\u202etxt", "😀", "a\u0000b", "\n\r\t", "%00%ff", "<script>alert(1)</script>", "+1202555012３",
	}
	return all[m.IntN(len(all))]
}

func (m *valueMaker) guessByName(name string) string {
	number := fmt.Sprintf("+1202555%04d", 100+m.IntN(100))
	if kind, ok := strings.CutSuffix(name, "_id"); ok {
		return m.pool.random(m.Rand, kind)
	}
	for _, w := range []struct{ part, value string }{
		{"phone", number},
		{"number", number},
		{"timezone", "America/New_York"},
		{"url", m.testURL(m.IntN(100))},
		{"uri", "https://example.com/back"},
		{"country", "US"},
		{"countrie", "US"},
		{"host", "192.0.2.1"},
		{"language", "en-US"},
		{"email", "ada@example.com"},
		{"event", "call.ended"},
		{"ip", "192.0.2.0/24"},
		{"date", "2026-12-24"},
		{"secret", "whsec_0123456789abcdef0123456789abcdef"},
		{"password", "correct-horse-battery"},
		{"extension", strconv.Itoa(1000 + m.IntN(9000))},
		{"permission", "calls:read"},
		{"scope", "calls:read"},
		{"entrie", number},
		{"origin", "https://example.com"},
	} {
		if strings.Contains(name, w.part) {
			return w.value
		}
	}
	switch name {
	case "to", "from", "caller_id":
		return number
	case "start":
		return "08:00"
	case "end":
		return "20:00"
	}
	return ""
}

// localURL returns v, or a URL of the test server if v is an external URL.
func (m *valueMaker) localURL(name string, v any) any {
	text, _ := v.(string)
	if m.url == "" || !strings.Contains(name, "url") || !strings.HasPrefix(text, "https://") {
		return v
	}
	return m.testURL(0)
}

// testURL returns a URL to which the service may send requests. n makes URLs distinct.
func (m *valueMaker) testURL(n int) string {
	if m.url != "" {
		return m.url + "/" + strconv.Itoa(n)
	}
	return "https://example.com/" + strconv.Itoa(n)
}

// textMatching returns a string that matches a pattern of the OpenAPI document, "" if none of its samples does.
func textMatching(pattern string) string {
	for _, v := range []string{"1w23#", "abc", "a1", "A", "1", "12:30", "2026-01-01", "+12025550123"} {
		if matchesPattern(pattern, v) {
			return v
		}
	}
	return ""
}

func (m *valueMaker) number(s *openapi.Schema, edge, whole bool) any {
	minimum, maximum := 0.0, 1000.0
	if s.Minimum != nil {
		minimum, maximum = *s.Minimum, *s.Minimum+1000
	}
	if s.Maximum != nil {
		maximum = *s.Maximum
	}
	minimum = min(minimum, maximum)
	v := minimum + m.Float64()*(maximum-minimum)
	if edge {
		v = []float64{minimum, maximum, min(max(0, minimum), maximum)}[m.IntN(3)]
	}
	if whole {
		return float64(int64(v))
	}
	return v
}

// idPool holds the latest ids of created resources by kind, the prefix of the id.
type idPool struct {
	ids      map[string][]string
	kinds    map[string]string // kind of the ids below a collection path
	excluded map[string]bool
}

const maxIDs = 12

// add adds an id of the form kind_ULID to the pool. It ignores other ids and excluded ids.
func (p *idPool) add(id string) {
	kind, rest, ok := cutLast(id, "_")
	if !ok || len(rest) != 26 || p.excluded[id] || slices.Contains(p.ids[kind], id) {
		return
	}
	p.ids[kind] = append(p.ids[kind], id)
	if len(p.ids[kind]) > maxIDs {
		p.ids[kind] = p.ids[kind][1:]
	}
}

// random returns a random id of a kind, "" if there is none. kind may also be a longer field name that begins or ends
// with the kind, such as forward_agent for agent.
func (p *idPool) random(r *rand.Rand, kind string) string {
	for _, k := range slices.Sorted(maps.Keys(p.ids)) {
		if (k == kind || strings.HasSuffix(kind, "_"+k) || strings.HasPrefix(kind, k+"_")) && len(p.ids[k]) > 0 {
			return p.ids[k][r.IntN(len(p.ids[k]))]
		}
	}
	return ""
}

// last returns the most recently added id of a kind, "" if there is none. kind may also be a longer field name.
func (p *idPool) last(kind string) string {
	for _, k := range slices.Sorted(maps.Keys(p.ids)) {
		if all := p.ids[k]; (k == kind || strings.HasSuffix(kind, "_"+k) || strings.HasPrefix(kind, k+"_")) && len(all) > 0 {
			return all[len(all)-1]
		}
	}
	return ""
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return "", "", false
	}
	return s[:i], s[i+len(sep):], true
}
