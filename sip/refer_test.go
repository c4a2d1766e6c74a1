package sip_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/message"
)

func TestReferWithoutDecisionIsRefused(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		_, inv, _ := s.establishCall()
		begun := time.Now()
		s.peer.send(s.request(inv, "REFER", 1, "Refer-To: <sip:+1@example.com>"), s.localAddr())
		assert.Equal(t, 5*time.Second, s.peer.expect("SIP/2.0 403").at.Sub(begun))
		r := next[sip.Referred](t, s.events)
		assert.Nil(t, r.Accept(), "too late: no NOTIFY is sent")
		r.Refuse(500)
		s.peer.expectNothing(time.Minute)
	})
}

func TestReferReportsTargetOnly(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		_, inv, _ := s.establishCall()
		for cseq, c := range []struct{ header, to string }{
			{"Refer-To: <sip:+1@example.com?Subject=x&Route=%3Csip:evil%3E&X-A=b>", "sip:+1@example.com"},
			{"r: tel:+12025550199", "tel:+12025550199"},
			{"Refer-To: <sips:a@[2001:db8::1]:5061;transport=tcp>", "sips:a@[2001:db8::1]:5061;transport=tcp"},
		} {
			s.peer.send(s.request(inv, "REFER", cseq+1, c.header, "b: <sip:boss@example.com>;x=y"), s.localAddr())
			r := next[sip.Referred](t, s.events)
			assert.Equal(t, []string{c.to, "sip:boss@example.com"}, []string{r.To, r.ReferredBy})
			assert.Nil(t, r.Replaces)
			r.Refuse(603)
			s.peer.expect("SIP/2.0 603")
		}
		for cseq, header := range []string{
			"X-None: 1", "Refer-To: <mailto:a@b>", "Refer-To: <sip:a@b;method=BYE>", "Refer-To: <sip:a@b>\r\nRefer-To: <sip:c@d>",
			"Refer-To: <sip:a@b?Replaces=x>", "Refer-To: <sip:a@b?Replaces=x%0D%0Ay%3Bto-tag%3D1%3Bfrom-tag%3D2>", "Refer-To: <sip:>",
			"Refer-To: <sip:" + strings.Repeat("a", 600) + "@b>",
		} {
			s.peer.send(s.request(inv, "REFER", cseq+10, header), s.localAddr())
			s.peer.expect("SIP/2.0 400")
		}
		s.events.requireNoEvent(t)
	})
}

// If the owner ends its call once the transfer has succeeded, the BYE must wait until the last NOTIFY has its response.
func TestByeIsSentAfterLastNotify(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		d, inv, _ := s.establishCall()
		s.peer.send(s.request(inv, "REFER", 1, "Refer-To: <sip:+1@example.com>"), s.localAddr())
		notify := next[sip.Referred](t, s.events).Accept()
		s.peer.expect("SIP/2.0 202")
		first := s.peer.expect("NOTIFY")
		notify(180, "", false)
		notify(200, "", true)
		d.Bye(16, "transferred")
		s.peer.expectNothing(300 * time.Millisecond)
		s.peer.send(first.reply(200, ""), s.localAddr())
		last := s.peer.expect("NOTIFY")
		assert.Contains(t, last.text, "terminated")
		assert.True(t, strings.HasSuffix(last.text, "SIP/2.0 200 OK\r\n"), last.text)
		s.peer.expectNothing(300 * time.Millisecond)
		s.peer.send(last.reply(200, ""), s.localAddr())
		s.peer.send(s.peer.expect("BYE").reply(200, ""), s.localAddr())
		next[sip.Ended](t, s.events)
	})
}

func TestRetransmissionOfPendingReferIsIgnored(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		_, inv, _ := s.establishCall()
		refer := s.request(inv, "REFER", 1, "Refer-To: <sip:+1@example.com>")
		update := s.request(inv, "UPDATE", 2, "Content-Type: application/sdp\n\n"+sdp)
		s.peer.send(refer, s.localAddr())
		asked := next[sip.Referred](t, s.events)
		s.peer.send(refer, s.localAddr())
		s.peer.send(update, s.localAddr())
		offered := next[sip.Reoffer](t, s.events)
		s.peer.send(update, s.localAddr())
		s.peer.send(refer, s.localAddr())
		s.peer.expectNothing(time.Second)
		asked.Refuse(403)
		s.peer.expect("SIP/2.0 403")
		offered.Reply(200, []byte(sdp))
		s.peer.expect("SIP/2.0 200")
		s.peer.send(refer, s.localAddr())
		s.peer.expect("SIP/2.0 403")
		s.peer.send(update, s.localAddr())
		s.peer.expect("SIP/2.0 200")
		s.events.requireNoEvent(t)
	})
}

