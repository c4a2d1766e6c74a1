// Package cli is the command line for the API of a running service, here or
// elsewhere: what it is asked goes through the Go client, as a program of
// somebody else would ask it. It knows no store, no settings of the service and
// no actors; main adds its commands to those that need the machine itself.
package cli

import (
	"github.com/spf13/cobra"
)

// Commands are all that ask a service.
func Commands() []*cobra.Command {
	return []*cobra.Command{
		campaigns(), calls(), agents(), pathways(), numbers(), trunks(), phones(), sms(), webhooks(), appointments(), dnc(), events(),
		status(), pauseAll(), operator(), alerts(), rawAPI(), login(), profilesCommand(),
	}
}
