package sip_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMatchFieldsOfInboundCall(t *testing.T) {
	bubbleInbound(t, func(t *testing.T, s *stage, in *callReceiver) {
		s.peer.send(inboundInvite(
			"INVITE sip:+15551000;tgrp=in-7;trunk-context=us.example@"+localAddr+";user=phone SIP/2.0",
			`From: "a;tgrp=forged" <sip:+15552000;otg=out-1@127.0.0.1;x=y>;p=q;tag=caller`,
			"Contact: <sip:+15552000;tgrp=tg-7;trunk-context=carrier.example@"+peerAddr+";transport=udp>",
			"X-Trunk-ID: acme ", "X-Twice: a", "+X-Twice: b", "X-Long: "+strings.Repeat("a", 300), "P-Charge-Info: <sip:+15552000@h>;npi=1", "P-Other: no",
		), s.localAddr())
		got := (<-in.calls).MatchFields
		assert.Equal(t, map[string]string{
			"request-uri": ";tgrp=in-7;trunk-context=us.example;user=phone", "from": ";otg=out-1;x=y;p=q", "contact": ";tgrp=tg-7;trunk-context=carrier.example;transport=udp",
			"x-trunk-id": "acme", "x-twice": "", "x-long": "", "p-charge-info": "<sip:+15552000@h>;npi=1",
		}, got)
	})
}

func TestMatchFieldsOfInboundCallWithoutHeaders(t *testing.T) {
	bubbleInbound(t, func(t *testing.T, s *stage, in *callReceiver) {
		s.peer.send(inboundInvite("Contact: <sip:peer@"+peerAddr+">"), s.localAddr())
		assert.Empty(t, (<-in.calls).MatchFields)
	})
}
