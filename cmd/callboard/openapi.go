package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/actors"
	"github.com/callboard/callboard/httpapi"
)

// openapiCommand prints the description of the API, without a service.
func openapiCommand() *cobra.Command {
	return &cobra.Command{
		Use: "openapi", Short: "Print the OpenAPI document of the HTTP API", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), string(httpapi.New(httpapi.Config{Version: version}, portsOf(new(actors.Desk))).Document()))
			return err
		},
	}
}
