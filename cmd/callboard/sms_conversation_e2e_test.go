package main_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// smsAgentNumber is the number of the agent that answers SMS messages.
const smsAgentNumber = "+15005550300"

// sendSMSAndWait sends an SMS message to the agent and waits for the answer. It returns the conversation, oldest
// message first.
func (s *service) sendSMSAndWait(from, body string) (thread []string) {
	s.t.Helper()
	id := s.api("POST", "/v1/test/inbound-sms", object{"from": from, "to": smsAgentNumber, "body": body})["id"].(string)
	s.await("the answer to "+id, 20*time.Second, func() bool { return s.api("GET", "/v1/sms/"+id, nil)["conversation_id"] != nil })
	return s.smsThread(s.api("GET", "/v1/sms/"+id, nil)["conversation_id"].(string))
}

func (s *service) smsThread(conversation string) (thread []string) {
	s.t.Helper()
	for _, m := range s.listData("/v1/sms?limit=100&conversation_id=" + conversation) {
		mark := "< "
		if m.(object)["direction"] == "outbound" {
			mark = "> "
		}
		thread = append([]string{mark + m.(object)["body"].(string)}, thread...)
	}
	return thread
}

func TestAgentAnswersSMSAlongPathway(t *testing.T) {
	t.Parallel()
	s := newRaceFreeService(t)
	s.key = s.testKey()
	pathway := s.api("POST", "/v1/pathways", object{
		"name": "visit", "start": "ask",
		"nodes": []object{
			{"id": "ask", "type": "collect", "input": "both", "prompt": "Will you come on Monday?", "retries": 4},
			{"id": "people", "type": "collect", "prompt": "How many of you, 1 to 9?", "save_as": "people", "retries": 3},
			{"id": "hand", "type": "transfer", "prompt": "I look for somebody.", "destination": "+12025550123"},
			{"id": "sorry", "type": "say", "prompt": "Nobody is here."},
			{"id": "note", "type": "sms", "body": "For your notes: Monday, {{people}} people."},
			{"id": "many", "type": "end", "prompt": "So many! See you.", "outcome": "confirmed"},
			{"id": "yes", "type": "end", "prompt": "See you, {{people}}.", "outcome": "confirmed"},
			{"id": "never", "type": "end", "prompt": "We never write again.", "outcome": "declined", "set": object{"add_to_dnc": true}},
			{"id": "no", "type": "end", "prompt": "Goodbye.", "outcome": "declined"},
		},
		"edges": []object{
			{"from": "ask", "to": "people", "when": object{"type": "intent", "intent": "yes"}},
			{"from": "ask", "to": "no", "when": object{"type": "intent", "intent": "no"}},
			{"from": "ask", "to": "hand", "when": object{"type": "dtmf", "digits": "0"}},
			{"from": "ask", "to": "no", "when": object{"type": "else"}},
			{"from": "ask", "to": "never", "when": object{"type": "intent", "intent": "never", "words": []string{"never again"}}},
			{"from": "hand", "to": "no", "when": object{"type": "success"}},
			{"from": "hand", "to": "sorry", "when": object{"type": "failure"}},
			{"from": "sorry", "to": "ask", "when": object{"type": "always"}},
			{"from": "people", "to": "many", "when": object{"type": "expr", "expr": "people > 5"}},
			{"from": "people", "to": "note", "when": object{"type": "always"}},
			{"from": "note", "to": "yes", "when": object{"type": "always"}},
		},
	})["id"]
	const silent = "+15005550301"
	answers := s.api("POST", "/v1/agents", object{"name": "a", "pathway_id": pathway, "sms": object{"enabled": true, "max_replies": 5}})["id"].(string)
	s.api("POST", "/v1/phone-numbers", object{"number": smsAgentNumber, "agent_id": answers})
	s.api("POST", "/v1/phone-numbers", object{"number": silent, "agent_id": s.createGreetingAgent()})
	const ada, eve, bob, kim, jo = "+15005551101", "+15005551102", "+15005551103", "+15005551104", "+15005551105"

	assert.Equal(t, []string{"< Hi!", "> Will you come on Monday?"}, s.sendSMSAndWait(ada, "Hi!"), "a first message that is not an answer gets the greeting")
	assert.Equal(t, []string{"< yes", "> Will you come on Monday?\nHow many of you, 1 to 9?"}, s.sendSMSAndWait(eve, "yes"), "a first message that is an answer counts")
	s.kill9()
	s.start()
	s.key = s.testKey()
	assert.Equal(t, []string{"< Hi!", "> Will you come on Monday?", "< 0", "> I look for somebody.\nNobody is here.\nWill you come on Monday?"}, s.sendSMSAndWait(ada, "0"), "the conversation continues after a crash, and a transfer places no call")
	assert.Equal(t, []string{"< yes", "> Will you come on Monday?\nHow many of you, 1 to 9?", "< 7", "> So many! See you."}, s.sendSMSAndWait(eve, "7"))
	assert.Equal(t, "> How many of you, 1 to 9?", lastMessage(s.sendSMSAndWait(ada, "Yes, please!")))
	assert.Equal(t, "> See you, 2.", lastMessage(s.sendSMSAndWait(ada, "2")))
	assert.Equal(t, "> Will you come on Monday?", lastMessage(s.sendSMSAndWait(ada, "Hello again")), "a new conversation")

	adas := s.listData("/v1/sms-conversations?contact=%2B15005551101")
	require.Len(t, adas, 2)
	done := adas[1].(object)
	assert.Equal(t, []any{"completed", "confirmed", "2", 4.0, answers}, []any{done["status"], done["outcome"], done["variables"].(object)["people"], done["replies"], done["agent_id"]})
	notes := 0
	for _, m := range s.listData("/v1/sms?limit=100&to=%2B15005551101") {
		if m.(object)["body"] == "For your notes: Monday, 2 people." {
			notes++
		}
	}
	assert.Equal(t, 1, notes, "the node's action is executed once")

	for range 4 {
		s.sendSMSAndWait(bob, "what?")
	}
	assert.Equal(t, "> Will you come on Monday?", lastMessage(s.sendSMSAndWait(bob, "what?")))
	assert.Equal(t, "< what?", lastMessage(s.sendSMSAndWait(bob, "what?")), "at most max_replies replies")

	assert.Equal(t, "> Will you come on Monday?\nWe never write again.", lastMessage(s.sendSMSAndWait(kim, "never again")))
	code, text, _ := s.tryRequest("POST", "/v1/sms", object{"to": kim, "body": "Hello?"})
	assert.Equal(t, http.StatusForbidden, code, "%s", text)

	s.sendSMSAndWait(jo, "Hi")
	open := s.listData("/v1/sms-conversations?status=open&contact=%2B15005551105")
	require.Len(t, open, 1)
	id := open[0].(object)["id"].(string)
	code, _, _ = s.tryRequest("DELETE", "/v1/sms-conversations/"+id, nil)
	assert.Equal(t, http.StatusConflict, code)
	s.api("POST", "/v1/test/inbound-sms", object{"from": jo, "to": smsAgentNumber, "body": "STOP"})
	closed := s.api("GET", "/v1/sms-conversations/"+id, nil)
	assert.Equal(t, []any{"closed", "opt_out"}, []any{closed["status"], closed["reason"]})
	assert.Equal(t, "closed", s.api("POST", "/v1/sms-conversations/"+id+"/close", nil)["status"], "without effect")
	assert.Equal(t, true, s.api("DELETE", "/v1/sms-conversations/"+id, nil)["deleted"])

	m := s.api("POST", "/v1/test/inbound-sms", object{"from": ada, "to": silent, "body": "Hi!"})["id"].(string)
	s.sendSMSAndWait(ada, "no") // the service answers in order, so that the message before has been handled
	assert.Nil(t, s.api("GET", "/v1/sms/"+m, nil)["conversation_id"], "the agent does not answer messages")
	for field, sms := range map[string]object{"sms.max_replies": {"enabled": true, "max_replies": 1000}, "sms.timeout_minutes": {"enabled": true, "timeout_minutes": -1}} {
		code, text, _ := s.tryRequest("PATCH", "/v1/agents/"+answers, object{"sms": sms})
		assert.Equal(t, http.StatusUnprocessableEntity, code)
		assert.Contains(t, string(text), field)
	}
}

func lastMessage(thread []string) string { return thread[len(thread)-1] }
