package main_test

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip/siptest"
)

// firstValues parses the lines "KIND value" in the log of a SIPp scenario. It returns the first value of each kind.
func (p *sippPeer) firstValues() map[string]string {
	text, _ := os.ReadFile(p.log)
	out := map[string]string{}
	for l := range strings.Lines(string(text)) {
		kind, value, _ := strings.Cut(strings.TrimSpace(l), " ")
		if _, known := out[kind]; !known {
			out[kind] = strings.TrimSpace(value)
		}
	}
	return out
}

func TestTrunkSettingsShapeOutboundInvite(t *testing.T) {
	t.Parallel()
	s := newService(t)
	busy := startSIPp(t, "uas-callerid")
	id := s.api("POST", "/v1/trunks", object{
		"name": "carrier", "proxies": []object{{"host": "127.0.0.2", "port": 5999}},
		"outbound_proxy": object{"host": "127.0.0.1", "port": busy.port}, "number_format": "digits", "number_add": "9",
		"from_domain": "us.example", "caller_ids": []string{"+12025550100"}, "caller_id_headers": []string{"P-Asserted-Identity", "Remote-Party-ID"},
		"costs": []object{{"prefix": "+1", "cost": "0.01"}},
	})["id"].(string)
	call := s.awaitCallEnd(s.placeCall("+12025550123", s.createGreetingAgent(), object{"from": "+12025550100"}), 20*time.Second)
	assert.Equal(t, []any{"busy", object{"amount": "0.00", "currency": "USD"}}, []any{call["status"], call["cost"]}, "%v", call)
	got := busy.firstValues()
	got["FROM"], _, _ = strings.Cut(got["FROM"], ";tag")
	assert.Equal(t, map[string]string{
		"URI": "INVITE sip:912025550123@127.0.0.2:5999", "FROM": "<sip:12025550100@us.example>", "PAI": "<sip:12025550100@us.example>",
		"RPID": "<sip:12025550100@us.example>;party=calling;screen=yes;privacy=off", "PRIVACY": "",
		"ROUTE": "<sip:127.0.0.1:" + strconv.Itoa(busy.port) + ";lr>",
	}, got)
	trunk := s.api("GET", "/v1/trunks/"+id, nil)
	assert.Equal(t, "sip:127.0.0.1:"+strconv.Itoa(s.sip), trunk["sip_uri"])
	assert.Equal(t, "up", trunk["health"].(object)["status"])
	quality := trunk["quality"].(object)
	assert.Equal(t, []any{1.0, 0.0, object{"busy": 1.0}}, []any{quality["attempts"], quality["asr"], quality["refusals"]})
}

func TestTrunkHealthCheckByOptions(t *testing.T) {
	t.Parallel()
	s := newService(t)
	lives, silent := startSIPp(t, "uas-options"), siptest.Port(t)
	id := s.createTrunk("", lives.port, silent)
	result := s.api("POST", "/v1/trunks/"+id+"/test", object{})
	targets := result["targets"].([]any)
	require.Len(t, targets, 2)
	first, second := targets[0].(object), targets[1].(object)
	assert.Equal(t, []any{true, true, 200.0, "carrier/1.0", false}, []any{result["ok"], first["reachable"], first["code"], first["server"], second["reachable"]}, "%v", result)
	assert.NotEmpty(t, second["error"])
	status, body, _ := s.tryRequest("POST", "/v1/trunks", object{"name": "inside", "proxies": []object{{"host": "169.254.169.254"}}})
	assert.Equal(t, 422, status, "%s", body)
	assert.Contains(t, string(body), "proxies[0].host")
}

