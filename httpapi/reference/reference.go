// Package reference renders the OpenAPI document as an HTML page.
package reference

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/callboard/callboard/httpapi/openapi"
	"github.com/callboard/callboard/httpapi/pages"
)

const style = `body{font:1rem/1.5 system-ui,sans-serif;margin:0;background:#fff;color:#1a1a1a}main{max-width:60rem;margin:2rem auto;padding:0 1rem}` +
	`h2{border-bottom:1px solid #767676;margin-top:2.5rem}details{border:1px solid #767676;border-radius:.25rem;margin:.5rem 0;padding:.25rem .75rem}summary{cursor:pointer}` +
	`code,pre{background:#eee;padding:0 .25rem;overflow-wrap:anywhere}pre{padding:.75rem;overflow-x:auto}table{border-collapse:collapse;width:100%}` +
	`th,td{text-align:left;vertical-align:top;padding:.25rem .75rem .25rem 0;border-bottom:1px solid #ccc}.method{font-weight:700;display:inline-block;min-width:4rem}` +
	`nav ul{columns:3 12rem;padding-left:1rem}a{color:#0b4f9e}@media(prefers-color-scheme:dark){body{background:#161616;color:#eee}code,pre{background:#333}a{color:#9cc7ff}}`

// Types of the data that the page template shows.
type (
	page struct {
		pages.Frame
		Intro, Version string
		Tags           []tag
		Schemas        []schema
	}
	tag struct {
		Name       string
		Operations []operation
	}
	operation struct {
		*openapi.Operation
		Fields  []field // in the path, the query and headers
		Bodies  []content
		Answers []content
	}
	content struct {
		Status, Kind, About, Type, Link, Example string
		Fields                                   []field
	}
	field struct {
		Name, In, Type, Link, About string
		Required                    bool
	}
	schema struct {
		Name   string
		About  string
		Fields []field
	}
)

// Policy returns the Content-Security-Policy of the reference page.
func Policy() string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

// Render returns the HTML page for an OpenAPI document.
func Render(document []byte) ([]byte, error) {
	d, err := openapi.Parse(document)
	if err != nil {
		return nil, err
	}
	data := page{Frame: pages.Frame{Title: d.Title + " API", Style: style}, Intro: d.Description, Version: d.Version}
	byTag := make(map[string][]operation)
	for _, o := range d.Operations {
		byTag[o.Tag] = append(byTag[o.Tag], describeOperation(d, o))
	}
	for _, name := range slices.Sorted(maps.Keys(byTag)) {
		data.Tags = append(data.Tags, tag{name, byTag[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(d.Schemas)) {
		data.Schemas = append(data.Schemas, schema{name, d.Schemas[name].Description, describeFields(d.Schemas[name])})
	}
	var b bytes.Buffer
	if err = pages.Execute(&b, "docs", data); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func describeOperation(d *openapi.Document, o *openapi.Operation) operation {
	out := operation{Operation: o}
	for _, p := range o.Parameters {
		f := describeField(p.Name, p.Schema, p.Required)
		f.In, f.About = p.In, cmp.Or(p.Description, f.About)
		out.Fields = append(out.Fields, f)
	}
	for _, kind := range slices.Sorted(maps.Keys(o.Bodies)) {
		b := content{Kind: kind, Fields: describeFields(resolveSchema(d, o.Bodies[kind]))}
		switch example := o.Examples[kind].(type) {
		case nil:
		case string:
			b.Example = example
		default:
			text, _ := json.MarshalIndent(example, "", "  ") // parsed from JSON: marshaling cannot fail
			b.Example = string(text)
		}
		out.Bodies = append(out.Bodies, b)
	}
	for _, status := range slices.Sorted(maps.Keys(o.Responses)) {
		r := d.Response(o, status)
		a := content{Status: status, About: r.Description}
		for _, kind := range slices.Sorted(maps.Keys(r.Content)) {
			a.Kind = strings.TrimPrefix(a.Kind+", "+kind, ", ")
			a.Type, a.Link = describeType(r.Content[kind].Schema)
		}
		out.Answers = append(out.Answers, a)
	}
	return out
}

func resolveSchema(d *openapi.Document, s *openapi.Schema) *openapi.Schema {
	s, _ = d.Resolve(s)
	return s
}

func describeFields(s *openapi.Schema) []field {
	var all []field
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		all = append(all, describeField(name, s.Properties[name], slices.Contains(s.Required, name)))
	}
	return all
}

func describeField(name string, s *openapi.Schema, required bool) field {
	f := field{Name: name, Required: required, About: s.Description}
	f.Type, f.Link = describeType(s)
	return f
}

// describeType returns the name of a schema's type for the page. link is the name of the schema that the type refers
// to, "" for a plain type.
func describeType(s *openapi.Schema) (text, link string) {
	if s == nil {
		return "", ""
	}
	for _, inner := range slices.Concat(s.AllOf, s.AnyOf, s.OneOf) {
		if text, link = describeType(inner); link != "" {
			return text, link
		}
	}
	switch {
	case s.Ref != "":
		return s.Name(), s.Name()
	case s.Items != nil:
		text, link = describeType(s.Items)
		return "list of " + text, link
	case s.Additional != nil && s.Additional.Schema != nil:
		text, link = describeType(s.Additional.Schema)
		return "map of " + text, link
	case len(s.Enum) > 0:
		words := make([]string, len(s.Enum))
		for i, v := range s.Enum {
			word, _ := json.Marshal(v) // parsed from JSON: marshaling cannot fail
			words[i] = strings.Trim(string(word), `"`)
		}
		return strings.Join(words, " | "), ""
	case s.Format != "" && s.Type() == "string":
		return s.Format, ""
	}
	return cmp.Or(s.Type(), "anything"), ""
}
