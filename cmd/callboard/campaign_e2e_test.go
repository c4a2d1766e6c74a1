package main_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip/siptest"
)

// concurrencyAndStarts returns the maximum number of concurrent calls in the log of a SIPp scenario, and the start times
// of all calls in ms.
func concurrencyAndStarts(lines []scenarioLine) (most int, starts []int) {
	type step struct{ at, by int }
	open := map[string]int{}
	var steps []step
	for _, l := range lines {
		if l.Kind == "INVITE" {
			if _, again := open[l.CallID]; again {
				continue
			}
			open[l.CallID] = l.Ms
			steps = append(steps, step{l.Ms, 1})
			starts = append(starts, l.Ms)
		} else if _, ok := open[l.CallID]; ok {
			delete(open, l.CallID)
			steps = append(steps, step{l.Ms, -1})
		}
	}
	sort.Slice(steps, func(i, j int) bool {
		return steps[i].at < steps[j].at || steps[i].at == steps[j].at && steps[i].by < steps[j].by
	})
	now := 0
	for _, s := range steps {
		now += s.by
		most = max(most, now)
	}
	sort.Ints(starts)
	return most, starts
}

// maxStartsWithin returns the maximum number of call starts within any period of span milliseconds.
func maxStartsWithin(starts []int, span int) (most int) {
	for i, from := 0, 0; i < len(starts); i++ {
		for starts[i]-starts[from] >= span {
			from++
		}
		most = max(most, i-from+1)
	}
	return most
}

func TestCampaignWithMixedAnswersAgainstSIPp(t *testing.T) {
	t.Parallel()
	s := newRaceFreeService(t)
	s.removeLimits()
	one, two := startSIPp(t, "uas-press", "-key", "press", "1"), startSIPp(t, "uas-press", "-key", "press", "2")
	busy, silent, decline := startSIPp(t, "uas-busy"), startSIPp(t, "uas-noanswer"), startSIPp(t, "uas-decline")
	unknown, down, second := startSIPp(t, "uas-unknown"), startSIPp(t, "uas-503"), startSIPp(t, "uas-press", "-key", "press", "1")
	groups := []struct {
		prefix  string
		n       int
		outcome string
		ports   []int
		peer    *sippPeer
	}{
		{"+1202551", 30, "confirmed", []int{one.port}, one},
		{"+1202552", 20, "declined", []int{two.port}, two},
		{"+1202553", 15, "busy", []int{busy.port}, busy},
		{"+1202554", 5, "no_answer", []int{silent.port}, silent},
		{"+1202556", 10, "failed", []int{decline.port}, decline},
		{"+1202557", 10, "failed", []int{unknown.port}, unknown},
		{"+1202558", 10, "confirmed", []int{down.port, second.port}, second},
	}
	s.api("POST", "/v1/webhooks", object{"url": s.receiver.url, "events": []string{"*"}, "secret": "whsec_e2e_secret_0123456789abcdef"})
	var numbers []string
	want := map[string]string{}
	for _, g := range groups {
		s.createTrunk(g.prefix, g.ports...)
		for _, p := range phoneNumbers(g.prefix, g.n) {
			numbers = append(numbers, p)
			want[p] = g.outcome
		}
	}
	require.Len(t, numbers, 100)
	const cpm, most = 900, 10
	id := s.startCampaign(s.createMenuAgent(), numbers, object{"pacing": object{"calls_per_minute": cpm, "max_concurrent": most}})
	st := s.awaitCampaignEnd(id, 4*time.Minute)

	assert.Equal(t, map[string]int{"completed": 0, "confirmed": 40, "declined": 20, "voicemail": 0, "no_answer": 5, "busy": 15, "failed": 20}, st.Outcomes)
	assert.Equal(t, 100, st.Progress.Attempted)
	assert.Zero(t, st.Progress.Remaining)
	for _, g := range groups {
		for _, p := range phoneNumbers(g.prefix, g.n) {
			assert.Equal(t, 1, g.peer.inviteCounts()[strings.TrimPrefix(p, "+")], "INVITEs of %s", p)
		}
	}
	assert.GreaterOrEqual(t, len(down.inviteCounts()), 3, "the first target was tried first until it was considered down")

	for _, p := range []*sippPeer{one, two, second} {
		count, _ := concurrencyAndStarts(p.logLines())
		assert.LessOrEqual(t, count, most)
	}
	s.checkResults(id, want)
	s.checkEvents(100, want)
	call := s.api("GET", "/v1/calls?limit=1&campaign_id="+id, nil)["data"].([]any)[0].(object)
	assert.Equal(t, id, call["campaign_id"])
	s.checkFailoverLegs(second.inviteCounts())
}