func TestByeWaitsBrieflyForLastNotify(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		d, inv, _ := s.establishCall()
		s.peer.send(s.request(inv, "REFER", 1, "Refer-To: <sip:+1@example.com>"), s.localAddr())
		notify := next[sip.Referred](t, s.events).Accept()
		s.peer.expect("SIP/2.0 202")
		begun := s.peer.expect("NOTIFY").at
		notify(200, "", true)
		d.Bye(16, "transferred")
		for {
			m := s.peer.expect("")
			if strings.HasPrefix(m.text, "BYE ") {
				assert.Equal(t, 2*time.Second, m.at.Sub(begun))
				s.peer.send(m.reply(200, ""), s.localAddr())
				break
			}
			assert.True(t, strings.HasPrefix(m.text, "NOTIFY "), m.text)
		}
		next[sip.Ended](t, s.events)
	})
}

func TestTimedOutReferCannotBeAccepted(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		_, inv, _ := s.establishCall()
		s.peer.send(s.request(inv, "REFER", 1, "Refer-To: <sip:+1@example.com>"), s.localAddr())
		r := next[sip.Referred](t, s.events)
		s.peer.expect("SIP/2.0 403")
		assert.Nil(t, r.Accept(), "the target must not be called")
		s.peer.expectNothing(time.Minute)
	})
}

func TestNotifiesAreSentOneAfterAnother(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		_, inv, _ := s.establishCall()
		refer := s.request(inv, "REFER", 1, "Refer-To: <sip:+1@example.com>")
		s.peer.send(refer, s.localAddr())
		notify := next[sip.Referred](t, s.events).Accept()
		s.peer.expect("SIP/2.0 202")
		first := s.peer.expect("NOTIFY")
		s.peer.send(refer, s.localAddr())
		s.peer.expect("SIP/2.0 202") // retransmission: answered, but not handled again
		notify(180, "Ring\r\nX: y", false)
		notify(183, "", false)
		notify(200, "", true)
		notify(486, "", true)
		s.peer.expectNothing(100 * time.Millisecond)
		s.peer.send(first.reply(200, ""), s.localAddr())
		last := s.peer.expect("NOTIFY")
		assert.Equal(t, "terminated;reason=noresource", last.get("Subscription-State"))
		assert.Contains(t, last.text, "\r\n\r\nSIP/2.0 200 OK\r\n")
		s.peer.send(last.reply(481, ""), s.localAddr())
		s.peer.expectNothing(time.Minute)
		s.events.requireNoEvent(t)
	})
}

// collectProgress sends a REFER and returns a channel with its progress.
func collectProgress(d *sip.Dialog, to sip.ReferTo) chan sip.ReferProgress {
	heard := make(chan sip.ReferProgress, 16)
	d.Refer(to, func(p sip.ReferProgress) { heard <- p })
	return heard
}

func TestReferReportsProgressUntilFinalNotify(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		d, inv, _ := s.establishCall()
		assert.Equal(t, 400, (<-collectProgress(d, sip.ReferTo{URI: "http://x"})).Code)
		assert.Equal(t, 400, (<-collectProgress(d, sip.ReferTo{URI: "sip:a@b>\r\nX: y"})).Code)
		assert.Equal(t, 400, (<-collectProgress(d, sip.ReferTo{URI: "sip:a@b", Replaces: &message.DialogID{CallID: "x"}})).Code)
		heard := collectProgress(d, sip.ReferTo{URI: "sip:a@b"})
		refer := s.peer.expect("REFER")
		assert.Equal(t, 491, (<-collectProgress(d, sip.ReferTo{URI: "sip:a@b"})).Code)
		frag := func(cseq int, state, line string, more ...string) {
			extra := append([]string{"Subscription-State: " + state, "Content-Type: message/sipfrag\n\n" + line}, more...)
			s.peer.send(s.request(inv, "NOTIFY", cseq, append([]string{"Event: refer;id=2"}, extra...)...), s.localAddr())
		}
		s.peer.send(s.request(inv, "NOTIFY", 1, "Event: presence", "Subscription-State: active"), s.localAddr())
		s.peer.expect("SIP/2.0 489")
		s.peer.send(s.request(inv, "NOTIFY", 2, "Event: refer;id=7", "Subscription-State: active"), s.localAddr())
		s.peer.expect("SIP/2.0 481")
		frag(3, "active;expires=60", "SIP/2.0 180 Ringing")
		s.peer.expect("SIP/2.0 200")
		assert.Equal(t, sip.ReferProgress{Code: 180, Phrase: "Ringing", Notify: true}, <-heard)
		s.peer.send(refer.reply(202, ""), s.localAddr()) // the response arrives last
		assert.Equal(t, sip.ReferProgress{Code: 202, Phrase: "X"}, <-heard)
		frag(4, "terminated;reason=timeout", "no status line")
		s.peer.expect("SIP/2.0 200")
		assert.Equal(t, sip.ReferProgress{Code: 180, Phrase: "Ringing", Notify: true, Final: true, Failed: true}, <-heard)
		frag(5, "terminated", "SIP/2.0 200 OK")
		s.peer.expect("SIP/2.0 200")
		s.peer.expectNothing(10 * time.Minute)
		assert.Empty(t, heard)
	})
}

