package main_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip/siptest"
)

// createBlindTransferAgent creates an agent that transfers its caller by REFER at once. The outcome is confirmed if the
// peer accepts the REFER, and declined if the caller returns.
func (s *service) createBlindTransferAgent() string {
	s.t.Helper()
	p := s.api("POST", "/v1/pathways", object{
		"name": "hands over", "start": "hand",
		"nodes": []object{
			{"id": "hand", "type": "transfer", "destination": "desk"},
			{"id": "done", "type": "end", "outcome": "confirmed"},
			{"id": "back", "type": "end", "outcome": "declined"},
		},
		"edges": []object{
			{"from": "hand", "to": "done", "when": object{"type": "success"}},
			{"from": "hand", "to": "back", "when": object{"type": "failure"}},
		},
	})
	return s.api("POST", "/v1/agents", object{
		"name": "hands over", "pathway_id": p["id"],
		"transfer": object{"destinations": []object{{"name": "desk", "to": "+12025550199", "mode": "blind"}}},
	})["id"].(string)
}

// createReferAcceptingAgent creates an agent that accepts a REFER of the phone and ends the call after three seconds
// without a key.
func (s *service) createReferAcceptingAgent() string {
	s.t.Helper()
	p := s.api("POST", "/v1/pathways", object{
		"name": "follows", "start": "wait",
		"nodes": []object{
			{"id": "wait", "type": "collect", "input": "dtmf", "length": 1, "timeout_seconds": 3, "retries": 0},
			{"id": "bye", "type": "end", "outcome": "confirmed"},
		},
		"edges": []object{{"from": "wait", "to": "bye", "when": object{"type": "else"}}},
	})
	return s.api("POST", "/v1/agents", object{
		"name": "follows", "pathway_id": p["id"], "inbound": object{"answer": "direct"}, "transfer": object{"accept_refer": true},
	})["id"].(string)
}

// transferOutcome waits for the end of a call. It returns the result of the last transfer, the end reason of the call
// and the SIP responses of the transfer.
func (s *service) transferOutcome(id string) []string {
	call := s.awaitCallEnd(id, 30*time.Second)
	h := s.lastTransfer(id)
	out := []string{fmt.Sprint(h["mode"], " ", h["status"]), fmt.Sprint(h["reason"]), fmt.Sprint(call["status"], " ", call["ended_reason"])}
	if steps, ok := h["sip"].([]any); ok {
		for _, raw := range steps {
			step := raw.(object)
			out = append(out, fmt.Sprintf("%v %v", step["method"], step["code"]))
		}
	}
	return out
}

// Peers differ in how they answer a REFER and report its progress. After each variant the call is transferred, or
// the caller is back with the agent.
func TestOutboundReferVariantsHaveAnOutcome(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.removeLimits()
	const (
		done       = "SIP/2.0 200 OK"
		event      = "Event: refer"
		active     = "Subscription-State: active"
		terminated = "Subscription-State: terminated;reason=noresource"
		frag       = "Content-Type: message/sipfrag"
	)
	notify := func(answer, event, state, kind, result string) []string {
		return []string{answer, "-key", "event", event, "-key", "state", state, "-key", "type", kind, "-key", "result", result}
	}
	transferred := func(steps ...string) []string {
		return append([]string{"blind completed", "<nil>", "completed transferred"}, steps...)
	}
	back := func(reason string, steps ...string) []string {
		return append([]string{"blind failed", reason, "completed completed"}, steps...)
	}
	phones := map[string]struct {
		scenario []string
		want     []string
	}{
		"200 instead of 202":             {notify("uas-refer-200-notify", event, active, frag, done), transferred("REFER 200", "NOTIFY 200")},
		"an id":                          {notify("uas-refer-notify", "Event: refer;id=2", terminated, frag, done), transferred("REFER 202", "NOTIFY 200")},
		"no Event":                       {notify("uas-refer-notify", "X-None: 1", terminated, frag, done), transferred("REFER 202", "NOTIFY 200")},
		"no Subscription-State":          {notify("uas-refer-notify", event, "X-None: 1", frag, done), transferred("REFER 202", "NOTIFY 200")},
		"small letters":                  {notify("uas-refer-notify", "event: refer", "subscription-state: terminated", "content-type: message/sipfrag", "sip/2.0 200 ok"), transferred("REFER 202", "NOTIFY 200")},
		"headers in the fragment":        {notify("uas-refer-notify", event, active, frag, done+"\nContact: <sip:a@example.com>\n"), transferred("REFER 202", "NOTIFY 200")},
		"the subscription ends with 100": {notify("uas-refer-notify", event, terminated, frag, "SIP/2.0 100 Trying"), back("unconfirmed", "REFER 202", "NOTIFY 100")},
		"the target declines":            {notify("uas-refer-notify", event, terminated, frag, "SIP/2.0 603 Decline"), back("sip_603", "REFER 202", "NOTIFY 603")},
		"NOTIFY before 202":              {[]string{"uas-refer-notify-first"}, transferred("NOTIFY 100", "REFER 202", "NOTIFY 200")},
		"NOTIFYs of other subscriptions": {[]string{"uas-refer-notify-refused"}, transferred("REFER 202", "NOTIFY 200")},
		"no subscription":                {[]string{"uas-refer-norefersub"}, transferred("REFER 202")},
		"BYE after 202, then NOTIFY":     {[]string{"uas-refer-bye"}, transferred("REFER 202")},
		"REFER declined":                 {[]string{"uas-refer-603"}, back("sip_603", "REFER 603")},
		"REFER not allowed":              {[]string{"uas-refer-405"}, back("sip_405", "REFER 405")},
		"REFER not implemented":          {[]string{"uas-refer-501"}, back("sip_501", "REFER 501")},
	}
	agent := s.createBlindTransferAgent()
	peers, ids := map[string]*sippPeer{}, map[string]string{}
	for name, c := range phones {
		number := "+120255503" + strconv.Itoa(10+len(peers))
		peers[name] = startSIPp(t, c.scenario[0], append([]string{"-m", "1"}, c.scenario[1:]...)...)
		s.createTrunk(number, peers[name].port)
		ids[name] = s.placeCall(number, agent, nil)
	}
	for name, c := range phones {
		assert.Equal(t, c.want, s.transferOutcome(ids[name]), name)
		assert.NoError(t, <-peers[name].done, name)
	}
}

