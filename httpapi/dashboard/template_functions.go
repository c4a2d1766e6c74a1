package dashboard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"
	"time"
)

// text returns a string member of a resource, "" if it has none.
func text(o object, name string) string { return textOf(o[name]) }

// textOf returns a value that is a text or a zonedTime, "" for any other.
func textOf(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case zonedTime:
		return v.text
	}
	return ""
}

// share is a part of a total, which a page shows as a bar.
type share struct {
	Name    string
	Count   float64
	Percent float64
}

// shares returns the share of each count in their total, largest first.
func shares(counts map[string]float64) []share {
	total := 0.0
	for _, n := range counts {
		total += n
	}
	all := make([]share, 0, len(counts))
	for name, n := range counts {
		all = append(all, share{Name: name, Count: n, Percent: 100 * n / total})
	}
	slices.SortFunc(all, func(a, b share) int {
		if a.Count != b.Count {
			return int(b.Count - a.Count)
		}
		return strings.Compare(a.Name, b.Name)
	})
	return all
}

func functions() template.FuncMap {
	return template.FuncMap{
		"when":  formatTime,
		"stamp": func(v any) *displayTime { return displayTimeOf(time.Now())(v) },
		"icon":  icon,
		"asset": assetURL,
		"label": func(v any) string { return labelOf(textOf(v)) },
		"words": func(v any) string { s, _ := v.(string); return strings.ReplaceAll(s, "_", " ") },
		"hasDanger": func(all []resourceAction) bool {
			return slices.ContainsFunc(all, func(a resourceAction) bool { return a.Danger })
		},
		"num":      number,
		"phone":    func(v any) bool { s, _ := v.(string); return strings.HasPrefix(s, "+") }, // not a short code or a sender name
		"clock":    clock,
		"duration": func(v any) string { s, _ := v.(float64); return fmt.Sprintf("%d:%02d", int(s)/60, int(s)%60) },
		"short":    short,
		"pretty":   pretty,
		"list":     func(v any) []any { l, _ := v.([]any); return l },
		"tone":     tone,
		"fresh":    newIdempotencyKey,
		"seconds":  func(v any) float64 { ms, _ := v.(float64); return ms / 1000 },
		"unix":     unixSeconds,
		"share":    func(v any) string { return fmt.Sprintf("%.0f %%", percent(v, 1.0)) },
		"json":     compact,
		"hour":     func(v any) string { return formatLocalTime(v, "15:04") },
		"dayof":    func(v any) string { return formatLocalTime(v, time.DateOnly) },
		"clockday": func(v any) string { return formatLocalTime(v, "Mon 2 Jan 2006, 15:04") },
		"campaignStates": func() []string {
			return []string{"draft", "scheduled", "running", "paused", "completed", "cancelled"}
		},
		"callStates": func() []string { return []string{"active", "completed", "failed"} },
		"directions": func() []string { return []string{"outbound", "inbound"} },
	}
}

// formatTime formats an RFC 3339 time in UTC, to the second.
func formatTime(v any) string {
	s := textOf(v)
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return s
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}

// formatLocalTime formats an RFC 3339 time in the UTC offset that it contains.
func formatLocalTime(v any, layout string) string {
	s := textOf(v)
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return s
	}
	return t.Format(layout)
}

// unixSeconds converts an RFC 3339 time to Unix seconds, an invalid time to 0.
func unixSeconds(v any) int64 {
	s := textOf(v)
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return 0
	}
	return t.Unix()
}

// number formats a number without trailing zeros.
func number(v any) string {
	switch n := v.(type) {
	case float64:
		if n == float64(int64(n)) {
			return strconv.FormatInt(int64(n), 10)
		}
		return fmt.Sprintf("%.2f", n)
	case int:
		return strconv.Itoa(n)
	case nil:
		return "–"
	}
	return fmt.Sprint(v)
}

func percent(part, whole any) float64 {
	p, _ := part.(float64)
	w, _ := whole.(float64)
	if w == 0 {
		return 0
	}
	return 100 * p / w
}

// clock formats a number of milliseconds as minutes and seconds.
func clock(v any) string {
	ms, _ := v.(float64)
	s := int(ms) / 1000
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// short abbreviates a resource id to its last six characters. Ids of resources of the same age share the first
// characters.
func short(v any) string {
	s, _ := v.(string)
	if _, id, ok := strings.Cut(s, "_"); ok && len(id) > 6 {
		return "…\u2060" + id[len(id)-6:] // a word joiner prevents a line break
	}
	return s
}

// pretty formats a value as indented JSON.
func pretty(v any) string {
	var b bytes.Buffer
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false) // the template escapes HTML
	out.SetIndent("", "  ")
	if out.Encode(v) != nil {
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// compact formats a value as JSON for a hidden form field.
func compact(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}

// tone returns the CSS class that colors a status such as running or failed.
func tone(v any) string {
	s, _ := v.(string)
	switch s {
	case "running", "active", "confirmed", "up", "delivered", "live", "success", "in_progress", "answered", "scheduled", "booked", "registered", "ready", "published":
		return "good"
	case "firing", "out", "failing", "test_failed", "failed", "down", "disabled", "declined", "failure", "invalid", "cancelled", "undelivered":
		return "bad"
	case "paused", "retry_wait", "retrying", "busy", "no_answer", "degraded", "pending", "queued", "processing", "resting", "draft":
		return "wait"
	}
	return "plain"
}

// icon returns an icon of the set, which screen readers skip.
func icon(name string) (template.HTML, error) {
	sprite, err := assetURL("icons.svg")
	if err != nil {
		return "", err
	}
	for _, c := range name {
		if c != '-' && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return "", fmt.Errorf("dashboard: %q is no icon", name)
		}
	}
	return template.HTML(`<svg class="icon" aria-hidden="true"><use href="` + sprite + "#" + name + `"/></svg>`), nil //nolint:gosec // the name has letters, digits and hyphens only
}
