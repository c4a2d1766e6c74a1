package events_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/cmd/callboard/cli"
	"github.com/callboard/callboard/cmd/callboard/cli/clitest"
	"github.com/callboard/callboard/cmd/callboard/cli/events"
)

func TestEventCommands(t *testing.T) {
	clitest.Profiles(t)
	s := clitest.NewServer(t, map[string]string{
		"GET /v1/events": `{"data": [{"id": "evt_1", "type": "call.ended", "subject": "call_1", "data": {"status": "completed", "duration_seconds": 7, "legs": [{}]}}]}`,
	})
	for args, want := range map[string]string{
		"events list --types call.*": "status=completed duration_seconds=7",
		"events list --json":         `"evt_1"`,
	} {
		out, errs, code := clitest.Run(t, "", append(strings.Fields(args), "--url", s.URL), events.Command())
		assert.Equal(t, cli.ExitOK, code, "%s: %s", args, errs)
		assert.Contains(t, out, want, args)
	}
}