func TestCallerDetailsOfTrunkAreStored(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.removeLimits()
	agent := s.createWaitingAgent("wait") // the caller hangs up
	id := s.createTrunk("", siptest.Port(t))
	s.api("PATCH", "/v1/trunks/"+id, object{"caller_id_headers": []string{"P-Asserted-Identity"}})
	s.api("POST", "/v1/phone-numbers", object{"number": "*", "agent_id": agent, "trunk_id": id})
	require.NoError(t, s.runSIPpCaller("uac-withheld", "2025550142", "-d", "500"))
	s.await("the call's end", 20*time.Second, func() bool {
		list := s.api("GET", "/v1/calls?direction=inbound&status=completed", nil)["data"].([]any)
		return len(list) == 1
	})
	call := s.api("GET", "/v1/calls?direction=inbound", nil)["data"].([]any)[0].(object)
	assert.Equal(t, []any{"anonymous", "+12025550142"}, []any{call["from"], call["to"]})
	caller := call["caller"].(object)
	assert.Equal(t, []any{
		object{"from": "+12025550111", "reason": "no-answer"}, object{"from": "+12025550112", "reason": "user-busy"},
	}, caller["diversions"])
	assert.Equal(t, []any{true, "TN-Validation-Passed"}, []any{caller["withheld"], caller["verstat"]})
	assert.Contains(t, caller["identity"], "ppt=shaken")
	assert.Len(t, caller["history"], 2)
	assert.NotContains(t, caller, "asserted", "a withheld number is not stored")

	s.api("PATCH", "/v1/trunks/"+id, object{"inbound": object{"calls_per_second": 0.005}})
	require.NoError(t, s.runSIPpCaller("uac-withheld", "2025550142", "-d", "100"), "the first call of this second")
	require.NoError(t, s.runSIPpCaller("uac-refused-503", "2025550142"), "one too many")
	assert.InDelta(t, 1.0, s.api("GET", "/v1/trunks/"+id, nil)["quality"].(object)["inbound_refusals"].(object)["calls_per_second"], 0)

	s.api("PATCH", "/v1/trunks/"+id, object{"inbound": object{"calls_per_second": 0, "auth": object{"username": "carrier", "password": "proof"}}})
	require.NoError(t, s.runSIPpCaller("uac-refused-401", "2025550142"), "no proof")
	signs := "2025550142@127.0.0.1:" + strconv.Itoa(s.sip)
	require.NoError(t, s.runSIPpCaller("uac-digest", "2025550142", "-auth_uri", signs), "with one")
	s.api("PATCH", "/v1/trunks/"+id, object{"inbound": object{"auth": object{"username": "carrier", "password": "another"}}})
	require.Error(t, s.runSIPpCaller("uac-digest", "2025550142", "-auth_uri", signs), "the wrong one")
}

func TestTestCarrierCallsNumber(t *testing.T) {
	t.Parallel()
	s := newService(t)
	live := s.key
	status, body, _ := s.tryRequest("POST", "/v1/test/inbound-calls", object{"to": "+12025550142"})
	assert.Equal(t, 409, status, "%s: with a live key", body)
	s.key = s.testKey()
	status, body, _ = s.tryRequest("POST", "/v1/test/inbound-calls", object{"to": "+12025550142"})
	assert.Equal(t, 422, status, "%s: no agent answers the number", body)
	s.api("POST", "/v1/phone-numbers", object{"number": "+12025550142", "agent_id": s.createMenuAgent()})
	call := s.api("POST", "/v1/test/inbound-calls", object{"to": "+12025550142", "from": "anonymous", "digits": "2"})
	assert.Equal(t, []any{"inbound", "anonymous", "+12025550142", "test"}, []any{call["direction"], call["from"], call["to"], call["environment"]})
	ended := s.awaitCallEnd(call["id"].(string), 40*time.Second)
	assert.Equal(t, []any{"completed", "declined"}, []any{ended["status"], ended["disposition"]}, "%v", ended)
	s.key = live
	status, _, _ = s.tryRequest("GET", "/v1/calls/"+call["id"].(string), nil)
	assert.Equal(t, 404, status, "the live number does not exist in the test environment")
}

