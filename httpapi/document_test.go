package httpapi_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/httpapi"
	"github.com/callboard/callboard/httpapi/openapi"
)

func TestDocumentIsOpenAPI31WithEveryRoute(t *testing.T) {
	d := startServer(t, httpapi.Config{Version: "1.2.3"})
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
	want := []string{ // operations with a token, a form, a page, or several permissions
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
	require.NoError(t, d.contract().CompileAll())
	assert.Equal(t, "public, max-age=300", r.Header.Get("Cache-Control"))
}

// Every field and parameter in the OpenAPI document has a description.
func TestDocumentDescribesEveryField(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	var doc struct {
		Paths      map[string]map[string]json.RawMessage
		Components struct{ Schemas map[string]json.RawMessage }
	}
	require.NoError(t, json.Unmarshal(d.must(200, "GET", "/openapi.json", "", nil).Body, &doc))
	allowed := regexp.MustCompile(`^/v1/(trunks|phones|phone-numbers|calls|tickets|test|workspace|agents|users|oauth|appointments|providers|sms|knowledge-base)\b`)
	seen := map[string]bool{}
	var walk func(where string, raw json.RawMessage)
	walk = func(where string, raw json.RawMessage) {
		for _, m := range regexp.MustCompile(`"#/components/schemas/(\w+)"`).FindAllSubmatch(raw, -1) {
			name := string(m[1])
			if seen[name] || name == "Failure" {
				continue
			}
			seen[name] = true
			walk(name, doc.Components.Schemas[name])
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
		if !allowed.MatchString(path) {
			continue
		}
		for method, raw := range item {
			walk(method+" "+path, raw)
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

func TestReferencePageListsEveryRouteWithoutResources(t *testing.T) {
	d := startServer(t, httpapi.Config{Version: "1.2.3"})
	r := d.must(200, "GET", "/docs", "", nil)
	assert.Equal(t, "text/html; charset=utf-8", r.Header.Get("Content-Type"))
	style := regexp.MustCompile(`(?s)<style>(.*?)</style>`).FindSubmatch(r.Body)
	require.NotNil(t, style)
	sum := sha256.Sum256(style[1])
	assert.Equal(t, "default-src 'none'; style-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
		r.Header.Get("Content-Security-Policy"))
	assert.NotRegexp(t, `<script|<img|<link|src=|href="(https?:)?//|style=|onclick`, string(r.Body))
	text, ids := string(r.Body), map[string]bool{}
	for _, id := range regexp.MustCompile(`id="([^"]+)"`).FindAllStringSubmatch(text, -1) {
		ids[id[1]] = true
	}
	sections := map[string]string{}
	for _, part := range strings.Split(text, `<details id="`)[1:] {
		id, rest, _ := strings.Cut(part, `">`)
		sections[id], _, _ = strings.Cut(rest, "</details>")
	}
	for _, o := range d.contract().Operations {
		section, there := sections[o.ID]
		assert.True(t, there, o.ID)
		assert.Contains(t, section, `<code>`+o.Path+`</code>`)
		for _, p := range o.Parameters {
			assert.Contains(t, section, `<code>`+p.Name+`</code> <small>`+p.In+`</small>`, o.ID)
		}
		examples := 0
		for kind, body := range o.Bodies {
			assert.Contains(t, section, `<h3>Body: `+strings.ReplaceAll(kind, "+", "&#43;")+`</h3>`, o.ID)
			plain, _ := d.contract().Resolve(body)
			for name := range plain.Properties {
				assert.Contains(t, section, `<code>`+name+`</code>`, o.ID)
			}
			if o.Examples[kind] != nil {
				examples++
			}
		}
		assert.Equal(t, examples, strings.Count(section, "<pre>"), "%s: number of examples", o.ID)
		for status := range o.Responses {
			assert.Contains(t, section, `<td>`+status+`</td>`, o.ID)
		}
	}
	for name := range d.contract().Schemas {
		assert.True(t, ids["schema-"+name], name)
	}
	for _, link := range regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(text, -1) {
		id, err := url.PathUnescape(link[1])
		require.NoError(t, err)
		assert.True(t, ids[id], "the link target exists: %s", id)
	}
	assert.Contains(t, text, "Version 1.2.3.")
}

func TestPostmanCollectionHasEveryOperation(t *testing.T) {
	c := startServer(t, httpapi.Config{}).contract()
	text, err := openapi.Postman(c.Document, "http://127.0.0.1:8080")
	require.NoError(t, err)
	var got struct {
		Item []struct {
			Item []struct {
				Request struct {
					Method string
					URL    struct {
						Raw      string
						Variable []struct{ Key string }
						Query    []struct{ Key string }
					}
					Header []struct{ Key string }
					Auth   *struct{ Type string }
					Body   *struct{ Mode, Raw string }
				}
			}
		}
	}
	require.NoError(t, json.Unmarshal(text, &got))
	found := map[string]bool{}
	for _, folder := range got.Item {
		for _, item := range folder.Item {
			r := item.Request
			path := regexp.MustCompile(`:(\w+)`).ReplaceAllString(strings.TrimPrefix(r.URL.Raw, "{{base_url}}"), "{$1}")
			o := c.Operation(r.Method, path)
			require.NotNil(t, o, path)
			found[o.ID] = true
			assert.Len(t, r.URL.Variable, strings.Count(path, "{"))
			assert.Equal(t, o.Public, r.Auth != nil, o.ID)
			in := map[string]int{}
			for _, p := range o.Parameters {
				in[p.In]++
			}
			assert.Len(t, r.URL.Query, in["query"], o.ID)
			assert.Equal(t, len(o.Bodies) > 0, r.Body != nil, o.ID)
			if r.Body != nil { // the collection sets the Content-Type of the body
				in["header"]++
			}
			assert.Len(t, r.Header, in["header"], o.ID)
			if r.Body != nil && r.Body.Mode == "raw" && o.Examples["application/json"] != nil {
				require.NoError(t, c.CheckRequest(o, []byte(r.Body.Raw)), o.ID)
			}
		}
	}
	assert.Len(t, found, len(c.Operations))
}
