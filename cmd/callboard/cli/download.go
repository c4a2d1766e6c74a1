package cli

import (
	"errors"
	"io"
	"net/http"
	"os"
)

// saveDownload writes a body to a file that was not there before, or to the output.
func saveDownload(s *session, resp *http.Response, to string) error {
	defer func() { _ = resp.Body.Close() }()
	if to == "-" {
		_, err := io.Copy(s.out(), resp.Body)
		return err
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the user names it
	if err != nil {
		return err
	}
	b := s.newBar(resp.ContentLength, "downloading", true)
	n, err := io.Copy(f, b.reader(resp.Body))
	b.end()
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(to)
		return err
	}
	s.note("%s: %d bytes", to, n)
	return nil
}
