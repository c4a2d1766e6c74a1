package main_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestForecastOfHundredThousandContactsTakesSeconds checks the result of a forecast over the API. The forecast uses
// uploaded contacts, do-not-call lists, the same decisions as a running campaign, and the prices of the plan.
func TestForecastOfHundredThousandContactsTakesSeconds(t *testing.T) {
	t.Parallel()
	s := newRaceFreeService(t)
	s.createTrunk("", 9)
	const contacts, listed = 100_000, 1000
	id := s.api("POST", "/v1/campaigns", object{
		"name": "large", "agent_id": s.createGreetingAgent(), "caller_id": object{"number": "+12025550100"},
		"schedule":   object{"timezone": "UTC", "days": []string{"monday", "tuesday", "wednesday", "thursday", "friday"}},
		"compliance": object{"calling_hours": object{"start": "09:00", "end": "17:00", "timezone": "local"}},
		"retry":      object{"enabled": true, "max_attempts": 2, "interval_hours": 4, "retry_on": []string{"no_answer", "busy"}},
	})["id"].(string)
	path := "/v1/campaigns/" + id
	status, answer, _ := s.tryRequest("POST", path+"/contacts", csvRows(contacts), "Content-Type", "text/csv")
	require.Equal(t, http.StatusOK, status, string(answer))
	var numbers strings.Builder
	for i := range listed {
		fmt.Fprintf(&numbers, "+1%d\n", 2012000000+i*7)
	}
	list := s.api("GET", "/v1/dnc-lists", nil)["data"].([]any)[0].(object)["id"].(string)
	status, answer, _ = s.tryRequest("POST", "/v1/dnc-lists/"+list+"/entries", numbers.String(), "Content-Type", "text/plain")
	require.Less(t, status, 300, string(answer))

	began := time.Now()
	sim := s.api("POST", path+"/simulate", object{"start_at": "2027-03-01T00:00:00Z"})
	t.Logf("simulated in %s", time.Since(began))
	skipped := sim["skipped"].(object)
	assert.Equal(t, []any{float64(contacts), listed + 0.0, 0.0}, []any{sim["contacts"], skipped["dnc"], skipped["frequency"]})
	rung := float64(contacts - listed)
	assert.Equal(t, []any{0.0, 0.0}, []any{skipped["invalid"], skipped["hours"]})
	sum := 0.0
	for _, n := range sim["outcomes"].(object) {
		sum += n.(float64)
	}
	assert.InDelta(t, rung, sum, 0, "all contacts have an outcome")
	attempts := sim["attempts"].(float64)
	assert.Greater(t, attempts, rung, "with retries")
	assert.InDelta(t, attempts, sim["cost"].(object)["attempts"].(float64), 0)
	done, err := time.Parse(time.RFC3339, sim["completes_at"].(string))
	require.NoError(t, err)
	assert.Greater(t, done, time.Time{})
	status, answer, _ = s.tryRequest("GET", path+"/contacts?status=pending&limit=1", nil)
	assert.Equal(t, http.StatusOK, status, string(answer))
	assert.Contains(t, string(answer), `"attempts":0`, "the forecast called nobody")
}
