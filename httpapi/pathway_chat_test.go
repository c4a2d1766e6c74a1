package httpapi_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/httpapi"
	"github.com/callboard/callboard/httpapi/v1/agents"
)

func samplePathway() m {
	return m{
		"name": "errand", "start": "ask",
		"nodes": []m{
			{"id": "ask", "type": "collect", "input": "dtmf", "length": 4, "prompt": "Your code, {{name | you}}?", "save_as": "code", "sensitive": true},
			{"id": "text", "type": "sms", "body": "Code {{code}}."},
			{"id": "hand", "type": "transfer", "destination": "desk"},
			{"id": "bye", "type": "end", "prompt": "Goodbye.", "outcome": "confirmed"},
		},
		"edges": []m{
			{"from": "ask", "to": "text", "when": m{"type": "always"}},
			{"from": "text", "to": "hand", "when": m{"type": "always"}},
			{"from": "hand", "to": "bye", "when": m{"type": "failure"}},
		},
	}
}

func TestPathwayChatRunsTurnByTurn(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	path := "/v1/pathways/" + d.create("/v1/pathways", samplePathway()) + "/chat"
	chat := func(inputs ...m) m {
		return d.must(200, "POST", path, "agents:read", m{"variables": m{"name": "Ada"}, "inputs": inputs}).json(t)
	}
	got := chat()
	assert.Equal(t, []any{m{"node": "ask", "text": "Your code, Ada?"}}, got["messages"])
	assert.Equal(t, m{"for": "keys", "length": 4.0, "timeout_seconds": 5.0, "sensitive": true}, got["waits_for"])
	got = chat(m{"text": "hello"})
	assert.Equal(t, false, got["understood"], "a digits node treats speech as silence")
	got = chat(m{"text": "1234"})
	assert.Equal(t, []any{m{"type": "sms", "node": "text", "text": "Code [hidden]."}, m{"type": "transfer", "node": "hand", "target": "desk"}}, got["actions"])
	assert.Equal(t, m{"for": "transfer"}, got["waits_for"])
	assert.Equal(t, m{}, got["variables"], "sensitive variables are hidden")
	got = chat(m{"text": "1234"}, m{"transfer": "failed"})
	assert.Equal(t, []any{true, "confirmed", nil}, []any{got["ended"], got["outcome"], got["waits_for"]})
	r := d.must(409, "POST", path, "agents:read", m{"inputs": []m{{"text": "1234"}, {}, {"text": "1"}}})
	assert.Equal(t, "inputs[2]", r.failure(t)["param"])
	d.must(422, "POST", path, "agents:read", m{"inputs": make([]m, 201)})

	talk := m{"name": "talk", "start": "a", "nodes": []m{{"id": "a", "type": "converse", "prompt": "Talk."}}, "edges": []m{}}
	report := d.must(200, "POST", "/v1/pathways/validate", "agents:write", talk).json(t)
	assert.Equal(t, []any{true, false}, []any{report["valid"], report["runnable"]})
	assert.Len(t, report["needs"], 1)
	id := d.create("/v1/pathways", talk)
	assert.Equal(t, "engine_not_configured", d.must(409, "POST", "/v1/pathways/"+id+"/chat", "agents:read", m{}).failure(t)["code"])
}

func TestPathwayChatAcceptsWordsAtConverseNodes(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	path := "/v1/pathways/" + d.create("/v1/pathways", m{
		"name": "come", "start": "ask",
		"nodes": []m{{"id": "ask", "type": "collect", "input": "both", "prompt": "Will you come?", "retries": 1}, {"id": "no", "type": "end", "outcome": "declined"}},
		"edges": []m{{"from": "ask", "to": "no", "when": m{"type": "intent", "intent": "decline", "words": []string{"I cannot"}}}},
	}) + "/chat"
	got := d.must(200, "POST", path, "agents:read", m{"inputs": []m{{"text": "Sorry, I cannot."}}}).json(t)
	assert.Equal(t, []any{true, true, "declined", "decline"}, []any{got["understood"], got["ended"], got["outcome"], got["intent"]})
	got = d.must(200, "POST", path, "agents:read", m{"inputs": []m{{"text": "Sorry?"}}}).json(t)
	assert.Equal(t, []any{false, false}, []any{got["understood"], got["ended"]})
	assert.Equal(t, []any{m{"node": "ask", "text": "Will you come?"}}, got["messages"], "the node repeats its prompt")

	words := m{"name": "come", "start": "ask", "nodes": []m{{"id": "ask", "type": "collect", "input": "speech", "values": []string{"blue"}}}, "edges": []m{{"from": "ask", "to": "ask", "when": m{"type": "else"}}}}
	for _, speech := range []bool{false, true} {
		d = startServer(t, httpapi.Config{Speech: agents.PathwaySpeech{Recognized: speech}})
		report := d.must(200, "POST", "/v1/pathways/validate", "agents:write", words).json(t)
		assert.Equal(t, []any{true, speech}, []any{report["valid"], report["runnable"]})
	}
}

