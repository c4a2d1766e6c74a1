package sip_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/sip"
)

func TestReadFinalDetectsRateLimitAndBlocking(t *testing.T) {
	for text, want := range map[string][2]bool{ // rate, blocked
		"503 X":                             {},
		"503 Temporarily Unavailable":       {},
		"503 Moderate load, try again":      {},
		"503 CPS limit":                     {true},
		"503 Too many calls":                {true},
		"503 Rate exceeded":                 {true},
		"503 Max channels used":             {true},
		"603 Decline":                       {},
		"603 Network Blocked":               {false, true},
		"608 Rejected":                      {false, true},
		"603 Decline|v=analytics1;url=x.de": {false, true},
	} {
		bubble(t, func(t *testing.T, s *stage) {
			s.invite(nil)
			inv := s.peer.expect("INVITE")
			code, _ := strconv.Atoi(text[:3])
			line, reason := text, "X-None: 1"
			if i := len("603 Decline"); len(text) > i && text[i] == '|' {
				line, reason = text[:i], `Reason: Q.850;cause=21;text="`+text[i+1:]+`"`
			}
			answer := inv.reply(code, "p1", reason)
			s.peer.send("SIP/2.0 "+line+answer[len("SIP/2.0 ")+len("603 X"):], s.localAddr())
			f := next[sip.Refused](t, s.events).Final
			assert.Equal(t, want, [2]bool{f.MentionsRateLimit, f.Blocked}, text)
		})
	}
}
