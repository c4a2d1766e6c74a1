package campaigns_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/cmd/callboard/cli"
	"github.com/callboard/callboard/cmd/callboard/cli/campaigns"
	"github.com/callboard/callboard/cmd/callboard/cli/clitest"
)

func run(t *testing.T, args ...string) (out, errs string, code int) {
	t.Helper()
	return clitest.Run(t, "", args, campaigns.Command(), campaigns.PauseAllCommand())
}

func TestFailedImportDeletesCampaign(t *testing.T) {
	clitest.Profiles(t)
	file := filepath.Join(t.TempDir(), "May visits.csv")
	require.NoError(t, os.WriteFile(file, []byte("phone\n+12025550123\n"), 0o600))
	s := clitest.NewServer(t, map[string]string{
		"POST /v1/campaigns": `{"id": "camp_1"}`, "POST /v1/campaigns/camp_1/contacts": `422|{"error": {"code": "validation_failed", "message": "no column phone"}}`,
		"DELETE /v1/campaigns/camp_1": `{"deleted": true}`,
	})
	_, errs, code := run(t, "campaigns", "import", file, "--agent", "agent_1", "--url", s.URL)
	assert.Equal(t, cli.ExitRejected, code)
	assert.Contains(t, errs, "no column phone")
	_, seen := s.Requests()
	assert.Equal(t, []string{"POST /v1/campaigns", "POST /v1/campaigns/camp_1/contacts", "DELETE /v1/campaigns/camp_1"}, seen)
}

func TestImportSendsColumnsOfFlags(t *testing.T) {
	clitest.Profiles(t)
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	s := clitest.NewServer(t, map[string]string{
		"POST /v1/campaigns/camp_1/contacts": `{"contacts_summary": {"received": 1, "accepted": 1}}`, "GET /v1/campaigns/camp_1/status": `{"status": "draft"}`,
	})
	columns := []string{"--phone-column", "Mobile no.", "--name-column", "Patient", "--country-column", "Land", "--timezone-column", "Zone", "--campaign", "camp_1", "--url", s.URL}
	_, errs, code := run(t, append([]string{"campaigns", "import", write("patients.csv", "Mobile no.,Patient,Land,Zone\n")}, columns...)...)
	require.Equal(t, cli.ExitOK, code, errs)
	_, seen := s.Requests()
	assert.Equal(t, "POST /v1/campaigns/camp_1/contacts?country_column=Land&name_column=Patient&phone_column=Mobile+no.&timezone_column=Zone", seen[0])
	_, errs, code = run(t, append([]string{"campaigns", "import", write("patients.jsonl", "{}\n")}, columns...)...)
	assert.Equal(t, cli.ExitMisused, code)
	assert.Contains(t, errs, "is not a CSV file")
}

func TestWatchEndsWhenCampaignEnds(t *testing.T) {
	clitest.Profiles(t)
	var mu sync.Mutex
	states := []string{`"running", "progress": {"remaining": 2}`, `"running", "progress": {"remaining": 2}`, `"running", "progress": {"remaining": 1}`, `"completed", "progress": {"remaining": 0}`}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = fmt.Fprintf(w, `{"campaign_id": "c", "status": %s, "timing": {"estimated_completion": %q}}`, states[0], time.Now().Format(time.RFC3339Nano))
		if len(states) > 1 {
			states = states[1:]
		}
	}))
	t.Cleanup(s.Close)
	out, _, code := run(t, "campaigns", "watch", "c", "--every", "200ms", "--json", "--url", s.URL)
	assert.Equal(t, cli.ExitOK, code)
	assert.Len(t, strings.Split(strings.TrimSpace(out), "\n"), 3, "a line for each change")
	mu.Lock()
	states = []string{`"cancelled"`}
	mu.Unlock()
	_, errs, code := run(t, "campaigns", "watch", "c", "--url", s.URL)
	assert.Equal(t, cli.ExitFailed, code)
	assert.Contains(t, errs, "is cancelled")
}

func TestPauseAllContinuesAfterFailedCampaign(t *testing.T) {
	clitest.Profiles(t)
	s := clitest.NewServer(t, map[string]string{
		"GET /v1/campaigns":               `{"data": [{"id": "over"}, {"id": "broken"}, {"id": "good"}]}`,
		"POST /v1/campaigns/over/pause":   `409|{"error": {"code": "invalid_state", "message": "no"}}`,
		"POST /v1/campaigns/broken/pause": `500|{"error": {"code": "internal", "message": "no"}}`,
		"POST /v1/campaigns/good/pause":   `{"status": "paused"}`,
	})
	out, errs, code := run(t, "pause-all", "--json", "--url", s.URL)
	assert.Equal(t, cli.ExitFailed, code)
	assert.Contains(t, errs, "broken")
	assert.NotContains(t, errs, "over")
	var done struct{ Paused []string }
	require.NoError(t, json.Unmarshal([]byte(out), &done))
	assert.Contains(t, done.Paused, "good")
}
