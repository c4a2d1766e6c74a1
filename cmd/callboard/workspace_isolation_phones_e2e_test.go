package main_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// registerPhone starts a phone that registers with the tenant's workspace as extension 1001, with its own user
// name.
func (w *tenant) registerPhone(username string) *softphone {
	w.t.Helper()
	w.createPhoneAccount(username)
	w.sendFirstRegister(username)
	p := w.startRegisteredPhone(username, "udp")
	w.await("the registration of "+username, 30*time.Second, func() bool {
		var now struct{ Status string }
		_, text := w.sendRequest("GET", "/v1/phones/"+w.ids["phone"], nil)
		return json.Unmarshal(text, &now) == nil && now.Status == "registered"
	})
	return p
}

// createPhoneAccount creates a phone in the API that no device registers, because phones of the test environment cannot
// register.
func (w *tenant) createPhoneAccount(username string) {
	w.t.Helper()
	w.ids["user"] = "sip:" + username + "@127.0.0.1"
	w.createObject("phone", "/v1/phones", object{"extension": "1001", "name": "Desk", "username": username, "password": phonePassword})
}

// A transfer to phones of another workspace or of the tenant's test environment, by id or by user name, must fail like
// one to an unknown phone. This holds although these phones have the extension of the tenant's own phone. The caller
// stays with the agent.
func TestTransferNeverRingsPhonesOfOtherWorkspaces(t *testing.T) {
	t.Parallel()
	s := newService(t)
	own := &tenant{s, t, s.key, map[string]string{}}
	tests := &tenant{s, t, own.createChildKey("test"), map[string]string{}}
	theirs := &tenant{s, t, s.api("POST", "/v1/workspaces", object{"name": "theirs", "plan": "enterprise"})["key"].(string), map[string]string{}}
	ours := own.registerPhone("owndesk")
	tests.createPhoneAccount("testdesk")
	other := theirs.registerPhone("theirdesk")
	s.createTrunk("", startSIPp(t, "uas-answer").port)
	id := s.placeCall("+12025550123", s.createWaitingAgent("wait"), nil)
	s.awaitAnswer(id)

	refused := func(field, to string) (why object) {
		t.Helper()
		var answer struct{ Error object }
		status, text, _ := s.tryRequest("POST", "/v1/calls/"+id+"/transfer", object{field: to})
		assert.Equal(t, http.StatusUnprocessableEntity, status, "%s %s: %s", field, to, text)
		require.NoError(t, json.Unmarshal(text, &answer))
		assert.Equal(t, field, answer.Error["param"], "the error names the field: %s", text)
		delete(answer.Error, "request_id")
		return answer.Error
	}
	for field, kind := range map[string]string{"phone": "phone", "to": "user"} {
		nobodys := refused(field, map[string]string{"phone": "phone_01ARZ3NDEKTSV4RRFFQ69G5FAV", "user": "sip:nobodysdesk@127.0.0.1"}[kind])
		assert.Equal(t, nobodys, refused(field, theirs.ids[kind]), "a phone of another workspace is rejected like an unknown phone")
		assert.Equal(t, nobodys, refused(field, tests.ids[kind]), "a phone of the test environment is rejected like an unknown phone")
	}
	now := s.api("GET", "/v1/calls/"+id, nil)
	assert.Equal(t, "in_progress", now["status"])
	assert.Empty(t, now["transfers"])

	s.api("POST", "/v1/calls/"+id+"/transfer", object{"phone": own.ids["phone"]})
	s.await("the bridge to the tenant's own phone", 30*time.Second, func() bool { return s.lastTransfer(id)["status"] == "connected" })
	assert.Equal(t, "1001", s.lastTransfer(id)["to"])
	assert.Contains(t, ours.log(), "INVITE sip:")
	assert.NotContains(t, other.log(), "INVITE sip:", "no other phone was called")
	s.api("POST", "/v1/calls/"+id+"/hangup", nil)
	s.awaitCallEnd(id, 20*time.Second)
}