// checkResults checks that the results CSV of a campaign contains the expected outcome for each phone number.
func (s *service) checkResults(id string, want map[string]string) {
	s.t.Helper()
	code, text, head := s.tryRequest("GET", "/v1/campaigns/"+id+"/results", nil)
	require.Equal(s.t, http.StatusOK, code)
	assert.Contains(s.t, head.Get("Content-Type"), "text/csv")
	rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	require.NoError(s.t, err)
	require.Equal(s.t, []string{"phone", "name", "outcome", "duration", "confirmed", "notes", "completed_at", "reason"}, rows[0])
	got := map[string]string{}
	for _, r := range rows[1:] {
		got[r[0]] = r[2]
		assert.Equal(s.t, strconv.FormatBool(r[2] == "confirmed"), r[4], r)
		assert.NotEmpty(s.t, r[6], r)
		if r[2] == "confirmed" {
			assert.Equal(s.t, "pressed 1", r[5], r)
		}
	}
	assert.Equal(s.t, want, got)
}

// checkEvents waits until the events of a campaign with n calls have arrived. It checks their counts, outcomes,
// signatures and sequence numbers.
func (s *service) checkEvents(n int, want map[string]string) {
	s.t.Helper()
	count := func(kind string) int { return len(s.receiver.events(kind)) }
	s.await("the last event", 30*time.Second, func() bool {
		return count("campaign.completed") == 1 && count("call.ended") == n && count("campaign.call.completed") == n
	})
	assert.Equal(s.t, n, count("call.started"))
	assert.Equal(s.t, 1, count("campaign.started"))
	outcomes := map[string]string{}
	for _, e := range s.receiver.events("campaign.call.completed") {
		var d struct {
			Contact struct{ Phone string }
			Outcome string
			Final   bool
		}
		require.NoError(s.t, json.Unmarshal(e.Data, &d))
		outcomes[d.Contact.Phone] = d.Outcome
		assert.True(s.t, d.Final)
	}
	assert.Equal(s.t, want, outcomes)
	for _, d := range s.receiver.deliveries() {
		require.Equal(s.t, webhookSignature("whsec_e2e_secret_0123456789abcdef", d.Body), d.Header.Get("X-Svc-Signature"))
	}
	sequences := map[string][]int{}
	for _, e := range s.receiver.events() {
		sequences[e.Subject] = append(sequences[e.Subject], e.Sequence)
	}
	for subject, seq := range sequences {
		sort.Ints(seq)
		for i, n := range seq {
			require.Equal(s.t, i+1, n, "sequence of %s: %v", subject, seq)
		}
	}
}

// checkFailoverLegs checks the calls that the second trunk answered. A call that first tried the failing trunk must
// record both legs. rung contains the called numbers.
func (s *service) checkFailoverLegs(rung map[string]int) {
	s.t.Helper()
	found, failedOver := 0, 0
	for _, raw := range s.api("GET", "/v1/calls?limit=100", nil)["data"].([]any) {
		c := raw.(object)
		if rung[strings.TrimPrefix(c["to"].(string), "+")] == 0 {
			continue
		}
		found++
		legs := c["legs"].([]any)
		last := legs[len(legs)-1].(object)
		assert.InDelta(s.t, 200, last["code"], 0)
		if len(legs) == 2 {
			failedOver++
			assert.InDelta(s.t, 503, legs[0].(object)["code"], 0)
		}
	}
	assert.Equal(s.t, len(rung), found)
	assert.GreaterOrEqual(s.t, failedOver, 3)
}

