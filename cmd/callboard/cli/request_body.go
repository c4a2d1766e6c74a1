package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"os"

	"github.com/spf13/cobra"
)

// maxBodySize bounds a body from the standard input, in bytes.
const maxBodySize = 16 << 20

// addBodyFlag adds --file, the JSON body of a request.
func addBodyFlag(cmd *cobra.Command, path *string) {
	cmd.Flags().StringVarP(path, "file", "f", "", "the JSON body as the API takes it; - is the standard input")
	_ = cmd.MarkFlagRequired("file")
}

// ReadInput reads the file at path; "-" is the standard input.
func (s *Session) ReadInput(path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(io.LimitReader(s.Command.InOrStdin(), maxBodySize))
	}
	return os.ReadFile(path) //nolint:gosec // the user names it
}

// ReadBody reads the JSON body of a request from a file; "-" is the standard
// input. An unknown field is a usage error, before anything is sent.
func ReadBody[T any](s *Session, path string) (*T, error) {
	text, err := s.ReadInput(path)
	if err != nil {
		return nil, err
	}
	out := new(T)
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	d.UseNumber()
	if err = d.Decode(out); err != nil {
		return nil, UsageErrorf("%s: %w", path, err)
	}
	return out, nil
}
