package trunks_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/cmd/callboard/cli"
	"github.com/callboard/callboard/cmd/callboard/cli/clitest"
	"github.com/callboard/callboard/cmd/callboard/cli/trunks"
)

func TestTrunkCommands(t *testing.T) {
	clitest.Profiles(t)
	const trunk = `{"id": "trunk_1", "name": "carrier", "max_channels": 30, "proxies": [{"host": "sip.example.com", "port": 5061, "transport": "tls"}], "health": {"status": "up", "channels": 2}}`
	s := clitest.NewServer(t, map[string]string{
		"GET /v1/trunks": `{"data": [` + trunk + `]}`, "GET /v1/trunks/trunk_1": trunk, "POST /v1/trunks": trunk, "PATCH /v1/trunks/trunk_1": trunk,
		"DELETE /v1/trunks/trunk_1":    `{"deleted": true}`,
		"POST /v1/trunks/trunk_1/test": `{"ok": true, "targets": [{"target": "192.0.2.1:5061", "reachable": true, "code": 200, "reason": "OK", "response_time_ms": 12}]}`,
		"POST /v1/trunks/trunk_2/test": `{"ok": false, "targets": [{"target": "192.0.2.2:5060", "error": "timeout"}]}`,
	})
	for args, want := range map[string]string{
		"trunks list": "sip.example.com:5061;tls", "trunks list --json": `"trunk_1"`, "trunks show trunk_1": "name: carrier", "trunks create -f -": "trunk_1",
		"trunks update trunk_1 -f -": "trunk_1", "trunks test trunk_1": "192.0.2.1:5061  200 OK in 12 ms", "trunks delete trunk_1": "trunk_1 is deleted",
	} {
		out, errs, code := clitest.Run(t, `{"name": "carrier"}`, append(strings.Fields(args), "--url", s.URL), trunks.Command())
		assert.Equal(t, cli.ExitOK, code, "%s: %s", args, errs)
		assert.Contains(t, out, want, args)
	}
	out, errs, code := clitest.Run(t, "", []string{"trunks", "test", "trunk_1", "trunk_2", "--url", s.URL}, trunks.Command())
	assert.Equal(t, cli.ExitFailed, code)
	assert.Contains(t, out, "192.0.2.2:5060  no answer: timeout")
	assert.Contains(t, errs, "1 of 2 trunks do not answer: the check failed")
}
