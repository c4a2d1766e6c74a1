package main_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/sip/siptest"
)

// BenchmarkDashboard measures each page of the dashboard with many past calls of one campaign. The newest call has just
// ended.
func BenchmarkDashboard(b *testing.B) {
	benchResults.addRowOnFailure(b)
	const calls, batch, most = 100_000, 1000, 300 * time.Millisecond
	s := prepareService(b, "CALLBOARD_LOG_LEVEL=warn")
	s.start()
	s.api("PATCH", "/v1/workspace", object{"plan": "enterprise", "limits": object{
		"requests_per_minute": 1_000_000, "concurrent_inbound": 1000, "concurrent_outbound": 1000, "calls_per_minute": 100_000,
	}})
	s.createTrunkForAllNumbers(siptest.Port(b))
	agent := s.createMuteAgent()
	campaign := s.api("POST", "/v1/campaigns", object{
		"name": "one", "agent_id": agent, "caller_id": object{"number": "+12025550100"}, "contacts": []object{{"phone": "+12025550123"}},
	})["id"].(string)
	provider := s.api("POST", "/v1/providers", object{"name": "Dr. Rivera", "timezone": "UTC", "hours": object{"monday": []object{{"start": "00:00", "end": "24:00"}}}})["id"].(string)
	pathway := s.api("GET", "/v1/agents/"+agent, nil)["pathway_id"].(string)
	user := s.api("POST", "/v1/users", object{"name": "Ada", "role": "admin", "operator": true})["id"].(string)
	s.kill9()

	d, store, ws := s.openStore()
	began := time.Now().UTC().Truncate(time.Millisecond).Add(-calls * 40 * time.Millisecond) // 1500 per minute
	for from := 0; from < calls; from += batch {
		change := commit.Change{Workspace: ws}
		for i := from; i < from+batch; i++ {
			change.Puts = append(change.Puts, domain.Record(pastCall(ws, agent, campaign, i, began.Add(time.Duration(i)*40*time.Millisecond))))
		}
		_, err := store.Apply(context.Background(), change)
		require.NoError(b, err)
	}
	_, err := store.Apply(context.Background(), largestCall(ws, campaign, pastCall(ws, agent, campaign, calls, began.Add(calls*40*time.Millisecond)), calls))
	require.NoError(b, err)
	require.NoError(b, d.Close())
	s.start()
	call := s.api("GET", "/v1/calls?limit=1", nil)["data"].([]any)[0].(object)["id"].(string)

	link, err := url.Parse(s.api("POST", "/v1/users/"+user+"/sign-in-link", nil)["url"].(string))
	require.NoError(b, err)
	cookie := ""
	ask := func(method, path string, form url.Values) (took time.Duration, size int) {
		b.Helper()
		req, err := http.NewRequest(method, "http://"+s.http+path, strings.NewReader(form.Encode()))
		require.NoError(b, err)
		req.Header.Set("Origin", "http://"+s.http)
		req.Header.Set("Cookie", cookie)
		if form != nil {
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		began := time.Now()
		res, err := http.DefaultTransport.RoundTrip(req)
		require.NoError(b, err)
		text, err := io.ReadAll(res.Body)
		took = time.Since(began)
		require.NoError(b, err)
		require.NoError(b, res.Body.Close())
		require.Less(b, res.StatusCode, http.StatusBadRequest, "%s: %s", path, text)
		if set := res.Header.Get("Set-Cookie"); set != "" {
			cookie, _, _ = strings.Cut(set, ";")
		}
		return took, len(text)
	}
	ask(http.MethodPost, "/sign-in", url.Values{"token": {link.Query().Get("token")}})

	slowest, where, largest := time.Duration(0), "", 0
	for _, path := range []string{
		"/", "/campaigns", "/campaigns/new", "/campaigns/" + campaign, "/campaigns/" + campaign + "/decisions", "/campaigns/" + campaign + "/rehearsal",
		"/calls", "/calls?status=active", "/calls?campaign_id=" + campaign, "/calls/" + call, "/agents", "/agents/" + agent, "/pathways/" + pathway, "/pathways/" + pathway + "/edit",
		"/pathways/" + pathway + "/try", "/numbers", "/trunks", "/appointments", "/appointments/list", "/appointments/new?provider=" + provider, "/messages", "/messages?with=%2B12025550123", "/webhooks",
		"/usage", "/keys", "/team", "/settings", "/audit", "/operator",
	} {
		var all []time.Duration
		size := 0
		for range 9 {
			took, n := ask(http.MethodGet, path, nil)
			all, size = append(all, took), n
		}
		slices.Sort(all)
		b.Logf("%-60s %5.1f ms, %d kB", path, milliseconds(all[len(all)/2]), size>>10)
		if all[len(all)/2] > slowest {
			slowest, where = all[len(all)/2], path
		}
		largest = max(largest, size)
	}
	where = strings.NewReplacer(campaign, "…", call, "…", pathway, "…", agent, "…", provider, "…").Replace(where)
	benchResults.add(fmt.Sprintf("Slowest page of the dashboard, %d calls stored", calls), "≤ 300 ms", fmt.Sprintf("%.0f ms (%s); the largest has %d kB", milliseconds(slowest), where, largest>>10), slowest <= most, nil)
	s.kill9()
}

// largestCall returns the rows of a call with all optional data, and 101 rows with the past progress of its campaign.
func largestCall(ws, campaign string, c *domain.Call, calls int) commit.Change {
	change := commit.Change{Workspace: ws, Puts: []domain.Record{c}}
	turns := make([]domain.TurnLatency, 200)
	for i := range turns {
		turns[i] = domain.TurnLatency{Input: "speech", AtMs: int64(i) * 9000, EOUMs: 400, STTMs: 120, TTSFirstAudioMs: 90, TotalMs: 700 + int64(i)}
	}
	c.Latency = domain.LatencyOf(turns)
	c.Quality = &domain.Quality{Codec: "PCMU", MOS: 4.3}
	for i := range 40 {
		c.Quality.Stretches = append(c.Quality.Stretches, domain.QualityInterval{AtMs: int64(i) * 45_000, ForMs: 45_000, MOS: 4.3, JitterMs: 2.5, LossPercent: 0.12, RoundTripMs: 31.5})
	}
	c.Variables = map[string]string{}
	for i := range 50 {
		c.Variables[fmt.Sprintf("field %d", i)] = strings.Repeat("words ", 20)
	}
	for i := range 101 {
		done := calls * i / 100
		change.Puts = append(change.Puts, &domain.ProgressMark{
			CampaignID: campaign, WorkspaceID: ws, Percent: i, At: c.CreatedAt.Add(time.Duration(i-100) * 40 * time.Second), Total: calls, Attempted: done, Attempts: done, Finished: done,
			Outcomes: map[domain.Outcome]int{"completed": done},
		})
	}
	return change
}