// Phones differ in how they send a REFER and react to its NOTIFYs. With each variant the transfer must have an outcome.
func TestInboundReferVariantsHaveAnOutcome(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.removeLimits()
	desk, busy := startSIPp(t, "uas-answer"), startSIPp(t, "uas-busy")
	s.createTrunk("+12025550199", desk.port)
	s.createTrunk("+12025550198", busy.port)
	in := s.createTrunk("+1999", siptest.Port(t))
	s.api("POST", "/v1/phone-numbers", object{"number": "+12025550142", "agent_id": s.createReferAcceptingAgent(), "trunk_id": in})
	to := func(refer, more, scenario string) []string {
		return []string{scenario, "-key", "refer", refer, "-key", "more", more}
	}
	const desks, none = "Refer-To: <sip:+12025550199@example.com>", "X-None: 1"
	handed := []string{"blind completed", "<nil>", "completed completed"}
	phones := map[string]struct {
		scenario []string
		legs     int
		want     []string
	}{
		"tel:":                        {to("Refer-To: tel:+12025550199", none, "uac-refers-blind"), 2, handed},
		"headers":                     {to("Refer-To: <sip:+12025550199@example.com?Subject=x&Priority=urgent>", none, "uac-refers-blind"), 2, handed},
		"Referred-By":                 {to(desks, "Referred-By: <sip:boss@example.com>;cid=\"1\"", "uac-refers-blind"), 2, handed},
		"method INVITE":               {to("Refer-To: <sip:+12025550199@example.com;method=INVITE>", none, "uac-refers-blind"), 2, handed},
		"NOTIFY gets 481":             {to(desks, none, "uac-refers-notify-481"), 2, handed},
		"NOTIFY gets 500":             {to(desks, none, "uac-refers-notify-500"), 2, handed},
		"NOTIFY is never answered":    {[]string{"uac-refers-notify-unanswered"}, 2, handed},
		"BYE after 202":               {[]string{"uac-refers-bye", "-key", "target", "+12025550199"}, 2, handed},
		"BYE after 202, desk is busy": {[]string{"uac-refers-bye", "-key", "target", "+12025550198"}, 2, []string{"blind failed", "busy", "completed remote_hangup"}},
		"wrong REFERs":                {[]string{"uac-refers-malformed"}, 1, []string{"<nil> <nil>", "<nil>", "completed remote_hangup"}},
	}
	peers, from := map[string]*sippPeer{}, map[string]string{}
	for name, c := range phones {
		from[name] = "+120255504" + strconv.Itoa(10+len(peers))
		peers[name] = startSIPpCaller(t, c.scenario[0], append([]string{"-m", "1", "-s", "+12025550142", "-key", "from", from[name], "127.0.0.1:" + strconv.Itoa(s.sip)}, c.scenario[1:]...)...)
	}
	ids := map[string]string{}
	s.await("the calls", 20*time.Second, func() bool {
		for _, raw := range s.api("GET", "/v1/calls?direction=inbound&limit=100", nil)["data"].([]any) {
			ids[raw.(object)["from"].(string)] = raw.(object)["id"].(string)
		}
		return len(ids) == len(phones)
	})
	for name, c := range phones {
		id := ids[from[name]]
		require.NotEmpty(t, id, name)
		assert.Equal(t, c.want, s.transferOutcome(id)[:3], name)
		assert.Len(t, s.api("GET", "/v1/calls/"+id, nil)["legs"], c.legs, name)
		assert.NoError(t, <-peers[name].done, name)
	}
}
