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

// maxRepairs is how often the walk may repair and resend one valid request that the service refuses.
const maxRepairs = 5

// repairRequest changes a request that the service refused, because schemas do not express all rules. It adds the
// missing fields and removes the fields that the error names. It reports whether the request has changed.
func (w *Walk) repairRequest(o *openapi.Operation, a *testRequest, r Reply) bool {
	var f failure
	var body map[string]any
	if r.Status != http.StatusUnprocessableEntity || a.Kind != "application/json" || json.Unmarshal(r.Body, &f) != nil || json.Unmarshal(a.Body, &body) != nil {
		return false
	}
	changed := false
	for _, param := range f.params() {
		changed = w.repairField(o.Bodies[a.Kind], body, splitParam(param)) || changed
	}
	a.Body, _ = json.Marshal(body) // decoded from JSON: marshaling cannot fail
	return changed
}

// splitParam splits a parameter path into its names and indexes: a.b[2].c becomes a, b, 2 and c.
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
	old, present := object[name]
	switch {
	case !known:
		delete(object, name)
		return present
	case !present:
		object[name] = w.nonEmptyValue(field, name)
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
		object[name] = w.nonEmptyValue(field, name)
		return true
	}
	delete(object, name)
	return true
}

// nonEmptyValue returns a valid value that is not empty.
func (w *Walk) nonEmptyValue(s *openapi.Schema, name string) any {
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

// knownBody returns the last body that an operation accepted, or the example in the document, with ids of existing
// resources. It returns nil if there is neither.
func (w *Walk) knownBody(o *openapi.Operation) any {
	text := w.bodies[o.ID]
	if text == nil && o.Examples["application/json"] != nil {
		text, _ = json.Marshal(o.Examples["application/json"]) // decoded from JSON: marshaling cannot fail
	}
	var body any
	if json.Unmarshal(text, &body) != nil {
		return nil
	}
	w.renewIDs(body)
	return body
}

// renewIDs replaces the ids in a value by ids of existing resources, and unique values by unused ones.
func (w *Walk) renewIDs(v any) {
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
			v[name] = w.localURL(name, inner)
			w.renewIDs(inner)
		}
	case []any:
		for _, inner := range v {
			w.renewIDs(inner)
		}
	}
}

// withoutNulls returns a body without null fields. The API treats a null field as missing.
func withoutNulls(text []byte) []byte {
	var body any
	if !bytes.Contains(text, []byte("null")) || json.Unmarshal(text, &body) != nil {
		return text
	}
	removeNulls(body)
	text, _ = json.Marshal(body) // decoded from JSON: marshaling cannot fail
	return text
}

func removeNulls(v any) {
	switch v := v.(type) {
	case map[string]any:
		maps.DeleteFunc(v, func(_ string, inner any) bool { return inner == nil })
		for _, inner := range v {
			removeNulls(inner)
		}
	case []any:
		for _, inner := range v {
			removeNulls(inner)
		}
	}
}