func TestCallReplayComparesWithPathway(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	w := samplePathway()
	w["nodes"].([]m)[0]["prompt"] = "Hello." // the prompt of the recorded call
	path := "/v1/pathways/" + d.create("/v1/pathways", w) + "/replay"
	d.must(422, "POST", path, "all", m{"call_id": "call_" + ulidOf(99)})
	id := d.create("/v1/calls/outbound", m{"to": "+12025550123", "agent_id": "agent_" + ulidOf(1)})
	assert.Equal(t, "invalid_state", d.must(409, "POST", path, "all", m{"call_id": id}).failure(t)["code"], "the call has not ended")
	c, err := d.calls.get(id)
	require.NoError(t, err)
	c.Status = domain.CallCompleted
	got := d.must(200, "POST", path, "all", m{"call_id": id}).json(t)
	assert.Equal(t, []any{true, nil, false}, []any{got["same"], got["first_different"], got["ended"]})
	d.must(200, "PATCH", path[:len(path)-len("/replay")], "all", m{"nodes": samplePathway()["nodes"]})
	got = d.must(200, "POST", path, "all", m{"call_id": id}).json(t)
	assert.Equal(t, []any{false, 0.0}, []any{got["same"], got["first_different"]})
	assert.Equal(t, []any{m{"speaker": "agent", "node": "ask", "recorded": "Hello.", "now": "Your code, you?", "same": false}}, got["lines"])
}

func TestPathwayChatReusesEarlierModelAnswers(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	requests := 0
	d.model = func(brief string, t2 pathway.ModelRequest) ([]string, pathway.ModelAnswered) {
		requests++
		assert.Contains(t, brief, "Orders of Ada.")
		switch last := t2.History[len(t2.History)-1]; last.Text {
		case "where is my order":
			return []string{"One moment.", "Which one?"}, pathway.ModelAnswered{}
		case "seven":
			return nil, pathway.ModelAnswered{Calls: []pathway.ToolCall{{ID: "1", Name: "save", Arguments: `{"order":7}`}, {ID: "2", Name: "rm"}}}
		}
		return []string{"Bye."}, pathway.ModelAnswered{Calls: []pathway.ToolCall{{ID: "3", Name: "end_call", Arguments: `{"outcome":"confirmed"}`}}}
	}
	path := "/v1/pathways/" + d.create("/v1/pathways", m{
		"name": "desk", "start": "hello",
		"nodes": []m{
			{"id": "hello", "type": "say", "prompt": "Hello."},
			{"id": "talk", "type": "converse", "prompt": "Orders of {{name}}.", "tools": []string{"end"}, "extract": []m{{"name": "order", "type": "integer"}}},
		},
		"edges": []m{{"from": "hello", "to": "talk", "when": m{"type": "always"}}},
	}) + "/chat"
	replies := []any{}
	chat := func(inputs ...m) m {
		got := d.must(200, "POST", path, "agents:read", m{"variables": m{"name": "Ada"}, "inputs": inputs, "model_answers": replies}).json(t)
		replies, _ = got["model_answers"].([]any)
		return got
	}
	got := chat()
	assert.Equal(t, m{"for": "words", "timeout_seconds": 8.0}, got["waits_for"])
	got = chat(m{"text": "where is my order"})
	assert.Equal(t, []any{m{"node": "talk", "text": "One moment."}, m{"node": "talk", "text": "Which one?"}}, got["messages"])
	got = chat(m{"text": "where is my order"}, m{"text": "seven"})
	assert.Equal(t, m{"order": "7"}, got["variables"])
	assert.Equal(t, []any{m{"type": "refused", "node": "talk", "target": "rm", "text": "there is no such tool here"}}, got["actions"])
	assert.Equal(t, []any{true, "confirmed"}, []any{got["ended"], got["outcome"]})
	assert.Equal(t, 3, requests, "a stored reply is not requested again")
	assert.Len(t, replies, 3)
	d.must(422, "POST", path, "agents:read", m{"agent_id": "agent_x"})

	scenarios := m{"scenarios": []m{{"name": "a", "turns": []m{{"text": "hello"}}}}}
	test := path[:len(path)-len("/chat")] + "/test"
	d.model = func(string, pathway.ModelRequest) ([]string, pathway.ModelAnswered) {
		assert.Equal(t, "rate_limit_exceeded", d.must(429, "POST", test, "agents:read", scenarios).failure(t)["code"])
		return []string{"Bye."}, pathway.ModelAnswered{Calls: []pathway.ToolCall{{ID: "3", Name: "end_call", Arguments: `{"outcome":"confirmed"}`}}}
	}
	d.must(200, "POST", test, "agents:read", scenarios)
	d.must(200, "POST", test, "agents:read", scenarios)
}

