package main_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const machineNumber, personNumber = "+15005550003", "+15005550000"

// callResult waits for the end of a call. It returns the answer classification, the disposition and the agent's
// sentences.
func (s *service) callResult(id string) (by, disposition any, sentences []string) {
	s.t.Helper()
	c := s.awaitCallEnd(id, time.Minute)
	code, text, _ := s.tryRequest("GET", "/v1/calls/"+id+"/transcript", nil)
	if code == http.StatusOK {
		var transcript struct {
			Segments []struct{ Speaker, Text string }
		}
		require.NoError(s.t, json.Unmarshal(text, &transcript))
		for _, seg := range transcript.Segments {
			if seg.Speaker == "agent" {
				sentences = append(sentences, seg.Text)
			}
		}
	}
	return c["answered_by"], c["disposition"], sentences
}

func TestCallRequestOverridesAgentSettings(t *testing.T) {
	t.Parallel()
	s := newRaceFreeService(t)
	s.key = s.testKey()
	speaks := func(more object) string {
		body := object{"name": "speaks", "first_message": "Good morning, this is the agent of the house."}
		maps.Copy(body, more)
		return s.api("POST", "/v1/agents", body)["id"].(string)
	}
	plain := speaks(nil)
	// The greeting must last longer than the answer classification takes.
	long := speaks(object{"first_message": strings.Repeat("Good morning, this is the agent of the house. ", 5)})
	leaves := speaks(object{"amd": object{"mode": "wait", "voicemail_action": "leave_message", "message": "The agent's message."}})
	const first, message = "Good morning {{name}}, this is said to you alone.", "A message for {{name}} only."
	leave := object{"action": "leave_message", "message": message}
	ada := object{"name": "Ada"}
	cases := map[string]struct {
		agent, to       string
		more            object
		by, disposition any
		sentences       []string // last sentences of the agent; nil: any
	}{
		"as the agent":                     {plain, machineNumber, object{}, nil, "completed", []string{"Good morning, this is the agent of the house."}},
		"another first message":            {plain, personNumber, object{"context": ada, "overrides": object{"first_message": first, "language": "en-GB", "voice": object{"rate": 1.5}}}, nil, "completed", []string{"Good morning Ada, this is said to you alone."}},
		"a message to a machine":           {plain, machineNumber, object{"context": ada, "amd": object{"mode": "wait"}, "voicemail": leave}, "voicemail", "voicemail", []string{"A message for Ada only."}},
		"hang up on a machine":             {long, machineNumber, object{"voicemail": object{"action": "hangup"}}, "voicemail", "voicemail", nil},
		"other message than the agent's":   {leaves, machineNumber, object{"context": ada, "voicemail": leave}, "voicemail", "voicemail", []string{"A message for Ada only."}},
		"classification off for this call": {leaves, machineNumber, object{"amd": object{"mode": "off"}}, nil, "completed", []string{"Good morning, this is the agent of the house."}},
		"conversation with the machine":    {leaves, machineNumber, object{"voicemail": object{"action": "continue"}}, "voicemail", "voicemail", []string{"Good morning, this is the agent of the house."}},
		"classification on for this call":  {long, personNumber, object{"amd": object{"mode": "async"}, "voicemail": leave}, "human", "completed", nil},
	}
	ids := map[string]string{}
	for name, c := range cases {
		body := object{"to": c.to, "agent_id": c.agent}
		maps.Copy(body, c.more)
		ids[name] = s.api("POST", "/v1/calls/outbound", body)["id"].(string)
	}
	job := s.api("POST", "/v1/bulk/calls", object{
		"defaults": object{"agent_id": plain, "context": ada, "amd": object{"mode": "wait"}, "voicemail": leave},
		"items":    []object{{"to": machineNumber}, {"to": machineNumber, "voicemail": object{"action": "hangup", "message": ""}}, {"to": machineNumber, "voicemail": object{"action": "loudly"}}},
	})
	assert.Equal(t, []any{2.0, "voicemail.action"}, []any{job["accepted"], job["errors"].([]any)[0].(object)["param"]})
	for name, c := range cases {
		by, disposition, sentences := s.callResult(ids[name])
		assert.Equal(t, []any{c.by, c.disposition}, []any{by, disposition}, name)
		if c.sentences != nil && assert.NotEmpty(t, sentences, name) {
			assert.Equal(t, c.sentences, sentences[len(sentences)-1:], name)
		}
	}
	items := func() []any { return s.api("GET", "/v1/bulk/"+job["id"].(string)+"/items", nil)["data"].([]any) }
	s.await("the calls of the job", time.Minute, func() bool { return items()[1].(object)["result_id"] != nil })
	by, disposition, sentences := s.callResult(items()[0].(object)["result_id"].(string))
	assert.Equal(t, []any{"voicemail", "voicemail", []string{"A message for Ada only."}}, []any{by, disposition, sentences}, "item with the defaults of the bulk job")
	by, disposition, sentences = s.callResult(items()[1].(object)["result_id"].(string))
	assert.Equal(t, []any{"voicemail", "voicemail"}, []any{by, disposition}, "item with its own settings")
	assert.Empty(t, sentences)

	walks := s.createMenuAgent()
	for param, body := range map[string]object{
		"voicemail.message":         {"agent_id": plain, "voicemail": object{"action": "leave_message"}},
		"voicemail.action":          {"agent_id": plain, "amd": object{"mode": "off"}, "voicemail": leave},
		"amd.mode":                  {"agent_id": plain, "amd": object{"mode": "loud"}},
		"overrides.voice.rate":      {"agent_id": plain, "overrides": object{"voice": object{"rate": 9}}},
		"overrides.language":        {"agent_id": plain, "overrides": object{"language": "so to speak"}},
		"overrides.first_message":   {"agent_id": walks, "overrides": object{"first_message": "Hello."}},
		"overrides.limits":          {"agent_id": plain, "overrides": object{"limits": 3}},
		"overrides.silence_seconds": {"agent_id": plain, "overrides": object{"silence_seconds": 3}},
	} {
		body["to"] = personNumber
		code, text, _ := s.tryRequest("POST", "/v1/calls/outbound", body)
		assert.Equal(t, http.StatusUnprocessableEntity, code, param)
		assert.Contains(t, string(text), param)
	}
}

