package cli

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"

	"github.com/callboard/callboard/client"
)

// What a command's exit code says; docs/cli.md tells it to people.
const (
	Done        = 0
	Failed      = 1   // anything else, and what is not as it should be: a call that failed, a finding
	Misused     = 2   // the command line is wrong
	Missing     = 3   // there is no such thing (404)
	Barred      = 4   // the credential is not known, or may not do that (401, 403)
	Refused     = 5   // the service does not take it (other 4xx)
	NotNow      = 6   // a limit is reached, or the service cannot work right now (429, 503)
	Unreachable = 7   // nobody answers at that address
	Interrupted = 130 // by Ctrl-C or SIGTERM
)

// ExitCode is what a command's error makes of the exit code.
func ExitCode(err error) int {
	var refusal *client.Error
	var wrong misuse
	var dial *net.OpError
	var dns *net.DNSError
	var at *url.Error
	switch {
	case err == nil:
		return Done
	case errors.As(err, &refusal):
		return exitOf(refusal.Status)
	case errors.As(err, &wrong), misusedCobra(err):
		return Misused
	case errors.Is(err, context.Canceled):
		return Interrupted
	case errors.As(err, &at) && (errors.As(err, &dial) || errors.As(err, &dns) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, io.EOF)):
		return Unreachable
	}
	return Failed
}

func exitOf(status int) int {
	switch {
	case status == http.StatusNotFound:
		return Missing
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return Barred
	case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable:
		return NotNow
	case status >= 400 && status < 500:
		return Refused
	}
	return Failed
}

// ErrBad makes the exit code tell that what was asked about is not as it
// should be.
var ErrBad = errors.New("not as it should be")
