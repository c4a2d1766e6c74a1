// Package golang writes the Go client's types and methods out of an OpenAPI
// document. It knows what our documents use of JSON Schema, and none of the
// routes; what the methods share is written by hand, beside them.
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
	// mimeMergePatch is another name of the JSON that a PATCH takes.
	mimeMergePatch = "application/merge-patch+json"
	// updateSuffix ends the names of the schemas of merge patches.
	updateSuffix = "Update"
)

// Options say how the client is written.
type Options struct {
	Package string
	Rename  map[string]string // schemas whose names are taken
}

// Write is the source of a client, by the names of its files: a type for each
// schema and a method of *Client for each operation, but for those that are for
// browsers. Each tag has a file, and one has the types that several tags share.
func Write(d *openapi.Document, o Options) (map[string][]byte, error) {
	w := &writer{d: d, rename: o.Rename, sent: make(map[string]bool)}
	tags := make(map[string][]*method)
	places := make(map[string]string) // of schemas: the tag, or shared
	for _, op := range d.Operations {
		m := w.methodOf(op)
		if m == nil {
			continue
		}
		tags[op.Tag] = append(tags[op.Tag], m)
		w.follow(m.in, w.sent)
		used := make(map[string]bool)
		w.follow(m.in, used)
		w.follow(m.out, used)
		for name := range used {
			if at, known := places[name]; known && at != op.Tag {
				places[name] = shared
			} else {
				places[name] = op.Tag
			}
		}
	}
	for _, name := range []string{"Detail", "Event"} { // of errors and streams, which are read by hand
		if d.Schemas[name] != nil {
			places[name] = shared
		}
	}
	files := make(map[string][]byte)
	for _, tag := range append(slices.Sorted(maps.Keys(tags)), shared) {
		text, err := w.file(o.Package, tags[tag], in(places, tag))
		if err != nil {
			return nil, err
		}
		files[fileName(tag)] = text
	}
	return files, nil
}

type writer struct {
	d      *openapi.Document
	rename map[string]string
	sent   map[string]bool // schemas that stand in requests
	out    bytes.Buffer
}

func (w *writer) line(text string, args ...any) { _, _ = fmt.Fprintf(&w.out, text+"\n", args...) }

// comment writes a text as a comment.
func (w *writer) comment(text string) {
	for part := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		w.line("%s", strings.TrimRight("// "+part, " "))
	}
}

// follow marks a schema and all that it refers to.
func (w *writer) follow(s *openapi.Schema, seen map[string]bool) {
	if s == nil {
		return
	}
	if name, ok := refOf(s); ok && !seen[name] {
		seen[name] = true
		w.follow(w.d.Schemas[name], seen)
	}
	w.follow(s.Items, seen)
	if s.Others != nil {
		w.follow(s.Others.Schema, seen)
	}
	for _, inner := range slices.Concat(s.AllOf, s.AnyOf, s.OneOf, slices.Collect(maps.Values(s.Properties))) {
		w.follow(inner, seen)
	}
}

func refOf(s *openapi.Schema) (name string, ok bool) {
	return strings.CutPrefix(s.Ref, "#/components/schemas/")
}

// typed is a Go type for a value.
type typed struct {
	name   string
	null   bool // null is a value of its own
	holds  bool // a slice, a map or raw JSON: nil without a pointer
	object bool // a struct
}

func (w *writer) typeOf(s *openapi.Schema) typed {
	if name, ok := refOf(s); ok {
		return typed{name: w.named(name), object: true, null: slices.Contains(w.d.Schemas[name].Types, "null")}
	}
	for _, inner := range slices.Concat(s.AllOf, s.AnyOf, s.OneOf) {
		if !isNull(inner) {
			t := w.typeOf(inner)
			t.null = t.null || slices.ContainsFunc(slices.Concat(s.AnyOf, s.OneOf), isNull)
			return t
		}
	}
	t := typed{null: slices.Contains(s.Types, "null")}
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
		t.name, t.holds = "[]"+w.typeOf(s.Items).name, true
	case "object":
		t.name, t.holds = "map[string]any", true
		if s.Others != nil && s.Others.Schema != nil {
			if inner := w.typeOf(s.Others.Schema); inner.name != "json.RawMessage" {
				pointer := ""
				if inner.null && !inner.holds {
					pointer = "*"
				}
				t.name = "map[string]" + pointer + inner.name
			}
		}
	default:
		t.name, t.holds = "json.RawMessage", true
	}
	return t
}

