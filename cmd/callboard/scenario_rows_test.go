package main_test

import (
	"slices"
	"strings"
)

// Outcomes that many test cases expect: the status, ended_reason and ended_by of the call.
const (
	endedByAgent  = "completed completed agent"
	endedByRemote = "completed remote_hangup remote"
	noMedia       = "failed media service"
)

var (
	srtpTrunk   = object{"srtp": "required", "srtp_keys_in_clear": true}
	digestTrunk = object{"auth": object{"username": "callboard", "password": "secret"}}
)

// scenarioRows returns all test cases of TestSIPpScenarios.
func scenarioRows() []scenarioCase {
	return slices.Concat(transportRows(), holdRows(), inboundScenarios(), outboundScenarios(), rejectedScenarios())
}

// transportRows returns test cases of complete calls over each transport protocol, with IPv4 and IPv6.
func transportRows() []scenarioCase {
	var rows []scenarioCase
	for _, network := range []string{"udp", "tcp", "tls"} {
		for _, ipv6 := range []bool{false, true} {
			name := " over " + network
			if ipv6 {
				name += " and IPv6"
			}
			rows = append(rows,
				scenarioCase{name: "called" + name, scenario: "uas-hold", network: network, ipv6: ipv6, wantOutcome: endedByAgent, code: 200},
				scenarioCase{name: "calling" + name, scenario: "uac-hold", network: network, ipv6: ipv6, wantOutcome: endedByRemote},
				scenarioCase{name: "called with a late offer" + name, scenario: "uas-reinvite-without-sdp", network: network, ipv6: ipv6, wantOutcome: endedByAgent, code: 200},
				scenarioCase{name: "called with 100rel and UPDATE" + name, scenario: "uas-sends-early-update", network: network, ipv6: ipv6, wantOutcome: endedByAgent, code: 200},
				scenarioCase{name: "calling through proxies" + name, scenario: "uac-record-route", network: network, ipv6: ipv6, wantOutcome: endedByAgent},
				scenarioCase{name: "calling with a late offer" + name, scenario: "uac-late-offer", network: network, ipv6: ipv6, wantOutcome: endedByRemote},
			)
		}
	}
	return rows
}

// holdRows returns test cases for the variants of a hold in a re-INVITE, by the caller and by the callee.
func holdRows() []scenarioCase {
	const (
		held    = "o=sipp 1 2 IN IP[media_ip_type] [media_ip]\ns=-\nc=IN IP[media_ip_type] [media_ip]\nt=0 0"
		nowhere = "o=sipp 1 2 IN IP[media_ip_type] [media_ip]\ns=-\nc=IN IP4 0.0.0.0\nt=0 0"
	)
	unspecified := []string{held, strings.Replace(nowhere, "IP4 0.0.0.0", "IP6 ::", 1), "a=sendonly", "a=sendrecv"}
	rows := []scenarioCase{
		{name: "caller holds by c=::", scenario: "uac-hold", ipv6: true, replacements: unspecified, wantOutcome: endedByRemote},
		{name: "callee holds by c=::", scenario: "uas-hold", ipv6: true, replacements: unspecified, wantOutcome: endedByAgent},
	}
	for _, c := range []struct {
		name  string
		edits []string
	}{
		{"a=inactive", []string{"a=recvonly", "a=inactive", "a=sendonly", "a=inactive"}},
		{"a=recvonly, the other way", []string{`"a=recvonly"`, `"a=sendonly"`, "a=sendonly\n]]", "a=recvonly\n]]"}},
		{"c=0.0.0.0", []string{held, nowhere, "a=sendonly", "a=sendrecv"}},
		{"c=0.0.0.0 without direction", []string{held, nowhere, "a=sendonly\n", ""}},
		{"c=0.0.0.0 and a=sendonly", []string{held, nowhere}},
		{"c=0.0.0.0 and a=inactive", []string{held, nowhere, "a=recvonly", "a=inactive", "a=sendonly", "a=inactive"}},
		{"c=0.0.0.0 of the stream", []string{"a=sendonly\n", "c=IN IP4 0.0.0.0\n"}},
		{"a=sendonly of the session", []string{held, held + "\na=sendonly", "a=sendonly\n]]", "]]"}},
		{"a=inactive of the session", []string{held, held + "\na=inactive", "a=sendonly\n]]", "]]", "a=recvonly", "a=inactive"}},
		{"direction of stream before it", []string{held, held + "\na=sendrecv"}},
		{"a=sendonly twice", []string{"a=sendonly\n", "a=sendonly\na=sendonly\n"}},
	} {
		rows = append(rows,
			scenarioCase{name: "caller holds by " + c.name, scenario: "uac-hold", replacements: c.edits, wantOutcome: endedByRemote},
			scenarioCase{name: "callee holds by " + c.name, scenario: "uas-hold", replacements: c.edits, wantOutcome: endedByAgent},
		)
	}
	return rows
}

