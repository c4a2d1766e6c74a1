package main_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Numbers of items in the bulk jobs during which the test kills the service.
const (
	jobCalls    = 10
	jobMessages = 8
	jobContacts = 1100
	jobNumbers  = 600
)

// jobKillTest is a service with one bulk job of each kind, an export and requests with idempotency keys. The tests
// kill the service at chosen steps of the jobs.
type jobKillTest struct {
	*service
	failpointFile string // file that tells the failpoints where to stop
	callee        *sippPeer
	testAPIKey    string // key of the test environment
	agent         string
	target        string // campaign that the bulk contacts are added to
	list          string
	calls         string // id of the job with calls; the following fields hold the other jobs
	messages      string
	contacts      string
	numbers       string
	export        string
}

func newJobKillTest(t *testing.T, env ...string) *jobKillTest {
	t.Helper()
	hold := filepath.Join(t.TempDir(), "hold")
	require.NoError(t, os.WriteFile(hold, nil, 0o600))
	j := &jobKillTest{callee: startSIPp(t, "uas-answer-logged"), failpointFile: hold}
	j.service = newService(t, append(env, "FAILPOINT_HOLD="+hold)...)
	j.removeLimits()
	j.createTrunk("", j.callee.port)
	j.testAPIKey = j.testKey()
	j.agent = j.createGreetingAgent()
	return j
}

