package sip_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/sip"
)

func TestProbeReportsResponseOfRemoteParty(t *testing.T) {
	for name, c := range map[string]struct {
		allow, asked string
		code         int
	}{
		"peer accepts UPDATE":         {"Allow: UPDATE", "UPDATE", 200},
		"peer does not accept UPDATE": {"Allow: INVITE", "OPTIONS", 200},
		"OPTIONS gets 481":            {"Allow: INVITE", "OPTIONS", 481},
		"UPDATE gets 481":             {"Allow: UPDATE", "UPDATE", 481},
		"UPDATE gets 405":             {"Allow: UPDATE", "UPDATE", 405},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *stage) {
				d, _, _ := s.establishTimedCall("Session-Expires: 1800;refresher=uac", c.allow)
				time.Sleep(10 * time.Minute)
				heard := make(chan int, 2)
				d.Probe(func(code int) { heard <- code })
				m := s.peer.expect(c.asked + " sip:peer@")
				assert.Contains(t, m.get("To"), "tag=p1", "within the dialog")
				s.peer.send(m.reply(c.code, "", contact, "Session-Expires: 1800;refresher=uac"), s.localAddr())
				assert.Equal(t, c.code, <-heard)
				s.events.requireNoEvent(t)
				wait := 5 * time.Minute // until the refresh that is due
				if c.asked == "UPDATE" && c.code == 200 {
					wait = 15 * time.Minute // the probe was a refresh
				}
				s.peer.expectNothing(wait - time.Second)
				assert.Empty(t, heard, "reported once")
			})
		})
	}
}

func TestProbeWithoutResponseReportsZero(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		d, _, _ := s.establishCall()
		heard := make(chan int, 2)
		begun := time.Now()
		d.Probe(func(code int) { heard <- code })
		assert.Zero(t, <-heard)
		assert.Equal(t, 32*time.Second, time.Since(begun))
		s.events.requireNoEvent(t)
		for range 11 {
			s.peer.expect("OPTIONS")
		}
		d.Bye(16, "")
		bye := s.peer.expect("BYE")
		s.peer.send(bye.reply(200, ""), s.localAddr())
		next[sip.Ended](t, s.events)
		d.Probe(func(code int) { heard <- code })
		assert.Zero(t, <-heard, "a call that is over")
	})
}
