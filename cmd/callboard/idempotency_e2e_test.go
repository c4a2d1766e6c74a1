package main_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Clients repeat a request after a lost response, some of them concurrently. With the same Idempotency-Key the
// request takes effect once, and concurrent repetitions get 409.
func TestConcurrentRequestsWithSameIdempotencyKeyHaveOneEffect(t *testing.T) {
	t.Parallel()
	const clients = 50
	s := newService(t)
	s.removeLimits()
	callee := startSIPp(t, "uas-answer-logged")
	s.createTrunk("", callee.port)
	agent := s.createGreetingAgent()
	type reply struct {
		status    int
		text      string
		replayed  bool
		conflicts int
	}
	for path, body := range map[string]object{
		"/v1/calls/outbound": {"to": "+12025550123", "from": "+12025550100", "agent_id": agent},
		"/v1/campaigns":      {"name": "once", "agent_id": agent, "caller_id": object{"number": "+12025550100"}, "contacts": []object{{"phone": "+12025550124"}}},
		"/v1/api-keys":       {"name": "once", "permissions": []string{"calls:read"}},
		"/v1/webhooks":       {"url": s.receiver.url, "events": []string{"call.ended"}},
	} {
		list := strings.TrimSuffix(path, "/outbound")
		before := len(s.listData(list))
		text, err := json.Marshal(body)
		require.NoError(t, err)
		replies, start := make([]reply, clients), make(chan struct{})
		var done sync.WaitGroup
		for i := range replies {
			done.Go(func() {
				<-start
				for begun := time.Now(); time.Since(begun) < time.Minute; {
					status, answer, head, err := s.sendRequest(http.MethodPost, path, text, "Idempotency-Key", "once"+path)
					if err != nil {
						assert.NoError(t, err)
						return
					}
					r := &replies[i]
					r.status, r.text, r.replayed = status, string(answer), head.Get("Idempotent-Replayed") == "true"
					if status != http.StatusConflict && status != http.StatusServiceUnavailable {
						return
					}
					r.conflicts++
					<-time.After(20 * time.Millisecond)
				}
			})
		}
		close(start)
		done.Wait()
		created, waited := 0, 0
		for _, r := range replies {
			require.Equal(t, http.StatusCreated, r.status, "%s: %s", path, r.text)
			assert.Equal(t, replies[0].text, r.text, path)
			waited += r.conflicts
			if !r.replayed {
				created++
			}
		}
		t.Logf("%s: %d requests got 409", path, waited)
		assert.Equal(t, 1, created, "%s took effect once", path)
		assert.Len(t, s.listData(list), before+1, path)
	}
	s.await("the call", 20*time.Second, func() bool { return callee.countLines("END") == 1 })
	assert.Equal(t, map[string]int{"12025550123": 1}, callee.inviteCounts(), strconv.Itoa(clients)+" requests, one call")
}
