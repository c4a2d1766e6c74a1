package main

import (
	"github.com/spf13/cobra"

	"github.com/callboard/callboard/engines/pdf"
)

// readPDFCommand is how the service has PDF files read: by itself, in a process
// of its own.
func readPDFCommand() *cobra.Command {
	return &cobra.Command{
		Use: "read-pdf", Short: "Write the words of the PDF on the standard input", Hidden: true, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return pdf.Serve(c.InOrStdin(), c.OutOrStdout()) },
	}
}
