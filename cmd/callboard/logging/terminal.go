package logging

import "os"

// StdoutIsTerminal reports whether a person may read the standard output.
func StdoutIsTerminal() bool {
	info, err := os.Stdout.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
