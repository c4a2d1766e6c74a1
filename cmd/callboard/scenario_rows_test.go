package main_test

// Outcomes that many rows expect.
const (
	endedByAgent  = "completed completed agent"
	endedByRemote = "completed remote_hangup remote"
)

// scenarioRows are the scenarios that TestScenariosOfSIPp plays.
func scenarioRows() []scenarioRow {
	return []scenarioRow{
		{name: "answer", scenario: "uas-answer", agent: "brief", want: endedByAgent, code: 200},
		{name: "answer over TCP", scenario: "uas-answer", network: "tcp", agent: "brief", want: endedByAgent, code: 200},
		{name: "answer over TLS", scenario: "uas-answer", network: "tls", agent: "brief", want: endedByAgent, code: 200},
		{name: "answer over IPv6", scenario: "uas-answer", ipv6: true, agent: "brief", want: endedByAgent, code: 200},
		{name: "answer over IPv6 and TCP", scenario: "uas-answer", ipv6: true, network: "tcp", agent: "brief", want: endedByAgent, code: 200},
		{name: "answer over IPv6 and TLS", scenario: "uas-answer", ipv6: true, network: "tls", agent: "brief", want: endedByAgent, code: 200},
		{name: "callee hangs up", scenario: "uas-hangup", want: endedByRemote, code: 200},
		{name: "busy", scenario: "uas-busy", want: "busy busy remote", code: 486},
		{name: "declined", scenario: "uas-decline", want: "failed rejected remote", code: 603},
		{name: "digest", scenario: "uas-digest", agent: "brief", trunk: object{"auth": object{"username": "callboard", "password": "secret"}}, want: endedByAgent, code: 200},
		{name: "call", scenario: "uac-call", args: []string{"-d", "100"}, want: endedByRemote},
		{name: "call over TCP", scenario: "uac-call", network: "tcp", args: []string{"-d", "100"}, want: endedByRemote},
		{name: "call over TLS", scenario: "uac-call", network: "tls", args: []string{"-d", "100"}, want: endedByRemote},
		{name: "call over IPv6", scenario: "uac-call", ipv6: true, args: []string{"-d", "100"}, want: endedByRemote},
		{name: "hold", scenario: "uac-reinvite", agent: "brief", want: endedByAgent},
	}
}
