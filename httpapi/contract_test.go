package httpapi_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/httpapi"
)

// contract validates answers against the served document.
type contract struct {
	mu        sync.Mutex
	paths     map[string]map[string]any
	responses map[string]map[string]any
	compiler  *jsonschema.Compiler
	schemas   map[string]*jsonschema.Schema
}

const documentURL = "http://door/openapi.json"

func newContract(t *testing.T, document []byte) *contract {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	require.NoError(t, err)
	var parsed struct {
		Paths      map[string]map[string]any `json:"paths"`
		Components struct {
			Responses map[string]map[string]any `json:"responses"`
		} `json:"components"`
	}
	require.NoError(t, json.Unmarshal(document, &parsed))
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	require.NoError(t, c.AddResource(documentURL, doc))
	return &contract{paths: parsed.Paths, responses: parsed.Components.Responses, compiler: c, schemas: map[string]*jsonschema.Schema{}}
}

// template is the path of the document that a request's path belongs to.
func (c *contract) template(path string) string {
	path, _, _ = strings.Cut(path, "?")
	parts := strings.Split(path, "/")
	best := ""
	for t := range c.paths {
		names := strings.Split(t, "/")
		if len(names) != len(parts) {
			continue
		}
		fits := true
		for i := range names {
			fits = fits && (names[i] == parts[i] || strings.HasPrefix(names[i], "{"))
		}
		if fits && (best == "" || strings.Count(t, "{") < strings.Count(best, "{")) {
			best = t
		}
	}
	return best
}

func pointer(parts ...string) string {
	for i, p := range parts {
		parts[i] = strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(p, "~", "~0"), "/", "~1"), "{", "%7B")
		parts[i] = strings.ReplaceAll(parts[i], "}", "%7D")
	}
	return documentURL + "#/" + strings.Join(parts, "/")
}

// check fails the test where an answer is not as the document says.
func (c *contract) check(t *testing.T, method, path string, r reply) {
	t.Helper()
	if method == "OPTIONS" { // of browsers, not of the API
		return
	}
	template := c.template(path)
	op, ok := c.paths[template][strings.ToLower(method)].(map[string]any)
	if !ok {
		require.Contains(t, []int{404, 405, 401, 429}, r.Status, "%s %s is not in the document", method, path)
		return
	}
	status := strconv.Itoa(r.Status)
	responses, _ := op["responses"].(map[string]any)
	require.Contains(t, responses, status, "%s %s", method, template)
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	place := []string{"paths", template, strings.ToLower(method), "responses", status}
	answer, _ := responses[status].(map[string]any)
	if answer["$ref"] != nil {
		place = []string{"components", "responses", status}
		answer = c.responses[status]
	}
	content, _ := answer["content"].(map[string]any)
	require.Contains(t, content, kind, "%s %s %s", method, template, status)
	if kind != "application/json" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	at := pointer(append(place, "content", kind, "schema")...)
	schema := c.schemas[at]
	if schema == nil {
		var err error
		schema, err = c.compiler.Compile(at)
		require.NoError(t, err)
		c.schemas[at] = schema
	}
	body, err := jsonschema.UnmarshalJSON(bytes.NewReader(r.Body))
	require.NoError(t, err)
	require.NoError(t, schema.Validate(body), "%s %s answered %s", method, path, r.Body)
}

