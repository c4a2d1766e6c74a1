package main

import (
	"github.com/spf13/cobra"

	"github.com/callboard/callboard/cmd/callboard/cli/agents"
	"github.com/callboard/callboard/cmd/callboard/cli/alerts"
	"github.com/callboard/callboard/cmd/callboard/cli/api"
	"github.com/callboard/callboard/cmd/callboard/cli/appointments"
	"github.com/callboard/callboard/cmd/callboard/cli/calls"
	"github.com/callboard/callboard/cmd/callboard/cli/campaigns"
	"github.com/callboard/callboard/cmd/callboard/cli/dnc"
	"github.com/callboard/callboard/cmd/callboard/cli/events"
	"github.com/callboard/callboard/cmd/callboard/cli/numbers"
	"github.com/callboard/callboard/cmd/callboard/cli/operator"
	"github.com/callboard/callboard/cmd/callboard/cli/pathways"
	"github.com/callboard/callboard/cmd/callboard/cli/phones"
	"github.com/callboard/callboard/cmd/callboard/cli/profiles"
	"github.com/callboard/callboard/cmd/callboard/cli/sms"
	"github.com/callboard/callboard/cmd/callboard/cli/status"
	"github.com/callboard/callboard/cmd/callboard/cli/trunks"
	"github.com/callboard/callboard/cmd/callboard/cli/webhooks"
)

// apiCommands returns the commands that only send requests to the HTTP API of a service.
func apiCommands() []*cobra.Command {
	return []*cobra.Command{
		campaigns.Command(), calls.Command(), agents.Command(), pathways.Command(), numbers.Command(), trunks.Command(), phones.Command(), sms.Command(),
		webhooks.Command(), appointments.Command(), dnc.Command(), events.Command(), status.Command(), campaigns.PauseAllCommand(), operator.Command(),
		alerts.Command(), api.Command(), profiles.LoginCommand(), profiles.Command(),
	}
}
