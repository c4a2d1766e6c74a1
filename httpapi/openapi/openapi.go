// Package openapi parses an OpenAPI 3.1 document for generators: the Go client, the Postman collection, the
// reference page and test requests. It takes all routes from the document.
package openapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Document is a parsed OpenAPI document.
type Document struct {
	Title       string
	Version     string
	Description string
	Servers     []string
	Operations  []*Operation // sorted by path, then by method
	Schemas     map[string]*Schema
	Responses   map[string]*Response // shared responses by name
}

// Operation is one route of the document.
type Operation struct {
	Method       string // HTTP method in upper case
	Path         string // path with {parameters}
	ID           string
	Tag          string
	Summary      string
	Description  string
	Public       bool // the operation needs no credential
	Parameters   []*Parameter
	Bodies       map[string]*Schema   // request bodies by media type
	Examples     map[string]any       // example request bodies by media type
	BodyRequired bool                 // the request body is required
	Responses    map[string]*Response // by HTTP status
}

// Parameter is a parameter in the path, the query or a header.
type Parameter struct {
	Name        string  `json:"name"`
	In          string  `json:"in"`
	Required    bool    `json:"required"`
	Description string  `json:"description"`
	Schema      *Schema `json:"schema"`
}

// Response is the response with one HTTP status.
type Response struct {
	Ref         string `json:"$ref"`
	Description string `json:"description"`
	Headers     map[string]struct {
		Ref string `json:"$ref"`
	} `json:"headers"`
	Content map[string]struct {
		Schema  *Schema `json:"schema"`
		Example any     `json:"example"`
	} `json:"content"`
}

// Schema holds the JSON Schema keywords that Callboard's OpenAPI document uses.
//
//nolint:tagliatelle // JSON Schema's own names
type Schema struct {
	Ref         string             `json:"$ref"`
	Types       Types              `json:"type"`
	Format      string             `json:"format"`
	Description string             `json:"description"`
	Properties  map[string]*Schema `json:"properties"`
	Required    []string           `json:"required"`
	Items       *Schema            `json:"items"`
	Additional  *Additional        `json:"additionalProperties"`
	Enum        []any              `json:"enum"`
	Default     any                `json:"default"`
	Examples    []any              `json:"examples"`
	AllOf       []*Schema          `json:"allOf"`
	AnyOf       []*Schema          `json:"anyOf"`
	OneOf       []*Schema          `json:"oneOf"`
	Minimum     *float64           `json:"minimum"`
	Maximum     *float64           `json:"maximum"`
	MinLength   *int               `json:"minLength"`
	MaxLength   *int               `json:"maxLength"`
	Pattern     string             `json:"pattern"`
	MinItems    *int               `json:"minItems"`
	MaxItems    *int               `json:"maxItems"`
}

// Types holds the "type" of a schema, which is one type name or a list of them.
type Types []string

// UnmarshalJSON decodes a string or a list of strings.
func (t *Types) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '[' {
		return json.Unmarshal(text, (*[]string)(t))
	}
	*t = make([]string, 1)
	return json.Unmarshal(text, &(*t)[0])
}

// Additional holds the "additionalProperties" of a schema: false, true or a schema.
type Additional struct {
	Allowed bool
	Schema  *Schema // nil: any value
}

// UnmarshalJSON decodes false, true or a schema.
func (o *Additional) UnmarshalJSON(text []byte) error {
	if err := json.Unmarshal(text, &o.Allowed); err == nil {
		return nil
	}
	o.Allowed = true
	return json.Unmarshal(text, &o.Schema)
}

// Parse parses an OpenAPI document.
func Parse(text []byte) (*Document, error) {
	var raw struct {
		Info struct {
			Title, Version, Description string
		} `json:"info"`
		Servers []struct {
			URL string `json:"url"`
		} `json:"servers"`
		Paths      map[string]map[string]rawOperation `json:"paths"`
		Components struct {
			Schemas   map[string]*Schema   `json:"schemas"`
			Responses map[string]*Response `json:"responses"`
		} `json:"components"`
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	d := &Document{
		Title: raw.Info.Title, Version: raw.Info.Version, Description: raw.Info.Description,
		Schemas: raw.Components.Schemas, Responses: raw.Components.Responses,
	}
	for _, s := range raw.Servers {
		d.Servers = append(d.Servers, s.URL)
	}
	for _, path := range slices.Sorted(maps.Keys(raw.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(raw.Paths[path])) {
			o := raw.Paths[path][method]
			d.Operations = append(d.Operations, o.operation(strings.ToUpper(method), path))
		}
	}
	return d, nil
}

//nolint:tagliatelle // OpenAPI's own names
type rawOperation struct {
	ID          string                `json:"operationId"`
	Tags        []string              `json:"tags"`
	Summary     string                `json:"summary"`
	Description string                `json:"description"`
	Security    []map[string][]string `json:"security"`
	Parameters  []*Parameter          `json:"parameters"`
	RequestBody struct {
		Required bool `json:"required"`
		Content  map[string]struct {
			Schema  *Schema `json:"schema"`
			Example any     `json:"example"`
		} `json:"content"`
	} `json:"requestBody"`
	Responses map[string]*Response `json:"responses"`
}

func (r rawOperation) operation(method, path string) *Operation {
	o := &Operation{
		Method: method, Path: path, ID: r.ID, Summary: r.Summary, Description: r.Description, Public: len(r.Security) == 0,
		Parameters: r.Parameters, BodyRequired: r.RequestBody.Required, Responses: r.Responses,
		Bodies: make(map[string]*Schema), Examples: make(map[string]any),
	}
	if len(r.Tags) > 0 {
		o.Tag = r.Tags[0]
	}
	for kind, c := range r.RequestBody.Content {
		o.Bodies[kind] = c.Schema
		if c.Example != nil {
			o.Examples[kind] = c.Example
		}
	}
	return o
}

// Name returns the name of the referenced schema, "" for a schema without a reference.
func (s *Schema) Name() string {
	if s == nil {
		return ""
	}
	return strings.TrimPrefix(s.Ref, "#/components/schemas/")
}

// Resolve follows the references of a schema, also through an allOf with one schema, which only adds a description.
// null reports whether an anyOf also allows null. References inside the result are not followed.
func (d *Document) Resolve(s *Schema) (plain *Schema, null bool) {
	for s != nil {
		switch {
		case s.Ref != "":
			s = d.Schemas[s.Name()]
		case len(s.AllOf) == 1 && len(s.Properties) == 0:
			s = s.AllOf[0]
		case len(s.AnyOf) == 2 && slices.Equal(s.AnyOf[1].Types, Types{"null"}):
			s, null = s.AnyOf[0], true
		default:
			return s, null || slices.Contains(s.Types, "null")
		}
	}
	return &Schema{}, null
}

// Type returns the first type that is not null, "" for any type.
func (s *Schema) Type() string {
	for _, t := range s.Types {
		if t != "null" {
			return t
		}
	}
	return ""
}

// Response returns the response of an operation with an HTTP status, nil if the document has none. It follows a
// reference to a shared response.
func (d *Document) Response(o *Operation, status string) *Response {
	r := o.Responses[status]
	if r != nil && r.Ref != "" {
		return d.Responses[strings.TrimPrefix(r.Ref, "#/components/responses/")]
	}
	return r
}
