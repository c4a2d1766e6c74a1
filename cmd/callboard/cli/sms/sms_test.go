package sms_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/cmd/callboard/cli"
	"github.com/callboard/callboard/cmd/callboard/cli/clitest"
	"github.com/callboard/callboard/cmd/callboard/cli/sms"
)

func TestSMSCommands(t *testing.T) {
	clitest.Profiles(t)
	s := clitest.NewServer(t, map[string]string{
		"POST /v1/sms":      `{"id": "msg_1", "direction": "outbound", "from": "+12025550100", "to": "+12025550123", "status": "queued", "segments": 2, "body": "Nine."}`,
		"GET /v1/sms":       `{"data": [{"id": "msg_1", "direction": "outbound", "from": "+12025550100", "to": "+12025550123", "status": "queued", "segments": 2, "body": "Nine."}]}`,
		"GET /v1/sms/msg_1": `{"id": "msg_1", "direction": "outbound", "from": "+12025550100", "to": "+12025550123", "status": "queued", "segments": 2, "body": "Nine."}`,
	})
	for args, want := range map[string]string{
		"sms send +12025550123 Nine.": "msg_1 queued, 2 segments",
		"sms list --to +12025550123":  "+12025550123  queued",
		"sms show msg_1":              "body: Nine.",
	} {
		out, errs, code := clitest.Run(t, "", append(strings.Fields(args), "--url", s.URL), sms.Command())
		assert.Equal(t, cli.ExitOK, code, "%s: %s", args, errs)
		assert.Contains(t, out, want, args)
	}
	_, requests := s.Requests()
	assert.Contains(t, requests, "GET /v1/sms?to=%2B12025550123")
}
