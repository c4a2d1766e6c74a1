package httpapi_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/httpapi"
	"github.com/callboard/callboard/httpapi/openapi"
)

// unboundedMembers returns the body members that may have no limit in their schema, with the reason.
func unboundedMembers() map[string]string {
	return map[string]string{
		"addContacts": "the size of the body limits it", "ContactsUpload.contacts": "the size of the body limits it", "DNCNumbers.entries": "the size of the body limits it",
		"SimulateDraftRequest.seed": "any seed", "SimulateRequest.seed": "any seed",
	}
}

func TestEveryRequestMemberHasLimit(t *testing.T) {
	c := startServer(t, httpapi.Config{}).contract()
	seen := map[string]bool{}
	var walk func(name string, s *openapi.Schema)
	walk = func(name string, s *openapi.Schema) {
		if s == nil {
			return
		}
		if s.Ref != "" {
			if name = strings.TrimPrefix(s.Ref, "#/components/schemas/"); !seen[name] {
				seen[name] = true
				walk(name, c.Schemas[name])
			}
			return
		}
		closed := len(s.Enum) > 0 || s.Format != "" || s.Pattern != ""
		switch s.Type() {
		case "string":
			assert.True(t, closed || s.MaxLength != nil, "%s has no maxLength", name)
		case "array":
			assert.True(t, s.MaxItems != nil || unboundedMembers()[name] != "", "%s has no maxItems", name)
		case "integer", "number":
			assert.True(t, s.Minimum != nil && s.Maximum != nil || unboundedMembers()[name] != "", "%s has no minimum and maximum", name)
		}
		for member, p := range s.Properties {
			parent, _, _ := strings.Cut(name, ".")
			walk(parent+"."+member, p)
		}
		walk(name, s.Items)
		if s.Additional != nil {
			walk(name, s.Additional.Schema)
		}
		for _, list := range [][]*openapi.Schema{s.AllOf, s.AnyOf, s.OneOf} {
			for _, part := range list {
				walk(name, part)
			}
		}
	}
	for _, o := range c.Operations {
		walk(o.ID, o.Bodies["application/json"])
	}
	require.Greater(t, len(seen), 80)
}

func TestDocumentedLimitsAreEnforced(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	for name, c := range map[string]struct {
		path, body, param, message string
	}{
		"string too long":                   {"/v1/agents", `{"name":"` + strings.Repeat("ä", 201) + `"}`, "name", "must have at most 200 characters"},
		"list too long":                     {"/v1/api-keys", `{"name":"a","permissions":["*:read"],"allowed_ips":[` + strings.Repeat(`"192.0.2.1",`, 100) + `"192.0.2.1"]}`, "allowed_ips", "must have at most 100 entries"},
		"list entry too long":               {"/v1/users", `{"name":"a","role":"viewer","allowed_ips":["` + strings.Repeat("1", 65) + `"]}`, "allowed_ips[0]", "must have at most 64 characters"},
		"map value too long":                {"/v1/agents", `{"name":"a","metadata":{"k":"` + strings.Repeat("a", 501) + `"}}`, "metadata.k", "must have at most 500 characters"},
		"number too large":                  {"/v1/trunks", `{"name":"a","proxies":[{"host":"sip.example.com"}],"max_channels":100001}`, "max_channels", "must be at most 100000"},
		"string in a list element too long": {"/v1/trunks", `{"name":"a","proxies":[{"host":"` + strings.Repeat("a", 254) + `"}]}`, "proxies[0].host", "must have at most 253 characters"},
		"missing member":                    {"/v1/users", `{"name":"a"}`, "role", "is required"},
		"missing nested member":             {"/v1/trunks", `{"name":"a","proxies":[{}]}`, "proxies[0].host", "is required"},
	} {
		e := d.must(422, "POST", c.path, "operator", c.body).failure(t)
		details, _ := e["details"].([]any)
		require.NotEmpty(t, details, name)
		first, _ := details[0].(map[string]any)
		assert.Equal(t, []any{c.param, c.message}, []any{first["param"], first["message"]}, name)
		assert.Equal(t, c.param+": "+c.message, e["message"], name)
	}
}
