// Package golang generates the types and methods of the Go client from an OpenAPI document. It supports the JSON
// Schema features that the document uses and takes all routes from the document. The code that all methods share is
// written by hand in package client.
package golang

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/callboard/callboard/httpapi/openapi"
)

const (
	mimeJSON = "application/json"
	mimeForm = "application/x-www-form-urlencoded"
	mimePage = "text/html"
	// mimeMergePatch is the second media type of JSON bodies that a PATCH accepts.
	mimeMergePatch = "application/merge-patch+json"
	// updateSuffix ends the names of the schemas of merge patches.
	updateSuffix = "Update"
)

// Options configures the generation of a client.
type Options struct {
	Package string
	Rename  map[string]string // Go names for schemas whose names package client already uses
}

// Write returns the Go sources of a client by file name. They contain a type for each schema and a method of *Client for
// each operation, except operations for browsers. Each tag of the document has its own file. One more file holds the
// types that several tags share.
func Write(d *openapi.Document, o Options) (map[string][]byte, error) {
	w := &writer{d: d, rename: o.Rename, inRequests: make(map[string]bool)}
	tags := make(map[string][]*clientMethod)
	places := make(map[string]string) // file of each schema: its tag, or sharedFile
	for _, op := range d.Operations {
		m := w.methodOf(op)
		if m == nil {
			continue
		}
		tags[op.Tag] = append(tags[op.Tag], m)
		w.markSchemas(m.request, w.inRequests)
		used := make(map[string]bool)
		w.markSchemas(m.request, used)
		w.markSchemas(m.response, used)
		for name := range used {
			if at, known := places[name]; known && at != op.Tag {
				places[name] = sharedFile
			} else {
				places[name] = op.Tag
			}
		}
	}
	for _, name := range []string{"Detail", "Event"} { // used by errors and event streams, which hand-written code decodes
		if d.Schemas[name] != nil {
			places[name] = sharedFile
		}
	}
	files := make(map[string][]byte)
	for _, tag := range append(slices.Sorted(maps.Keys(tags)), sharedFile) {
		text, err := w.writeFile(o.Package, tags[tag], schemasOf(places, tag))
		if err != nil {
			return nil, err
		}
		files[fileName(tag)] = text
	}
	return files, nil
}

type writer struct {
	d          *openapi.Document
	rename     map[string]string
	inRequests map[string]bool // schemas of requests
	out        bytes.Buffer
}

func (w *writer) printf(text string, args ...any) { _, _ = fmt.Fprintf(&w.out, text+"\n", args...) }

// writeComment writes a text as a Go comment.
func (w *writer) writeComment(text string) {
	for part := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		w.printf("%s", strings.TrimRight("// "+part, " "))
	}
}

// markSchemas adds to seen the names of all schemas that a schema references directly or indirectly.
func (w *writer) markSchemas(s *openapi.Schema, seen map[string]bool) {
	if s == nil {
		return
	}
	if name, ok := refOf(s); ok && !seen[name] {
		seen[name] = true
		w.markSchemas(w.d.Schemas[name], seen)
	}
	w.markSchemas(s.Items, seen)
	if s.Additional != nil {
		w.markSchemas(s.Additional.Schema, seen)
	}
	for _, inner := range slices.Concat(s.AllOf, s.AnyOf, s.OneOf, slices.Collect(maps.Values(s.Properties))) {
		w.markSchemas(inner, seen)
	}
}

func refOf(s *openapi.Schema) (name string, ok bool) {
	return strings.CutPrefix(s.Ref, "#/components/schemas/")
}

// goType is the Go type for the values of a schema.
type goType struct {
	name     string
	nullable bool // null is a value that differs from a missing member
	holdsNil bool // a slice, a map or raw JSON, which can be nil without a pointer
	isStruct bool // the Go type is a struct
}

