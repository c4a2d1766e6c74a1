package numbers_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/cmd/callboard/cli"
	"github.com/callboard/callboard/cmd/callboard/cli/clitest"
	"github.com/callboard/callboard/cmd/callboard/cli/numbers"
)

func TestNumberCommands(t *testing.T) {
	clitest.Profiles(t)
	s := clitest.NewServer(t, map[string]string{
		"POST /v1/phone-numbers":         `{"id": "num_1", "number": "+12025550100", "status": "live", "agent_id": "agent_1"}`,
		"GET /v1/phone-numbers":          `{"data": [{"id": "num_1", "number": "+12025550100", "status": "live", "agent_id": "agent_1"}]}`,
		"PATCH /v1/phone-numbers/num_1":  `{"id": "num_1", "number": "+12025550100", "status": "live", "agent_id": "agent_1"}`,
		"DELETE /v1/phone-numbers/num_1": `{"deleted": true}`,
	})
	for args, want := range map[string]string{
		"numbers add +12025550100 --agent agent_1": "number: +12025550100",
		"numbers list":              "+12025550100  live",
		"numbers update num_1 -f -": "num_1",
		"numbers delete num_1":      "num_1 is deleted",
	} {
		out, errs, code := clitest.Run(t, `{"agent_id": "agent_1"}`, append(strings.Fields(args), "--url", s.URL), numbers.Command())
		assert.Equal(t, cli.ExitOK, code, "%s: %s", args, errs)
		assert.Contains(t, out, want, args)
	}
	_, _, code := clitest.Run(t, "", []string{"numbers", "add", "+12025550100", "--url", s.URL}, numbers.Command())
	assert.Equal(t, cli.ExitMisused, code, "--agent is required")
}