func TestTrunkFailoverCallsContactOnce(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.removeLimits()
	s.api("POST", "/v1/webhooks", object{"url": s.receiver.url, "events": []string{"call.ended", "campaign.call.completed"}})
	agent := s.createGreetingAgent()
	late := startSIPp(t, "uas-late", "-d", "12000")
	cases := map[string]struct {
		first  int
		code   float64 // status code of the first leg in the call record
		reason string
	}{
		"+12025510001": {silentPort(t), 0, "no answer at all"},
		"+12025520001": {siptest.Port(t), 0, "is unreachable"},
		"+12025530001": {startSIPp(t, "uas-503").port, 503, "Service Unavailable"},
		"+12025540001": {startSIPp(t, "uas-180-503").port, 503, "Service Unavailable"},
		"+12025560001": {late.port, 0, "no answer at all"},
	}
	second := startSIPp(t, "uas-answer")
	ids := map[string]string{}
	for number, c := range cases {
		s.createTrunk(number[:8], c.first, second.port)
		ids[number] = s.startCampaign(agent, []string{number}, nil)
	}
	for number, id := range ids {
		st := s.awaitCampaignEnd(id, 60*time.Second)
		assert.Equal(t, 1, st.Outcomes["completed"], "%s: %v", number, st.Outcomes)
		call := s.api("GET", "/v1/calls?campaign_id="+id, nil)["data"].([]any)
		require.Len(t, call, 1, number)
		legs := call[0].(object)["legs"].([]any)
		require.Len(t, legs, 2, number)
		first, answered := legs[0].(object), legs[1].(object)
		code, _ := first["code"].(float64) // absent if no response arrived
		assert.InDelta(t, cases[number].code, code, 0, number)
		assert.Contains(t, first["reason"], cases[number].reason, number)
		assert.InDelta(t, 200, answered["code"], 0, number)
		assert.Equal(t, 1, second.inviteCounts()[strings.TrimPrefix(number, "+")], number)
	}
	s.await("one end event per call", 20*time.Second, func() bool {
		return len(s.receiver.events("campaign.call.completed")) >= len(cases) && len(s.receiver.events("call.ended")) >= len(cases)
	})
	assert.Len(t, s.receiver.events("campaign.call.completed"), len(cases))
	assert.Len(t, s.receiver.events("call.ended"), len(cases))
	used, ok := s.api("GET", "/v1/usage", nil)["total"].(object)
	require.True(t, ok)
	assert.EqualValues(t, len(cases), used["attempts"], "two legs count as one billed attempt")
	s.await("the end of the call with a late 200", time.Minute, func() bool {
		return len(late.inviteCounts()) == 1 && len(unendedCalls(late.logLines())) == 0
	})
}

func TestCampaignRetriesScheduleAndPause(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.removeLimits()
	busy := startSIPp(t, "uas-busy")
	s.createTrunk("", busy.port)
	agent := s.createGreetingAgent()
	retry := object{"enabled": true, "max_attempts": 3, "interval_hours": 0.0005, "retry_on": []string{"busy"}}
	id := s.startCampaign(agent, phoneNumbers("+1202551", 4), object{"retry": retry})
	st := s.awaitCampaignEnd(id, 60*time.Second)
	assert.Equal(t, 4, st.Outcomes["busy"])
	for n, c := range busy.inviteCounts() {
		assert.Equal(t, 3, c, "INVITEs of %s", n)
	}

	for ahead := 3; ; ahead *= 2 { // on a busy machine three seconds may pass before the first check
		soon, phone := time.Now().UTC().Add(time.Duration(ahead)*time.Second).Truncate(time.Second), fmt.Sprintf("1202552%04d", ahead)
		later := s.api("POST", "/v1/campaigns", object{
			"name": "later", "agent_id": agent, "caller_id": object{"number": "+12025550100"}, "compliance": allHours(),
			"contacts": []object{{"phone": "+" + phone}}, "schedule": object{"start": soon.Format(time.RFC3339)},
		})["id"].(string)
		first, _ := s.campaignStatus(later)
		rung := busy.inviteCounts()[phone]
		if time.Now().After(soon) {
			continue
		}
		assert.Equal(t, "scheduled", first.Status)
		assert.Zero(t, rung)
		s.awaitCampaignEnd(later, 30*time.Second)
		assert.Equal(t, 1, busy.inviteCounts()[phone])
		break
	}

	closed := s.startCampaign(agent, []string{"+12025530001"}, object{"compliance": object{"calling_hours": closedHours()}})
	s.await("the reason why the campaign waits", 10*time.Second, func() bool {
		st, ok := s.campaignStatus(closed)
		return ok && st.Waiting != nil && st.Waiting.Reason == "calling_hours"
	})
	for _, verb := range []string{"pause", "pause", "resume", "pause", "cancel", "cancel"} {
		s.api("POST", "/v1/campaigns/"+closed+"/"+verb, nil)
	}
	code, text, _ := s.tryRequest("POST", "/v1/campaigns/"+closed+"/resume", nil)
	assert.Equal(t, http.StatusConflict, code)
	assert.Contains(t, string(text), "current_status")
	assert.Zero(t, busy.inviteCounts()["12025530001"])
}