func (w *writer) typeOf(s *openapi.Schema) goType {
	if name, ok := refOf(s); ok {
		return goType{name: w.goName(name), isStruct: true, nullable: slices.Contains(w.d.Schemas[name].Types, "null")}
	}
	for _, inner := range slices.Concat(s.AllOf, s.AnyOf, s.OneOf) {
		if !isNull(inner) {
			t := w.typeOf(inner)
			t.nullable = t.nullable || slices.ContainsFunc(slices.Concat(s.AnyOf, s.OneOf), isNull)
			return t
		}
	}
	t := goType{nullable: slices.Contains(s.Types, "null")}
	kind := ""
	for _, each := range s.Types {
		if each != "null" {
			kind = each
		}
	}
	switch kind {
	case "string":
		t.name = "string"
		if s.Format == "date-time" {
			t.name = "time.Time"
		}
	case "integer":
		t.name = "int64"
	case "number":
		t.name = "float64"
	case "boolean":
		t.name = "bool"
	case "array":
		t.name, t.holdsNil = "[]"+w.typeOf(s.Items).name, true
	case "object":
		t.name, t.holdsNil = "map[string]any", true
		if s.Additional != nil && s.Additional.Schema != nil {
			if inner := w.typeOf(s.Additional.Schema); inner.name != "json.RawMessage" {
				pointer := ""
				if inner.nullable && !inner.holdsNil {
					pointer = "*"
				}
				t.name = "map[string]" + pointer + inner.name
			}
		}
	default:
		t.name, t.holdsNil = "json.RawMessage", true
	}
	return t
}

func isNull(s *openapi.Schema) bool { return slices.Equal(s.Types, openapi.Types{"null"}) }

func (w *writer) goName(schema string) string {
	if name := w.rename[schema]; name != "" {
		return name
	}
	return schema
}

// writeStruct writes the Go struct of a schema.
func (w *writer) writeStruct(name string) {
	s := w.d.Schemas[name]
	w.printf("// %s is %s.", w.goName(name), map[bool]string{true: "part of a request", false: "part of a response"}[w.inRequests[name]])
	w.printf("type %s struct {", w.goName(name))
	for _, field := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[field]
		comment := p.Description
		if len(p.Enum) > 0 && len(p.Types) > 0 {
			var words []string
			for _, e := range p.Enum {
				if e != nil {
					words = append(words, fmt.Sprint(e))
				}
			}
			comment = strings.TrimSpace(comment + " One of " + strings.Join(words, ", ") + ".")
		}
		if comment != "" {
			w.writeComment(comment)
		}
		t := w.typeOf(p)
		kind, tag := t.field(slices.Contains(s.Required, field), w.inRequests[name])
		if t.nullable && strings.HasSuffix(name, updateSuffix) { // null differs from a missing member
			kind, tag = "Optional["+t.name+"]", ",omitzero"
		}
		w.printf("%s %s `json:\"%s%s\"`", exportedName(field), kind, field, tag)
	}
	w.printf("}\n")
}

// field returns the Go type and the JSON options of a struct field. An optional field of a request is a pointer, to
// distinguish a missing value from zero. An optional field of a response is not.
func (t goType) field(required, sent bool) (kind, tag string) {
	switch {
	case t.holdsNil && required:
		return t.name, ""
	case t.holdsNil:
		return t.name, ",omitzero"
	case required && t.nullable:
		return "*" + t.name, ""
	case required:
		return t.name, ""
	case t.nullable || sent || t.isStruct || t.name == "time.Time":
		return "*" + t.name, ",omitempty"
	}
	return t.name, ",omitzero"
}

// clientMethod is the client method for one operation of the document.
type clientMethod struct {
	*openapi.Operation
	name        string
	query       []*openapi.Parameter
	request     *openapi.Schema // JSON request body; nil: none
	response    *openapi.Schema // JSON response body; nil: the operation returns no JSON
	takesStream bool            // the request body may have another media type
	returnsRaw  bool            // the response may have another media type
	rowSchema   *openapi.Schema // element of a list with a cursor; nil: no list
}

