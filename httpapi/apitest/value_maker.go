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

// maker makes values that the document allows.
type maker struct {
	*rand.Rand
	doc  *openapi.Document
	pool *pool
	url  string // for what is fetched or told; "": one that nobody has
}

// mostDeep bounds values of recursive schemas.
const mostDeep = 6

// value makes what a schema allows; name is that of its field. With edge it
// stands at the edge of what is allowed.
func (m *maker) value(s *openapi.Schema, name string, deep int, edge bool) any {
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
	if all := slices.Concat(s.Examples, known(s.Default)); len(all) > 0 && !edge && m.IntN(2) == 0 {
		return m.home(name, all[m.IntN(len(all))])
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

func known(v any) []any {
	if v == nil {
		return nil
	}
	return []any{v}
}

func (m *maker) object(s *openapi.Schema, deep int, edge bool) map[string]any {
	out := make(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if !slices.Contains(s.Required, name) && (deep >= mostDeep || m.IntN(3) > 0) {
			continue
		}
		out[name] = m.value(s.Properties[name], name, deep+1, edge)
	}
	if s.Others != nil && s.Others.Allowed && deep < mostDeep {
		for i := range m.IntN(3) {
			name := "key" + string(rune('a'+i))
			if s.Others.Schema == nil {
				out[name] = "value"
				continue
			}
			out[name] = m.value(s.Others.Schema, name, deep+1, edge)
		}
	}
	return out
}

func (m *maker) list(s *openapi.Schema, name string, deep int, edge bool) []any {
	least, most := 0, 3
	if s.MinItems != nil {
		least = *s.MinItems
	}
	if s.MaxItems != nil {
		most = *s.MaxItems
	}
	n := least + m.IntN(3)
	if edge && m.IntN(2) == 0 {
		n = least
	}
	if deep >= mostDeep {
		n = least
	}
	out := make([]any, 0, n)
	for range min(n, most) {
		out = append(out, m.value(s.Items, strings.TrimSuffix(name, "s"), deep+1, edge))
	}
	return out
}

// text makes a string. What means something is guessed from its name: the
// document words it, but only in words.
func (m *maker) text(s *openapi.Schema, name string, edge bool) string {
	least, most := 0, 64
	if s.MinLength != nil {
		least = *s.MinLength
	}
	if s.MaxLength != nil {
		most = *s.MaxLength
	}
	switch s.Format {
	case "date-time":
		at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(m.IntN(1000)) * time.Hour)
		return []string{at.Format(time.RFC3339), at.Format("2006-01-02T15:04:05.000Z"), at.Format("2006-01-02T15:04:05+02:00")}[m.IntN(3)]
	case "date":
		return "2026-03-01"
	}
	if s.Pattern != "" {
		return fitting(s.Pattern)
	}
	if edge {
		return m.edgy(least, most)
	}
	if v := m.meant(name); v != "" && len(v) >= least && len(v) <= most {
		return v
	}
	v := "word" + strconv.Itoa(m.IntN(1000))
	for len(v) < least {
		v += v
	}
	return v[:max(least, min(len(v), most))]
}

// edgy is a string of the least or the most letters, or one that programs
// stumble over.
func (m *maker) edgy(least, most int) string {
	all := []string{
		strings.Repeat("a", least), strings.Repeat("b", most), strings.Repeat("ü", most), "", " ", "0", "-1", "null", "../../etc/passwd", "' OR 1=1 --", "{{name}}",
		"=1+1", "\u202etxt", "😀", "a\u0000b", "\n\r\t", "%00%ff", "<script>alert(1)</script>", "+1202555012３",
	}
	return all[m.IntN(len(all))]
}

func (m *maker) meant(name string) string {
	number := fmt.Sprintf("+1202555%04d", 100+m.IntN(100))
	if kind, ok := strings.CutSuffix(name, "_id"); ok {
		return m.pool.one(m.Rand, kind)
	}
	for _, w := range []struct{ part, value string }{
		{"phone", number},
		{"number", number},
		{"timezone", "America/New_York"},
		{"url", m.place(m.IntN(100))},
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

// home is a value, or our own place for a URL of somebody else's.
func (m *maker) home(name string, v any) any {
	text, _ := v.(string)
	if m.url == "" || !strings.Contains(name, "url") || !strings.HasPrefix(text, "https://") {
		return v
	}
	return m.place(0)
}

// place is a URL that something may be told at or fetched from.
func (m *maker) place(n int) string {
	if m.url != "" {
		return m.url + "/" + strconv.Itoa(n)
	}
	return "https://example.com/" + strconv.Itoa(n)
}

// fitting is a string for one of the few patterns that the document has.
func fitting(pattern string) string {
	for _, v := range []string{"1w23#", "abc", "a1", "A", "1", "12:30", "2026-01-01", "+12025550123"} {
		if fits(pattern, v) {
			return v
		}
	}
	return ""
}

func (m *maker) number(s *openapi.Schema, edge, whole bool) any {
	least, most := 0.0, 1000.0
	if s.Minimum != nil {
		least, most = *s.Minimum, *s.Minimum+1000
	}
	if s.Maximum != nil {
		most = *s.Maximum
	}
	least = min(least, most)
	v := least + m.Float64()*(most-least)
	if edge {
		v = []float64{least, most, min(max(0, least), most)}[m.IntN(3)]
	}
	if whole {
		return float64(int64(v))
	}
	return v
}

// pool keeps the ids of what answers have made, the last few of each kind.
type pool struct {
	ids    map[string][]string
	places map[string]string // the kind of what stands below a collection's path
	spare  map[string]bool
}

const mostIDs = 12

// put takes an id in; kind_ULID.
func (p *pool) put(id string) {
	kind, rest, ok := cutLast(id, "_")
	if !ok || len(rest) != 26 || p.spare[id] || slices.Contains(p.ids[kind], id) {
		return
	}
	p.ids[kind] = append(p.ids[kind], id)
	if len(p.ids[kind]) > mostIDs {
		p.ids[kind] = p.ids[kind][1:]
	}
}

// one is an id of a kind; "": there is none. The names of fields may say more
// than the kind: forward_agent.
func (p *pool) one(r *rand.Rand, kind string) string {
	for _, k := range slices.Sorted(maps.Keys(p.ids)) {
		if (k == kind || strings.HasSuffix(kind, "_"+k) || strings.HasPrefix(kind, k+"_")) && len(p.ids[k]) > 0 {
			return p.ids[k][r.IntN(len(p.ids[k]))]
		}
	}
	return ""
}

// last is the newest id of a kind.
func (p *pool) last(kind string) string {
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
