package pathways_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/cmd/callboard/cli"
	"github.com/callboard/callboard/cmd/callboard/cli/clitest"
	"github.com/callboard/callboard/cmd/callboard/cli/pathways"
)

func TestValidatePrintsProblemsAndFailsForInvalidPathway(t *testing.T) {
	clitest.Profiles(t)
	s := clitest.NewServer(t, map[string]string{
		"POST /v1/pathways/validate":        `{"valid": true, "runnable": true, "warnings": [{"param": "nodes[1]", "message": "is never reached"}]}`,
		"POST /v1/pathways/path_1/validate": `{"valid": false, "runnable": false, "errors": [{"param": "start", "message": "names no node"}]}`,
	})
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"pathways validate -f -", cli.ExitOK, "warning: nodes[1]: is never reached\nthe pathway is valid"},
		{"pathways validate path_1", cli.ExitFailed, "error: start: names no node"},
		{"pathways validate path_1 --json", cli.ExitFailed, `"runnable": false`},
		{"pathways validate", cli.ExitMisused, ""},
		{"pathways validate path_1 -f -", cli.ExitMisused, ""},
	} {
		out, errs, code := clitest.Run(t, `{"name": "visit"}`, append(strings.Fields(c.args), "--url", s.URL), pathways.Command())
		assert.Equal(t, c.code, code, "%s: %s", c.args, errs)
		assert.Contains(t, out, c.want, c.args)
	}
	_, errs, code := clitest.Run(t, `{"nam": "visit"}`, []string{"pathways", "create", "-f", "-", "--url", s.URL}, pathways.Command())
	assert.Equal(t, cli.ExitMisused, code, "an unknown field is rejected before the request")
	assert.Contains(t, errs, "nam")
}
