package main_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/persistence/redis/redistest"
)

// Size of the campaign. After a kill, the permit of an interrupted call stays in use while the phone may be busy.
// killConcurrency is large enough that new calls remain possible after many kills.
const (
	killContacts    = 300
	killConcurrency = 60
)

// startKillCampaign starts a campaign during which the service is killed, and returns its id.
func startKillCampaign(t *testing.T, s *service, answer *sippPeer) (id string) {
	t.Helper()
	s.api("PATCH", "/v1/workspace", object{"plan": "enterprise", "limits": object{
		"requests_per_minute": 1000000, "concurrent_inbound": 1, "concurrent_outbound": killConcurrency, "calls_per_minute": 100000,
	}})
	s.createTrunk("", answer.port)
	s.api("POST", "/v1/webhooks", object{"url": s.receiver.url, "events": []string{"campaign.*", "call.ended"}})
	return s.startCampaign(s.createConstantAgent(), phoneNumbers("+1202555", killContacts), object{
		"pacing": object{"calls_per_minute": 600, "max_concurrent": killConcurrency},
	})
}

// killAtRandomMoment kills the service with SIGKILL at a random moment, mostly shortly after a new call, and restarts it.
func (s *service) killAtRandomMoment(id string, answer *sippPeer) {
	s.t.Helper()
	if rand.IntN(5) > 0 {
		before := len(answer.inviteCounts())
		s.await("a new call", time.Minute, func() bool {
			st, ok := s.campaignStatus(id)
			return len(answer.inviteCounts()) > before || ok && st.Status == "completed"
		})
	}
	<-time.After(time.Duration(rand.IntN(1500)) * time.Millisecond)
	s.kill9()
	s.start()
}

// killRepeatedly kills the service n times during a campaign and waits for the end of the campaign.
func killRepeatedly(t *testing.T, s *service, answer *sippPeer, n int) (campaignStatus, string) {
	t.Helper()
	id := startKillCampaign(t, s, answer)
	for range n {
		s.killAtRandomMoment(id, answer)
	}
	return s.awaitCampaignEnd(id, 3*time.Minute), id
}

func TestKill9CallsEachContactOnceOnPebble(t *testing.T) {
	t.Parallel()
	answer := startSIPp(t, "uas-answer-logged", "-trace_msg", "-message_file", "messages")
	s := newRaceFreeService(t)
	st, id := killRepeatedly(t, s, answer, 20)
	s.checkAfterKills(st, id, answer)
}

func TestKill9CallsEachContactOnceOnRedis(t *testing.T) {
	t.Parallel()
	url, _ := redistest.Start(t)
	answer := startSIPp(t, "uas-answer-logged", "-trace_msg", "-message_file", "messages")
	s := newRaceFreeService(t, "CALLBOARD_REDIS_URL="+url)
	st, id := killRepeatedly(t, s, answer, 20)
	s.checkAfterKills(st, id, answer)
}

func (s *service) checkAfterKills(st campaignStatus, id string, answer *sippPeer) {
	s.t.Helper()
	s.checkAttempts(st, answer, func(story string) bool {
		return strings.Contains(story, "BYE sip:") // SIPp drops a call if the ACK crosses a retransmitted answer
	})
	s.checkInterruptedAttempts(answer.inviteCounts(), killContacts, s.kills)
	s.checkUsage(id)
}