func TestReferWithoutFinalNotifyFails(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		d, inv, _ := s.establishCall()
		heard := collectProgress(d, sip.ReferTo{URI: "sip:a@b"})
		s.peer.send(s.peer.expect("REFER").reply(202, ""), s.localAddr())
		assert.Equal(t, 202, (<-heard).Code)
		at := time.Now()
		assert.True(t, (<-heard).Failed)
		assert.Equal(t, time.Minute, time.Since(at), "no NOTIFY at all")

		heard = collectProgress(d, sip.ReferTo{URI: "sip:a@b"})
		s.peer.send(s.peer.expect("REFER").reply(202, ""), s.localAddr())
		assert.Equal(t, 202, (<-heard).Code)
		at = time.Now()
		for i := range 4 { // NOTIFYs with 180 do not extend the time limit
			time.Sleep(40 * time.Second)
			s.peer.send(s.request(inv, "NOTIFY", i+1, "Event: refer", "Subscription-State: active", "Content-Type: message/sipfrag\n\nSIP/2.0 180 Ringing"), s.localAddr())
			s.peer.expect("SIP/2.0 200")
			assert.Equal(t, sip.ReferProgress{Code: 180, Phrase: "Ringing", Notify: true}, <-heard)
		}
		assert.Equal(t, sip.ReferProgress{Code: 180, Phrase: "no further NOTIFY came", Notify: true, Final: true, Failed: true}, <-heard)
		assert.Equal(t, 40*time.Second+3*time.Minute, time.Since(at))

		heard = collectProgress(d, sip.ReferTo{URI: "sip:a@b"})
		s.peer.send(s.peer.expect("REFER").reply(403, ""), s.localAddr())
		assert.Equal(t, sip.ReferProgress{Code: 403, Phrase: "X", Final: true, Failed: true}, <-heard)

		heard = collectProgress(d, sip.ReferTo{URI: "sip:a@b"})
		s.peer.send(s.peer.expect("REFER").reply(202, ""), s.localAddr())
		assert.Equal(t, 202, (<-heard).Code)
		s.peer.send(s.request(inv, "BYE", 9), s.localAddr()) // many phones hang up after the REFER
		s.peer.expect("SIP/2.0 200")
		next[sip.Ended](t, s.events)
		s.peer.send(s.request(inv, "NOTIFY", 10, "Event: refer", "Subscription-State: terminated", "Content-Type: message/sipfrag\n\nSIP/2.0 200 OK"), s.localAddr())
		s.peer.expect("SIP/2.0 200")
		assert.Equal(t, sip.ReferProgress{Code: 200, Phrase: "OK", Notify: true, Final: true}, <-heard)
		s.peer.expectNothing(time.Minute)
		assert.Empty(t, heard)
	})
}