func TestCallEndsAtMaximumDurationOfAgentOrRequest(t *testing.T) {
	t.Parallel()
	s := newRaceFreeService(t)
	s.key = s.testKey()
	agent := s.api("POST", "/v1/agents", object{"name": "speaks", "first_message": strings.Repeat("And on and on it goes. ", 20)})["id"].(string)
	c := s.awaitCallEnd(s.api("POST", "/v1/calls/outbound", object{"to": "+15005550009", "agent_id": agent, "max_duration_seconds": 5})["id"].(string), time.Minute)
	assert.Equal(t, []any{"max_duration", 5.0}, []any{c["ended_reason"], c["duration_seconds"]})
}

func TestCampaignRetriesMachineAndReportsAnswerType(t *testing.T) {
	t.Parallel()
	s := newRaceFreeService(t)
	s.key = s.testKey()
	agent := s.api("POST", "/v1/agents", object{"name": "speaks", "first_message": "Good morning.", "amd": object{"mode": "wait", "voicemail_action": "hangup"}})["id"].(string)
	s.api("POST", "/v1/phone-numbers", object{"number": "+12025550100", "agent_id": agent})
	id := s.startCampaign(agent, []string{machineNumber, personNumber}, object{
		"retry": object{"enabled": true, "max_attempts": 2, "interval_hours": 0.0003, "retry_on": []string{"voicemail"}},
	})
	st := s.awaitCampaignEnd(id, time.Minute)
	assert.Equal(t, []int{1, 1}, []int{st.Outcomes["voicemail"], st.Outcomes["completed"]})
	type end struct {
		Outcome    string
		AnsweredBy string `json:"answered_by"`
		Attempts   int
		Final      bool
	}
	ends := map[string][]end{}
	for _, e := range s.committedEvents() {
		if e.Type == "campaign.call.completed" {
			var d struct {
				end
				Contact struct{ Phone string }
			}
			require.NoError(t, json.Unmarshal(e.Data, &d))
			ends[d.Contact.Phone] = append(ends[d.Contact.Phone], d.end)
		}
	}
	assert.Equal(t, map[string][]end{
		machineNumber: {{"voicemail", "voicemail", 1, false}, {"voicemail", "voicemail", 2, true}},
		personNumber:  {{"completed", "human", 1, true}},
	}, ends)
}
