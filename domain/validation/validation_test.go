package validation_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/validation"
)

func params(p domain.Problems) []string {
	list := []string{}
	for _, d := range p {
		list = append(list, d.Param+" "+string(d.Code))
	}
	return list
}

func limits() validation.Limits {
	return validation.Limits{
		Limits: domain.Limits{CallsPerMinute: 60, ConcurrentOutbound: 25}, DefaultCountry: "US",
		CallerIDs: []string{"+12025550100"}, Now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
	}
}

func campaign() *domain.Campaign {
	c := &domain.Campaign{Name: "c", AgentID: "agent_01J00000000000000000000001"}
	validation.CampaignDefaults(c, limits())
	return c
}

func TestCampaignDefaultsAreValid(t *testing.T) {
	assert.Empty(t, params(validation.Campaign(campaign(), limits())))
}

func TestInvalidCampaigns(t *testing.T) {
	past := limits().Now.Add(-time.Hour)
	for name, c := range map[string]struct {
		change func(*domain.Campaign)
		want   []string
	}{
		"above the plan":       {func(c *domain.Campaign) { c.Pacing.MaxConcurrent = 26 }, []string{"pacing.max_concurrent exceeds_plan_limit"}},
		"nothing at a time":    {func(c *domain.Campaign) { c.Pacing.CallsPerMinute = -1 }, []string{"pacing.calls_per_minute validation_error"}},
		"over already":         {func(c *domain.Campaign) { c.Schedule.End = &past }, []string{"schedule.end validation_error"}},
		"the zone of a server": {func(c *domain.Campaign) { c.Schedule.Timezone = "Local" }, []string{"schedule.timezone validation_error"}},
		"a day twice":          {func(c *domain.Campaign) { c.Schedule.Days = []string{"monday", "monday"} }, []string{"schedule.days[1] validation_error"}},
		"a foreign number":     {func(c *domain.Campaign) { c.CallerID.Number = "+12025550177" }, []string{"caller_id.number caller_id_not_allowed"}},
		"hours of no length":   {func(c *domain.Campaign) { c.Compliance.CallingHours.End = "08:00" }, []string{"compliance.calling_hours.end validation_error"}},
		"neither plan nor man": {func(c *domain.Campaign) { c.AgentID = "" }, []string{"agent_id validation_error"}},
		"another's list":       {func(c *domain.Campaign) { c.Compliance.DNCListID = "dnc_1" }, []string{"compliance.dnc_list_id validation_error"}},
		"no name":              {func(c *domain.Campaign) { c.Name = " " }, []string{"name validation_error"}},
		"half a retry":         {func(c *domain.Campaign) { c.Retry.IntervalHours = -0.5 }, []string{"retry.interval_hours validation_error"}},
		"many notes":           {func(c *domain.Campaign) { c.Metadata = map[string]string{"k": strings.Repeat("x", 501)} }, []string{"metadata.k validation_error"}},
		"hours over midnight": {func(c *domain.Campaign) {
			c.Compliance.CallingHours = domain.CallingHours{Start: "22:00", End: "02:00", Timezone: "Europe/Berlin"}
		}, []string{}},
	} {
		good := campaign()
		c.change(good)
		assert.Equal(t, c.want, params(validation.Campaign(good, limits())), name)
	}
}

func TestCallerIDBelongsToWorkspaceOrTrunk(t *testing.T) {
	bare, test := limits(), limits()
	bare.CallerIDs = nil
	test.CallerIDs, test.Test = nil, true
	for name, c := range map[string]struct {
		available validation.Limits
		number    string
		want      []string
	}{
		"none":                            {limits(), "", []string{}},
		"none, without any number":        {bare, "", []string{"caller_id.number caller_id_required"}},
		"of the workspace":                {limits(), "(202) 555-0100", []string{}},
		"of another workspace":            {limits(), "+12025550177", []string{"caller_id.number caller_id_not_allowed"}},
		"none in the test environment":    {test, "", []string{}},
		"any one in the test environment": {test, "+12025550177", []string{}},
	} {
		campaign := campaign()
		campaign.CallerID.Number = c.number
		assert.Equal(t, c.want, params(validation.Campaign(campaign, c.available)), name)
	}
}

