package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// printIfJSON prints v as JSON if asJSON is true, else nothing.
func printIfJSON(cmd *cobra.Command, asJSON bool, v any) error {
	if !asJSON {
		return nil
	}
	return printJSON(cmd.OutOrStdout(), v)
}

// printResult prints the result of a command: done as JSON if asJSON is true, or else the formatted sentence.
func printResult(cmd *cobra.Command, asJSON bool, done any, format string, args ...any) error {
	if asJSON {
		return printJSON(cmd.OutOrStdout(), done)
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), format, args...)
	return err
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
