package doctor_test

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/client"
)

// healthyAnswers are the responses of a healthy service, by method and path.
var healthyAnswers = map[string]string{ //nolint:gochecknoglobals // answers by their route
	"GET /readyz":                  `{"status": "ok"}`,
	"GET /v1/trunks":               `{"data": [{"id": "trunk_1", "name": "carrier", "srtp": "required", "proxies": [{"host": "192.0.2.1", "transport": "tls"}]}]}`,
	"POST /v1/trunks/trunk_1/test": `{"targets": [{"target": "192.0.2.1:5061", "reachable": true, "code": 200, "response_time_ms": 9}]}`,
	"GET /v1/webhooks":             `{"data": [{"id": "webhook_1", "url": "https://hooks.example.com", "status": "active"}]}`,
}

// serveAPI starts the API of a healthy service, except that route returns the given answer. A status such as "403 "
// may precede the body in answer.
func (b *fixture) serveAPI(route, answer string) {
	answers := maps.Clone(healthyAnswers)
	if route != "" {
		answers[route] = answer
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, ok := answers[r.Method+" "+r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		for status, code := range map[string]int{"403 ": http.StatusForbidden, "503 ": http.StatusServiceUnavailable} {
			if rest, found := strings.CutPrefix(text, status); found {
				w.WriteHeader(code)
				text = rest
			}
		}
		_, _ = io.WriteString(w, text)
	}))
	b.Cleanup(s.Close)
	b.diagnosis.Running, b.diagnosis.Client = true, &client.Client{URL: s.URL, Key: "k"}
}

// serviceFaults returns, by the name of the check, functions that make the API of the running service report a fault.
func serviceFaults() map[string]func(*fixture) {
	out := make(map[string]func(*fixture))
	for check, c := range map[string][2]string{
		"ready":                {"GET /readyz", `503 {"error": {"code": "unavailable", "message": "the disk is full"}}`},
		"trunks":               {"GET /v1/trunks", `{"data": [{"id": "trunk_2", "name": "built in", "simulator": true}]}`},
		"trunk":                {"POST /v1/trunks/trunk_1/test", `{"targets": [{"target": "192.0.2.1:5061", "reachable": false, "error": "no answer"}]}`},
		"trunk_srtp":           {"GET /v1/trunks", `{"data": [{"id": "trunk_1", "name": "carrier", "srtp": "off", "proxies": [{"host": "192.0.2.1", "transport": "tls"}]}]}`},
		"trunk_registration":   {"GET /v1/trunks", `{"data": [{"id": "trunk_1", "name": "carrier", "register": true, "health": {"last_error": "403", "registration": {"status": "failed"}}}]}`},
		"endpoints":            {"GET /v1/webhooks", `403 {"error": {"code": "permission_denied", "message": "no"}}`},
		"endpoint_disabled":    {"GET /v1/webhooks", `{"data": [{"id": "webhook_1", "url": "https://hooks.example.com", "status": "disabled", "disabled_reason": "gone"}]}`},
		"endpoint_failing":     {"GET /v1/webhooks", `{"data": [{"id": "webhook_1", "url": "https://hooks.example.com", "status": "active", "failing_since": "2026-03-01T12:00:00Z"}]}`},
		"trunks (not allowed)": {"GET /v1/trunks", `403 {"error": {"code": "permission_denied", "message": "no"}}`},
		"trunk (not allowed)":  {"POST /v1/trunks/trunk_1/test", `403 {"error": {"code": "permission_denied", "message": "no"}}`},
	} {
		out[check] = func(b *fixture) { b.serveAPI(c[0], c[1]) }
	}
	return out
}

func TestHealthyRunningServiceHasNoFindings(t *testing.T) {
	b := newFixture(t)
	b.serveAPI("", "")
	list := b.diagnose()
	for check := range serviceFaults() {
		name, _, _ := strings.Cut(check, " ")
		assert.Empty(t, findingsOf(list, name), check)
	}
	assert.NotEmpty(t, list)
}

// checksWithoutFault lists documented checks for which no case can cause a fault, with the reason.
var checksWithoutFault = map[string]string{ //nolint:gochecknoglobals // reasons by check
	"redis_version":        "needs an old Redis",
	"port_privileged":      "needs an unprivileged process and a kernel that protects low ports",
	"disk_files":           "needs a separate file system",
	"clock_unsynchronised": "depends on the machine",
	"speech_detection":     "the model is part of the binary",
	"endpoint":             "reports only success; endpoint_disabled and endpoint_failing report its faults",
	"certificate":          "reports only success; nine other checks report its faults",
}

func TestDocumentedFindingsHaveFaultCase(t *testing.T) {
	guide, err := os.ReadFile("../../../docs/cli.md")
	require.NoError(t, err)
	_, rows, found := strings.Cut(string(guide), "| it looks at | names of the findings |\n|---|---|\n")
	require.True(t, found)
	planted, n := faultCases(), 0
	for row := range strings.SplitSeq(strings.TrimRight(rows, "\n"), "\n") {
		cells := strings.Split(row, "|")
		require.Len(t, cells, 4, row)
		for _, name := range regexp.MustCompile("`([a-z0-9_-]+)`").FindAllStringSubmatch(cells[2], -1) {
			n++
			_, reason := checksWithoutFault[name[1]]
			assert.NotEqual(t, planted[name[1]] != nil, reason, "%s needs either a fault case or a reason in checksWithoutFault", name[1])
		}
	}
	assert.Greater(t, n, 60)
}

// Every check name in the source of the package must be in docs/cli.md.
func TestFindingsInSourceAreDocumented(t *testing.T) {
	guide, err := os.ReadFile("../../../docs/cli.md")
	require.NoError(t, err)
	files, err := os.ReadDir(".")
	require.NoError(t, err)
	n := 0
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		text, err := os.ReadFile(f.Name())
		require.NoError(t, err)
		for _, m := range regexp.MustCompile(`(?:report\.(?:ok|warn|bad)\(|fault\(k\.report\.\w+, )"([a-z0-9_-]+)"`).FindAllSubmatch(text, -1) {
			n++
			assert.Contains(t, string(guide), "`"+string(m[1])+"`", f.Name())
		}
	}
	assert.Greater(t, n, 60)
}
