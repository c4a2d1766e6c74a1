package openapi

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// postman is a Postman collection, format v2.1, with the members that the generator uses.
type postman struct {
	Info struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Schema      string `json:"schema"`
	} `json:"info"`
	Auth     postmanAuth       `json:"auth"`
	Variable []postmanVariable `json:"variable"`
	Item     []*postmanFolder  `json:"item"`
}

type postmanAuth struct {
	Type   string            `json:"type"`
	Bearer []postmanVariable `json:"bearer,omitempty"`
}

type postmanVariable struct {
	Key         string `json:"key"`
	Value       string `json:"value"`
	Type        string `json:"type,omitempty"`
	Description string `json:"description,omitempty"`
	Disabled    bool   `json:"disabled,omitempty"`
}

type postmanFolder struct {
	Name string        `json:"name"`
	Item []postmanItem `json:"item"`
}

type postmanItem struct {
	Name    string         `json:"name"`
	Request postmanRequest `json:"request"`
}

type postmanRequest struct {
	Method      string            `json:"method"`
	Description string            `json:"description,omitempty"`
	Auth        *postmanAuth      `json:"auth,omitempty"`
	Header      []postmanVariable `json:"header"`
	URL         postmanURL        `json:"url"`
	Body        *postmanBody      `json:"body,omitempty"`
}

type postmanURL struct {
	Raw      string            `json:"raw"`
	Host     []string          `json:"host"`
	Path     []string          `json:"path"`
	Query    []postmanVariable `json:"query,omitempty"`
	Variable []postmanVariable `json:"variable,omitempty"`
}

type postmanBody struct {
	Mode       string            `json:"mode"` // mode of the body: raw or urlencoded
	Raw        string            `json:"raw,omitempty"`
	Urlencoded []postmanVariable `json:"urlencoded,omitempty"`
}

// Postman returns a Postman collection with all operations, in one folder per tag. The user sets the variables
// base_url and api_key.
func Postman(d *Document, baseURL string) ([]byte, error) {
	var c postman
	c.Info.Name, c.Info.Description = d.Title+" "+d.Version, d.Description
	c.Info.Schema = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"
	c.Auth = postmanAuth{Type: "bearer", Bearer: []postmanVariable{{Key: "token", Value: "{{api_key}}", Type: "string"}}}
	c.Variable = []postmanVariable{{Key: "base_url", Value: baseURL}, {Key: "api_key"}}
	folders := make(map[string]*postmanFolder)
	for _, o := range d.Operations {
		if folders[o.Tag] == nil {
			folders[o.Tag] = &postmanFolder{Name: o.Tag}
		}
		folders[o.Tag].Item = append(folders[o.Tag].Item, postmanItem{Name: o.Summary, Request: postmanOf(d, o)})
	}
	for _, tag := range slices.Sorted(maps.Keys(folders)) {
		c.Item = append(c.Item, folders[tag])
	}
	return json.MarshalIndent(c, "", "  ")
}

func postmanOf(d *Document, o *Operation) postmanRequest {
	path := strings.NewReplacer("{", ":", "}", "").Replace(o.Path)
	r := postmanRequest{
		Method: o.Method, Description: o.Description, Header: []postmanVariable{},
		URL: postmanURL{Raw: "{{base_url}}" + path, Host: []string{"{{base_url}}"}, Path: strings.Split(strings.TrimPrefix(path, "/"), "/")},
	}
	if o.Public {
		r.Auth = &postmanAuth{Type: "noauth"}
	}
	for _, p := range o.Parameters {
		v := postmanVariable{Key: p.Name, Description: p.Description}
		switch p.In {
		case "path":
			r.URL.Variable = append(r.URL.Variable, v)
		case "query":
			v.Disabled = !p.Required
			r.URL.Query = append(r.URL.Query, v)
		case "header":
			v.Disabled = !p.Required
			r.Header = append(r.Header, v)
		}
	}
	kinds := slices.Sorted(maps.Keys(o.Bodies))
	if len(kinds) == 0 {
		return r
	}
	kind := kinds[0]
	r.Header = append(r.Header, postmanVariable{Key: "Content-Type", Value: kind})
	r.Body = &postmanBody{Mode: "raw"}
	switch example := o.Examples[kind].(type) {
	case string:
		r.Body.Raw = example
	case nil:
		r.Body.Raw = "{}"
	default:
		text, _ := json.MarshalIndent(example, "", "  ") // parsed from JSON: marshaling cannot fail
		r.Body.Raw = string(text)
	}
	if kind == "application/x-www-form-urlencoded" {
		r.Body = &postmanBody{Mode: "urlencoded"}
		s, _ := d.Resolve(o.Bodies[kind])
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			r.Body.Urlencoded = append(r.Body.Urlencoded, postmanVariable{Key: name, Description: s.Properties[name].Description, Disabled: !slices.Contains(s.Required, name)})
		}
	}
	return r
}
