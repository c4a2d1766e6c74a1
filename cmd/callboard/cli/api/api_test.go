package api_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/cmd/callboard/cli"
	"github.com/callboard/callboard/cmd/callboard/cli/api"
	"github.com/callboard/callboard/cmd/callboard/cli/clitest"
)

func run(t *testing.T, stdin string, args ...string) (out, errs string, code int) {
	t.Helper()
	return clitest.Run(t, stdin, args, api.Command())
}

func TestAPISendsAnyRequest(t *testing.T) {
	clitest.Profiles(t)
	s := clitest.NewServer(t, map[string]string{"PATCH /v1/workspace": `{"id": "ws_1", "name": "North"}`, "GET /v1/x": `418|{"error": {"code": "teapot", "message": "no"}}`})
	out, _, code := run(t, `{"name": "North"}`, "api", "patch", "/v1/workspace", "-d", "@-", "--key", "k", "--url", s.URL)
	assert.Equal(t, cli.ExitOK, code)
	assert.Contains(t, out, `"name": "North"`)
	out, _, code = run(t, "", "api", "GET", "/v1/x", "--url", s.URL)
	assert.Equal(t, cli.ExitRejected, code)
	assert.Contains(t, out, "teapot", "the error response is printed completely")
	for _, path := range []string{"v1/x", "//evil.example.com/v1/x", "https://evil.example.com/"} {
		_, _, code = run(t, "", "api", "GET", path, "--url", s.URL)
		assert.Equal(t, cli.ExitMisused, code, path)
	}
}