func TestDestinationRulesApplyToEveryCall(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.removeLimits()
	answers := startSIPp(t, "uas-answer-logged")
	expensive := s.api("POST", "/v1/trunks", object{
		"caller_ids": []string{"+12025550100"},
		"name":       "dear", "proxies": []object{{"host": "127.0.0.1", "port": answers.port}}, "costs": []object{{"prefix": "+", "cost": "5.00"}},
	})["id"]
	agent := s.createGreetingAgent()
	s.api("POST", "/v1/phone-numbers", object{"number": "+12025550142", "agent_id": s.createBranchingAgent(object{"accept_refer": true}), "trunk_id": expensive})
	refers := func(to string) error {
		return s.runSIPpCaller("uac-refers-barred", "+12025550142", "-key", "refer", to)
	}
	s.api("PATCH", "/v1/workspace", object{"calling": object{
		"countries": []string{"US"}, "blocked_prefixes": []string{"+1202555019"}, "daily_spend_cap": object{"amount": "5.00"}, "max_call_minutes": 1,
	}})
	for to, code := range map[string]string{
		"+12025550190": "destination_not_allowed", "+442071838750": "destination_not_allowed", "+19005550123": "destination_not_allowed",
		"+881612345678": "destination_not_allowed", "911": "destination_not_allowed",
	} {
		status, body, _ := s.tryRequest("POST", "/v1/calls/outbound", object{"to": to, "agent_id": agent, "from": "+12025550100"})
		assert.Equal(t, 403, status, "%s: %s", to, body)
		assert.Contains(t, string(body), code, to)
	}
	for _, to := range []string{"+12025550190", "+442071838750", "+19005550123", "911"} {
		require.NoError(t, refers(to), "a REFER to a permitted destination is accepted: %s", to)
	}
	assert.Empty(t, answers.inviteCounts())
	call := s.awaitCallEnd(s.placeCall("+12025550123", agent, nil), 30*time.Second)
	assert.Equal(t, "completed", call["status"], "%v", call)
	require.Error(t, refers("+12025550124"), "the REFER is accepted, but the spend cap prevents the transfer leg")
	status, body, _ := s.tryRequest("POST", "/v1/calls/outbound", object{"to": "+12025550124", "agent_id": agent, "from": "+12025550100"})
	assert.Equal(t, 403, status, "%s", body)
	assert.Contains(t, string(body), "spend_cap_reached")
	s.kill9()
	s.start()
	status, body, _ = s.tryRequest("POST", "/v1/calls/outbound", object{"to": "+12025550124", "agent_id": agent, "from": "+12025550100"})
	assert.Equal(t, 403, status, "%s: rejected also after a crash", body)
	assert.Contains(t, string(body), "spend_cap_reached")
	assert.Len(t, answers.inviteCounts(), 1)
	s.api("PATCH", "/v1/workspace", object{"calling": object{"daily_spend_cap": nil}})
	require.Error(t, refers("+12025550124"), "an agent rejects REFERs to forbidden destinations")
	s.placeCall("+12025550124", agent, nil)
}

func TestLiveCallEndsWhenSpendCapIsReached(t *testing.T) {
	t.Parallel()
	s := newRaceFreeService(t)
	carrier := startSIPp(t, "uas-answer-logged", "-rtp_echo")
	s.api("POST", "/v1/trunks", object{
		"caller_ids": []string{"+12025550100"},
		"name":       "dear", "proxies": []object{{"host": "127.0.0.1", "port": carrier.port}}, "costs": []object{{"prefix": "+", "cost": "5.00"}},
	})
	s.api("PATCH", "/v1/workspace", object{"calling": object{"daily_spend_cap": object{"amount": "9.99"}}})
	id := s.placeCall("+12025550123", s.createLongMenuAgent(), nil)
	call := s.awaitCallEnd(id, 3*time.Minute)
	assert.Equal(t, []any{"spend_cap_reached", "service", "completed"}, []any{call["ended_reason"], call["ended_by"], call["status"]}, "%v", call)
	assert.InDelta(t, 59.5, call["duration_seconds"], 1, "the spend cap permits only the first minute")
	found := false
	for _, e := range s.committedEvents() {
		if e.Type == "call.ended" && e.Subject == id {
			found = true
			var data object
			require.NoError(t, json.Unmarshal(e.Data, &data))
			assert.Equal(t, "spend_cap_reached", data["ended_reason"])
		}
	}
	assert.True(t, found, "call.ended contains the final record")
}
