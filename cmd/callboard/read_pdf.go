package main

import (
	"github.com/spf13/cobra"

	"github.com/callboard/callboard/engines/pdf"
)

// readPDFCommand returns the hidden command that extracts the text of a PDF. The service starts it as a separate
// process to isolate the parser.
func readPDFCommand() *cobra.Command {
	return &cobra.Command{
		Use: "read-pdf", Short: "Extract the text of the PDF on the standard input", Hidden: true, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return pdf.Serve(c.InOrStdin(), c.OutOrStdout()) },
	}
}
