package apitest

import (
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/callboard/callboard/httpapi/openapi"
)

// bodyValue is a value in a request body with its path and a function that replaces it.
type bodyValue struct {
	path   string // path as in error responses, for example a.b[2].c; "": the whole body
	name   string
	schema *openapi.Schema
	value  any
	parent map[string]any // object that has the value as a field
	set    func(any)
}

// bodyValues returns v, a part of a request body, and all values inside it that have a schema.
func bodyValues(doc *openapi.Document, s *openapi.Schema, v any, path, name string, parent map[string]any, set func(any)) []bodyValue {
	s, _ = doc.Resolve(s)
	all := []bodyValue{{path, name, s, v, parent, set}}
	switch v := v.(type) {
	case map[string]any:
		for _, field := range slices.Sorted(maps.Keys(v)) {
			if inner := s.Properties[field]; inner != nil {
				all = append(all, bodyValues(doc, inner, v[field], strings.TrimPrefix(path+"."+field, "."), field, v, func(to any) { v[field] = to })...)
			}
		}
	case []any:
		for i := range v {
			if s.Items != nil {
				all = append(all, bodyValues(doc, s.Items, v[i], path+"["+strconv.Itoa(i)+"]", name, nil, func(to any) { v[i] = to })...)
			}
		}
	}
	return all
}

// invalidateValue replaces a random value of a body by a value that is probably invalid. named are the fields, one of
// which a correct error response names.
func invalidateValue(r *rand.Rand, all []bodyValue) (body any, named []string) {
	p := all[r.IntN(len(all))]
	if len(all) > 1 && p.path == "" && r.IntN(2) == 0 {
		p = all[1+r.IntN(len(all)-1)]
	}
	root := all[0].value
	change := func(to any) {
		if p.set == nil {
			root = to
			return
		}
		p.set(to)
	}
	inner := func(name string) string { return strings.TrimPrefix(p.path+"."+name, ".") }
	if object, ok := p.value.(map[string]any); ok && r.IntN(2) == 0 {
		if len(p.schema.Required) > 0 && r.IntN(2) == 0 {
			name := p.schema.Required[r.IntN(len(p.schema.Required))]
			delete(object, name)
			return root, []string{inner(name)}
		}
		object["no_such_field"] = true
		return root, []string{inner("no_such_field"), p.path}
	}
	switch {
	case p.schema.MaxItems != nil && r.IntN(2) == 0:
		list, _ := p.value.([]any)
		for len(list) <= *p.schema.MaxItems && len(list) < 20_000 {
			list = append(list, "x")
		}
		change(list)
	case p.schema.Type() == "string" && r.IntN(2) == 0:
		change(wrongText(r, p.schema))
	case (p.schema.Type() == "integer" || p.schema.Type() == "number") && r.IntN(2) == 0:
		change(wrongNumber(r, p.schema))
	default:
		change([]any{nil, "text", 12.5, -3.0, true, []any{}, []any{nil}, map[string]any{}, map[string]any{"a": 1.0}, 9.9e300}[r.IntN(10)])
	}
	return root, []string{p.path}
}

func wrongText(r *rand.Rand, s *openapi.Schema) any {
	all := []any{"\u0000", strings.Repeat("x", 5000), "no such word", ""}
	if s.MaxLength != nil {
		all = append(all, strings.Repeat("x", *s.MaxLength+1))
	}
	if s.MinLength != nil && *s.MinLength > 0 {
		all = append(all, strings.Repeat("x", *s.MinLength-1))
	}
	return all[r.IntN(len(all))]
}

func wrongNumber(r *rand.Rand, s *openapi.Schema) any {
	all := []any{-1.0, 0.0, 1e18, 0.5}
	if s.Maximum != nil {
		all = append(all, *s.Maximum+1, *s.Maximum+1)
	}
	if s.Minimum != nil {
		all = append(all, *s.Minimum-1, *s.Minimum-1)
	}
	return all[r.IntN(len(all))]
}

// malformedBody returns a body that is not valid JSON, or JSON of the wrong type. Some of the bodies contain good.
func malformedBody(r *rand.Rand, good []byte) []byte {
	all := [][]byte{
		nil, []byte("{"), []byte("[]"), []byte("null"), []byte(`"text"`), []byte("17"), []byte("\xff\xfe{}"), []byte(`{"a":1}{"b":2}`),
		[]byte(strings.Repeat("[", 2000)), []byte(strings.Repeat(`{"a":`, 2000)), good[:len(good)/2], append([]byte("\xef\xbb\xbf"), good...), []byte(`{"a":1e999}`),
		[]byte(`{"` + strings.Repeat("k", 10_000) + `":1}`),
	}
	return all[r.IntN(len(all))]
}

func matchesPattern(pattern, v string) bool {
	re, err := regexp.Compile(pattern)
	return err == nil && re.MatchString(v)
}