func isNull(s *openapi.Schema) bool { return slices.Equal(s.Types, openapi.Types{"null"}) }

func (w *writer) named(schema string) string {
	if name := w.rename[schema]; name != "" {
		return name
	}
	return schema
}

// object writes the struct of a schema.
func (w *writer) object(name string) {
	s := w.d.Schemas[name]
	w.line("// %s is %s.", w.named(name), map[bool]string{true: "sent to the service", false: "an answer of the service, or a part of one"}[w.sent[name]])
	w.line("type %s struct {", w.named(name))
	for _, field := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[field]
		about := p.Description
		if len(p.Enum) > 0 && len(p.Types) > 0 {
			var words []string
			for _, e := range p.Enum {
				if e != nil {
					words = append(words, fmt.Sprint(e))
				}
			}
			about = strings.TrimSpace(about + " One of " + strings.Join(words, ", ") + ".")
		}
		if about != "" {
			w.comment(about)
		}
		t := w.typeOf(p)
		kind, tag := t.field(slices.Contains(s.Required, field), w.sent[name])
		if t.null && strings.HasSuffix(name, updateSuffix) { // null is not the same as left out
			kind, tag = "Optional["+t.name+"]", ",omitzero"
		}
		w.line("%s %s `json:\"%s%s\"`", exported(field), kind, field, tag)
	}
	w.line("}\n")
}

// field is how a value stands in a struct: what may be left out of a request
// can be told from what is zero; in answers zero will do.
func (t typed) field(required, sent bool) (kind, tag string) {
	switch {
	case t.holds && required:
		return t.name, ""
	case t.holds:
		return t.name, ",omitzero"
	case required && t.null:
		return "*" + t.name, ""
	case required:
		return t.name, ""
	case t.null || sent || t.object || t.name == "time.Time":
		return "*" + t.name, ",omitempty"
	}
	return t.name, ",omitzero"
}

// method is an operation that the client has.
type method struct {
	*openapi.Operation
	name  string
	query []*openapi.Parameter
	in    *openapi.Schema // the JSON that is sent; nil: none
	out   *openapi.Schema // the JSON that comes back; nil: only raw
	from  bool            // the body may be of another media type
	raw   bool            // so may the answer
	rows  *openapi.Schema // of a list with a cursor
}

// methodOf is nil where an operation is for browsers.
func (w *writer) methodOf(op *openapi.Operation) *method {
	m := &method{Operation: op, name: exported(op.ID), in: op.Bodies[mimeJSON]}
	if op.Bodies[mimeForm] != nil {
		return nil
	}
	for kind := range op.Bodies {
		m.from = m.from || kind != mimeJSON && kind != mimeMergePatch
	}
	for _, p := range op.Parameters {
		if p.In == "query" && p.Name != "ticket" && p.Name != "token" {
			m.query = append(m.query, p)
		}
	}
	if !m.answers() {
		return nil
	}
	if m.out == nil {
		return m
	}
	if name, ok := refOf(m.out); ok && w.d.Schemas[name].Properties["next_cursor"] != nil && m.asks("cursor") {
		if data := w.d.Schemas[name].Properties["data"]; data != nil {
			m.rows = data.Items
		}
	}
	return m
}

// answers finds what comes back; false: nothing that a program reads.
func (m *method) answers() bool {
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
				m.out = c.Schema
			default:
				m.raw = true
			}
		}
		if status == "200" && m.raw && r.Content[mimeJSON].Schema == nil {
			m.out = nil // JSON only tells that it is still to come
		}
	}
	return m.out != nil || m.raw
}

func (m *method) asks(name string) bool {
	return slices.ContainsFunc(m.query, func(p *openapi.Parameter) bool { return p.Name == name })
}