func TestInvalidTrunks(t *testing.T) {
	good := domain.Trunk{Name: "t", Proxies: []domain.Proxy{{Host: "sip.example.com"}, {Host: "[2001:db8::1]"}, {Host: "192.0.2.1"}}}
	validation.TrunkDefaults(&good)
	assert.Empty(t, params(validation.Trunk(&good)))
	bad := domain.Trunk{
		Proxies: []domain.Proxy{{Host: "a b", Port: 70000, Transport: "sctp"}}, OutboundProxy: &domain.Proxy{Host: "", Weight: -1},
		Auth: &domain.TrunkAuth{}, FromDomain: "http://x", NumberFormat: "x", NumberCountry: "usa", NumberStrip: "a", NumberAdd: "+1 2",
		Inbound: domain.TrunkInbound{AllowedIPs: []string{"10.0.0.0/8", "here", "0.0.0.0/0"}, Auth: nil, CallsPerSecond: -1},
		Codecs:  []string{"PCMU", "G729", "PCMU"}, DTMF: "smoke", SRTP: "maybe", CallsPerSecond: -1, MaxChannels: -1,
		MediaNetworks: []string{"fe80::1%eth0"}, Prefixes: []string{"+1202", "abc"}, Priority: -1,
		Costs:     []domain.Rate{{Prefix: "+", Cost: "0.01"}, {Prefix: "x", Cost: "-1"}},
		CallerIDs: []string{"nobody"}, CallerIDHeaders: []string{"P-Asserted-Identity", "X-Me"},
		Alarms: domain.TrunkAlarms{MinASR: 1.2, MaxShortCallShare: -0.1, MinACDSeconds: 4000, ShortCallSeconds: 99, MinCalls: -1},
	}
	validation.TrunkDefaults(&bad)
	assert.Equal(t, []string{
		"name validation_error", "proxies[0].host validation_error", "proxies[0].port validation_error", "proxies[0].transport validation_error",
		"outbound_proxy.host validation_error", "outbound_proxy.weight validation_error", "auth.username validation_error",
		"auth.password validation_error", "from_domain validation_error", "number_format validation_error", "number_country validation_error",
		"number_strip validation_error", "number_add validation_error", "inbound.allowed_ips[1] validation_error",
		"inbound.allowed_ips[2] validation_error", "inbound.calls_per_second validation_error", "media_networks[0] validation_error",
		"codecs[1] validation_error", "codecs[2] validation_error", "dtmf validation_error", "srtp validation_error",
		"calls_per_second validation_error", "max_channels validation_error", "prefixes[1] validation_error", "priority validation_error",
		"costs[1].prefix validation_error", "costs[1].cost validation_error", "caller_ids[0] validation_error",
		"caller_id_headers[1] validation_error", "alarms.min_asr validation_error", "alarms.max_short_call_share validation_error",
		"alarms.min_acd_seconds validation_error", "alarms.short_call_seconds validation_error", "alarms.min_calls validation_error",
	}, params(validation.Trunk(&bad)))
	for name, t2 := range map[string]domain.Trunk{
		"number_country validation_error": {NumberFormat: "national"}, "register validation_error": {Register: true},
	} {
		t2.Name, t2.Proxies = "t", []domain.Proxy{{Host: "192.0.2.1"}}
		validation.TrunkDefaults(&t2)
		assert.Equal(t, []string{name}, params(validation.Trunk(&t2)))
	}
	for name, c := range map[string]struct {
		match domain.TrunkMatch
		want  []string
	}{
		"a header":                    {domain.TrunkMatch{Header: "X-Trunk-ID", Value: "acme"}, []string{}},
		"a trunk group":               {domain.TrunkMatch{Header: "contact", Parameter: "tgrp", Value: "tg-7"}, []string{}},
		"nothing":                     {domain.TrunkMatch{}, []string{"inbound.match.header validation_error", "inbound.match.value validation_error"}},
		"a header of the transaction": {domain.TrunkMatch{Header: "Via", Value: "x"}, []string{"inbound.match.header validation_error"}},
		"no header":                   {domain.TrunkMatch{Header: "X-a b", Value: "x"}, []string{"inbound.match.header validation_error"}},
		"a From without a parameter":  {domain.TrunkMatch{Header: "From", Value: "x"}, []string{"inbound.match.parameter validation_error"}},
		"the tag":                     {domain.TrunkMatch{Header: "From", Parameter: "tag", Value: "x"}, []string{"inbound.match.parameter validation_error"}},
		"no parameter":                {domain.TrunkMatch{Header: "From", Parameter: "a=b", Value: "x"}, []string{"inbound.match.parameter validation_error"}},
		"too long":                    {domain.TrunkMatch{Header: "X-" + strings.Repeat("a", 63), Value: strings.Repeat("a", 129)}, []string{"inbound.match.header validation_error", "inbound.match.value validation_error"}},
		"a space at the end":          {domain.TrunkMatch{Header: "X-A", Value: "acme "}, []string{"inbound.match.value validation_error"}},
	} {
		matched := domain.Trunk{Name: "t", Proxies: []domain.Proxy{{Host: "192.0.2.1"}}, Inbound: domain.TrunkInbound{Match: &c.match}}
		validation.TrunkDefaults(&matched)
		assert.Equal(t, c.want, append([]string{}, params(validation.Trunk(&matched))...), name)
	}
	open := domain.Trunk{Name: "t", Proxies: []domain.Proxy{{Host: "192.0.2.1"}}, Inbound: domain.TrunkInbound{AllowedIPs: []string{"0.0.0.0/0"}, Auth: &domain.TrunkAuth{Username: "u", Password: "p"}}}
	validation.TrunkDefaults(&open)
	assert.Empty(t, params(validation.Trunk(&open)), "with auth every address is allowed")
}