// setFailpoints replaces the list of failpoints at which the service stops goroutines.
func (j *jobKillTest) setFailpoints(lines ...string) {
	j.t.Helper()
	require.NoError(j.t, os.WriteFile(j.failpointFile+".new", []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	require.NoError(j.t, os.Rename(j.failpointFile+".new", j.failpointFile))
	_ = os.Remove(j.failpointFile + ".held")
}

// awaitHeld waits until the given number of goroutines is stopped at each failpoint.
func (j *jobKillTest) awaitHeld(want map[string]int) {
	j.t.Helper()
	j.await(fmt.Sprintf("all to be held at %v", want), time.Minute, func() bool {
		text, _ := os.ReadFile(j.failpointFile + ".held")
		got := strings.Split(string(text), "\n")
		for line, n := range want {
			if len(slices.DeleteFunc(slices.Clone(got), func(l string) bool { return l != line })) < n {
				return false
			}
		}
		return true
	})
}

// makeItems returns n items of a bulk job. each makes an item from its index.
func makeItems(n int, each func(i int) object) []object {
	out := make([]object, n)
	for i := range out {
		out[i] = each(i)
	}
	return out
}

func (j *jobKillTest) callerID() object {
	return object{"name": "c", "agent_id": j.agent, "caller_id": object{"number": "+12025550100"}}
}

// startJobs creates the four bulk jobs and the export.
func (j *jobKillTest) startJobs() {
	j.t.Helper()
	j.target = j.api("POST", "/v1/campaigns", j.callerID())["id"].(string)
	j.list = j.api("POST", "/v1/dnc-lists", object{"name": "l"})["id"].(string)
	full := j.callerID()
	full["contacts"] = makeItems(jobContacts, func(i int) object { return object{"phone": fmt.Sprintf("+1202554%04d", i)} })
	exported := j.api("POST", "/v1/campaigns", full)["id"].(string)
	start := func(path, key string, body object) string {
		code, text, _ := j.tryRequest("POST", path, body, "Authorization", "Bearer "+key)
		require.Equal(j.t, http.StatusAccepted, code, "%s", text)
		var created struct{ ID string }
		require.NoError(j.t, json.Unmarshal(text, &created))
		return created.ID
	}
	j.export = start("/v1/exports", j.key, object{"type": "contacts", "format": "csv", "filters": object{"campaign_id": exported}})
	j.contacts = start("/v1/bulk/contacts", j.key, object{
		"defaults": object{"campaign_id": j.target}, "items": makeItems(jobContacts, func(i int) object { return object{"phone": fmt.Sprintf("+1202553%04d", i)} }),
	})
	j.numbers = start("/v1/bulk/dnc", j.key, object{
		"defaults": object{"list_id": j.list}, "items": makeItems(jobNumbers, func(i int) object { return object{"phone": fmt.Sprintf("+1202552%04d", i)} }),
	})
	j.calls = start("/v1/bulk/calls", j.key, object{
		"defaults": object{"agent_id": j.agent, "from": "+12025550100"},
		"items":    makeItems(jobCalls, func(i int) object { return object{"to": fmt.Sprintf("+1202551%04d", i)} }),
	})
	j.messages = start("/v1/bulk/sms", j.testAPIKey, object{
		"defaults": object{"body": "Hello."}, "items": makeItems(jobMessages, func(i int) object { return object{"to": fmt.Sprintf("+150055511%02d", i)} }),
	})
}

// createRequests returns the body of one creating request for each of several API paths. round names the objects.
func (j *jobKillTest) createRequests(round string, number int) map[string]object {
	full := j.callerID()
	full["name"], full["contacts"] = round, []object{{"phone": "+12025559999"}}
	return map[string]object{
		"/v1/agents":         {"name": round, "first_message": "Hello."},
		"/v1/campaigns":      full,
		"/v1/api-keys":       {"name": round, "permissions": []string{"*:read"}},
		"/v1/webhooks":       {"url": j.receiver.url + "/" + round, "events": []string{"sms.failed"}},
		"/v1/calls/outbound": {"to": fmt.Sprintf("+1202556%04d", number), "agent_id": j.agent, "from": "+12025550100"},
	}
}

// sendRequests sends the requests concurrently, each with its own idempotency key. answers waits for the responses and
// returns their headers. Requests to a killed process get no response.
func (j *jobKillTest) sendRequests(round string, requests map[string]object) (answers func() map[string]http.Header) {
	out, mu, all := map[string]http.Header{}, sync.Mutex{}, sync.WaitGroup{}
	for path, body := range requests {
		all.Go(func() {
			code, text, head, err := j.sendRequest("POST", path, body, "Idempotency-Key", round+path)
			if err != nil {
				return
			}
			assert.Equal(j.t, http.StatusCreated, code, "%s: %s", path, text)
			mu.Lock()
			out[path] = head
			mu.Unlock()
		})
	}
	return func() map[string]http.Header { all.Wait(); return out }
}

// countCreated returns, by API path, how many objects the requests of createRequests with the same round and number
// have created.
func (j *jobKillTest) countCreated(round string, number int) map[string]int {
	out := map[string]int{}
	for path, field := range map[string]string{
		"/v1/agents": "name", "/v1/campaigns": "name", "/v1/api-keys": "name", "/v1/webhooks": "url", "/v1/calls": "to",
	} {
		for _, row := range j.listUpTo100(path, j.key) {
			if v, _ := row[field].(string); v == round || strings.HasSuffix(v, "/"+round) || v == fmt.Sprintf("+1202556%04d", number) {
				out[path]++
			}
		}
	}
	return out
}

func (j *jobKillTest) listUpTo100(path, key string) []object {
	j.t.Helper()
	_, text, _ := j.tryRequest("GET", path+"?limit=100", nil, "Authorization", "Bearer "+key)
	var page struct{ Data []object }
	require.NoError(j.t, json.Unmarshal(text, &page), "%s", text)
	return page.Data
}

// listJobs returns all jobs by id. It uses list requests, because requests for single jobs have a low rate limit.
func (j *jobKillTest) listJobs() map[string]object {
	out := map[string]object{}
	for _, row := range slices.Concat(j.listUpTo100("/v1/bulk", j.key), j.listUpTo100("/v1/bulk", j.testAPIKey), j.listUpTo100("/v1/exports", j.key)) {
		out[row["id"].(string)] = row
	}
	return out
}

// awaitJobs waits until all five jobs are completed.
func (j *jobKillTest) awaitJobs() {
	j.t.Helper()
	j.await("the end of all jobs", 3*time.Minute, func() bool {
		now := j.listJobs()
		return len(now) == 5 && !slices.ContainsFunc(slices.Collect(maps.Values(now)), func(o object) bool { return o["status"] != "completed" })
	})
}

// findFaults describes each job item whose effect did not happen exactly once.
func (j *jobKillTest) findFaults() (faults []string) {
	j.t.Helper()
	want := func(what string, want, got any) {
		if !assert.ObjectsAreEqualValues(want, got) {
			faults = append(faults, fmt.Sprintf("%s: %v instead of %v", what, got, want))
		}
	}
	now := j.listJobs()
	for id, n := range map[string]int{j.calls: jobCalls, j.messages: jobMessages, j.contacts: jobContacts, j.numbers: jobNumbers} {
		b := now[id]
		want(fmt.Sprint("items of ", b["type"]), fmt.Sprint(n, 0, 0, 0), fmt.Sprint(b["done"], b["failed"], b["pending"], b["cancelled"]))
	}
	count := func(path, key, prefix string) (all int, numbers map[string]int) {
		numbers = map[string]int{}
		for _, row := range j.listUpTo100(path, key) {
			if to, _ := row["to"].(string); strings.HasPrefix(to, prefix) {
				all, numbers[to] = all+1, numbers[to]+1
			}
		}
		return all, numbers
	}
	all, numbers := count("/v1/calls", j.key, "+1202551")
	want("calls", []int{jobCalls, jobCalls}, []int{all, len(numbers)})
	all, numbers = count("/v1/sms", j.testAPIKey, "+150055511")
	want("messages", []int{jobMessages, jobMessages}, []int{all, len(numbers)})
	for n, c := range j.callee.inviteCounts() {
		want("INVITEs of "+n, 1, c)
	}
	st, _ := j.campaignStatus(j.target)
	want("contacts", jobContacts, st.Progress.Total)
	want("numbers", jobNumbers, j.api("GET", "/v1/dnc-lists/"+j.list, nil)["entries"])
	code, text, _ := j.tryRequest("GET", "/v1/exports/"+j.export+"/download", nil)
	rows := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		phone, _, _ := strings.Cut(line, ",")
		rows[phone] = true
	}
	want("the export", []int{http.StatusOK, jobContacts + 1, jobContacts + 1}, []int{code, strings.Count(string(text), "\r\n"), len(rows)})
	return faults
}

func TestKill9ExecutesJobItemsAndRequestsOnce(t *testing.T) {
	t.Parallel()
	j := newJobKillTest(t)
	first, second := j.createRequests("first", 1), j.createRequests("second", 2)
	delete(second, "/v1/campaigns") // the contacts of a campaign would stop at the failpoint of the job's contacts
	lives := []map[string]int{
		{ // executed but not marked as done: items, export, requests
			"bulk_item+call 3 before": 1, "bulk_item+message 2 after": 1, "bulk+progress 1 before": 1, "dnc_bucket 1 before": 1, "export 3 before": 1,
			"answer 1 before": len(first),
		},
		{ // executed without a response; the export in the middle of its file
			"bulk_item+call 2 after": 1, "bulk_item+message 1 before": 1, "chunk 1 after": 1, "dnc_bucket 1 after": 1, "read:chunk 2 before": 1,
			"answer 6 after": len(second),
		},
		{"bulk_item+call 1 after": 1, "bulk_item+message 3 before": 1, "bulk+progress 1 after": 1, "dnc_bucket 1 after": 1, "export 1 after": 1},
	}
	for n, life := range lives {
		j.setFailpoints(slices.Collect(maps.Keys(life))...)
		var answers func() map[string]http.Header
		switch n {
		case 0:
			j.startJobs()
			j.sendRequests("first", first)
		default:
			j.start()
		}
		if n == 1 { // repeats the interrupted requests
			answers = j.sendRequests("first", first)
			assert.Len(t, answers(), len(first))
			assert.Equal(t, map[string]int{"/v1/agents": 1, "/v1/campaigns": 1, "/v1/api-keys": 1, "/v1/webhooks": 1, "/v1/calls": 1}, j.countCreated("first", 1), "a repeated request finds the created object")
			j.sendRequests("second", second)
		}
		j.awaitHeld(life)
		j.kill9()
	}
	j.setFailpoints()
	j.start()
	answers := j.sendRequests("second", second)()
	require.Len(t, answers, len(second))
	for path, head := range answers {
		assert.Equal(t, "true", head.Get("Idempotent-Replayed"), path)
	}
	assert.Equal(t, map[string]int{"/v1/agents": 1, "/v1/api-keys": 1, "/v1/webhooks": 1, "/v1/calls": 1}, j.countCreated("second", 2))
	j.awaitJobs()
	assert.Empty(t, j.findFaults())
}

// If the effect of a job item and the item's completion are two commits, a kill between them executes the item twice.
// This proves that the checks for exactly one execution detect such a fault.
func TestControlJobItemWithSplitCommitExecutesTwice(t *testing.T) {
	t.Parallel()
	hold := filepath.Join(t.TempDir(), "hold")
	require.NoError(t, os.WriteFile(hold, nil, 0o600))
	s := newService(t, "FAILPOINT_HOLD="+hold, "FAILPOINT_SPLIT_JOB_COMMIT=1")
	j := &jobKillTest{service: s, failpointFile: hold}
	j.removeLimits()
	j.testAPIKey = j.testKey()
	j.setFailpoints("bulk_item 2 before")
	const n = 3
	code, text, _ := j.tryRequest("POST", "/v1/bulk/sms", object{
		"defaults": object{"body": "Hello."}, "items": makeItems(n, func(i int) object { return object{"to": fmt.Sprintf("+150055511%02d", i)} }),
	}, "Authorization", "Bearer "+j.testAPIKey)
	require.Equal(t, http.StatusAccepted, code, "%s", text)
	j.awaitHeld(map[string]int{"bulk_item 2 before": 1})
	j.kill9()
	j.setFailpoints()
	j.start()
	j.await("the end of the job", time.Minute, func() bool {
		jobs := j.listUpTo100("/v1/bulk", j.testAPIKey)
		return len(jobs) == 1 && jobs[0]["status"] == "completed"
	})
	sent := map[string]int{}
	for _, row := range j.listUpTo100("/v1/sms", j.testAPIKey) {
		to, _ := row["to"].(string)
		sent[to]++
	}
	assert.Equal(t, map[string]int{"+15005551100": 1, "+15005551101": 2, "+15005551102": 1}, sent)
}
