package httpapi

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/router"
)

var updateCredentials = flag.Bool("update-credentials", false, "write the credentials of the routes anew")

// testdata/credentials.txt records for each writing route which kinds of credential it accepts. Routes whose result
// outlives a token accept no tokens. The test fails until a new route is added to that file.
func TestCredentialKindOfEveryWritingRouteIsRecorded(t *testing.T) {
	t.Parallel()
	b := sharedDocuments().Registry
	names := map[router.CredentialKind]string{router.AnyCredential: "any", router.KeyOrSession: "key or session", router.KeyOnly: "key", router.JWTOnly: "the token itself"}
	var lines []string
	for route, r := range b.Rules {
		if strings.HasPrefix(route, "GET ") {
			assert.Equal(t, router.AnyCredential, b.Credentials[route], route)
			continue
		}
		kind := names[b.Credentials[route]]
		if len(r.Permissions) == 0 {
			kind = "none"
		}
		lines = append(lines, route+": "+kind)
	}
	slices.Sort(lines)
	got, path := strings.Join(lines, "\n")+"\n", filepath.Join("testdata", "credentials.txt")
	if *updateCredentials {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

func TestCredentialKindRefusesOtherCredentials(t *testing.T) {
	t.Parallel()
	holders := map[string]domain.Principal{
		"key": {KeyID: "key"}, "session": {UserID: "user", UsesSession: true}, "JWT": {KeyID: "key", UserID: "user"},
		"OAuth token": {ClientID: "client"}, "OAuth token of a user": {ClientID: "client", UserID: "user"},
	}
	for kind, takes := range map[router.CredentialKind][]string{
		router.AnyCredential: {"key", "session", "JWT", "OAuth token", "OAuth token of a user"},
		router.KeyOrSession:  {"key", "session"}, router.KeyOnly: {"key"}, router.JWTOnly: {"JWT"},
	} {
		for name, p := range holders {
			err := kind.Refuse(p)
			if slices.Contains(takes, name) {
				assert.NoError(t, err, "%d %s", kind, name)
			} else {
				assert.Equal(t, domain.CodeInsufficientPermissions, domain.CodeOf(err), "%d %s", kind, name)
			}
		}
	}
}