func TestTheDocumentIsOpenAPI31AndKnowsEveryRoute(t *testing.T) {
	d := open(t, httpapi.Config{Version: "1.2.3"})
	r := d.must(200, "GET", "/openapi.json", "", nil)
	var doc struct {
		OpenAPI string `json:"openapi"`
		Info    struct {
			Version string `json:"version"`
		} `json:"info"`
		Paths map[string]map[string]struct {
			ID        string         `json:"operationId"`
			Summary   string         `json:"summary"`
			Responses map[string]any `json:"responses"`
			Body      struct {
				Content map[string]any `json:"content"`
			} `json:"requestBody"`
		} `json:"paths"`
	}
	require.NoError(t, json.Unmarshal(r.Body, &doc))
	assert.Equal(t, []string{"3.1.0", "1.2.3"}, []string{doc.OpenAPI, doc.Info.Version})
	var have, ids []string
	for path, ops := range doc.Paths {
		for method, op := range ops {
			have = append(have, strings.ToUpper(method)+" "+path)
			ids = append(ids, op.ID)
			assert.NotEmpty(t, op.Summary)
			assert.Contains(t, op.Responses, "503", path)
		}
	}
	slices.Sort(have)
	slices.Sort(ids)
	assert.Equal(t, slices.Compact(slices.Clone(ids)), ids, "operation ids are unique")
	want := []string{ // take a token, a form, people, or more than one right
		"POST /v1/auth/refresh", "POST /oauth/token", "POST /oauth/revoke", "POST /oauth/introspect", "GET /oauth/authorize", "POST /oauth/authorize",
		"GET /sign-in", "POST /sign-in", "POST /sign-out", "POST /v1/users", "PATCH /v1/users/{id}", "DELETE /v1/users/{id}",
		"POST /v1/users/{id}/sign-in-link", "DELETE /v1/users/{id}/sessions/{session_id}",
	}
	for _, c := range routeCases() {
		route, _, _ := strings.Cut(c.route, "?")
		want = append(want, route)
	}
	slices.Sort(want)
	assert.Equal(t, want, have)
	var kinds []string
	for kind := range doc.Paths["/v1/campaigns/{id}/contacts"]["post"].Body.Content {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	assert.Equal(t, []string{"application/json", "application/x-ndjson", "multipart/form-data", "text/csv"}, kinds)
	assert.NotContains(t, string(r.Body), "$schema")
	c := newContract(t, r.Body)
	for path, ops := range c.paths { // every schema in it compiles
		for method, op := range ops {
			for status, res := range op.(map[string]any)["responses"].(map[string]any) {
				content, _ := res.(map[string]any)["content"].(map[string]any)
				for kind := range content {
					_, err := c.compiler.Compile(pointer("paths", path, method, "responses", status, "content", kind, "schema"))
					require.NoError(t, err)
				}
			}
		}
	}
	assert.Equal(t, "public, max-age=300", r.Header.Get("Cache-Control"))
}

// Whoever reads the document learns what each field and parameter of calls,
// trunks, phones and what belongs to them means.
func TestTheDocumentTellsWhatEveryFieldMeans(t *testing.T) {
	d := open(t, httpapi.Config{})
	var doc struct {
		Paths      map[string]map[string]json.RawMessage
		Components struct{ Schemas map[string]json.RawMessage }
	}
	require.NoError(t, json.Unmarshal(d.must(200, "GET", "/openapi.json", "", nil).Body, &doc))
	about := regexp.MustCompile(`^/v1/(trunks|phones|phone-numbers|calls|tickets|test|workspace|agents|users|oauth|appointments|providers|sms|knowledge-base)\b`)
	seen := map[string]bool{}
	var look func(where string, raw json.RawMessage)
	look = func(where string, raw json.RawMessage) {
		for _, m := range regexp.MustCompile(`"#/components/schemas/(\w+)"`).FindAllSubmatch(raw, -1) {
			name := string(m[1])
			if seen[name] || name == "Failure" {
				continue
			}
			seen[name] = true
			look(name, doc.Components.Schemas[name])
		}
		var schema struct {
			Properties map[string]struct{ Description string }
		}
		require.NoError(t, json.Unmarshal(raw, &schema))
		for field, p := range schema.Properties {
			assert.NotEmpty(t, p.Description, "%s.%s", where, field)
		}
	}
	for path, item := range doc.Paths {
		if !about.MatchString(path) {
			continue
		}
		for method, raw := range item {
			look(method+" "+path, raw)
			var op struct {
				Parameters []struct{ Name, Description string }
				Responses  map[string]json.RawMessage
			}
			require.NoError(t, json.Unmarshal(raw, &op))
			for _, p := range op.Parameters {
				assert.NotEmpty(t, p.Description, "%s %s: %s", method, path, p.Name)
			}
			for _, status := range []string{"401", "403", "429", "500", "503"} {
				assert.Contains(t, op.Responses, status, "%s %s", method, path)
			}
		}
	}
	assert.Greater(t, len(seen), 50)
}
