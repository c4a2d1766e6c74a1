package sip_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestACallBringsTheHeadersThatTellTrunksApart(t *testing.T) {
	bubbleIn(t, func(t *testing.T, s *stage, in *desk) {
		s.peer.send(callUs(
			"INVITE sip:+15551000;tgrp=in-7;trunk-context=us.example@"+ourAddr+";user=phone SIP/2.0",
			`From: "a;tgrp=forged" <sip:+15552000;otg=out-1@127.0.0.1;x=y>;p=q;tag=caller`,
			"Contact: <sip:+15552000;tgrp=tg-7;trunk-context=carrier.example@"+peerAddr+";transport=udp>",
			"X-Trunk-ID: acme ", "X-Twice: a", "+X-Twice: b", "X-Long: "+strings.Repeat("a", 300), "P-Charge-Info: <sip:+15552000@h>;npi=1", "P-Other: no",
		), s.us())
		got := (<-in.calls).MatchFields
		assert.Equal(t, map[string]string{
			"request-uri": ";tgrp=in-7;trunk-context=us.example;user=phone", "from": ";otg=out-1;x=y;p=q", "contact": ";tgrp=tg-7;trunk-context=carrier.example;transport=udp",
			"x-trunk-id": "acme", "x-twice": "", "x-long": "", "p-charge-info": "<sip:+15552000@h>;npi=1",
		}, got)
	})
}

func TestACallWithoutSuchHeadersBringsNone(t *testing.T) {
	bubbleIn(t, func(t *testing.T, s *stage, in *desk) {
		s.peer.send(callUs("Contact: <sip:peer@"+peerAddr+">"), s.us())
		assert.Empty(t, (<-in.calls).MatchFields)
	})
}
