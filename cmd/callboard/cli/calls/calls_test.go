package calls_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/cmd/callboard/cli"
	"github.com/callboard/callboard/cmd/callboard/cli/calls"
	"github.com/callboard/callboard/cmd/callboard/cli/clitest"
)

func run(t *testing.T, stdin string, args ...string) (out, errs string, code int) {
	t.Helper()
	return clitest.Run(t, stdin, args, calls.Command())
}

func TestDialWithWaitFailsUnlessCallIsAnswered(t *testing.T) {
	clitest.Profiles(t)
	for status, code := range map[string]int{"completed": cli.ExitOK, "busy": cli.ExitFailed, "no_answer": cli.ExitFailed} {
		s := clitest.NewServer(t, map[string]string{
			"POST /v1/calls/outbound": `{"id": "call_1"}`, "GET /v1/calls/call_1": `{"id": "call_1", "status": "` + status + `"}`,
			"GET /v1/calls/call_1/events": `{"data": [{"id": "evt_1", "type": "call.started", "subject": "call_1"}, {"id": "evt_2", "type": "call.ended", "subject": "call_1"}]}`,
		})
		out, errs, got := run(t, "", "calls", "dial", "+12025550123", "--agent", "agent_1", "--wait", "--url", s.URL)
		assert.Equal(t, code, got, "%s: %s", status, errs)
		assert.Equal(t, 1, strings.Count(out, "call.started"), "each event once: %s", out)
		assert.Equal(t, 1, strings.Count(out, "call.ended"), out)
	}
}