func TestPathwayTestWithModelAsCaller(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	path := "/v1/pathways/" + d.create("/v1/pathways", samplePathway()) + "/test"
	body := m{"runs": 2, "min_pass_share": 0.5, "scenarios": []m{{
		"name": "a caller", "variables": m{"name": "Ada"}, "caller": m{"goal": "to leave a code", "persona": "brief", "max_turns": 5},
		"expect": m{"ended": true, "outcome": "confirmed", "says": []string{"your code, ada", "goodbye"}, "says_not": []string{"welcome"}, "actions": []string{"transfer desk"}},
	}}}
	assert.Equal(t, "engine_not_configured", d.must(409, "POST", path, "agents:read", body).failure(t)["code"])
	d.model = func(string, pathway.ModelRequest) ([]string, pathway.ModelAnswered) {
		return nil, pathway.ModelAnswered{}
	}
	requests := 0
	d.caller = func(brief string, said []pathway.Message) (string, error) {
		requests++
		assert.Contains(t, brief, "to leave a code")
		assert.Contains(t, brief, "brief")
		assert.Equal(t, pathway.Message{By: pathway.ByAgent, Text: "Your code, Ada?"}, said[len(said)-1])
		if requests == 2 {
			return "[hang up]", nil
		}
		return "[press 1 2 3 4]", nil
	}
	report := d.must(200, "POST", path, "agents:read", body).json(t)["scenarios"].([]any)[0].(m)
	assert.Equal(t, []any{true, 2.0, 1.0, 0.5}, []any{report["passed"], report["runs"], report["passed_runs"], report["pass_share"]}, "%v", report)
	assert.Equal(t, m{"speaker": "caller", "text": "[hangs up]"}, report["transcript"].([]any)[1])
	var checks []string
	for _, f := range report["failures"].([]any) {
		checks = append(checks, fmt.Sprintf("%v %v", f.(m)["run"], f.(m)["check"]))
	}
	assert.Equal(t, []string{"2 ended", "2 outcome", "2 says", "2 actions"}, checks)
	assert.Equal(t, 2, requests, "a transfer result is not caller input")

	d.caller = func(string, []pathway.Message) (string, error) {
		return "", errors.New("timeout: engine one: no answer")
	}
	report = d.must(200, "POST", path, "agents:read", m{"scenarios": body["scenarios"]}).json(t)["scenarios"].([]any)[0].(m)
	assert.Equal(t, "timeout: engine one: no answer", report["failures"].([]any)[0].(m)["got"])
	requests = 0
	d.caller = func(string, []pathway.Message) (string, error) { requests++; return "What?", nil }
	d.must(200, "POST", path, "agents:read", m{"scenarios": []m{{"name": "a", "caller": m{"goal": "x", "max_turns": 3}}}})
	assert.LessOrEqual(t, requests, 3)

	for param, bad := range map[string]m{
		"scenarios[0].caller": {"scenarios": []m{{"name": "a", "caller": m{"goal": "x"}, "turns": []m{{}}}}},
		"scenarios":           {"runs": 20, "scenarios": []m{{"name": "a", "caller": m{"goal": "x", "max_turns": 50}}, {"name": "b", "caller": m{"goal": "x", "max_turns": 50}}}},
	} {
		assert.Equal(t, param, d.must(422, "POST", path, "agents:read", bad).failure(t)["param"])
	}
}