// NOTIFYs that omit headers or write their values differently are accepted while a REFER is pending.
func TestNonconformingNotifiesOfReferAreAccepted(t *testing.T) {
	body := func(kind, text string) string { return kind + "\n\n" + text }
	const frag, done = "Content-Type: message/sipfrag;version=2.0", "SIP/2.0 200 OK"
	for name, c := range map[string]struct {
		answer  string // further headers of the response to the REFER
		headers []string
		code    string // of the response to the NOTIFY; "": none is sent
		want    sip.ReferProgress
	}{
		"conforming":                     {"", []string{"Event: refer;id=2", "Subscription-State: terminated;reason=noresource", body(frag, done)}, "200", sip.ReferProgress{Code: 200, Phrase: "OK", Notify: true}},
		"without Event":                  {"", []string{"Subscription-State: terminated", body(frag, done)}, "200", sip.ReferProgress{Code: 200, Phrase: "OK", Notify: true}},
		"without Subscription-State":     {"", []string{"Event: refer", body(frag, done)}, "200", sip.ReferProgress{Code: 200, Phrase: "OK", Notify: true}},
		"without Content-Type":           {"", []string{"Event: refer", "Subscription-State: active", body("X-A: b", done)}, "200", sip.ReferProgress{Code: 200, Phrase: "OK", Notify: true}},
		"upper-case values":              {"", []string{"Event: Refer", "Subscription-State: Terminated", body("Content-Type: Message/SipFrag", "sip/2.0 200 ok")}, "200", sip.ReferProgress{Code: 200, Phrase: "ok", Notify: true}},
		"with headers":                   {"", []string{"Event: refer", "Subscription-State: active", body(frag, done+"\r\nTo: <sip:a@b>\r\nContact: <sip:a@b>")}, "200", sip.ReferProgress{Code: 200, Phrase: "OK", Notify: true}},
		"ended without a result":         {"", []string{"Event: refer", "Subscription-State: terminated;reason=noresource", body(frag, "SIP/2.0 100 Trying")}, "200", sip.ReferProgress{Code: 100, Phrase: "Trying", Notify: true, Failed: true}},
		"ended without a body":           {"", []string{"Event: refer", "Subscription-State: terminated;reason=timeout"}, "200", sip.ReferProgress{Failed: true}},
		"Refer-Sub false":                {"\r\nRefer-Sub: false", nil, "", sip.ReferProgress{Code: 202, Phrase: "X"}},
		"NOTIFY despite Refer-Sub false": {"\r\nRefer-Sub: true", []string{"Event: refer", "Subscription-State: active", body(frag, "SIP/2.0 603 Decline")}, "200", sip.ReferProgress{Code: 603, Phrase: "Decline", Notify: true, Failed: true}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *stage) {
				d, inv, _ := s.establishCall()
				heard := collectProgress(d, sip.ReferTo{URI: "sip:a@b"})
				s.peer.send(strings.Replace(s.peer.expect("REFER").reply(202, ""), "\r\nContent-Length", c.answer+"\r\nContent-Length", 1), s.localAddr())
				if c.headers != nil {
					assert.Equal(t, 202, (<-heard).Code)
					s.peer.send(s.request(inv, "NOTIFY", 1, c.headers...), s.localAddr())
					s.peer.expect("SIP/2.0 " + c.code)
				}
				c.want.Final = true
				assert.Equal(t, c.want, <-heard)
				s.peer.send(s.request(inv, "NOTIFY", 2, "Subscription-State: active"), s.localAddr())
				s.peer.expect("SIP/2.0 489") // no REFER is pending any more
			})
		})
	}
}

func TestUnansweredReferFails(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		d, inv, _ := s.establishCall()
		heard := collectProgress(d, sip.ReferTo{URI: "sip:a@b"})
		s.peer.expect("REFER")
		s.peer.send(s.request(inv, "BYE", 9), s.localAddr())
		p := <-heard
		assert.True(t, p.Final && p.Failed)
		synctest.Wait()
		assert.Empty(t, heard)
	})
}

func TestReplacesWithoutMatchingDialogIsRefused(t *testing.T) {
	bubbleInbound(t, func(t *testing.T, s *stage, in *callReceiver) {
		d, inv, _ := s.establishCall()
		id := d.ID()
		fits := "Replaces: " + id.CallID + ";to-tag=" + id.LocalTag + ";from-tag=" + id.RemoteTag
		for i, c := range []struct{ header, want string }{
			{"Replaces: " + id.CallID + ";to-tag=" + id.LocalTag + ";from-tag=wrong", "SIP/2.0 481"},
			{"Replaces: " + id.CallID + ";to-tag=wrong;from-tag=" + id.RemoteTag, "SIP/2.0 481"},
			{"Replaces: " + id.CallID + ";to-tag=a", "SIP/2.0 400"},
			{fits + "\r\n" + fits, "SIP/2.0 400"},
			{fits + ";early-only", "SIP/2.0 486"},
		} {
			s.peer.send(inboundInvite("Call-ID: r-"+string(rune('a'+i)), c.header), s.localAddr())
			m := s.peer.expect("SIP/2.0")
			if strings.HasPrefix(m.text, "SIP/2.0 100") {
				m = s.peer.expect("SIP/2.0")
			}
			require.True(t, strings.HasPrefix(m.text, c.want), "%s: %s", c.header, m.line())
			s.peer.send(strings.Replace(followUpRequest("ACK", toTagOf(m), 10), "Call-ID: in-1", "Call-ID: r-"+string(rune('a'+i)), 1), s.localAddr())
		}
		s.peer.send(inboundInvite("Call-ID: r-x", fits), s.localAddr())
		trying := s.peer.expect("SIP/2.0 100")
		next[sip.Replaced](t, s.events) // the owner does not answer
		assert.Equal(t, 5*time.Second, s.peer.expect("SIP/2.0 403").at.Sub(trying.at))
		for range 10 {
			s.peer.expect("SIP/2.0 403") // repeated, because no ACK is sent
		}
		s.peer.send(s.request(inv, "BYE", 9), s.localAddr())
		s.peer.expect("SIP/2.0 200")
		next[sip.Ended](t, s.events)
		s.peer.send(inboundInvite("Call-ID: r-y", fits), s.localAddr())
		s.peer.expect("SIP/2.0 100")
		s.peer.expect("SIP/2.0 603")
		assert.Empty(t, in.calls)
	})
}

