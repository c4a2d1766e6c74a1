package httpapi_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/httpapi"
)

func TestRoutesAcceptDocumentedCredentialKinds(t *testing.T) {
	d := startServer(t, httpapi.Config{PublicURL: base})
	keysOnly := keyRoutes(t)
	kinds := map[string]string{"api_key": "operator", "token": d.userToken("ada", "*:read", "*:write"), "oauth": d.token("*:read", "*:write")}
	var doc struct {
		Paths map[string]map[string]struct {
			Security []map[string][]string `json:"security"`
		} `json:"paths"`
	}
	require.NoError(t, json.Unmarshal(d.must(200, "GET", "/openapi.json", "", nil).Body, &doc))
	routes := 0
	for path, ops := range doc.Paths {
		for method, op := range ops {
			if len(op.Security) == 0 || path == "/v1/events/stream" {
				continue
			}
			routes++
			route := strings.ToUpper(method) + " " + path
			for kind, credential := range kinds {
				want := kind == "api_key" || !slices.Contains(keysOnly, route)
				if route == "POST /v1/auth/refresh" {
					want = kind == "token"
				}
				documented := slices.ContainsFunc(op.Security, func(s map[string][]string) bool { _, ok := s[kind]; return ok })
				assert.Equal(t, want, documented, "the OpenAPI document states whether %s accepts %s", route, kind)
				r := d.do(strings.ToUpper(method), strings.NewReplacer("{", "", "}", "").Replace(path), credential, nil)
				assert.NotEqual(t, 401, r.Status, "%s by %s", route, kind)
				assert.Equal(t, want, !wrongKind(t, r), "%s by %s: %s", route, kind, r.Body)
			}
		}
	}
	assert.Greater(t, routes, 150)
}

// keyRoutes returns the routes that testdata/credentials.txt marks as refusing tokens.
func keyRoutes(t *testing.T) (routes []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "credentials.txt"))
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if route, kind, _ := strings.Cut(strings.TrimSpace(line), ": "); strings.HasPrefix(kind, "key") {
			routes = append(routes, route)
		}
	}
	return routes
}

// wrongKind reports whether a response refuses the request because the route needs another kind of credential.
func wrongKind(t *testing.T, r reply) bool {
	t.Helper()
	if r.Status != 403 {
		return false
	}
	e := r.failure(t)
	return e["code"] == "insufficient_permissions" && (e["required"] == "api_key" || e["required"] == "token")
}
