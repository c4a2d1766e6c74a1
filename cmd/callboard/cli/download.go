package cli

import (
	"errors"
	"io"
	"net/http"
	"os"
)

// SaveDownload writes the body of resp to the new file to, or to the standard output if to is "-". It closes the body.
func SaveDownload(s *Session, resp *http.Response, to string) error {
	defer func() { _ = resp.Body.Close() }()
	if to == "-" {
		_, err := io.Copy(s.Out(), resp.Body)
		return err
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the user names it
	if err != nil {
		return err
	}
	b := s.NewProgressBar(resp.ContentLength, "downloading", true)
	n, err := io.Copy(f, b.Reader(resp.Body))
	b.Finish()
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(to)
		return err
	}
	s.PrintNotef("%s: %d bytes", to, n)
	return nil
}
