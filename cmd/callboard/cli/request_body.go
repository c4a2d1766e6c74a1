package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"os"

	"github.com/spf13/cobra"
)

// maxBodySize is the maximum size, in bytes, of a request body that is read from the standard input.
const maxBodySize = 16 << 20

// addBodyFlag adds the required flag --file, which names the JSON body of a request.
func addBodyFlag(cmd *cobra.Command, path *string) {
	cmd.Flags().StringVarP(path, "file", "f", "", "file with the JSON body of the API request; - is the standard input")
	_ = cmd.MarkFlagRequired("file")
}

// ReadInput reads the file at path, or the standard input if path is "-".
func (s *Session) ReadInput(path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(io.LimitReader(s.Command.InOrStdin(), maxBodySize))
	}
	return os.ReadFile(path) //nolint:gosec // the user names it
}

// ReadBody reads the JSON body of a request from a file, or from the standard input if path is "-". An unknown field is
// a usage error, which prevents the request.
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
