package alerts_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/cmd/callboard/cli"
	"github.com/callboard/callboard/cmd/callboard/cli/alerts"
	"github.com/callboard/callboard/cmd/callboard/cli/clitest"
)

func run(t *testing.T, stdin string, args ...string) (out, errs string, code int) {
	t.Helper()
	return clitest.Run(t, stdin, args, alerts.Command())
}

func TestAlertCommands(t *testing.T) {
	clitest.Profiles(t)
	const rule = `{"id": "alertrule_1", "name": "Carrier", "kind": "trunk_down", "emails": ["ops@example.com"]}`
	s := clitest.NewServer(t, map[string]string{
		"GET /v1/alerts":                        `{"data": [{"id": "alert_1", "status": "firing", "kind": "trunk_down", "subject": "trunk_1", "subject_name": "c\u001b[2J", "rule_name": "Carrier"}]}`,
		"GET /v1/alert-rules":                   `{"data": [` + rule + `]}`,
		"POST /v1/alert-rules":                  rule,
		"PATCH /v1/alert-rules/alertrule_1":     rule,
		"DELETE /v1/alert-rules/alertrule_1":    `{"deleted": true}`,
		"GET /v1/alert-rules/alertrule_1":       rule,
		"POST /v1/alert-rules/alertrule_1/test": `{"event_id": "evt_1", "mails": [{"to": "ops@example.com", "sent": false, "error": "the mail server answered 550 no"}]}`,
	})
	for args, want := range map[string]string{
		"alerts list": "firing", "alerts list --json": `"trunk_1"`, "alerts rules": "each workspace", "alerts create -f -": "alertrule_1",
		"alerts update alertrule_1 -f -": "alertrule_1", "alerts show alertrule_1": "Carrier", "alerts delete alertrule_1": "is deleted",
	} {
		out, errs, code := run(t, `{"name": "Carrier"}`, append(strings.Fields(args), "--url", s.URL)...)
		assert.Equal(t, cli.ExitOK, code, "%s: %s", args, errs)
		assert.Contains(t, out, want, args)
		assert.NotContains(t, out, "\x1b", args)
	}
	out, _, code := run(t, "", "alerts", "test", "alertrule_1", "--url", s.URL)
	assert.Equal(t, cli.ExitFailed, code)
	assert.Contains(t, out, "ops@example.com: the mail server answered 550 no")
}
