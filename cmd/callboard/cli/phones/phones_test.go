package phones_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/cmd/callboard/cli"
	"github.com/callboard/callboard/cmd/callboard/cli/clitest"
	"github.com/callboard/callboard/cmd/callboard/cli/phones"
)

func TestPhoneCommands(t *testing.T) {
	clitest.Profiles(t)
	s := clitest.NewServer(t, map[string]string{
		"POST /v1/phones":           `{"id": "phone_1", "extension": "1001", "name": "desk", "username": "1001", "password": "once", "status": "registered", "contacts": [{"address": "192.0.2.7:5060", "transport": "udp"}]}`,
		"GET /v1/phones":            `{"data": [{"id": "phone_1", "extension": "1001", "name": "desk", "username": "1001", "password": "once", "status": "registered", "contacts": [{"address": "192.0.2.7:5060", "transport": "udp"}]}]}`,
		"GET /v1/phones/phone_1":    `{"id": "phone_1", "extension": "1001", "name": "desk", "username": "1001", "password": "once", "status": "registered", "contacts": [{"address": "192.0.2.7:5060", "transport": "udp"}]}`,
		"DELETE /v1/phones/phone_1": `{"deleted": true}`,
	})
	for args, want := range map[string]string{
		"phones add 1001 --name desk": "password: once",
		"phones list":                 "192.0.2.7:5060;udp",
		"phones show phone_1":         "extension: 1001",
		"phones delete phone_1":       "phone_1 is deleted",
	} {
		out, errs, code := clitest.Run(t, "", append(strings.Fields(args), "--url", s.URL), phones.Command())
		assert.Equal(t, cli.ExitOK, code, "%s: %s", args, errs)
		assert.Contains(t, out, want, args)
	}
}
