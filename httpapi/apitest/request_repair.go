package apitest

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/callboard/callboard/httpapi/openapi"
)

// maxRepairs bounds the repairs of one valid request.
const maxRepairs = 5

// repairRequest learns rules from a refusal that the schemas do not express: it adds the
// missing fields that the response names and removes the superfluous ones. It returns
// whether the request has changed.
func (w *Walk) repairRequest(o *openapi.Operation, a *attempt, r Reply) bool {
	var f failure
	var body map[string]any
	if r.Status != http.StatusUnprocessableEntity || a.Kind != "application/json" || json.Unmarshal(r.Body, &f) != nil || json.Unmarshal(a.Body, &body) != nil {
		return false
	}
	changed := false
	for _, param := range f.params() {
		changed = w.repairField(o.Bodies[a.Kind], body, splitParam(param)) || changed
	}
	a.Body, _ = json.Marshal(body) // it was JSON before
	return changed
}

// splitParam splits a.b[2].c into its steps.
func splitParam(param string) []string {
	return strings.FieldsFunc(param, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
}

func (w *Walk) repairField(s *openapi.Schema, object map[string]any, steps []string) bool {
	s, _ = w.doc.Resolve(s)
	if len(steps) == 0 {
		return false
	}
	name := steps[0]
	field, known := s.Properties[name]
	old, there := object[name]
	switch {
	case !known:
		delete(object, name)
		return there
	case !there:
		object[name] = w.some(field, name)
		return true
	}
	if inner, ok := old.(map[string]any); ok && len(steps) > 1 && w.repairField(field, inner, steps[1:]) {
		return true
	}
	if list, ok := old.([]any); ok && len(steps) > 2 {
		if i, err := strconv.Atoi(steps[1]); err == nil && i < len(list) {
			plain, _ := w.doc.Resolve(field)
			if inner, ok := list[i].(map[string]any); ok && w.repairField(plain.Items, inner, steps[2:]) {
				return true
			}
		}
	}
	if list, ok := old.([]any); ok && len(list) == 0 || slices.Contains(s.Required, name) || w.IntN(2) == 0 {
		object[name] = w.some(field, name)
		return true
	}
	delete(object, name)
	return true
}

// some is a value that is not empty.
func (w *Walk) some(s *openapi.Schema, name string) any {
	plain, _ := w.doc.Resolve(s)
	for range 8 {
		v := w.value(s, name, 2, false)
		if list, ok := v.([]any); ok && len(list) == 0 {
			return []any{w.value(plain.Items, strings.TrimSuffix(name, "s"), 3, false)}
		}
		if v != nil && v != "" {
			return v
		}
	}
	return w.value(s, name, 2, false)
}

// like is a body that was taken before, or the document's example, with ids of
// now in it; nil: there is none.
func (w *Walk) like(o *openapi.Operation) any {
	text := w.bodies[o.ID]
	if text == nil && o.Examples["application/json"] != nil {
		text, _ = json.Marshal(o.Examples["application/json"]) // it was read as JSON
	}
	var body any
	if json.Unmarshal(text, &body) != nil {
		return nil
	}
	w.renew(body)
	return body
}

// renew puts ids of now in, and names that are not taken yet.
func (w *Walk) renew(v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			if kind, ok := strings.CutSuffix(name, "_id"); ok {
				if id := w.pool.last(kind); id != "" {
					v[name] = id
				}
				continue
			}
			if name == "extension" {
				inner = strconv.Itoa(1000 + w.sent%9000)
			}
			v[name] = w.home(name, inner)
			w.renew(inner)
		}
	case []any:
		for _, inner := range v {
			w.renew(inner)
		}
	}
}

// withoutNulls is a body without the fields that are null: they count as left
// out.
func withoutNulls(text []byte) []byte {
	var body any
	if !bytes.Contains(text, []byte("null")) || json.Unmarshal(text, &body) != nil {
		return text
	}
	strip(body)
	text, _ = json.Marshal(body) // it was JSON before
	return text
}

func strip(v any) {
	switch v := v.(type) {
	case map[string]any:
		maps.DeleteFunc(v, func(_ string, inner any) bool { return inner == nil })
		for _, inner := range v {
			strip(inner)
		}
	case []any:
		for _, inner := range v {
			strip(inner)
		}
	}
}