func TestProxyDefaults(t *testing.T) {
	got := domain.Trunk{Proxies: []domain.Proxy{
		{Host: "sip.example.com"},
		{Host: "sip.example.com", Transport: "tls"},
		{Host: "sip.example.com", Port: 5070},
		{Host: "192.0.2.1"},
		{Host: "2001:db8::1", Transport: "tls"},
	}}
	validation.TrunkDefaults(&got)
	assert.Equal(t, []domain.Proxy{
		{Host: "sip.example.com", Weight: 1},
		{Host: "sip.example.com", Transport: "tls", Weight: 1},
		{Host: "sip.example.com", Port: 5070, Transport: "udp", Weight: 1},
		{Host: "192.0.2.1", Port: 5060, Transport: "udp", Weight: 1},
		{Host: "2001:db8::1", Port: 5061, Transport: "tls", Weight: 1},
	}, got.Proxies)
}

func TestNumbersAreNormalizedToE164(t *testing.T) {
	n := domain.PhoneNumber{Number: "(202) 555-0100", AgentID: "agent_01J00000000000000000000001"}
	assert.Empty(t, params(validation.Number(&n, "US")))
	assert.Equal(t, "+12025550100", n.Number)
	assert.Equal(t, []string{"trunk_id validation_error", "agent_id validation_error"}, params(validation.Number(&domain.PhoneNumber{Number: "*"}, "US")))
}

func TestWorkspaceCallsPerMinuteLimit(t *testing.T) {
	t.Parallel()
	for perMinute, want := range map[int][]string{0: {"limits.calls_per_minute validation_error"}, 1: {}} {
		w := &domain.Workspace{Name: "w", DefaultCountry: "US", Plan: domain.Starter, Limits: domain.Limits{RequestsPerMinute: 1, CallsPerMinute: perMinute}}
		assert.Equal(t, want, params(validation.Workspace(w)))
	}
}

func TestSMSSegmentPriceBounds(t *testing.T) {
	t.Parallel()
	for amount, says := range map[string]string{
		"0.0079": "", "1000.00": "", "1000.000001": "is 1000.000001 dollars; a segment costs at most 1000.00", "a lot": `"a lot" is not an amount of money (e.g. 0.0079)`,
	} {
		w := &domain.Workspace{
			Name: "w", DefaultCountry: "US", Plan: domain.Starter, Limits: domain.Limits{RequestsPerMinute: 1, CallsPerMinute: 1},
			SegmentPrice: &domain.Money{Amount: amount, Currency: "USD"},
		}
		found := validation.Workspace(w)
		if says == "" {
			assert.Empty(t, found, amount)
			continue
		}
		assert.Equal(t, []string{"sms_price_per_segment validation_error"}, params(found))
		assert.ErrorContains(t, found.Err(), says)
	}
}

func TestTimeZoneNames(t *testing.T) {
	for name, want := range map[string]string{
		"America/New_York": "", "Europe/Berlin": "", "America/Argentina/Buenos_Aires": "", "UTC": "", "Etc/UTC": "",
		"EST": "America/New_York", "MST": "America/Denver", "EST5EDT": "America/New_York", "pst": "America/Los_Angeles", "CET": "Europe/Berlin",
		"Etc/GMT+5": "Europe/Berlin", "Japan": "Europe/Berlin", "Mars/Olympus": "no time zone", "Local": "no time zone", "": "no time zone",
	} {
		var p domain.Problems
		validation.Zone(&p, "timezone", name)
		if want == "" {
			assert.Empty(t, p, name)
			continue
		}
		if assert.Len(t, p, 1, name) {
			assert.Contains(t, p[0].Message, want, name)
		}
	}
}