// methodOf returns the client method for an operation, nil for an operation that only browsers use.
func (w *writer) methodOf(op *openapi.Operation) *clientMethod {
	m := &clientMethod{Operation: op, name: exportedName(op.ID), request: op.Bodies[mimeJSON]}
	if op.Bodies[mimeForm] != nil {
		return nil
	}
	for kind := range op.Bodies {
		m.takesStream = m.takesStream || kind != mimeJSON && kind != mimeMergePatch
	}
	for _, p := range op.Parameters {
		if p.In == "query" && p.Name != "ticket" && p.Name != "token" {
			m.query = append(m.query, p)
		}
	}
	if !m.findResponse() {
		return nil
	}
	if m.response == nil {
		return m
	}
	if name, ok := refOf(m.response); ok && w.d.Schemas[name].Properties["next_cursor"] != nil && m.hasQuery("cursor") {
		if data := w.d.Schemas[name].Properties["data"]; data != nil {
			m.rowSchema = data.Items
		}
	}
	return m
}

// findResponse sets the response type of a method. It returns false if the operation returns only an HTML page or
// nothing.
func (m *clientMethod) findResponse() bool {
	for _, status := range []string{"202", "201", "200"} {
		r := m.Responses[status]
		if r == nil {
			continue
		}
		for kind, c := range r.Content {
			switch kind {
			case mimePage:
				return false
			case mimeJSON:
				m.response = c.Schema
			default:
				m.returnsRaw = true
			}
		}
		if status == "200" && m.returnsRaw && r.Content[mimeJSON].Schema == nil {
			m.response = nil // the JSON response only says that the result is not ready yet
		}
	}
	return m.response != nil || m.returnsRaw
}

func (m *clientMethod) hasQuery(name string) bool {
	return slices.ContainsFunc(m.query, func(p *openapi.Parameter) bool { return p.Name == name })
}

// writeMethod writes the Go methods for one operation.
func (w *writer) writeMethod(m *clientMethod) {
	w.writeQuery(m)
	args, path, query := m.arguments()
	comment := fmt.Sprintf("%s: %s.\n\n%s %s", m.name, strings.TrimSuffix(m.Summary, "."), m.Method, m.Path)
	if m.Description != "" {
		comment += "\n\n" + m.Description
	}
	body, sent := args, "nil"
	if m.request != nil {
		body, sent = args+", body *"+w.typeOf(m.request).name, "asJSON(body)"
	}
	if m.response != nil {
		kind := w.typeOf(m.response).name
		w.writeComment(comment)
		w.printf("func (c *Client) %s(ctx context.Context%s, options ...Option) (*%s, error) {", m.name, body, kind)
		w.printf("return send[%s](ctx, c, %q, %s, %s, %s, options)\n}\n", kind, m.Method, path, query, sent)
		if m.takesStream {
			w.printf("// %sFrom streams a body of another media type that the operation accepts.", m.name)
			w.printf("func (c *Client) %sFrom(ctx context.Context%s, mediaType string, body io.Reader, options ...Option) (*%s, error) {", m.name, args, kind)
			w.printf("return send[%s](ctx, c, %q, %s, %s, stream{mediaType, body}, options)\n}\n", kind, m.Method, path, query)
		}
	}
	if m.returnsRaw {
		name := m.name
		if m.response != nil {
			name += "Raw"
		}
		w.writeComment(strings.Replace(comment, m.name+":", name+":", 1) + "\n\nThe caller reads the body and closes it.")
		w.printf("func (c *Client) %s(ctx context.Context%s, options ...Option) (*http.Response, error) {", name, body)
		w.printf("return c.open(ctx, %q, %s, %s, %s, options)\n}\n", m.Method, path, query, sent)
	}
	if m.rowSchema != nil {
		rest, row := strings.TrimPrefix(strings.TrimPrefix(m.name, "List"), "Get"), w.typeOf(m.rowSchema).name
		names := strings.Join(append([]string{""}, m.pathVariables()...), ", ")
		w.printf("// All%s iterates over all pages of %s. It ends after the first error.", rest, m.name)
		w.printf("func (c *Client) All%s(ctx context.Context%s, options ...Option) iter.Seq2[%s, error] {", rest, args, row)
		w.printf("return pages(&q.Cursor, func() ([]%s, *string, error) {\nl, err := c.%s(ctx%s, q, options...)", row, m.name, names)
		w.printf("if err != nil {\nreturn nil, nil, err\n}\nreturn l.Data, l.NextCursor, nil\n})\n}\n")
	}
}