// method writes an operation's methods.
func (w *writer) method(m *method) {
	w.queryOf(m)
	args, path, query := m.arguments()
	about := fmt.Sprintf("%s: %s.\n\n%s %s", m.name, strings.TrimSuffix(m.Summary, "."), m.Method, m.Path)
	if m.Description != "" {
		about += "\n\n" + m.Description
	}
	body, sent := args, "nil"
	if m.in != nil {
		body, sent = args+", body *"+w.typeOf(m.in).name, "asJSON(body)"
	}
	if m.out != nil {
		kind := w.typeOf(m.out).name
		w.comment(about)
		w.line("func (c *Client) %s(ctx context.Context%s, options ...Option) (*%s, error) {", m.name, body, kind)
		w.line("return send[%s](ctx, c, %q, %s, %s, %s, options)\n}\n", kind, m.Method, path, query, sent)
		if m.from {
			w.line("// %sFrom sends the body as it is read, of a media type that the operation takes.", m.name)
			w.line("func (c *Client) %sFrom(ctx context.Context%s, mediaType string, body io.Reader, options ...Option) (*%s, error) {", m.name, args, kind)
			w.line("return send[%s](ctx, c, %q, %s, %s, stream{mediaType, body}, options)\n}\n", kind, m.Method, path, query)
		}
	}
	if m.raw {
		name := m.name
		if m.out != nil {
			name += "Raw"
		}
		w.comment(strings.Replace(about, m.name+":", name+":", 1) + "\n\nThe caller reads the body and closes it.")
		w.line("func (c *Client) %s(ctx context.Context%s, options ...Option) (*http.Response, error) {", name, body)
		w.line("return c.open(ctx, %q, %s, %s, %s, options)\n}\n", m.Method, path, query, sent)
	}
	if m.rows != nil {
		rest, row := strings.TrimPrefix(strings.TrimPrefix(m.name, "List"), "Get"), w.typeOf(m.rows).name
		names := strings.Join(append([]string{""}, m.named()...), ", ")
		w.line("// All%s walks the pages of %s to their end; an error is the last that comes.", rest, m.name)
		w.line("func (c *Client) All%s(ctx context.Context%s, options ...Option) iter.Seq2[%s, error] {", rest, args, row)
		w.line("return pages(&q.Cursor, func() ([]%s, *string, error) {\nl, err := c.%s(ctx%s, q, options...)", row, m.name, names)
		w.line("if err != nil {\nreturn nil, nil, err\n}\nreturn l.Data, l.NextCursor, nil\n})\n}\n")
	}
}

// named are the variables in the path.
func (m *method) named() []string {
	var names []string
	for _, p := range m.Parameters {
		if p.In == "path" {
			names = append(names, variable(p.Name))
		}
	}
	return names
}

// arguments are those of a method, and how path and query are made of them.
func (m *method) arguments() (args, path, query string) {
	path = fmt.Sprintf("%q", m.Path)
	for _, p := range m.named() {
		args = strings.Join([]string{args, p + " string"}, ", ")
	}
	for _, p := range m.Parameters {
		if p.In == "path" {
			path = strings.Replace(path, "{"+p.Name+"}", `" + url.PathEscape(`+variable(p.Name)+`) + "`, 1)
		}
	}
	path = strings.TrimSuffix(path, ` + ""`)
	if len(m.query) == 0 {
		return args, path, "nil"
	}
	return args + ", q " + m.name + "Query", path, "q.values()"
}

// queryOf writes the struct of what stands behind the question mark.
func (w *writer) queryOf(m *method) {
	if len(m.query) == 0 {
		return
	}
	w.line("// %sQuery is what %s can be asked; what is zero is left out.\ntype %sQuery struct {", m.name, m.name, m.name)
	for _, p := range m.query {
		if about := p.Description; about != "" {
			w.comment(about)
		}
		w.line("%s %s", exported(p.Name), w.typeOf(p.Schema).name)
	}
	w.line("}\n\nfunc (q *%sQuery) values() url.Values {\nv := make(url.Values)", m.name)
	for _, p := range m.query {
		field := "q." + exported(p.Name)
		switch w.typeOf(p.Schema).name {
		case "time.Time":
			w.line("if !%s.IsZero() {\nv.Set(%q, %s.UTC().Format(time.RFC3339Nano))\n}", field, p.Name, field)
		case "int64":
			w.line("if %s != 0 {\nv.Set(%q, strconv.FormatInt(%s, 10))\n}", field, p.Name, field)
		case "bool":
			w.line("if %s {\nv.Set(%q, \"true\")\n}", field, p.Name)
		default:
			w.line("if %s != \"\" {\nv.Set(%q, %s)\n}", field, p.Name, field)
		}
	}
	w.line("return v\n}\n")
}

// exported is a name of the document as Go writes it.
func exported(name string) string {
	if first := []rune(name); len(first) > 0 && unicode.IsLower(first[0]) && !strings.ContainsAny(name, "_-") && name != strings.ToLower(name) {
		return string(unicode.ToUpper(first[0])) + string(first[1:]) // an operation's
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

// variable is a parameter's name as Go writes it.
func variable(name string) string {
	if name == "id" {
		return "id"
	}
	text := exported(name)
	return strings.ToLower(text[:1]) + text[1:]
}
