package main_test

import (
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHostileInputGetsErrorsAndDamagesNothing(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.removeLimits()
	agent := s.createGreetingAgent()
	s.createTrunk("", 9)
	id := s.api("POST", "/v1/campaigns", object{"name": "c", "agent_id": agent, "caller_id": object{"number": "+12025550100"}})["id"].(string)
	cases := []struct {
		method, path string
		body         any
		kind         string
		status       int
		code, param  string
	}{
		{"POST", "/v1/campaigns", `{"name":`, "", 400, "invalid_request", ""},
		{"POST", "/v1/campaigns", `[1,2]`, "", 422, "", ""},
		{"POST", "/v1/campaigns", object{"name": 7, "agent_id": agent}, "", 422, "validation_error", "name"},
		{"POST", "/v1/campaigns", object{"name": "x", "agent_id": "agent_01J00000000000000000000000"}, "", 422, "validation_error", "agent_id"},
		{"POST", "/v1/campaigns", object{"agent_id": agent}, "", 422, "", "name"},
		{"POST", "/v1/campaigns", bytes.Repeat([]byte(" "), 11<<20), "", 413, "payload_too_large", ""},
		{"POST", "/v1/campaigns", `{"name":"` + strings.Repeat("[", 100000) + `"}`, "", 422, "", ""},
		{"POST", "/v1/campaigns", "name=x", "application/x-www-form-urlencoded", 415, "", ""},
		{"POST", "/v1/calls/outbound", object{"to": "911", "agent_id": agent, "from": "+12025550100"}, "", 403, "destination_not_allowed", "to"},
		{"POST", "/v1/calls/outbound", object{"to": "+1", "agent_id": agent, "from": "+12025550100"}, "", 422, "validation_error", "to"},
		{"POST", "/v1/calls/outbound", object{"to": "+442071838750", "agent_id": agent, "from": "+12025550100"}, "", 403, "destination_not_allowed", ""},
		{"POST", "/v1/webhooks", object{"url": "http://127.0.0.1/x", "events": []string{"*"}}, "", 422, "invalid_url", "url"},
		{"POST", "/v1/webhooks", object{"url": "https://169.254.169.254/x", "events": []string{"*"}}, "", 422, "invalid_url", "url"},
		{"POST", "/v1/webhooks", object{"url": "https://127.0.0.1:" + s.http[strings.LastIndexByte(s.http, ':')+1:] + "/", "events": []string{"*"}}, "", 422, "invalid_url", "url"},
		{"POST", "/v1/webhooks", object{"url": s.receiver.url, "events": []string{"call.nonsense"}}, "", 422, "", "events"},
		{"POST", "/v1/trunks", object{"name": "t", "proxies": []object{{"host": "10.0.0.1\r\nX: y", "port": 5060, "transport": "udp"}}}, "", 422, "", ""},
		{"GET", "/v1/campaigns/campaign_nonsense", nil, "", 404, "not_found", ""},
		{"GET", "/v1/campaigns?limit=1000", nil, "", 422, "", "limit"},
		{"GET", "/v1/calls?cursor=%00%ff", nil, "", 422, "", "cursor"},
		{"DELETE", "/v1/campaigns/" + id + "/status", nil, "", 405, "method_not_allowed", ""},
		{"GET", "/v1/nonsense", nil, "", 404, "not_found", ""},
	}
	for _, c := range cases {
		var head []string
		if c.kind != "" {
			head = []string{"Content-Type", c.kind}
		}
		status, text, h := s.tryRequest(c.method, c.path, c.body, head...)
		name := c.method + " " + c.path + " " + lastBytes(string(text), 300)
		assert.Equal(t, c.status, status, name)
		var e struct {
			Success *bool
			Error   struct {
				Code, Message, Param string
				RequestID            string `json:"request_id"`
				Details              []struct{ Param string }
			}
		}
		require.NoError(t, json.Unmarshal(text, &e), name)
		require.NotNil(t, e.Success, name)
		assert.False(t, *e.Success, name)
		assert.NotEmpty(t, e.Error.Message, name)
		assert.Equal(t, h.Get("X-Request-Id"), e.Error.RequestID, name)
		if c.code != "" {
			assert.Equal(t, c.code, e.Error.Code, name)
		}
		if c.param != "" {
			named := strings.HasPrefix(e.Error.Param, c.param)
			for _, d := range e.Error.Details {
				named = named || strings.HasPrefix(d.Param, c.param)
			}
			assert.True(t, named, "names %s: %s", c.param, name)
		}
	}
	rows := "phone,name\n+12025550101,Ada\nnonsense,Bob\n+12025550101,Twice\n911,Help\n+12025550102,\"broken\n+12025550103,Carl\n"
	status, text, _ := s.tryRequest("POST", "/v1/campaigns/"+id+"/contacts", rows, "Content-Type", "text/csv")
	require.Equal(t, http.StatusOK, status, "%s", text)
	var up struct {
		Summary struct{ Received, Accepted, Duplicates, Invalid int } `json:"contacts_summary"`
		Errors  []struct {
			Line    int
			Message string
		} `json:"contact_errors"`
	}
	require.NoError(t, json.Unmarshal(text, &up))
	assert.Equal(t, up.Summary.Received, up.Summary.Accepted+up.Summary.Duplicates+up.Summary.Invalid, "%s", text)
	assert.GreaterOrEqual(t, up.Summary.Accepted, 1)
	assert.Equal(t, 1, up.Summary.Duplicates)
	assert.NotEmpty(t, up.Errors)

	for _, network := range []string{"udp", "tcp"} {
		conn, err := net.Dial(network, "127.0.0.1:"+strconv.Itoa(s.sip))
		require.NoError(t, err)
		for _, junk := range []string{"\x00\xff\xfe", "GET / HTTP/1.1\r\n\r\n", "INVITE sip:x SIP/2.0\r\n\r\n", strings.Repeat("A", 60000), "\r\n\r\n"} {
			_, _ = conn.Write([]byte(junk)) // the service may have closed the connection
		}
		require.NoError(t, conn.Close())
	}
	answer := startSIPp(t, "uas-answer")
	s.createTrunk("", answer.port)
	st, ok := s.campaignStatus(id)
	require.True(t, ok)
	assert.Equal(t, up.Summary.Accepted, st.Progress.Total, "nothing was lost")
	after := s.startCampaign(agent, []string{"+12025550104"}, nil)
	assert.Equal(t, 1, s.awaitCampaignEnd(after, 3e10).Outcomes["completed"], "the service still works")
}
