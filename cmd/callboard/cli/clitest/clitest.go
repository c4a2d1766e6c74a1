// Package clitest runs CLI commands against a fake API server in tests.
package clitest

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/cmd/callboard/cli"
)

// Run runs a command line with a root command that has the given subcommands. It returns the standard output, the
// standard error and the exit code.
func Run(t *testing.T, stdin string, args []string, commands ...*cobra.Command) (out, errs string, code int) {
	t.Helper()
	root := &cobra.Command{Use: "callboard", SilenceUsage: true, SilenceErrors: true}
	root.AddCommand(commands...)
	cli.WrapUsageErrors(root)
	var o, e bytes.Buffer
	root.SetOut(&o)
	root.SetErr(&e)
	root.SetIn(strings.NewReader(stdin))
	root.SetArgs(args)
	err := root.ExecuteContext(t.Context())
	if err != nil {
		_, _ = fmt.Fprintln(&e, err)
	}
	return o.String(), e.String(), cli.ExitCode(err)
}

// Server is a fake API server that answers with fixed JSON texts. It records the requests and their API keys.
type Server struct {
	*httptest.Server
	mu       sync.Mutex
	keys     []string
	requests []string
}

// NewServer starts a fake API server. answers maps "METHOD /path" to a response body. If the status is not 200, the
// body starts with "STATUS|". Other paths get 404.
func NewServer(t *testing.T, answers map[string]string) *Server {
	t.Helper()
	s := &Server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.keys = append(s.keys, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		s.requests = append(s.requests, r.Method+" "+r.URL.RequestURI())
		s.mu.Unlock()
		answer, ok := answers[r.Method+" "+r.URL.Path]
		status := http.StatusOK
		if !ok {
			answer, status = `{"error": {"code": "not_found", "message": "The object does not exist."}}`, http.StatusNotFound
		}
		if code, rest, found := strings.Cut(answer, "|"); found {
			_, _ = fmt.Sscan(code, &status)
			answer = rest
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(s.Close)
	return s
}

// Requests returns the API keys and the requests ("METHOD /path?query") that the server has received so far.
func (s *Server) Requests() (keys, requests []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.keys...), append([]string{}, s.requests...)
}

// Profiles makes the CLI use an empty profiles file for the duration of the test. It removes the environment variables
// that select a service, and returns the path of the file.
func Profiles(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "profiles.json")
	t.Setenv("CALLBOARD_PROFILES", path)
	for _, name := range []string{"CALLBOARD_URL", "CALLBOARD_KEY", "CALLBOARD_PROFILE"} {
		t.Setenv(name, "")
	}
	return path
}
