package appointments_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/cmd/callboard/cli"
	"github.com/callboard/callboard/cmd/callboard/cli/appointments"
	"github.com/callboard/callboard/cmd/callboard/cli/clitest"
)

func TestAppointmentCommands(t *testing.T) {
	clitest.Profiles(t)
	s := clitest.NewServer(t, map[string]string{
		"POST /v1/appointments":                `{"id": "appt_1", "local_datetime": "2027-01-31T09:00", "provider": "Dr. Grey", "patient": {"name": "Ada", "phone": "+12025550123"}, "status": "booked"}`,
		"GET /v1/appointments":                 `{"data": [{"id": "appt_1", "local_datetime": "2027-01-31T09:00", "provider": "Dr. Grey", "patient": {"name": "Ada", "phone": "+12025550123"}, "status": "booked"}]}`,
		"GET /v1/appointments/appt_1":          `{"id": "appt_1", "local_datetime": "2027-01-31T09:00", "provider": "Dr. Grey", "patient": {"name": "Ada", "phone": "+12025550123"}, "status": "booked"}`,
		"POST /v1/appointments/appt_1/cancel":  `{"id": "appt_1", "status": "cancelled"}`,
		"POST /v1/appointments/appt_1/confirm": `{"id": "appt_1", "status": "confirmed"}`,
		"GET /v1/providers":                    `{"data": [{"id": "prov_1", "name": "Dr. Grey", "timezone": "America/New_York", "slot_minutes": 20}]}`,
	})
	for args, want := range map[string]string{
		"appointments book --provider Grey --at 2027-01-31T09:00 --name Ada --phone +12025550123": "provider: Dr. Grey",
		"appointments list --from 2027-01-31T00:00:00Z":                                           "Dr. Grey",
		"appointments show appt_1":                                                                "status: booked",
		"appointments cancel appt_1 --reason ill":                                                 "appt_1 is cancelled",
		"appointments confirm appt_1":                                                             "appt_1 is confirmed",
		"appointments providers":                                                                  "America/New_York",
	} {
		out, errs, code := clitest.Run(t, "", append(strings.Fields(args), "--url", s.URL), appointments.Command())
		assert.Equal(t, cli.ExitOK, code, "%s: %s", args, errs)
		assert.Contains(t, out, want, args)
	}
	_, errs, code := clitest.Run(t, "", []string{"appointments", "list", "--from", "tomorrow", "--url", s.URL}, appointments.Command())
	assert.Equal(t, cli.ExitMisused, code)
	assert.Contains(t, errs, "--from must be a time")
}
