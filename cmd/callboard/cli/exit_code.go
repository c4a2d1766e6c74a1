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

// Exit codes of the command line. docs/cli.md describes them.
const (
	ExitOK          = 0
	ExitFailed      = 1   // any other error, such as a failed call or a failed check
	ExitMisused     = 2   // the command line is wrong
	ExitNotFound    = 3   // the record does not exist (404)
	ExitDenied      = 4   // the key is unknown or lacks the permission (401, 403)
	ExitRejected    = 5   // the service rejects the request (other 4xx)
	ExitUnavailable = 6   // a limit is reached or the service is unavailable (429, 503)
	ExitUnreachable = 7   // no response from the address of the service
	ExitInterrupted = 130 // by Ctrl-C or SIGTERM
)

// ExitCode returns the exit code of the process for the error that a command returned.
func ExitCode(err error) int {
	var refusal *client.Error
	var wrong usageError
	var dial *net.OpError
	var dns *net.DNSError
	var at *url.Error
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &refusal):
		return exitCodeOfStatus(refusal.Status)
	case errors.As(err, &wrong), isCobraUsageError(err):
		return ExitMisused
	case errors.Is(err, context.Canceled):
		return ExitInterrupted
	case errors.As(err, &at) && (errors.As(err, &dial) || errors.As(err, &dns) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, io.EOF)):
		return ExitUnreachable
	}
	return ExitFailed
}

func exitCodeOfStatus(status int) int {
	switch {
	case status == http.StatusNotFound:
		return ExitNotFound
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return ExitDenied
	case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable:
		return ExitUnavailable
	case status >= 400 && status < 500:
		return ExitRejected
	}
	return ExitFailed
}

// ErrCheckFailed is the error of a command whose check has a negative result, such as a trunk that does not answer.
var ErrCheckFailed = errors.New("the check failed")