// closedHours returns calling hours that do not include the current time and the next hours.
func closedHours() object {
	h := (time.Now().UTC().Hour() + 6) % 24
	return object{"start": fmt.Sprintf("%02d:00", h), "end": fmt.Sprintf("%02d:30", h), "timezone": "UTC"}
}

func TestPlanLimitsBoundSIPInvites(t *testing.T) {
	t.Parallel()
	s := newService(t)
	answer := startSIPp(t, "uas-answer-logged")
	s.createTrunk("", answer.port)
	agent := s.createConstantAgent()
	const lines, perMinute = 5, 15
	s.api("PATCH", "/v1/workspace", object{"plan": "enterprise", "limits": object{
		"requests_per_minute": 100000, "concurrent_inbound": lines, "concurrent_outbound": lines, "calls_per_minute": perMinute,
	}})
	pace := object{"pacing": object{"calls_per_minute": perMinute, "max_concurrent": lines}}
	a, b := s.startCampaign(agent, phoneNumbers("+1202551", 20), pace), s.startCampaign(agent, phoneNumbers("+1202552", 20), pace)
	refusals := map[string]int{}
	order := func(i int) {
		code, text, _ := s.tryRequest("POST", "/v1/calls/outbound", object{"to": fmt.Sprintf("+120255300%02d", i), "from": "+12025550100", "agent_id": agent})
		if code != http.StatusTooManyRequests {
			return
		}
		var e struct {
			Error struct {
				Code, Message string
				Active        *int `json:"active_calls"`
				Limit         *int
			}
		}
		require.NoError(t, json.Unmarshal(text, &e))
		switch {
		case e.Error.Code == "concurrent_limit_exceeded":
			require.NotNil(t, e.Error.Active)
			require.NotNil(t, e.Error.Limit)
			assert.Equal(t, lines, *e.Error.Limit)
			refusals["lines"]++
		case strings.Contains(e.Error.Message, "calls per minute is reached"):
			require.NotNil(t, e.Error.Limit)
			assert.Equal(t, perMinute, *e.Error.Limit)
			refusals["minute"]++
		default:
			refusals["requests"]++ // there are as many requests as calls
		}
	}
	s.await("some calls of the campaigns", 30*time.Second, func() bool { return len(answer.inviteCounts()) > 3 })
	for i := range lines + 2 {
		order(i)
	}
	assert.Positive(t, refusals["lines"], "calls beyond the concurrency limit are rejected")
	for i := 0; refusals["minute"]+refusals["requests"] == 0; i++ { // place a call whenever one ends
		s.await("a free permit", 30*time.Second, func() bool { return len(s.listData("/v1/calls?status=active")) < lines })
		order(lines + 2 + i)
	}
	assert.Positive(t, refusals["minute"], "calls beyond the limit per minute are rejected: %v", refusals)
	for _, id := range []string{a, b} {
		s.api("POST", "/v1/campaigns/"+id+"/cancel", nil)
	}
	s.await("the last call's end", 30*time.Second, func() bool { return len(s.listData("/v1/calls?status=active")) == 0 })
	most, starts := concurrencyAndStarts(answer.logLines())
	assert.LessOrEqual(t, most, lines, "concurrent calls seen by SIPp")
	assert.Greater(t, most, 1)
	assert.LessOrEqual(t, maxStartsWithin(starts, 60_000), perMinute, "calls within a minute seen by SIPp")
	assert.GreaterOrEqual(t, maxStartsWithin(starts, 60_000), perMinute-2, "the limit per minute was nearly used")
}