// inboundScenarios returns test cases of inbound calls that SIPp places.
func inboundScenarios() []scenarioCase {
	short := []string{"-d", "50"}
	return []scenarioCase{
		{name: "call", scenario: "uac-call", args: short, wantOutcome: endedByRemote},
		{name: "agent hangs up", scenario: "uac-dtmf-info", wantOutcome: endedByAgent},
		{name: "agent hangs up, key in application/dtmf", scenario: "uac-dtmf-info", replacements: []string{"Signal=7\nDuration=160\n", "7", "application/dtmf-relay\n", "application/dtmf\n"}, wantOutcome: endedByAgent},
		{name: "hold in every spelling", scenario: "uac-reinvite", agent: "brief", wantOutcome: endedByAgent},
		{name: "re-INVITEs without SDP", scenario: "uac-reinvite-without-sdp", wantOutcome: endedByRemote},
		{name: "ACK without an answer", scenario: "uac-ack-without-sdp", wantOutcome: "failed protocol_error remote"},
		{name: "hold by UPDATE", scenario: "uac-update", wantOutcome: endedByRemote},
		{name: "codec changed", scenario: "uac-codec-change", wantOutcome: endedByRemote},
		{name: "dynamic payload types", scenario: "uac-payload-types", wantOutcome: endedByRemote},
		{name: "T.38 refused", scenario: "uac-t38", wantOutcome: endedByRemote},
		{name: "T.38 in capital letters refused", scenario: "uac-t38", replacements: []string{"udptl", "UDPTL"}, wantOutcome: endedByRemote},
		{name: "T.38 in mixed letters refused", scenario: "uac-t38", replacements: []string{"9 udptl", "9 UdpTl"}, wantOutcome: endedByRemote},
		{name: "T.38 over TCP refused", scenario: "uac-t38", replacements: []string{"9 udptl", "9 tcp", "[uU][dD][pP][tT][lL]", "[tT][cC][pP]"}, wantOutcome: endedByRemote},
		{name: "video refused", scenario: "uac-video", wantOutcome: endedByRemote},
		{name: "port 0", scenario: "uac-audio-removed", wantOutcome: endedByRemote},
		{name: "removed stream", scenario: "uac-video-removed", wantOutcome: endedByRemote},
		{name: "SDP versions", scenario: "uac-sdp-versions", wantOutcome: endedByRemote},
		{name: "SRTP", scenario: "uac-srtp", trunk: srtpTrunk, args: short, wantOutcome: endedByRemote},
		{name: "SRTP with a new key", scenario: "uac-srtp-rekey", trunk: srtpTrunk, wantOutcome: endedByRemote},
		{name: "SRTP beside RTP", scenario: "uac-srtp-and-rtp", wantOutcome: endedByRemote},
		{name: "SRTP beside RTP where it is required", scenario: "uac-srtp-and-rtp", trunk: srtpTrunk, replacements: []string{
			"m=audio 0 RTP/SAVP .*m=audio [1-9][0-9]* RTP/AVP 0", "m=audio [1-9][0-9]* RTP/SAVP .*m=audio 0 RTP/AVP 0",
		}, wantOutcome: endedByRemote},
		{name: "SRTP refused", scenario: "uac-srtp-refused"},
		{name: "RTP refused", scenario: "uac-refused-488", trunk: srtpTrunk},
		{name: "session timer of the caller", scenario: "uac-session-expires", wantOutcome: endedByRemote},
		{name: "session timer of the callee", scenario: "uac-session-expires", replacements: []string{"refresher=uac", "refresher=uas"}, wantOutcome: endedByRemote},
		{name: "session timer of a proxy", scenario: "uac-session-proxy", wantOutcome: endedByRemote},
		{name: "session timer too short", scenario: "uac-session-422", wantOutcome: endedByRemote},
		{name: "caller gives up", scenario: "uac-cancel", agent: "rings", wantOutcome: "cancelled cancelled remote"},
		{name: "CANCEL before any answer", scenario: "uac-cancel-early", agent: "rings", wantOutcome: "cancelled cancelled remote"},
		{name: "CANCEL after the 200", scenario: "uac-cancel-late", wantOutcome: endedByRemote},
		{name: "BYE before the answer", scenario: "uac-early-bye", agent: "rings", wantOutcome: "cancelled cancelled remote"},
		{name: "early media", scenario: "uac-early", replacements: []string{`response="180"`, `response="180" optional="true"`}, agent: "early", wantOutcome: endedByRemote},
		{name: "early media with PRACK", scenario: "uac-prack", agent: "early", wantOutcome: endedByRemote},
		{name: "PRACK with a wrong RAck", scenario: "uac-prack-wrong", agent: "early", wantOutcome: endedByRemote},
		{name: "UPDATE of early media", scenario: "uac-early-update", agent: "early", wantOutcome: endedByRemote},
		{name: "ringing", scenario: "uac-call", agent: "ringing", args: short, wantOutcome: endedByRemote},
		{name: "ACK is lost", scenario: "uac-ack-lost", args: []string{"-nr"}, wantOutcome: endedByRemote},
		{name: "INVITE over two paths (merged request)", scenario: "uac-merged", agent: "ringing", wantOutcome: endedByRemote},
		{name: "both sides hang up", scenario: "uac-bye-glare", agent: "brief", wantOutcome: "*"},
		{name: "offers that overlap", scenario: "uac-overlap", wantOutcome: endedByRemote},
		{name: "loose routers", scenario: "uac-routes", agent: "brief", wantOutcome: endedByAgent},
		{name: "strict routers", scenario: "uac-strict", agent: "brief", wantOutcome: endedByAgent},
		{name: "chain of Record-Route", scenario: "uac-record-route", wantOutcome: endedByAgent},
		{name: "methods within the dialog", scenario: "uac-in-dialog-requests", wantOutcome: endedByRemote},
		{name: "methods outside a dialog", scenario: "uac-out-of-dialog", wantOutcome: endedByRemote},
		{name: "OPTIONS", scenario: "uac-options"},
		{name: "REFER refused", scenario: "uac-refers-refused", wantOutcome: endedByRemote},
		{name: "Replaces refused", scenario: "uac-replaces-refused", wantOutcome: endedByRemote},
		{name: "SDP and ISUP", scenario: "uac-multipart", wantOutcome: endedByRemote},
		{name: "digest of the caller", scenario: "uac-digest", args: []string{"-auth_uri", "{number}@{remote}"}, trunk: object{"inbound": object{"auth": object{"username": "carrier", "password": "proof"}}}, wantOutcome: endedByRemote},
		{name: "no proof", scenario: "uac-refused-401", trunk: object{"inbound": object{"auth": object{"username": "carrier", "password": "secret"}}}},
		{name: "caller identity headers of a carrier", scenario: "uac-withheld", args: short, wantOutcome: endedByRemote},
		{name: "identity headers", scenario: "uac-asserted-identity", from: "anonymous", wantOutcome: endedByRemote},
		{name: "INVITE comes again", scenario: "uac-invite-retransmitted", agent: "ringing", args: []string{"-nr"}, wantOutcome: endedByRemote},
		{name: "signaling behind a NAT", scenario: "uac-nat", wantOutcome: endedByAgent},
		{name: "SRTP over TLS of the caller", scenario: "uac-srtp", network: "tls", trunk: object{"srtp": "required"}, args: short, wantOutcome: endedByRemote},
		{name: "SRTP keys without TLS rejected", scenario: "uac-srtp-refused", trunk: object{"srtp": "optional"}},
		{name: "compact forms", scenario: "uac-compact", wantOutcome: endedByRemote},
		{name: "header names in odd case", scenario: "uac-odd-case", wantOutcome: endedByRemote},
		{name: "folded headers", scenario: "uac-folded", wantOutcome: endedByRemote},
		{name: "long headers and many Vias", scenario: "uac-long-headers", wantOutcome: endedByRemote},
		{name: "long headers over TCP", scenario: "uac-long-headers", network: "tcp", wantOutcome: endedByRemote},
		{name: "Via with spaces", scenario: "uac-call", args: short, replacements: []string{"SIP/2.0/[transport] [local_ip]:[local_port];branch=", "SIP / 2.0 / [transport]  [local_ip] : [local_port] ; branch = "}, wantOutcome: endedByRemote},
		{name: "display name in UTF-8", scenario: "uac-display-name", wantOutcome: endedByRemote},
		{name: "odd Call-ID", scenario: "uac-call", args: []string{"-d", "50", "-cid_str", "%u-%p.!%%*_+`'~()<>:\\\"/[]?{}@%s"}, wantOutcome: endedByRemote},
		{name: "escaped plus", scenario: "uac-call", dialled: "%2B{digits}", args: short, wantOutcome: endedByRemote},
		{name: "escaped digits", scenario: "uac-call", dialled: "+120%32556{last4}", args: short, wantOutcome: endedByRemote},
		{name: "user=phone", scenario: "uac-call", replacements: []string{"[service]@[remote_ip]:[remote_port]", "[service]@[remote_ip]:[remote_port];user=phone"}, args: short, wantOutcome: endedByRemote},
		{name: "parameters of the number", scenario: "uac-call", dialled: "+{digits};npdi;rn=+12025550000", args: short, wantOutcome: endedByRemote},
		{name: "tel URI", scenario: "uac-call", replacements: []string{"INVITE sip:[service]@[remote_ip]:[remote_port]", "INVITE tel:[service]", "To: <sip:[service]@[remote_ip]:[remote_port]>", "To: <tel:[service]>"}, args: short, wantOutcome: endedByRemote},
		{name: "tel URI with visual separators", scenario: "uac-call", dialled: "+1-(202).556-{last4}", replacements: []string{"INVITE sip:[service]@[remote_ip]:[remote_port]", "INVITE tel:[service]", "To: <sip:[service]@[remote_ip]:[remote_port]>", "To: <tel:[service]>"}, args: short, wantOutcome: endedByRemote},
		{name: "tel URI with phone-context", scenario: "uac-call", dialled: "202556{last4};phone-context=+1", replacements: []string{"INVITE sip:[service]@[remote_ip]:[remote_port]", "INVITE tel:[service]", "To: <sip:[service]@[remote_ip]:[remote_port]>", "To: <tel:[service]>"}, args: short, wantOutcome: endedByRemote},
		{name: "sips URI", scenario: "uac-call", network: "tls", replacements: []string{"INVITE sip:", "INVITE sips:", "To: <sip:", "To: <sips:"}, args: short, wantOutcome: endedByRemote},
		{name: "From is a tel URI", scenario: "uac-call", replacements: []string{"<sip:+15552000@[local_ip]:[local_port]>", "<tel:+1-202-555-0177>"}, args: short, from: "+12025550177", wantOutcome: endedByRemote},
		{name: "Max-Forwards 0", scenario: "uac-call", replacements: []string{"Max-Forwards: 70", "Max-Forwards: 0"}, args: short, wantOutcome: endedByRemote},
		{name: "no Max-Forwards", scenario: "uac-call", replacements: []string{"Max-Forwards: 70\n", ""}, args: short, wantOutcome: endedByRemote},
		{name: "unknown extension required", scenario: "uac-refused-420"},
		{name: "ISUP has to be understood", scenario: "uac-refused-415"},
		{name: "number of nobody", scenario: "uac-refused-404", dialled: "+12025559999"},
		{name: "unknown scheme", scenario: "uac-refused-404", replacements: []string{"INVITE sip:[service]@[remote_ip]:[remote_port]", "INVITE urn:service:sos", `response="404"`, `response="416"`}},
		{name: "no SDP accepted", scenario: "uac-refused-404", replacements: []string{"Max-Forwards: 70", "Accept: text/plain\nMax-Forwards: 70", `response="404"`, `response="406"`}},
		{name: "no codec in common", scenario: "uac-refused-488", replacements: []string{"RTP/AVP 0 8 101", "RTP/AVP 3 18"}},
	}
}
