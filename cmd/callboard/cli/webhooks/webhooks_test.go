package webhooks_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/cmd/callboard/cli"
	"github.com/callboard/callboard/cmd/callboard/cli/clitest"
	"github.com/callboard/callboard/cmd/callboard/cli/webhooks"
)

func TestWebhookCommands(t *testing.T) {
	clitest.Profiles(t)
	const endpoint = `{"id": "wh_1", "url": "https://example.com/hook", "status": "active", "events": ["*"]}`
	s := clitest.NewServer(t, map[string]string{
		"GET /v1/webhooks": `{"data": [` + endpoint + `]}`, "POST /v1/webhooks": endpoint, "GET /v1/webhooks/wh_1": endpoint, "POST /v1/webhooks/wh_1/pause": `{"id": "wh_1", "status": "paused"}`,
		"GET /v1/webhooks/wh_1/failed":  `{"data": [{"event_id": "evt_1", "event_type": "call.ended", "attempts": 3, "last_error": "timeout"}]}`,
		"GET /v1/webhooks/wh_1/logs":    `{"logs": [{"event_id": "evt_2", "event_type": "call.started", "status": "delivered", "response_status": 204}]}`,
		"POST /v1/webhooks/wh_1/replay": `{"accepted": ["evt_1"], "not_found": [], "dry_run": true, "more": true, "next_from": "2027-01-31T00:00:00Z"}`,
		"POST /v1/webhooks/wh_1/test":   `{"event_id": "evt_3", "response_status": 500, "delivered": false, "error": "500"}`,
	})
	for args, want := range map[string]string{
		"webhooks list": "https://example.com/hook  active", "webhooks create https://example.com/hook": "wh_1", "webhooks show wh_1 --json": `"active"`, "webhooks pause wh_1": "wh_1 is paused",
		"webhooks failed wh_1": "timeout", "webhooks logs wh_1": "call.started", "webhooks replay wh_1 evt_1 --dry-run": "1 events would be sent again, 0 not found\nthere are more events: continue with --from 2027-01-31T00:00:00Z",
	} {
		out, errs, code := clitest.Run(t, "", append(strings.Fields(args), "--url", s.URL), webhooks.Command())
		assert.Equal(t, cli.ExitOK, code, "%s: %s", args, errs)
		assert.Contains(t, out, want, args)
	}
	out, _, code := clitest.Run(t, "", []string{"webhooks", "test", "wh_1", "--url", s.URL}, webhooks.Command())
	assert.Equal(t, cli.ExitFailed, code, "the endpoint rejects the sample")
	assert.Contains(t, out, "evt_3 500")
	_, _, code = clitest.Run(t, "", []string{"webhooks", "replay", "wh_1", "--from", "yesterday", "--url", s.URL}, webhooks.Command())
	assert.Equal(t, cli.ExitMisused, code)
}
