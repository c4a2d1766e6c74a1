package dnc_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/cmd/callboard/cli"
	"github.com/callboard/callboard/cmd/callboard/cli/clitest"
	"github.com/callboard/callboard/cmd/callboard/cli/dnc"
)

func TestDNCCommands(t *testing.T) {
	clitest.Profiles(t)
	file := filepath.Join(t.TempDir(), "numbers.csv")
	require.NoError(t, os.WriteFile(file, []byte("phone\n+12025550123\n"), 0o600))
	const imported = `{"dnc_list_id": "dnc_1", "received": 2, "added": 1, "duplicates": 1, "errors": [{"line": 3, "message": "no number"}]}`
	s := clitest.NewServer(t, map[string]string{
		"GET /v1/workspace": `{"id": "ws_1", "default_dnc_list_id": "dnc_1"}`, "GET /v1/dnc-lists": `{"data": [{"id": "dnc_1", "name": "Registry", "entries": 7, "default": true}]}`,
		"GET /v1/dnc-lists/dnc_1/entries": `{"data": [{"phone": "+12025550123", "source": "import"}]}`, "POST /v1/dnc-lists/dnc_1/entries": imported, "POST /v1/dnc-lists/dnc_2/entries": imported,
		"DELETE /v1/dnc-lists/dnc_1/entries/+12025550123": `{"phone": "+12025550123"}`, "GET /v1/dnc/check": `{"phone": "+12025550123", "listed": false}`,
	})
	for args, want := range map[string]string{
		"dnc list": "+12025550123  import", "dnc lists": "Registry", "dnc add +12025550123": "1 of 2 numbers added to dnc_1, 1 duplicates", "dnc import " + file + " --list dnc_2": "1 of 2 numbers",
		"dnc remove +12025550123": "+12025550123 is removed", "dnc check +12025550123 --json": `"listed": false`,
	} {
		out, errs, code := clitest.Run(t, "", append(strings.Fields(args), "--url", s.URL), dnc.Command())
		assert.Equal(t, cli.ExitOK, code, "%s: %s", args, errs)
		assert.Contains(t, out, want, args)
	}
}

func TestDNCCheckFailsForListedNumber(t *testing.T) {
	clitest.Profiles(t)
	s := clitest.NewServer(t, map[string]string{"GET /v1/dnc/check": `{"phone": "+12025550123", "listed": true, "lists": [{"name": "Registry", "source": "import"}]}`})
	out, errs, code := clitest.Run(t, "", []string{"dnc", "check", "+12025550123", "--url", s.URL}, dnc.Command())
	assert.Equal(t, cli.ExitFailed, code)
	assert.Contains(t, out, "+12025550123 is on Registry")
	assert.Contains(t, errs, "is on a do-not-call list")
}