// pathVariables returns the Go variable names of the path parameters.
func (m *clientMethod) pathVariables() []string {
	var names []string
	for _, p := range m.Parameters {
		if p.In == "path" {
			names = append(names, variableName(p.Name))
		}
	}
	return names
}

// arguments returns the parameter list of a method as Go source, and the Go expressions for its path and query.
func (m *clientMethod) arguments() (args, path, query string) {
	path = fmt.Sprintf("%q", m.Path)
	for _, p := range m.pathVariables() {
		args = strings.Join([]string{args, p + " string"}, ", ")
	}
	for _, p := range m.Parameters {
		if p.In == "path" {
			path = strings.Replace(path, "{"+p.Name+"}", `" + url.PathEscape(`+variableName(p.Name)+`) + "`, 1)
		}
	}
	path = strings.TrimSuffix(path, ` + ""`)
	if len(m.query) == 0 {
		return args, path, "nil"
	}
	return args + ", q " + m.name + "Query", path, "q.values()"
}

// writeQuery writes the Go struct with the query parameters of an operation.
func (w *writer) writeQuery(m *clientMethod) {
	if len(m.query) == 0 {
		return
	}
	w.printf("// %sQuery holds the query parameters of %s. Zero values are not sent.\ntype %sQuery struct {", m.name, m.name, m.name)
	for _, p := range m.query {
		if about := p.Description; about != "" {
			w.writeComment(about)
		}
		w.printf("%s %s", exportedName(p.Name), w.typeOf(p.Schema).name)
	}
	w.printf("}\n\nfunc (q *%sQuery) values() url.Values {\nv := make(url.Values)", m.name)
	for _, p := range m.query {
		field := "q." + exportedName(p.Name)
		switch w.typeOf(p.Schema).name {
		case "time.Time":
			w.printf("if !%s.IsZero() {\nv.Set(%q, %s.UTC().Format(time.RFC3339Nano))\n}", field, p.Name, field)
		case "int64":
			w.printf("if %s != 0 {\nv.Set(%q, strconv.FormatInt(%s, 10))\n}", field, p.Name, field)
		case "bool":
			w.printf("if %s {\nv.Set(%q, \"true\")\n}", field, p.Name)
		default:
			w.printf("if %s != \"\" {\nv.Set(%q, %s)\n}", field, p.Name, field)
		}
	}
	w.printf("return v\n}\n")
}

// exportedName converts a name of the OpenAPI document to an exported Go name.
func exportedName(name string) string {
	if first := []rune(name); len(first) > 0 && unicode.IsLower(first[0]) && !strings.ContainsAny(name, "_-") && name != strings.ToLower(name) {
		return string(unicode.ToUpper(first[0])) + string(first[1:]) // the name is an operation id
	}
	var b strings.Builder
	for part := range strings.FieldsFuncSeq(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		switch part {
		case "id", "ip", "url", "uri", "api", "sip", "dnc", "csv", "http", "sms", "amd", "mos", "jwks", "pdd", "uris", "ids", "ips":
			part = strings.ToUpper(part)
			if strings.HasSuffix(part, "S") && part != "SMS" && part != "MOS" && part != "JWKS" {
				part = part[:len(part)-1] + "s"
			}
		default:
			part = strings.ToUpper(part[:1]) + part[1:]
		}
		b.WriteString(part)
	}
	return b.String()
}

// variableName converts a parameter name of the OpenAPI document to a Go variable name.
func variableName(name string) string {
	if name == "id" {
		return "id"
	}
	text := exportedName(name)
	return strings.ToLower(text[:1]) + text[1:]
}
