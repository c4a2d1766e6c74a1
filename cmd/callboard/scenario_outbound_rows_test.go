package main_test

// outboundScenarios returns test cases of outbound calls that SIPp answers.
func outboundScenarios() []scenarioCase {
	return []scenarioCase{
		{name: "form of the INVITE", scenario: "uas-invite", wantOutcome: endedByAgent, code: 200},
		{name: "caller asserted", scenario: "uas-asserted", trunk: object{"from_domain": "pbx.example.com", "caller_id_headers": []string{"P-Asserted-Identity", "Remote-Party-ID"}}, wantOutcome: endedByAgent},
		{name: "digits of the number", scenario: "uas-invite", replacements: []string{"^INVITE sip:[^ ]+", "^INVITE sip:1202556[0-9]+@[^ ]+"}, trunk: object{"number_format": "digits"}, wantOutcome: endedByAgent},
		{name: "183 without SDP", scenario: "uas-183", wantOutcome: endedByAgent, code: 200},
		{name: "180 with SDP and another To tag", scenario: "uas-180-sdp", wantOutcome: endedByAgent},
		{name: "early media twice", scenario: "uas-early", agent: "brief", wantOutcome: endedByAgent},
		{name: "forks", scenario: "uas-forks", agent: "brief", wantOutcome: endedByAgent},
		{name: "two forks answer", scenario: "uas-two-answers", wantOutcome: endedByAgent},
		{name: "200 comes again", scenario: "uas-200-retransmitted", args: []string{"-nr"}, wantOutcome: endedByAgent},
		{name: "PRACK", scenario: "uas-prack", agent: "brief", wantOutcome: endedByAgent},
		{name: "PRACK over TCP", scenario: "uas-prack", network: "tcp", agent: "brief", wantOutcome: endedByAgent},
		{name: "RSeq out of order", scenario: "uas-rseq-gap", wantOutcome: endedByAgent},
		{name: "UPDATE before the answer", scenario: "uas-sends-early-update", wantOutcome: endedByAgent},
		{name: "UPDATE while an offer is open", scenario: "uas-update-offer-pending", wantOutcome: endedByAgent},
		{name: "UPDATE after the answer", scenario: "uas-update", agent: "brief", wantOutcome: endedByAgent},
		{name: "held and taken back", scenario: "uas-reinvite", agent: "brief", wantOutcome: endedByAgent},
		{name: "200 without SDP", scenario: "uas-200-without-sdp", wantOutcome: noMedia},
		{name: "audio refused by port 0", scenario: "uas-refused-stream", wantOutcome: noMedia},
		{name: "codec that was not offered", scenario: "uas-refused-stream", replacements: []string{"m=audio 0 RTP/AVP 0 8 101", "m=audio [media_port] RTP/AVP 18"}, wantOutcome: noMedia},
		{name: "codec of the answer", scenario: "uas-codec", wantOutcome: endedByAgent},
		{name: "timer of the called side", scenario: "uas-session-timer", wantOutcome: endedByAgent},
		{name: "422 with a long Min-SE", scenario: "uas-session-min-se", wantOutcome: endedByAgent},
		{name: "Record-Route through four proxies", scenario: "uas-record-route", wantOutcome: endedByAgent},
		{name: "strict routers of the called side", scenario: "uas-strict", agent: "brief", wantOutcome: endedByAgent},
		{name: "methods of the called side", scenario: "uas-in-dialog-requests", wantOutcome: endedByAgent},
		{name: "SRTP of the called side", scenario: "uas-srtp", agent: "brief", trunk: srtpTrunk, wantOutcome: endedByAgent},
		{name: "new key of the called side", scenario: "uas-srtp-rekey", trunk: srtpTrunk, wantOutcome: endedByAgent},
		{name: "key that was not offered", scenario: "uas-refused-stream", trunk: srtpTrunk, replacements: []string{"m=audio 0 RTP/AVP 0 8 101", "m=audio [media_port] RTP/SAVP 0\na=crypto:99 AES_CM_128_HMAC_SHA1_80 inline:d0RmdmcmVCspeEc3QGZiNWpVLFJhQX1cfHAwJSoj"}, wantOutcome: noMedia},
		{name: "SRTP refused by the called side", scenario: "uas-srtp-refused", trunk: srtpTrunk, args: []string{"-m", "2"}, wantOutcome: "failed media remote", code: 488},
		{name: "T.38 of the called side", scenario: "uas-t38", wantOutcome: endedByAgent},
		{name: "port 0 of the called side", scenario: "uas-audio-removed", wantOutcome: endedByAgent},
		{name: "odd answers", scenario: "uas-compact", wantOutcome: endedByAgent},
		{name: "unencrypted answer to an SRTP offer", scenario: "uas-refused-stream", trunk: srtpTrunk, replacements: []string{"m=audio 0 RTP/AVP", "m=audio [media_port] RTP/AVP"}, wantOutcome: noMedia},
		{name: "SRTP over TLS", scenario: "uas-srtp", network: "tls", agent: "brief", trunk: object{"srtp": "required"}, wantOutcome: endedByAgent},
		{name: "outbound proxy", scenario: "uas-outbound-proxy", byProxy: true, wantOutcome: endedByAgent},
		{name: "key by INFO", scenario: "uas-info", replacements: []string{"Duration=160", "Duration=100"}, trunk: object{"dtmf": "info"}, whenStatus: "in_progress", action: "dtmf", body: object{"digits": "5"}, wantOutcome: endedByAgent},
		{name: "blind transfer", scenario: "uas-refer", whenStatus: "in_progress", action: "transfer", body: object{"to": "+12025550199", "mode": "blind"}, wantOutcome: "completed transferred agent"},
		{name: "API hangs up", scenario: "uas-instant", whenStatus: "in_progress", action: "hangup", wantOutcome: "completed hangup api"},
		{name: "BYE is lost", scenario: "uas-bye-lost", args: []string{"-nr"}, wantOutcome: endedByAgent},
		{name: "hangs up", scenario: "uas-hangup", wantOutcome: endedByRemote},
		{name: "both hang up", scenario: "uas-bye-glare", agent: "brief", wantOutcome: "*"},
		{name: "CANCEL", scenario: "uas-noanswer", whenStatus: "ringing", action: "hangup", wantOutcome: "cancelled cancelled api"},
		{name: "CANCEL crosses the 200", scenario: "uas-cancel-late", whenStatus: "ringing", action: "hangup", wantOutcome: "cancelled cancelled api"},
		{name: "CANCEL waits for 100", scenario: "uas-cancel-before-100", whenStatus: sentINVITE, action: "hangup", wantOutcome: "cancelled cancelled api"},
		{name: "481 to CANCEL", scenario: "uas-cancel-481", whenStatus: "ringing", action: "hangup", wantOutcome: "cancelled cancelled api"},
		{name: "digest", scenario: "uas-digest", agent: "brief", trunk: digestTrunk, wantOutcome: endedByAgent},
		{name: "digest with SHA-256", scenario: "uas-sha256", trunk: digestTrunk, wantOutcome: endedByAgent},
		{name: "two realms in one 407", scenario: "uas-407-two-realms", trunk: digestTrunk, wantOutcome: endedByAgent},
		{name: "two realms one after the other", scenario: "uas-407-401", trunk: digestTrunk, wantOutcome: endedByAgent},
		{name: "stale nonce", scenario: "uas-stale", trunk: digestTrunk, wantOutcome: endedByAgent},
		{name: "wrong password", scenario: "uas-401-twice", trunk: digestTrunk, wantOutcome: "failed trunk_rejected remote", code: 401},
	}
}