// checkAttempts checks that each contact was called once and has an outcome and an event, and that the concurrency
// limit was kept. over reports from a call's SIP messages whether a call without a logged end has ended.
func (s *service) checkAttempts(st campaignStatus, answer *sippPeer, over func(story string) bool) {
	t := s.t
	t.Helper()
	rung := answer.inviteCounts()
	for n, c := range rung {
		assert.Equal(t, 1, c, "%s was called more than once", n)
	}
	s.checkInterruptedAttempts(rung, killContacts, nil)
	assert.Equal(t, killContacts, st.Progress.Attempted, "nobody is forgotten")
	assert.Zero(t, st.Progress.Remaining)
	sum := 0
	for _, n := range st.Outcomes {
		sum += n
	}
	assert.Equal(t, killContacts, sum, "outcomes add up: %v", st.Outcomes)
	endedContacts := func() map[string]bool {
		out := map[string]bool{}
		for _, e := range s.receiver.events("campaign.call.completed") {
			var d struct{ Contact struct{ Phone string } }
			require.NoError(t, json.Unmarshal(e.Data, &d))
			out[d.Contact.Phone] = true
		}
		return out
	}
	s.await("every end told", 60*time.Second, func() bool {
		return len(endedContacts()) == killContacts && len(s.receiver.events("campaign.completed")) == 1
	})
	assert.Len(t, s.receiver.events("campaign.call.completed"), killContacts, "one event per attempt")
	s.checkDeliveries("campaign.", "call.ended")
	s.await("the end of all dialogs", 60*time.Second, func() bool {
		left := slices.DeleteFunc(unendedCalls(answer.logLines()), func(id string) bool {
			return over(answer.callMessages(id))
		})
		if len(left) > 0 {
			answer.shownCallID = left[0]
		}
		return len(left) == 0
	})
	left := unendedCalls(answer.logLines()) // calls whose BYE was seen, but without its time
	most, _ := concurrencyAndStarts(slices.DeleteFunc(answer.logLines(), func(l scenarioLine) bool { return slices.Contains(left, l.CallID) }))
	assert.LessOrEqual(t, most, killConcurrency, "concurrent calls seen by SIPp")
}

// commitToInvite is the maximum time from the commit of a call attempt to its INVITE on a busy machine.
const commitToInvite = 3 * time.Second

// checkInterruptedAttempts checks the calls to numbers that the carrier never saw. Each must have ended as
// interrupted, and a kill must have happened shortly after its creation. If kills is nil, the times are not checked.
func (s *service) checkInterruptedAttempts(rung map[string]int, contacts int, kills []time.Time) {
	t := s.t
	t.Helper()
	var all []any
	for cursor := ""; ; {
		page := s.api("GET", "/v1/calls?direction=outbound&limit=100&cursor="+cursor, nil)
		all = append(all, page["data"].([]any)...)
		next, more := page["next_cursor"].(string)
		if cursor = next; !more {
			break
		}
	}
	assert.GreaterOrEqual(t, len(all), contacts)
	for _, row := range all {
		c := row.(object)
		number := strings.TrimPrefix(c["to"].(string), "+")
		if rung[number] > 0 {
			continue
		}
		assert.Equal(t, "interrupted", c["ended_reason"], "%s was not called", number)
		at, err := time.Parse(time.RFC3339, c["created_at"].(string))
		require.NoError(t, err)
		assert.True(t, kills == nil || slices.ContainsFunc(kills, func(k time.Time) bool {
			return k.After(at.Add(-time.Millisecond)) && k.Before(at.Add(commitToInvite))
		}), "%s was not called, but no kill happened within %s after its attempt at %s: %v", number, commitToInvite, at, kills)
	}
}

// checkDeliveries checks that the webhook endpoint received exactly the committed events of the wanted types.
func (s *service) checkDeliveries(wanted ...string) {
	t := s.t
	t.Helper()
	logged := map[string]string{}
	for _, e := range s.committedEvents() {
		if slices.ContainsFunc(wanted, func(w string) bool { return strings.HasPrefix(e.Type, w) }) {
			logged[e.ID] = e.Type
		}
	}
	got := func() map[string]string {
		out := map[string]string{}
		for _, e := range s.receiver.events() {
			out[e.ID] = e.Type
		}
		return out
	}
	s.await("the last delivery", time.Minute, func() bool { return len(got()) >= len(logged) })
	assert.Equal(t, logged, got(), "the delivered events are the committed events")
	ends := 0
	for _, kind := range logged {
		if kind == "call.ended" {
			ends++
		}
	}
	assert.GreaterOrEqual(t, ends, killContacts, "each call has an end event")
}

// checkUsage checks that the usage counters equal the usage ledger, which must list each billed call attempt of the
// campaign once.
func (s *service) checkUsage(id string) {
	t := s.t
	t.Helper()
	total, ok := s.api("GET", "/v1/usage?from="+time.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly), nil)["total"].(object)
	require.True(t, ok)
	code, body, _ := s.tryRequest("GET", "/v1/usage/ledger?format=jsonl&from="+time.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly), nil)
	require.Equal(t, 200, code)
	rows := map[string]bool{}
	lines := strings.Split(strings.TrimSpace(string(body)), "\n")
	for _, l := range lines {
		var row struct {
			AttemptID  string `json:"attempt_id"`
			CampaignID string `json:"campaign_id"`
		}
		require.NoError(t, json.Unmarshal([]byte(l), &row))
		assert.Equal(t, id, row.CampaignID)
		rows[row.AttemptID] = true
	}
	assert.Len(t, rows, len(lines), "an attempt is billed once")
	assert.EqualValues(t, len(rows), total["attempts"])
	assert.NotEmpty(t, rows)
	stdout, stderr, err := s.runCommand("usage", "--recount", "--from", time.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly))
	require.NoError(t, err, stdout+stderr)
}

