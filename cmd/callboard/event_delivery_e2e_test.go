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

// receiverFault is the behaviour of a receiver for one delivery attempt, with the status that Callboard records (0:
// none).
type planted struct {
	share  int // probability in percent
	status int
	do     func(w http.ResponseWriter, r *http.Request)
}

// closeAfter writes some bytes of a response and closes the connection.
func cut(answer string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = conn.Write([]byte(answer))
		_ = conn.Close()
	}
}

func plainly(status int) planted {
	return planted{status: status, do: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }}
}

func (p planted) in100(n int) planted { p.share = n; return p }

// receiverFaults returns the behaviours of receivers with their probabilities.
func plantings() []planted {
	moved := planted{status: http.StatusFound, do: func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/moved", http.StatusFound) }}
	slow := planted{status: http.StatusOK, do: func(w http.ResponseWriter, r *http.Request) { // a response body without end
		for r.Context().Err() == nil {
			_, _ = w.Write([]byte("and so on "))
			_ = http.NewResponseController(w).Flush()
			<-time.After(20 * time.Millisecond)
		}
	}}
	hang := planted{do: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }}
	return []planted{
		plainly(http.StatusNoContent).in100(50), plainly(http.StatusInternalServerError).in100(10), plainly(http.StatusServiceUnavailable).in100(8),
		plainly(http.StatusNotFound).in100(4), plainly(http.StatusTooManyRequests).in100(2), moved.in100(3), slow.in100(1), hang.in100(1),
		planted{do: cut("")}.in100(8), planted{do: cut("HTTP/1.1 200 O")}.in100(4), planted{do: cut("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n")}.in100(4),
		planted{status: http.StatusOK, do: cut("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")}.in100(5), // the status line decides
	}
}

// drawFault selects the behaviour for an attempt, deterministically.
func drawn(all []planted, path, event, attempt string) planted {
	h := fnv.New32a()
	_, _ = h.Write([]byte(path + event + attempt))
	at := int(h.Sum32() % 100)
	for _, p := range all {
		if at -= p.share; at < 0 {
			return p
		}
	}
	return all[0]
}

// TestEventsAreDeliveredOrListedAsFailedDespiteReceiverFaults injects faults into webhook receivers. It compares
// the fate of each event with the delivery rules.
func TestEventsAreDeliveredOrListedAsFailedDespiteReceiverFaults(t *testing.T) {
	t.Parallel()
	const events = 80
	all := plantings()
	far := arriving(t, func(w http.ResponseWriter, r *http.Request, a arrival) bool {
		drawn(all, r.URL.Path, a.id, a.attempt).do(w, r)
		return false
	})
	s := newPlainService(t, "FAILPOINT_HURRY=3s 3000", "CALLBOARD_LOG_LEVEL=error")
	s.unlimited()
	hooks := map[string]string{}
	for i := range 5 {
		path := "/" + strconv.Itoa(i)
		hooks[path] = s.subscribe(far.server.URL+path, nil, "call.*")
	}
	s.kill9()
	ids := s.fillEvents(events, events)
	s.start()
	counts := map[string]int{}
	for path, hook := range hooks {
		type end struct{ status, answered, retries any }
		wanted := map[string]end{}
		for _, id := range ids {
			var p planted
			e := end{status: "failed"}
			for n := 1; n <= 5; n++ {
				p = drawn(all, path, id, strconv.Itoa(n))
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
			for _, l := range s.entries("/v1/webhooks/"+hook+"/logs?limit=100", "logs") {
				got[l.EventID] = end{l.Status, l.ResponseStatus, l.Retries}
				open = open || l.Status != "delivered" && l.Status != "failed"
			}
			return !open && len(got) == events
		})
		assert.Equal(t, wanted, got, path)
		failed := map[string]bool{}
		for _, l := range s.entries("/v1/webhooks/"+hook+"/failed?limit=100", "data") {
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
	assert.Empty(t, far.all["moved"], "no redirect is followed")
	t.Logf("%d deliveries: %v, in %d attempts", len(hooks)*events, counts, far.count())
}

// logEntry is an entry of the delivery log or of the failed events.
type logEntry struct {
	EventID           string `json:"event_id"`
	Status            string
	ResponseStatus    int `json:"response_status"`
	Retries, Attempts int
}

// readLogEntries reads one page of entries.
func (s *service) entries(path, key string) (all []logEntry) {
	s.t.Helper()
	code, text, _, err := s.request("GET", path, nil)
	if err != nil || code != http.StatusOK {
		return nil
	}
	var page map[string]json.RawMessage
	require.NoError(s.t, json.Unmarshal(text, &page))
	require.NoError(s.t, json.Unmarshal(page[key], &all))
	return all
}
