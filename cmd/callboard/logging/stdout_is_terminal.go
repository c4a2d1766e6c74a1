package logging

import "os"

// StdoutIsTerminal reports whether standard output is a terminal.
func StdoutIsTerminal() bool {
	info, err := os.Stdout.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
