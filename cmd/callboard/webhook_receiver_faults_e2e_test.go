package main_test

import (
	"encoding/json"
	"hash/fnv"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// receiverFault is the behavior of a webhook receiver in one delivery attempt. status is the HTTP status that Callboard
// must record, or 0 if there is no valid response.
type receiverFault struct {
	percent int // probability in percent
	status  int
	respond func(w http.ResponseWriter, r *http.Request)
}

// closeAfter returns a handler that writes the bytes of answer to the connection and closes it.
func closeAfter(answer string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = conn.Write([]byte(answer))
		_ = conn.Close()
	}
}

func answerStatus(status int) receiverFault {
	return receiverFault{status: status, respond: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }}
}

func (p receiverFault) withPercent(n int) receiverFault { p.percent = n; return p }

// receiverFaults returns the behaviors of receivers with their probabilities.
func receiverFaults() []receiverFault {
	moved := receiverFault{status: http.StatusFound, respond: func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/moved", http.StatusFound) }}
	slow := receiverFault{status: http.StatusOK, respond: func(w http.ResponseWriter, r *http.Request) { // a response body without end
		for r.Context().Err() == nil {
			_, _ = w.Write([]byte("and so on "))
			_ = http.NewResponseController(w).Flush()
			<-time.After(20 * time.Millisecond)
		}
	}}
	hang := receiverFault{respond: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }}
	return []receiverFault{
		answerStatus(http.StatusNoContent).withPercent(50), answerStatus(http.StatusInternalServerError).withPercent(10), answerStatus(http.StatusServiceUnavailable).withPercent(8),
		answerStatus(http.StatusNotFound).withPercent(4), answerStatus(http.StatusTooManyRequests).withPercent(2), moved.withPercent(3), slow.withPercent(1), hang.withPercent(1),
		receiverFault{respond: closeAfter("")}.withPercent(8), receiverFault{respond: closeAfter("HTTP/1.1 200 O")}.withPercent(4), receiverFault{respond: closeAfter("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n")}.withPercent(4),
		receiverFault{status: http.StatusOK, respond: closeAfter("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")}.withPercent(5), // the status line decides
	}
}

// drawFault selects the behavior of the receiver for a delivery attempt. The same attempt always gets the same behavior.
func drawFault(all []receiverFault, path, event, attempt string) receiverFault {
	h := fnv.New32a()
	_, _ = h.Write([]byte(path + event + attempt))
	at := int(h.Sum32() % 100)
	for _, p := range all {
		if at -= p.percent; at < 0 {
			return p
		}
	}
	return all[0]
}

// Webhook receivers respond with random faults. Each event must be delivered, or listed as failed after all attempts.
func TestEventsAreDeliveredOrListedAsFailedDespiteReceiverFaults(t *testing.T) {
	t.Parallel()
	const events = 80
	all := receiverFaults()
	far := newDeliveryRecorder(t, func(w http.ResponseWriter, r *http.Request, a recordedDelivery) bool {
		drawFault(all, r.URL.Path, a.id, a.attempt).respond(w, r)
		return false
	})
	s := newRaceFreeService(t, "FAILPOINT_WEBHOOK_TIMING=3s 3000", "CALLBOARD_LOG_LEVEL=error")
	s.removeLimits()
	hooks := map[string]string{}
	for i := range 5 {
		path := "/" + strconv.Itoa(i)
		hooks[path] = s.createWebhook(far.server.URL+path, nil, "call.*")
	}
	s.kill9()
	ids := s.insertEvents(events, events)
	s.start()
	counts := map[string]int{}
	for path, hook := range hooks {
		type end struct{ status, answered, retries any }
		wanted := map[string]end{}
		for _, id := range ids {
			var p receiverFault
			e := end{status: "failed"}
			for n := 1; n <= 5; n++ {
				p = drawFault(all, path, id, strconv.Itoa(n))
				if e.retries = n - 1; p.status > 0 && p.status < 500 {
					break
				}
			}
			if p.status/100 == 2 {
				e.status = "delivered"
			}
			e.answered = p.status
			wanted[id] = e
			counts[e.status.(string)]++
		}
		got := map[string]end{}
		s.await("the end of all deliveries", time.Minute, func() bool {
			open := false
			for _, l := range s.readLogEntries("/v1/webhooks/"+hook+"/logs?limit=100", "logs") {
				got[l.EventID] = end{l.Status, l.ResponseStatus, l.Retries}
				open = open || l.Status != "delivered" && l.Status != "failed"
			}
			return !open && len(got) == events
		})
		assert.Equal(t, wanted, got, path)
		failed := map[string]bool{}
		for _, l := range s.readLogEntries("/v1/webhooks/"+hook+"/failed?limit=100", "data") {
			failed[l.EventID] = true
			assert.Equal(t, "failed", wanted[l.EventID].status)
			assert.Equal(t, wanted[l.EventID].retries, l.Attempts-1)
		}
		for id, e := range wanted {
			assert.Equal(t, e.status == "failed", failed[id], id)
		}
	}
	assert.Equal(t, len(hooks)*events, counts["delivered"]+counts["failed"])
	assert.Greater(t, counts["failed"], 10)
	assert.Empty(t, far.byPath["moved"], "no redirect is followed")
	t.Logf("%d deliveries: %v, in %d attempts", len(hooks)*events, counts, far.count())
}

// logEntry is an entry of the delivery log or of the failed events.
type logEntry struct {
	EventID           string `json:"event_id"`
	Status            string
	ResponseStatus    int `json:"response_status"`
	Retries, Attempts int
}

// readLogEntries requests a page of log entries from the API. key is the JSON field that contains the list.
func (s *service) readLogEntries(path, key string) (all []logEntry) {
	s.t.Helper()
	code, text, _, err := s.sendRequest("GET", path, nil)
	if err != nil || code != http.StatusOK {
		return nil
	}
	var page map[string]json.RawMessage
	require.NoError(s.t, json.Unmarshal(text, &page))
	require.NoError(s.t, json.Unmarshal(page[key], &all))
	return all
}
