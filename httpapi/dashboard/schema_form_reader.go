package dashboard

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// sentField marks a form that was sent, because an unticked box is not part of it.
const sentField = "sent"

// body returns the body of the API request that the sent form describes. before is the resource that the request changes,
// nil if the request creates one. Members without a value are omitted, or null if the resource has a value. The problem
// names fields that hold no valid number, time or JSON.
func (f schemaForm) body(r *Request, before object) (object, error) {
	p := &problem{Status: http.StatusUnprocessableEntity, Code: "validation_failed"}
	reader := formReader{schemaForm: f, schemas: r.Schemas, values: r.Form, zone: r.zone(), problem: p}
	body := reader.object(r.Schemas.BodySchema(f.Method, f.Path), "", before, before != nil)
	if len(p.Details) > 0 {
		p.Message = p.Details[0].Message
		p.Param = p.Details[0].Param
		return nil, p
	}
	return body, nil
}

// formReader reads the values of a sent form.
type formReader struct {
	schemaForm
	schemas Schemas
	values  url.Values
	zone    *time.Location
	problem *problem
}

// object returns the members of an object that have a value. With update, it returns those that differ from before.
func (f *formReader) object(schema *huma.Schema, prefix string, before object, update bool) object {
	resolved, names := f.schemas.Members(schema)
	out := object{}
	for _, name := range names {
		path := prefix + name
		if slices.Contains(f.Hidden, path) || resolved.Properties[name].ReadOnly {
			continue
		}
		member := resolved.Properties[name]
		value, has := f.member(member, path, before[name], update)
		old, had := before[name]
		switch kind := f.kindOf(member, path); {
		case has && (!update || !sameJSON(value, old)):
			out[name] = value
		case !has && update && had && old != nil && kind != secretField && !isEmptyValue(old):
			out[name] = nil
		}
	}
	return out
}

func (f *formReader) kindOf(schema *huma.Schema, path string) string {
	b := formBuilder{schemaForm: f.schemaForm, request: &Request{Schemas: f.schemas}}
	resolved, _ := f.schemas.Members(schema)
	return b.kind(resolved, path, strings.Count(path, "."))
}

// member returns the value of a member. has is false if the form has none.
func (f *formReader) member(schema *huma.Schema, path string, before any, update bool) (value any, has bool) {
	resolved, _ := f.schemas.Members(schema)
	line := strings.TrimSpace(f.values.Get(path))
	switch kind := f.kindOf(schema, path); kind {
	case tickField:
		return f.tick(schema, resolved, path, update)
	case numberField:
		return f.number(path, line)
	case timeField:
		return f.time(path, line)
	case choicesField:
		list := []any{}
		for _, v := range f.values[path] {
			if v != "" {
				list = append(list, v)
			}
		}
		return list, len(list) > 0
	case linesField:
		return splitLines(strings.Join(f.values[path], "\n"))
	case pairsField:
		return f.pairs(path)
	case jsonField:
		return f.json(path, line)
	case groupField:
		old, _ := before.(object)
		o := f.object(schema, path+".", old, update && old != nil)
		if len(o) == 0 && update && old != nil {
			return old, true // unchanged
		}
		return o, len(o) > 0
	case rowsField:
		return f.list(resolved.Items, path)
	case textField:
		text := strings.ReplaceAll(f.values.Get(path), "\r\n", "\n")
		return text, strings.TrimSpace(text) != ""
	case secretField:
		return f.values.Get(path), f.values.Get(path) != ""
	default:
		return line, line != ""
	}
}

// isOnByDefault reports whether a member is true if a request omits it. Members that can be missing say so in their
// description.
func isOnByDefault(schema, resolved *huma.Schema) bool {
	return resolved.Default == true || strings.Contains(schema.Description+resolved.Description, "Default: true")
}

// tick returns the value of a box. A box that a new resource leaves at its default is omitted.
func (f *formReader) tick(schema, s *huma.Schema, path string, update bool) (value any, has bool) {
	ticked := f.values.Get(path) != ""
	return ticked, update || ticked != isOnByDefault(schema, s)
}

func (f *formReader) number(path, line string) (value any, has bool) {
	if line == "" {
		return nil, false
	}
	n, err := strconv.ParseFloat(line, 64)
	if err != nil {
		f.refuse(path, "must be a number")
		return nil, false
	}
	return n, true
}

func (f *formReader) time(path, line string) (value any, has bool) {
	if line == "" {
		return nil, false
	}
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05"} {
		if t, err := time.ParseInLocation(layout, line, f.zone); err == nil {
			return t.UTC().Format(time.RFC3339), true
		}
	}
	if _, err := time.Parse(time.RFC3339, line); err == nil {
		return line, true
	}
	f.refuse(path, "must be a date and time, such as 2026-12-05 14:30")
	return nil, false
}

func (f *formReader) pairs(path string) (value any, has bool) {
	pairs := object{}
	for line := range strings.Lines(f.values.Get(path)) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		name, of, ok := strings.Cut(line, ":")
		if !ok {
			f.refuse(path, fmt.Sprintf("needs a name and a value in each line, such as region: east; %q has no colon", line))
			return nil, false
		}
		pairs[strings.TrimSpace(name)] = strings.TrimSpace(of)
	}
	return pairs, len(pairs) > 0
}

func (f *formReader) json(path, line string) (value any, has bool) {
	if line == "" {
		return nil, false
	}
	if json.Unmarshal([]byte(line), &value) != nil {
		f.refuse(path, "is not valid JSON")
		return nil, false
	}
	return value, true
}

// list returns the entries of a list of objects that have a value.
func (f *formReader) list(items *huma.Schema, path string) (value any, has bool) {
	list := []any{}
	for i := range formRows(f.values, path) {
		if one := f.object(items, path+"."+strconv.Itoa(i)+".", nil, false); len(one) > 0 {
			list = append(list, one)
		}
	}
	return list, len(list) > 0
}

func (f *formReader) refuse(path, why string) {
	param := apiParam(path)
	f.problem.Details = append(f.problem.Details, problemDetail{Param: param, Message: param + " " + why})
}

// splitLines returns the lines of a text that are not empty.
func splitLines(s string) (value any, has bool) {
	list := []any{}
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return list, len(list) > 0
}

func isEmptyValue(v any) bool {
	switch v := v.(type) {
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case object:
		return len(v) == 0
	}
	return v == false || v == 0.0
}

// sameJSON reports whether two values have the same JSON.
func sameJSON(a, b any) bool {
	x, err1 := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err1 == nil && err2 == nil && string(x) == string(y)
}