func TestRefusedInfoDoesNotEndCall(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		d, _, _ := s.establishCall()
		d.Info("application/dtmf-relay", []byte("Signal=1\r\nDuration=100\r\n"))
		m := s.peer.expect("INFO sip:peer@")
		assert.Equal(t, "application/dtmf-relay", m.get("Content-Type"))
		s.peer.send(m.reply(415, ""), s.localAddr())
		d.Info("text/plain\r\nX: y", []byte("no"))
		s.peer.expectNothing(time.Minute)
		d.Info("application/dtmf", []byte("1"))
		s.peer.send(s.peer.expect("INFO").reply(481, ""), s.localAddr())
		s.peer.expect("BYE")
		d.Info("application/dtmf", []byte("1"))
	})
}

func TestReadHold(t *testing.T) {
	const head = "v=0\r\no=- 1 1 IN IP4 1.2.3.4\r\ns=-\r\n"
	for name, c := range map[string]struct {
		sdp  string
		want message.Hold
	}{
		"plain":           {head + "c=IN IP4 1.2.3.4\r\nt=0 0\r\nm=audio 4000 RTP/AVP 0\r\n", message.HoldNone},
		"sendonly":        {head + "m=audio 4000 RTP/AVP 0\r\na=sendonly\r\n", message.HoldSendOnly},
		"bare line feeds": {"v=0\nm=audio 4000 RTP/AVP 0\na=inactive", message.HoldInactive},
		"session level":   {head + "a=sendonly\r\nm=audio 4000 RTP/AVP 0\r\n", message.HoldSendOnly},
		"session level, overridden by the media level": {head + "a=sendonly\r\nm=audio 4000 RTP/AVP 0\r\na=sendrecv\r\n", message.HoldNone},
		"zero address":                {head + "c=IN IP4 0.0.0.0\r\nm=audio 4000 RTP/AVP 0\r\n", message.HoldZero},
		"zero address at media level": {head + "c=IN IP4 1.2.3.4\r\nm=audio 4000 RTP/AVP 0\r\nc=IN IP4 0.0.0.0\r\n", message.HoldZero},
		"address at media level":      {head + "c=IN IP4 0.0.0.0\r\nm=audio 4000 RTP/AVP 0\r\nc=IN IP4 1.2.3.4\r\n", message.HoldNone},
		"zero IPv6 address":           {head + "c=IN IP6 ::\r\nm=audio 4000 RTP/AVP 0\r\n", message.HoldZero},
		"both":                        {head + "c=IN IP4 0.0.0.0\r\nm=audio 4000 RTP/AVP 0\r\na=sendonly\r\n", message.HoldSendOnly},
		"video on hold":               {head + "m=audio 4000 RTP/AVP 0\r\nm=video 4002 RTP/AVP 99\r\na=sendonly\r\n", message.HoldNone},
		"audio after video":           {head + "m=video 4002 RTP/AVP 99\r\na=sendrecv\r\nm=audio 4000 RTP/AVP 0\r\na=inactive\r\n", message.HoldInactive},
		"refused":                     {head + "m=audio 0 RTP/AVP 0\r\na=inactive\r\n", message.HoldNone},
		"nothing":                     {"", message.HoldNone},
		"recvonly":                    {head + "m=audio 4000 RTP/AVP 0\r\na=recvonly\r\n", message.HoldNone},
		"invalid host name":           {head + "c=IN IP4 nowhere.invalid\r\nm=audio 4000 RTP/AVP 0\r\n", message.HoldZero},
		"similar attribute":           {head + "m=audio 4000 RTP/AVP 0\r\na=sendonly2\r\n", message.HoldNone},
	} {
		assert.Equal(t, c.want, message.ReadHold([]byte(c.sdp)), name)
	}
}
