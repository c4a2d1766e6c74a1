package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/cmd/callboard/server"
	"github.com/callboard/callboard/httpapi/openapi"
)

// openapiCommand returns the command that prints the OpenAPI document. It needs no running service.
func openapiCommand() *cobra.Command {
	format := "openapi"
	cmd := &cobra.Command{
		Use: "openapi", Short: "Print the OpenAPI document of the HTTP API, or a collection for Postman", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			text := server.APIDocument(version)
			switch format {
			case "openapi":
			case "postman":
				d, err := openapi.Parse(text)
				if err != nil {
					return err
				}
				if text, err = openapi.Postman(d, "http://127.0.0.1:8080"); err != nil {
					return err
				}
			default:
				return fmt.Errorf("--format must be openapi or postman, not %q", format)
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), string(text))
			return err
		},
	}
	cmd.Flags().StringVar(&format, "format", format, "openapi or postman")
	return cmd
}
