package main_test

import (
	"maps"
	"net/netip"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip/siptest"
)

// trunkCall is an inbound call from a session border controller (SBC) that serves several trunks.
type trunkCall struct {
	address, header, group, to string
	scenario                   string // scenario of deploy/sipp; default: uac-trunk-header
	workspace, trunk           string // expected workspace and trunk; empty: the call is rejected
}

// placeTrunkCalls places several calls at once, each with its own caller number.
func (s *service) placeTrunkCalls(list []trunkCall) (from []string) {
	s.t.Helper()
	peers := make([]*sippPeer, len(list))
	for i, c := range list {
		from = append(from, "+120255503"+strconv.Itoa(10+i))
		scenario := c.scenario
		switch {
		case scenario != "":
		case c.trunk == "":
			scenario = "uac-trunk-header-refused"
		default:
			scenario = "uac-trunk-header"
		}
		at := netip.AddrPortFrom(netip.MustParseAddr(c.address), uint16(siptest.Port(s.t)))
		peers[i] = startSIPpAt(s.t, at, scenario, "-m", "1", "-s", c.to, "-key", "from", from[i], "-key", "trunk", c.header, "-key", "group", c.group, "-d", "100",
			"-auth_uri", c.to+"@127.0.0.1:"+strconv.Itoa(s.sip), "127.0.0.1:"+strconv.Itoa(s.sip))
	}
	for i, p := range peers {
		select {
		case err := <-p.done:
			require.NoError(s.t, err, "%+v", list[i])
		case <-time.After(time.Minute):
			s.t.Fatalf("the call did not end: %+v", list[i])
		}
	}
	return from
}

// A session border controller sends the calls of several trunks and workspaces from one address. The number, the
// credentials or a header of a call must select its trunk.
func TestTrunksAtSameAddressAreDistinguished(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.removeLimits()
	created := s.api("POST", "/v1/workspaces", object{"name": "theirs", "plan": "enterprise"})
	keys := map[string]string{"ours": s.key, "theirs": created["key"].(string)}
	as := func(workspace string) { s.key = keys[workspace] }
	trunk := func(inbound object) string {
		inbound = maps.Clone(inbound)
		if inbound["allowed_ips"] == nil {
			inbound["allowed_ips"] = []string{"127.0.0.1"}
		}
		return s.api("POST", "/v1/trunks", object{"name": "t", "proxies": []object{{"host": "127.0.0.1", "port": siptest.Port(t)}}, "inbound": inbound})["id"].(string)
	}
	number := func(number, trunk string) {
		body := object{"number": number, "agent_id": s.createWaitingAgent("wait")} // the callers hang up
		if trunk != "" {
			body["trunk_id"] = trunk
		}
		id := s.api("POST", "/v1/phone-numbers", body)["id"].(string)
		if s.key != keys["ours"] {
			s.key = keys["ours"]
			s.api("POST", "/v1/workspaces/"+created["id"].(string)+"/phone-numbers/"+id+"/approve", nil)
			s.key = keys["theirs"]
		}
	}
	named := func(header, value string) object { return object{"match": object{"header": header, "value": value}} }
	plain := trunk(object{})
	acme := trunk(named("X-Trunk-ID", "acme"))
	group := trunk(object{"match": object{"header": "Contact", "parameter": "tgrp", "value": "tg-7"}})
	number("+12025550141", plain)
	number("+12025550142", "")
	number("*", acme)
	number("*", group)
	as("theirs")
	foreign := trunk(named("X-Trunk-ID", "foreign"))
	forged := trunk(named("X-Trunk-ID", "acme")) // same header value as a trunk of another workspace
	elsewhere := trunk(object{"allowed_ips": []string{"127.0.0.3"}})
	number("+12025550151", foreign)
	number("*", foreign)
	number("*", forged)
	const sbc, another, none, unknown = "127.0.0.1", "127.0.0.3", "none", "+12025550199"
	list := []trunkCall{
		{sbc, none, none, "+12025550141", "", "ours", plain},   // selected by the number
		{sbc, "acme", none, "+12025550141", "", "ours", plain}, // the trunk of the number
		{sbc, none, none, "+12025550142", "", "ours", plain},   // a number without a trunk: the oldest trunk
		{sbc, "Acme", none, "+12025550142", "", "ours", acme},  // the trunk of the header
		{sbc, none, "tg-7", "+12025550142", "", "ours", group}, // the trunk group
		{sbc, "acme", none, unknown, "", "ours", acme},         // an unassigned number
		{sbc, none, "tg-7", unknown, "", "ours", group},        // an unassigned number
		{sbc, "foreign", none, unknown, "", "theirs", foreign}, // an unassigned number of another workspace
		{sbc, "foreign", none, "+12025550151", "", "theirs", foreign},
		{sbc, "acme", none, "+12025550151", "", "ours", acme}, // the carrier names the trunk
		{sbc, none, none, "+12025550151", "", "", ""},         // a number of another trunk
		{sbc, "guess", "guess", unknown, "", "", ""},          // an unknown header value
		{another, "acme", "tg-7", unknown, "", "", ""},        // the header of a trunk at another address
		{another, "acme", none, "+12025550142", "", "", ""},   // a number of another workspace
	}
	from := s.placeTrunkCalls(list)
	as("ours")
	closed := trunk(object{"auth": object{"username": "carrier", "password": "proof"}})
	number("+12025550143", closed)
	proved := s.placeTrunkCalls([]trunkCall{
		{sbc, none, none, "+12025550143", "uac-digest", "ours", closed}, // selected by the credentials
		{sbc, "acme", none, "+12025550143", "uac-refused-401", "", ""},  // a header does not replace credentials
	})
	got := map[string][]string{}
	for workspace := range keys {
		as(workspace)
		s.await("the calls' ends", 20*time.Second, func() bool {
			return len(s.api("GET", "/v1/calls?limit=100&status=in_progress", nil)["data"].([]any)) == 0
		})
		for _, raw := range s.api("GET", "/v1/calls?limit=100", nil)["data"].([]any) {
			c := raw.(object)
			legs := c["legs"].([]any)
			require.NotEmpty(t, legs, c)
			got[c["from"].(string)+" "+c["to"].(string)] = []string{workspace, legs[0].(object)["trunk_id"].(string)}
		}
	}
	want := map[string][]string{"+15552000 +12025550143": {"ours", closed}}
	for i, c := range list {
		if c.trunk != "" {
			want[from[i]+" "+c.to] = []string{c.workspace, c.trunk}
		}
	}
	assert.Equal(t, want, got)
	require.Len(t, proved, 2)
	as("theirs")
	refused := s.api("GET", "/v1/trunks/"+elsewhere, nil)["quality"].(object)["inbound_refusals"]
	assert.Equal(t, object{"unknown_number": 2.0}, refused)
}
