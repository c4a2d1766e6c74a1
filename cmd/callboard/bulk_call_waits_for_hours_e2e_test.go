package main_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A bulk call waits for a permit until its calling hours end. It must then wait until they begin again, also across a
// kill of the service, and be placed once.
func TestBulkCallPastCallingHoursIsPlacedAtNextOpening(t *testing.T) {
	t.Parallel()
	w := newShiftedClock(t)
	answer := startSIPp(t, "uas-answer-logged")
	s := newService(t, w.env())
	s.api("PATCH", "/v1/workspace", object{"plan": "enterprise", "limits": object{
		"requests_per_minute": 1000000, "concurrent_inbound": 1, "concurrent_outbound": 2, "calls_per_minute": 1000,
	}})
	s.createTrunk("", answer.port)
	agent := s.createAgent(object{
		"name": "long", "start": "a", "nodes": []object{
			{"id": "a", "type": "collect", "input": "dtmf", "timeout_seconds": 60, "prompt": "Please wait."}, {"id": "bye", "type": "end"},
		}, "edges": []object{{"from": "a", "to": "bye", "when": object{"type": "else"}}},
	})
	now := time.Now().UTC()
	hours := object{"start": now.Add(-time.Minute).Format("15:04"), "end": now.Add(time.Hour).Format("15:04"), "timezone": "UTC"}
	id := s.api("POST", "/v1/bulk/calls", object{
		"defaults": object{"agent_id": agent, "from": "+12025550100", "compliance": object{"calling_hours": hours}},
		"items":    []object{{"to": "+12025550001"}, {"to": "+12025550002"}},
	})["id"].(string)
	job := func() object { return s.listData("/v1/bulk")[0].(object) } // a single job may be read only five times a minute
	s.await("a call that waits for a permit", time.Minute, func() bool { return job()["waiting"] == "line" })
	s.await("the other call", time.Minute, func() bool { return len(answer.inviteCounts()) == 1 })

	w.setOffset(t, 3*time.Hour)
	first := s.listData("/v1/calls?status=active")[0].(object)["id"].(string)
	s.await("the clock", time.Minute, func() bool {
		_, _, head, err := s.sendRequest("GET", "/healthz", nil)
		at, _ := time.Parse(time.RFC1123, head.Get("Date"))
		return err == nil && time.Until(at) > 2*time.Hour
	})
	s.api("POST", "/v1/calls/"+first+"/hangup", nil)
	s.await("a call that waits for calling hours", time.Minute, func() bool { return job()["waiting"] == "calling_hours" })
	until, err := time.Parse(time.RFC3339, job()["waiting_until"].(string))
	require.NoError(t, err)
	assert.WithinDuration(t, now.Add(24*time.Hour-time.Minute), until, time.Minute)
	item := s.listData("/v1/bulk/" + id + "/items?status=waiting")[0].(object)
	assert.Equal(t, []any{1.0, job()["waiting_until"]}, []any{item["index"], item["until"]})

	s.kill9()
	s.start()
	s.await("the same after kill -9", time.Minute, func() bool { return job()["waiting"] == "calling_hours" })
	assert.Len(t, answer.inviteCounts(), 1, "no call outside the calling hours")
	s.kill9()
	w.setOffset(t, 24*time.Hour)
	s.start()
	s.await("the end", time.Minute, func() bool { return job()["status"] == "completed" })
	s.await("the call", time.Minute, func() bool { return len(answer.inviteCounts()) == 2 })
	for n, c := range answer.inviteCounts() {
		assert.Equal(t, 1, c, n)
	}
	s.kill9() // an orderly stop would wait for live calls
}