// rejectedScenarios returns test cases of outbound calls that SIPp rejects or redirects.
func rejectedScenarios() []scenarioCase {
	const busy = "486 Busy Here"
	redirected := func(status string) []string { return []string{"302 Moved Temporarily", status} }
	toItself := object{"redirect_hosts": []string{"127.0.0.0/8"}}
	rows := []scenarioCase{
		{name: "302", scenario: "uas-redirects", replacements: redirected("302 Moved Temporarily"), args: []string{"-m", "2"}, trunk: toItself, wantOutcome: endedByAgent},
		{name: "301", scenario: "uas-redirects", replacements: redirected("301 Moved Permanently"), args: []string{"-m", "2"}, trunk: toItself, wantOutcome: endedByAgent},
		{name: "300", scenario: "uas-redirects", replacements: redirected("300 Multiple Choices"), args: []string{"-m", "2"}, trunk: toItself, wantOutcome: endedByAgent},
		{name: "302 to a host that is not allowed", scenario: "uas-302", sippKeys: []string{"contact", "192.0.2.1:5060"}, wantOutcome: "failed redirected remote", code: 302},
		{name: "380", scenario: "uas-busy", replacements: []string{busy, "380 Alternative Service"}, wantOutcome: "failed redirected remote", code: 380},
		{name: "503 after ringing", scenario: "uas-180-503", wantOutcome: "failed trunk_error remote", code: 503},
	}
	for _, c := range [][2]string{
		{"400 Bad Request", "failed sip_400 remote"},
		{"402 Payment Required", "failed sip_402 remote"},
		{"403 Forbidden", "failed trunk_rejected remote"},
		{"404 Not Found", "failed invalid_number remote"},
		{"410 Gone", "failed invalid_number remote"},
		{"480 Temporarily Unavailable", "no_answer no_answer remote"},
		{"484 Address Incomplete", "failed invalid_number remote"},
		{"486 Busy Here", "busy busy remote"},
		{"487 Request Terminated", "failed sip_487 remote"},
		{"500 Server Internal Error", "failed trunk_error remote"},
		{"503 Service Unavailable", "failed trunk_error remote"},
		{"513 Message Too Large", "failed sip_513 remote"},
		{"580 Precondition Failure", "failed sip_580 remote"},
		{"604 Does Not Exist Anywhere", "failed invalid_number remote"},
		{"608 Rejected", "failed blocked remote"},
		{"699 Unknown", "failed sip_699 remote"},
	} {
		rows = append(rows, scenarioCase{name: c[0], scenario: "uas-busy", replacements: []string{busy, c[0]}, wantOutcome: c[1]})
	}
	for _, c := range [][2]string{
		{"408 Request Timeout", "no_answer no_answer remote"},
		{"600 Busy Everywhere", "busy busy remote"},
		{"603 Decline", "failed rejected remote"},
		{"607 Unwanted", "failed blocked remote"},
	} {
		rows = append(rows, scenarioCase{name: "rings, then " + c[0], scenario: "uas-decline", replacements: []string{"603 Decline", c[0]}, wantOutcome: c[1]})
	}
	for _, status := range []string{"415 Unsupported Media Type", "488 Not Acceptable Here", "606 Not Acceptable"} { // the service retries with other codecs
		rows = append(rows, scenarioCase{name: status, scenario: "uas-busy", replacements: []string{busy, status}, args: []string{"-m", "2"}, wantOutcome: "failed media remote"})
	}
	for _, c := range [][2]string{ // challenges that the credentials cannot answer
		{"no challenge", "Warning: 399 sipp none"},
		{"challenge of another realm", `WWW-Authenticate: Digest realm="other", nonce="n"`},
		{"challenge of an unknown algorithm", `WWW-Authenticate: Digest realm="callboard", nonce="n", algorithm=SHA-3`},
		{"challenge of another scheme", `WWW-Authenticate: Negotiate`},
	} {
		rows = append(rows, scenarioCase{
			name: c[0], scenario: "uas-busy", replacements: []string{busy + "\n", "401 Unauthorized\n" + c[1] + "\n"}, wantOutcome: "failed trunk_rejected remote", code: 401,
			trunk: object{"auth": object{"username": "callboard", "password": "secret", "realm": "callboard"}},
		})
	}
	return rows
}
