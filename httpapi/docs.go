package httpapi

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/httpapi/openapi"
	"github.com/callboard/callboard/httpapi/router"
)

const docsStyle = `body{font:1rem/1.5 system-ui,sans-serif;margin:0;background:#fff;color:#1a1a1a}main{max-width:60rem;margin:2rem auto;padding:0 1rem}` +
	`h2{border-bottom:1px solid #767676;margin-top:2.5rem}details{border:1px solid #767676;border-radius:.25rem;margin:.5rem 0;padding:.25rem .75rem}summary{cursor:pointer}` +
	`code,pre{background:#eee;padding:0 .25rem;overflow-wrap:anywhere}pre{padding:.75rem;overflow-x:auto}table{border-collapse:collapse;width:100%}` +
	`th,td{text-align:left;vertical-align:top;padding:.25rem .75rem .25rem 0;border-bottom:1px solid #ccc}.method{font-weight:700;display:inline-block;min-width:4rem}` +
	`nav ul{columns:3 12rem;padding-left:1rem}a{color:#0b4f9e}@media(prefers-color-scheme:dark){body{background:#161616;color:#eee}code,pre{background:#333}a{color:#9cc7ff}}`

// What the reference page shows of the document.
type (
	docsPage struct {
		frame
		Intro, Version string
		Tags           []docsTag
		Schemas        []docsSchema
	}
	docsTag struct {
		Name       string
		Operations []docsOperation
	}
	docsOperation struct {
		*openapi.Operation
		Fields  []docsField // in the path, the query and headers
		Bodies  []docsBody
		Answers []docsBody
	}
	docsBody struct {
		Status, Kind, About, Type, Link, Example string
		Fields                                   []docsField
	}
	docsField struct {
		Name, In, Type, Link, About string
		Required                    bool
	}
	docsSchema struct {
		Name   string
		About  string
		Fields []docsField
	}
)

func (s *Server) docsRoutes() {
	sum := sha256.Sum256([]byte(docsStyle))
	policy := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	s.AddRaw(router.Operation{
		Method: http.MethodGet, Path: "/docs", ID: "getReference", Tag: "Document", Summary: "This document as a page", Public: true,
		Description: "For browsers. It loads nothing from anywhere.",
	}, func(h *huma.Operation) {
		h.Responses["200"] = router.DescribeResponse("The reference.", fiber.MIMETextHTML, &huma.Schema{Type: huma.TypeString})
	}, func(c *fiber.Ctx) error {
		text, err := s.document.reference()
		if err != nil {
			return err
		}
		c.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
		c.Set(fiber.HeaderContentSecurityPolicy, policy)
		c.Set(fiber.HeaderCacheControl, "public, max-age=300")
		return c.Send(text)
	})
}

// writeDocs writes the reference page.
func writeDocs(document []byte) ([]byte, error) {
	d, err := openapi.Read(document)
	if err != nil {
		return nil, err
	}
	page := docsPage{frame: frame{Title: d.Title + " API", Style: docsStyle}, Intro: d.Description, Version: d.Version}
	byTag := make(map[string][]docsOperation)
	for _, o := range d.Operations {
		byTag[o.Tag] = append(byTag[o.Tag], docsOf(d, o))
	}
	for _, tag := range slices.Sorted(maps.Keys(byTag)) {
		page.Tags = append(page.Tags, docsTag{tag, byTag[tag]})
	}
	for _, name := range slices.Sorted(maps.Keys(d.Schemas)) {
		page.Schemas = append(page.Schemas, docsSchema{name, d.Schemas[name].Description, docsFields(d.Schemas[name])})
	}
	var b bytes.Buffer
	if err = newPages().all.ExecuteTemplate(&b, "docs", page); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func docsOf(d *openapi.Document, o *openapi.Operation) docsOperation {
	out := docsOperation{Operation: o}
	for _, p := range o.Parameters {
		f := docsFieldOf(p.Name, p.Schema, p.Required)
		f.In, f.About = p.In, cmp.Or(p.Description, f.About)
		out.Fields = append(out.Fields, f)
	}
	for _, kind := range slices.Sorted(maps.Keys(o.Bodies)) {
		b := docsBody{Kind: kind, Fields: docsFields(plainOf(d, o.Bodies[kind]))}
		switch example := o.Examples[kind].(type) {
		case nil:
		case string:
			b.Example = example
		default:
			text, _ := json.MarshalIndent(example, "", "  ") // it was read as JSON
			b.Example = string(text)
		}
		out.Bodies = append(out.Bodies, b)
	}
	for _, status := range slices.Sorted(maps.Keys(o.Responses)) {
		r := d.Response(o, status)
		a := docsBody{Status: status, About: r.Description}
		for _, kind := range slices.Sorted(maps.Keys(r.Content)) {
			a.Kind = strings.TrimPrefix(a.Kind+", "+kind, ", ")
			a.Type, a.Link = docsType(r.Content[kind].Schema)
		}
		out.Answers = append(out.Answers, a)
	}
	return out
}

func plainOf(d *openapi.Document, s *openapi.Schema) *openapi.Schema {
	s, _ = d.Plain(s)
	return s
}

func docsFields(s *openapi.Schema) []docsField {
	var all []docsField
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		all = append(all, docsFieldOf(name, s.Properties[name], slices.Contains(s.Required, name)))
	}
	return all
}

func docsFieldOf(name string, s *openapi.Schema, required bool) docsField {
	f := docsField{Name: name, Required: required, About: s.Description}
	f.Type, f.Link = docsType(s)
	return f
}

// docsType words a type; link is the schema that it leads to.
func docsType(s *openapi.Schema) (text, link string) {
	if s == nil {
		return "", ""
	}
	for _, inner := range slices.Concat(s.AllOf, s.AnyOf, s.OneOf) {
		if text, link = docsType(inner); link != "" {
			return text, link
		}
	}
	switch {
	case s.Ref != "":
		return s.Name(), s.Name()
	case s.Items != nil:
		text, link = docsType(s.Items)
		return "list of " + text, link
	case s.Others != nil && s.Others.Schema != nil:
		text, link = docsType(s.Others.Schema)
		return "map of " + text, link
	case len(s.Enum) > 0:
		words := make([]string, len(s.Enum))
		for i, v := range s.Enum {
			word, _ := json.Marshal(v) // it was read as JSON
			words[i] = strings.Trim(string(word), `"`)
		}
		return strings.Join(words, " | "), ""
	case s.Format != "" && s.Type() == "string":
		return s.Format, ""
	}
	return cmp.Or(s.Type(), "anything"), ""
}
