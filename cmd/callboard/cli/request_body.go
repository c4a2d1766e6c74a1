package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"os"

	"github.com/spf13/cobra"
)

// bodyMost bounds what is read of a file with a body.
const bodyMost = 16 << 20

func fileFlag(cmd *cobra.Command, path *string) {
	cmd.Flags().StringVarP(path, "file", "f", "", "the JSON body as the API takes it; - is the standard input")
	_ = cmd.MarkFlagRequired("file")
}

// readInput reads a file that the user names; - is the standard input, of which
// at most bodyMost bytes are read.
func (s *session) readInput(path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(io.LimitReader(s.cmd.InOrStdin(), bodyMost))
	}
	return os.ReadFile(path) //nolint:gosec // the user names it
}

// fromFile reads the JSON body of a request from a file. An unknown field is
// an error of usage, before anything is sent.
func fromFile[T any](s *session, path string) (*T, error) {
	text, err := s.readInput(path)
	if err != nil {
		return nil, err
	}
	out := new(T)
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	d.UseNumber()
	if err = d.Decode(out); err != nil {
		return nil, Misuse("%s: %w", path, err)
	}
	return out, nil
}