func TestPathwayTestReportsFailedScenarios(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	path := "/v1/pathways/" + d.create("/v1/pathways", samplePathway()) + "/test"
	good := m{
		"name": "reaches nobody", "variables": m{"name": "Ada"}, "greeting": m{"says": []string{"your code, ada"}, "waits_for": "keys"},
		"turns": []m{
			{"text": "what?", "expect": m{"understood": false, "says": []string{"your code"}}},
			{"text": "1234", "expect": m{"actions": []string{"sms", "transfer desk"}, "waits_for": "transfer"}},
			{"transfer": "failed", "expect": m{"says": []string{"goodbye"}, "says_not": []string{"code"}, "waits_for": "nothing"}},
		},
		"expect": m{"ended": true, "outcome": "confirmed"},
	}
	retries := samplePathway()
	retries["nodes"].([]m)[0]["retries"] = 1
	d.must(200, "PATCH", path[:len(path)-len("/test")], "all", m{"nodes": retries["nodes"]})
	got := d.must(200, "POST", path, "agents:read", m{"runs": 3, "scenarios": []m{good}}).json(t)
	assert.Equal(t, true, got["passed"], "%v", got)
	report := got["scenarios"].([]any)[0].(m)
	assert.Equal(t, []any{true, 3.0, 3.0, []any{}}, []any{report["passed"], report["runs"], report["passed_runs"], report["failures"]})
	assert.Equal(t, []any{
		m{"speaker": "agent", "text": "Your code, Ada?"},
		m{"speaker": "caller", "text": "what?"},
		m{"speaker": "agent", "text": "Your code, Ada?"},
		m{"speaker": "caller", "text": "1234"},
		m{"speaker": "action", "text": "sms"},
		m{"speaker": "action", "text": "transfer desk"},
		m{"speaker": "caller", "text": "[transfer failed]"},
		m{"speaker": "agent", "text": "Goodbye."},
	}, report["transcript"])

	bad := m{
		"name": "goes otherwise", "greeting": m{"says": []string{"welcome"}, "says_not": []string{"code"}, "waits_for": "words", "actions": []string{"dtmf"}},
		"turns":  []m{{"text": "1234", "expect": m{"understood": false}}, {"transfer": "failed"}, {"text": "1"}},
		"expect": m{"ended": false, "outcome": "declined", "intent": "yes", "variables": m{"code": "1234"}},
	}
	got = d.must(200, "POST", path, "agents:read", m{"scenarios": []m{good, bad}}).json(t)
	assert.Equal(t, false, got["passed"])
	var checks []string
	for _, f := range got["scenarios"].([]any)[1].(m)["failures"].([]any) {
		checks = append(checks, fmt.Sprintf("%v %v", f.(m)["turn"], f.(m)["check"]))
	}
	assert.Equal(t, []string{"0 says", "0 says_not", "0 actions", "0 waits_for", "1 understood", "3 turns", "-1 ended", "-1 outcome", "-1 intent", "-1 variables.code"}, checks)

	for param, body := range map[string]m{
		"scenarios":         {"runs": 20, "scenarios": []m{{"name": "long", "turns": slices.Repeat([]m{{}}, 100)}}},
		"scenarios[1].name": {"scenarios": []m{{"name": "a"}, {"name": "a"}}},
		"agent_id":          {"agent_id": "agent_" + ulidOf(99), "scenarios": []m{{"name": "a"}}},
	} {
		assert.Equal(t, param, d.must(422, "POST", path, "agents:read", body).failure(t)["param"])
	}
}
