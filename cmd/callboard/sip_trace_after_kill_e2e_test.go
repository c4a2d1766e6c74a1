package main_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip/siptest"
)

// sipFirstLines returns the first lines of a call's SIP messages.
func (s *service) sipFirstLines(id string) []string {
	s.t.Helper()
	var out []string
	for _, raw := range s.api("GET", "/v1/calls/"+id+"/sip", nil)["messages"].([]any) {
		line, _, _ := strings.Cut(raw.(object)["message"].(string), "\r\n")
		words := strings.Fields(line)
		if words[0] == "SIP/2.0" {
			words = words[1:]
		}
		out = append(out, words[0])
	}
	return out
}

func TestSIPTraceSurvivesKillUpToLastCommit(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.removeLimits()
	s.createTrunk("+1202551", startSIPp(t, "uas-answer-logged").port)
	s.createTrunk("+1202552", startSIPp(t, "uas-noanswer").port)
	inbound := s.createTrunk("+1202553", siptest.Port(t))
	agent := s.createAgent(object{
		"name": "long", "start": "a", "nodes": []object{
			{"id": "a", "type": "collect", "input": "dtmf", "timeout_seconds": 60, "prompt": "Please wait."}, {"id": "bye", "type": "end"},
		}, "edges": []object{{"from": "a", "to": "bye", "when": object{"type": "else"}}},
	})
	s.api("POST", "/v1/phone-numbers", object{"number": "+12025550142", "agent_id": agent, "trunk_id": inbound})
	answered, ringing := s.placeCall("+12025510001", agent, nil), s.placeCall("+12025520001", agent, object{"ring_timeout_seconds": 120})
	campaign := s.startCampaign(agent, []string{"+12025510002"}, nil)
	startSIPpCaller(t, "uac-call", "-m", "1", "-s", "+12025550142", "-d", "60000", "127.0.0.1:"+strconv.Itoa(s.sip))
	state := func(id string) string { return s.api("GET", "/v1/calls/"+id, nil)["status"].(string) }
	var dialled, came string
	s.await("two answered calls, a ringing call and an inbound call", 30*time.Second, func() bool {
		dialled, came = "", ""
		for _, raw := range s.api("GET", "/v1/calls?status=active", nil)["data"].([]any) {
			switch c := raw.(object); {
			case c["status"] != "in_progress":
			case c["campaign_id"] == campaign:
				dialled = c["id"].(string)
			case c["direction"] == "inbound":
				came = c["id"].(string)
			}
		}
		return state(answered) == "in_progress" && state(ringing) == "ringing" && dialled != "" && came != ""
	})
	s.kill9()
	s.start()
	s.await("the end of the calls", 30*time.Second, func() bool {
		return !slices.ContainsFunc([]string{answered, ringing, dialled, came}, func(id string) bool { return state(id) != "failed" })
	})
	for id, least := range map[string][]string{
		answered: {"INVITE", "180", "200"}, dialled: {"INVITE", "180", "200"}, ringing: {"INVITE", "180"}, came: {"INVITE", "100"},
	} {
		got := s.sipFirstLines(id)
		for _, one := range least {
			assert.Contains(t, got, one, "%v", got)
		}
		assert.Equal(t, "interrupted", s.api("GET", "/v1/calls/"+id, nil)["ended_reason"])
		require.NotEmpty(t, got)
		assert.Equal(t, "INVITE", got[0])
	}
}