// unendedCalls returns the Call-IDs in the log of a SIPp peer for which no end is logged.
func unendedCalls(lines []scenarioLine) []string {
	ended := map[string]bool{}
	for _, l := range lines {
		if l.Kind == "END" {
			ended[l.CallID] = true
		}
	}
	var left []string
	for _, l := range lines {
		if !ended[l.CallID] {
			left = append(left, l.CallID)
		}
	}
	return left
}

// A service that commits call attempts only after their INVITEs must call a contact twice. This proves that the tests
// with kills detect this fault.
func TestControlAttemptStoredAfterInviteCallsTwice(t *testing.T) {
	t.Parallel()
	answer := startSIPp(t, "uas-answer-logged", "-trace_msg", "-message_file", "messages")
	s := newRaceFreeService(t, "FAILPOINT_LATE_OPEN=1")
	id := startKillCampaign(t, s, answer)
	twice := func() bool {
		for _, c := range answer.inviteCounts() {
			if c > 1 {
				return true
			}
		}
		return false
	}
	for n := 0; !twice(); n++ {
		require.Less(t, n, 20, "no contact was called twice, so the test above detects no fault")
		s.killAtRandomMoment(id, answer)
	}
}

func TestRedisOutageOfTenSecondsStopsOnlyDialing(t *testing.T) {
	t.Parallel()
	url, server := redistest.Start(t)
	answer := startSIPp(t, "uas-answer-logged", "-trace_msg", "-message_file", "messages")
	s := newService(t, "CALLBOARD_REDIS_URL="+url)
	s.removeLimits()
	s.createTrunk("", answer.port)
	agent := s.createAgent(object{
		"name": "long", "start": "a", "nodes": []object{
			{"id": "a", "type": "collect", "input": "dtmf", "timeout_seconds": 60, "retries": 4, "prompt": "Please wait."},
			{"id": "bye", "type": "end"},
		}, "edges": []object{{"from": "a", "to": "bye", "when": object{"type": "else"}}},
	})
	long := s.startCampaign(agent, phoneNumbers("+1202551", 3), nil)
	s.await("three live calls", 20*time.Second, func() bool { st, ok := s.campaignStatus(long); return ok && st.Progress.InProgress == 3 })
	id := s.startCampaign(s.createConstantAgent(), phoneNumbers("+1202552", 60), object{"pacing": object{"calls_per_minute": 240, "max_concurrent": 10}})
	s.await("some calls", 20*time.Second, func() bool { return len(answer.inviteCounts()) > 10 })

	server.Stop()
	s.await("readiness to fail", 15*time.Second, func() bool { return s.readyStatus() == 503 })
	quiet := s.awaitLastInvite(answer)
	<-time.After(10 * time.Second)
	assert.Equal(t, quiet, fmt.Sprint(answer.inviteCounts()), "a call started while the store was unavailable")
	ended := 0
	for _, l := range answer.logLines() {
		if l.Kind == "END" && len(l.Number) > 7 && l.Number[:7] == "1202551" {
			ended++
		}
	}
	assert.Zero(t, ended, "live calls continue")
	server.Restart()
	s.await("the service to be healthy again", 20*time.Second, func() bool { return s.readyStatus() == 200 })
	st := s.awaitCampaignEnd(id, 90*time.Second)
	assert.Equal(t, 60, st.Progress.Attempted)
	for _, raw := range s.listData("/v1/calls?status=active&campaign_id=" + long) {
		s.api("POST", "/v1/calls/"+raw.(object)["id"].(string)+"/hangup", nil)
	}
	s.awaitCampaignEnd(long, 60*time.Second)
	for n, c := range answer.inviteCounts() {
		assert.Equal(t, 1, c, "INVITEs of %s", n)
	}
	assert.Len(t, answer.inviteCounts(), 63, fmt.Sprint(st.Outcomes))
}
