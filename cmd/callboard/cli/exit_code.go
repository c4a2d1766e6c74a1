package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

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

// misuse is a command line that is wrong.
type misuse struct{ error }

func (m misuse) Unwrap() error { return m.error }

// Misuse says that the command line is wrong.
func Misuse(format string, args ...any) error { return misuse{fmt.Errorf(format, args...)} }

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

// misusedCobra knows the errors that cobra makes without a type.
func misusedCobra(err error) bool {
	text := err.Error()
	for _, begin := range []string{"unknown command ", "required flag(s) ", "if any flags in the group "} {
		if strings.HasPrefix(text, begin) {
			return true
		}
	}
	return false
}

// Tidy lets every command below root say by its exit code that it was misused,
// and know its sub-commands.
func Tidy(root *cobra.Command) {
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return misuse{err} })
	for _, c := range root.Commands() {
		tidy(c)
	}
}

func tidy(c *cobra.Command) {
	if check := c.Args; check != nil {
		c.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return misuse{fmt.Errorf("%w; see callboard %s --help", err, strings.TrimPrefix(cmd.CommandPath(), "callboard "))}
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		tidy(sub)
	}
}

// ErrBad makes the exit code tell that what was asked about is not as it
// should be.
var ErrBad = errors.New("not as it should be")
