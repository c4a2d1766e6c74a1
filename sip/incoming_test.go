package sip_test

import (
	"context"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/transport"
)

// callReceiver holds the inbound calls that the user agent reports, so that a test can receive them.
type callReceiver struct{ calls chan *sip.Incoming }

func bubbleInbound(t *testing.T, f func(t *testing.T, s *stage, in *callReceiver)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		in := &callReceiver{make(chan *sip.Incoming, 64)}
		s := newStage(t, func(ua *sip.UserAgent) { ua.OnInvite(func(i *sip.Incoming) { in.calls <- i }) })
		f(t, s, in)
		s.stop()
	})
}

// inboundInvite returns an INVITE of the scripted peer. Each line replaces the header of the same name. A line with a
// leading "+" adds a header instead.
func inboundInvite(lines ...string) string {
	head := []string{
		"INVITE sip:+15551000@" + localAddr + " SIP/2.0",
		"Via: SIP/2.0/UDP " + peerAddr + ";rport;branch=z9hG4bKin1",
		`From: "Ann" <sip:+15552000@127.0.0.1>;tag=caller`, "To: <sip:+15551000@127.0.0.1>", "Call-ID: in-1",
		"CSeq: 10 INVITE", "Max-Forwards: 70", contact, "Content-Type: application/sdp",
	}
	body := sdp
	for _, l := range lines {
		name, _, _ := strings.Cut(l, ":")
		switch {
		case l == "no body":
			body = ""
			continue
		case strings.HasSuffix(l, "SIP/2.0"), strings.HasSuffix(l, "SIP/3.0"):
			head[0] = l
			continue
		}
		replaced := false
		for i, h := range head[1:] {
			if strings.HasPrefix(h, name+":") && !strings.HasPrefix(l, "+") {
				head[i+1], replaced = l, true
			}
		}
		if !replaced {
			head = append(head, strings.TrimPrefix(l, "+"))
		}
	}
	return strings.Join(append(head, fmt.Sprintf("Content-Length: %d", len(body)), "", body), "\r\n")
}

// followUpRequest returns the caller's ACK, CANCEL or BYE after its INVITE.
func followUpRequest(method, tag string, cseq int) string {
	branch := "z9hG4bK" + strings.ToLower(method) + strconv.Itoa(cseq)
	if method == "CANCEL" {
		branch = "z9hG4bKin1"
	}
	to := "To: <sip:+15551000@127.0.0.1>"
	if tag != "" {
		to += ";tag=" + tag
	}
	return strings.Join([]string{
		method + " sip:callboard@" + localAddr + " SIP/2.0", "Via: SIP/2.0/UDP " + peerAddr + ";rport;branch=" + branch,
		`From: "Ann" <sip:+15552000@127.0.0.1>;tag=caller`, to, "Call-ID: in-1", fmt.Sprintf("CSeq: %d %s", cseq, method),
		"Max-Forwards: 70", "Content-Length: 0", "", "",
	}, "\r\n")
}

func toTagOf(m msg) string {
	_, tag, _ := strings.Cut(m.get("To"), ";tag=")
	return tag
}

// An Identity header is long, may occur several times, and has a compact form (RFC 8224). The call must report all of
// its values completely.
func TestIdentityHeadersOfInboundCallAreComplete(t *testing.T) {
	bubbleInbound(t, func(t *testing.T, s *stage, in *callReceiver) {
		long := strings.Repeat("a", 2000) + ";info=<https://c.example/x>;ppt=shaken"
		s.peer.send(inboundInvite("Identity: "+long, "y: c.d.e;ppt=div", "X-Long: "+strings.Repeat("x", 2000)), s.localAddr())
		s.peer.expect("SIP/2.0 100 Trying")
		i := <-in.calls
		assert.Equal(t, map[string]string{"Identity": long + ", c.d.e;ppt=div"}, i.Header)
		i.Reject(486, 0)
		s.peer.expect("SIP/2.0 486 Busy Here")
	})
}

func TestInboundCallIsAnsweredAndEnded(t *testing.T) {
	bubbleInbound(t, func(t *testing.T, s *stage, in *callReceiver) {
		s.peer.send(inboundInvite("Diversion: <sip:+15553000@x>", "P-Asserted-Identity: <sip:+15552000@x>"), s.localAddr())
		trying := s.peer.expect("SIP/2.0 100 Trying")
		assert.Empty(t, toTagOf(trying))
		assert.Equal(t, "SIP/2.0/UDP 127.0.0.1:5070;rport=5070;branch=z9hG4bKin1;received=127.0.0.1", trying.get("Via"))
		i := <-in.calls
		assert.Equal(t, []string{"+15552000", "Ann", "+15551000", "in-1", sdp}, []string{i.From, i.FromName, i.To, i.CallID, string(i.Body)})
		assert.Equal(t, map[string]string{"Diversion": "<sip:+15553000@x>", "P-Asserted-Identity": "<sip:+15552000@x>"}, i.Header)
		i.Ring()
		ring := s.peer.expect("SIP/2.0 180 Ringing")
		d := i.Answer([]byte(sdp), s.events.add)
		ok := s.peer.expect("SIP/2.0 200 OK")
		assert.Equal(t, toTagOf(ring), toTagOf(ok))
		assert.Equal(t, "<sip:+15551000@127.0.0.1:5060>", ok.get("Contact"))
		assert.True(t, strings.HasSuffix(ok.text, sdp))
		d.Bye(16, "") // before the ACK, so the BYE has to wait
		s.peer.expectNothing(400 * time.Millisecond)
		s.peer.send(followUpRequest("ACK", toTagOf(ok), 10), s.localAddr())
		bye := s.peer.expect("BYE sip:peer@127.0.0.1:5070 SIP/2.0")
		assert.Contains(t, bye.get("To"), "tag=caller")
		assert.Contains(t, bye.get("From"), "tag="+toTagOf(ok))
		s.peer.send(bye.reply(200, ""), s.localAddr())
		next[sip.Ended](t, s.events)
		s.peer.expectNothing(time.Minute)
		s.events.requireNoEvent(t)
	})
}

func TestRetransmittedInviteIsOneCall(t *testing.T) {
	bubbleInbound(t, func(t *testing.T, s *stage, in *callReceiver) {
		for range 3 {
			s.peer.send(inboundInvite(), s.localAddr())
			s.peer.expect("SIP/2.0 100")
		}
		i := <-in.calls
		i.Ring()
		s.peer.expect("SIP/2.0 180")
		s.peer.send(inboundInvite(), s.localAddr())
		s.peer.expect("SIP/2.0 180")
		s.peer.send(inboundInvite("Via: SIP/2.0/UDP "+peerAddr+";rport;branch=z9hG4bKother"), s.localAddr())
		s.peer.expect("SIP/2.0 482")
		synctest.Wait()
		assert.Empty(t, in.calls)
	})
}

func Test2xxWithoutAckIsRepeatedAndCallEnded(t *testing.T) {
	bubbleInbound(t, func(t *testing.T, s *stage, in *callReceiver) {
		s.peer.send(inboundInvite(), s.localAddr())
		s.peer.expect("SIP/2.0 100")
		(<-in.calls).Answer([]byte(sdp), s.events.add)
		first := s.peer.expect("SIP/2.0 200")
		var waits []time.Duration
		for range 10 {
			again := s.peer.expect("SIP/2.0 200")
			assert.Equal(t, first.text, again.text)
			waits = append(waits, again.at.Sub(first.at).Round(time.Millisecond))
		}
		ms := time.Millisecond
		assert.Equal(t, []time.Duration{
			500 * ms, 1500 * ms, 3500 * ms, 7500 * ms, 11500 * ms, 15500 * ms, 19500 * ms, 23500 * ms, 27500 * ms, 31500 * ms,
		}, waits)
		bye := s.peer.expect("BYE")
		assert.Equal(t, 32*time.Second, bye.at.Sub(first.at))
		s.peer.send(bye.reply(200, ""), s.localAddr())
		assert.True(t, next[sip.Ended](t, s.events).Fault)
	})
}

func TestCancelOfInboundCallIsReported(t *testing.T) {
	bubbleInbound(t, func(t *testing.T, s *stage, in *callReceiver) {
		s.peer.send(inboundInvite(), s.localAddr())
		s.peer.expect("SIP/2.0 100")
		i := <-in.calls
		i.Notify(s.events.add)
		s.peer.send(followUpRequest("CANCEL", "", 10), s.localAddr())
		assert.Equal(t, "10 CANCEL", s.peer.expect("SIP/2.0 200").get("CSeq"))
		gone := s.peer.expect("SIP/2.0 487")
		assert.Equal(t, "10 INVITE", gone.get("CSeq"))
		assert.True(t, next[sip.Refused](t, s.events).Final.Cancelled)
		assert.Equal(t, 500*time.Millisecond, s.peer.expect("SIP/2.0 487").at.Sub(gone.at))
		ack := strings.Replace(followUpRequest("ACK", toTagOf(gone), 10), "z9hG4bKack10", "z9hG4bKin1", 1)
		s.peer.send(ack, s.localAddr())
		s.peer.expectNothing(time.Minute)
		late := newEventLog()
		i.Answer([]byte(sdp), late.add)
		end := next[sip.Ended](t, late)
		assert.Equal(t, []bool{true, true}, []bool{end.ByRemote, end.CancelledByCaller})
		s.peer.expectNothing(time.Minute)
	})
}

func TestCancelBeforeNotifyIsReported(t *testing.T) {
	bubbleInbound(t, func(t *testing.T, s *stage, in *callReceiver) {
		s.peer.send(inboundInvite(), s.localAddr())
		s.peer.expect("SIP/2.0 100")
		i := <-in.calls
		s.peer.send(followUpRequest("CANCEL", "", 10), s.localAddr())
		s.peer.expect("SIP/2.0 200")
		s.peer.expect("SIP/2.0 487")
		i.Notify(s.events.add)
		assert.True(t, next[sip.Refused](t, s.events).Final.Cancelled)
		s.events.requireNoEvent(t)
	})
}

func TestByeBeforeAckEndsAnsweredCall(t *testing.T) {
	bubbleInbound(t, func(t *testing.T, s *stage, in *callReceiver) {
		s.peer.send(inboundInvite(), s.localAddr())
		s.peer.expect("SIP/2.0 100")
		(<-in.calls).Answer([]byte(sdp), s.events.add)
		ok := s.peer.expect("SIP/2.0 200")
		s.peer.send(followUpRequest("BYE", toTagOf(ok), 11), s.localAddr())
		assert.Equal(t, "11 BYE", s.peer.expect("SIP/2.0 200").get("CSeq"))
		end := next[sip.Ended](t, s.events)
		assert.Equal(t, []bool{true, false}, []bool{end.ByRemote, end.CancelledByCaller})
	})
}

func TestCancelAfter2xxHasNoEffect(t *testing.T) {
	bubbleInbound(t, func(t *testing.T, s *stage, in *callReceiver) {
		s.peer.send(inboundInvite(), s.localAddr())
		s.peer.expect("SIP/2.0 100")
		(<-in.calls).Answer([]byte(sdp), s.events.add)
		ok := s.peer.expect("SIP/2.0 200")
		s.peer.send(followUpRequest("CANCEL", "", 10), s.localAddr())
		assert.Equal(t, "10 CANCEL", s.peer.expect("SIP/2.0 200").get("CSeq"))
		s.peer.send(followUpRequest("ACK", toTagOf(ok), 10), s.localAddr())
		s.peer.expectNothing(time.Minute)
		s.events.requireNoEvent(t)
	})
}

func TestRejectionIsRepeatedUntilAck(t *testing.T) {
	bubbleInbound(t, func(t *testing.T, s *stage, in *callReceiver) {
		s.peer.send(inboundInvite(), s.localAddr())
		s.peer.expect("SIP/2.0 100")
		i := <-in.calls
		i.Notify(s.events.add)
		i.Reject(486, 30*time.Second)
		i.Reject(404, 0)
		busy := s.peer.expect("SIP/2.0 486 Busy Here")
		assert.Equal(t, "30", busy.get("Retry-After"))
		s.peer.expect("SIP/2.0 486")
		s.peer.send(followUpRequest("ACK", toTagOf(busy), 10), s.localAddr())
		s.peer.expectNothing(time.Minute)
		s.events.requireNoEvent(t)
		assert.Zero(t, s.ua.Counters().UnansweredCalls)
		assert.Zero(t, s.ua.Counters().Dialogs)
	})
}

func TestInboundCallWithoutOwnerIsRefused(t *testing.T) {
	bubbleInbound(t, func(t *testing.T, s *stage, in *callReceiver) {
		s.peer.send(inboundInvite(), s.localAddr())
		start := s.peer.expect("SIP/2.0 100")
		i := <-in.calls
		i.Notify(s.events.add)
		i.Ring()
		for range 4 { // at once and every minute
			if m := s.peer.expect("SIP/2.0"); strings.HasPrefix(m.text, "SIP/2.0 480") {
				assert.Equal(t, 3*time.Minute, m.at.Sub(start.at))
				break
			}
		}
		assert.Equal(t, 480, next[sip.Refused](t, s.events).Final.Code)
	})
}

func TestPanicInOnInviteGets500(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, func(ua *sip.UserAgent) { ua.OnInvite(func(*sip.Incoming) { panic("planted") }) })
		s.peer.send(inboundInvite(), s.localAddr())
		s.peer.expect("SIP/2.0 100")
		s.peer.expect("SIP/2.0 500")
		s.stop()
	})
}

func TestOfferIn2xxIsAnsweredInAck(t *testing.T) {
	bubbleInbound(t, func(t *testing.T, s *stage, in *callReceiver) {
		s.peer.send(inboundInvite("no body"), s.localAddr())
		s.peer.expect("SIP/2.0 100")
		i := <-in.calls
		assert.Empty(t, i.Body)
		i.Answer([]byte(sdp), s.events.add)
		ok := s.peer.expect("SIP/2.0 200")
		ack := strings.Replace(followUpRequest("ACK", toTagOf(ok), 10), "Content-Length: 0\r\n\r\n",
			fmt.Sprintf("Content-Type: application/sdp\r\nContent-Length: %d\r\n\r\n%s", len(sdp), sdp), 1)
		s.peer.send(ack, s.localAddr())
		assert.Equal(t, sdp, string(next[sip.Accepted](t, s.events).Body))
	})
}

func TestInboundCallEndsIfAckHasNoAnswer(t *testing.T) {
	bubbleInbound(t, func(t *testing.T, s *stage, in *callReceiver) {
		s.peer.send(inboundInvite("no body"), s.localAddr())
		s.peer.expect("SIP/2.0 100")
		(<-in.calls).Answer([]byte(sdp), s.events.add)
		ok := s.peer.expect("SIP/2.0 200")
		s.peer.send(followUpRequest("ACK", toTagOf(ok), 10), s.localAddr())
		bye := s.peer.expect("BYE")
		s.peer.send(bye.reply(200, ""), s.localAddr())
		ended := next[sip.Ended](t, s.events)
		assert.True(t, ended.Fault)
		assert.Equal(t, "the ACK brought no answer to the offer", ended.Text)
	})
}

func TestReinviteGetsAnswerOfOwner(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		_, inv, _ := s.establishCall()
		again := s.request(inv, "INVITE", 5, "Content-Type: application/sdp\n\n"+sdp)
		s.peer.send(again, s.localAddr())
		s.peer.expect("SIP/2.0 100")
		offer := next[sip.Reoffer](t, s.events)
		assert.Equal(t, sdp, string(offer.Body))
		s.peer.send(s.request(inv, "INVITE", 6), s.localAddr())
		assert.NotEmpty(t, s.peer.expect("SIP/2.0 500").get("Retry-After"))
		s.peer.send(s.request(inv, "ACK", 6), s.localAddr())
		offer.Reply(200, []byte(sdp))
		offer.Reply(488, nil)
		ok := s.peer.expect("SIP/2.0 200")
		assert.NotEmpty(t, ok.get("Contact"))
		assert.Equal(t, 500*time.Millisecond, s.peer.expect("SIP/2.0 200").at.Sub(ok.at))
		s.peer.send(again, s.localAddr())
		s.peer.expect("SIP/2.0 200")
		s.peer.send(s.request(inv, "ACK", 5), s.localAddr())
		s.peer.expectNothing(time.Minute)
		s.events.requireNoEvent(t)
	})
}

func TestReofferWithoutReplyIsRefused(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		_, inv, _ := s.establishCall()
		s.peer.send(s.request(inv, "INVITE", 5, "Content-Type: application/sdp\n\n"+sdp), s.localAddr())
		start := s.peer.expect("SIP/2.0 100")
		next[sip.Reoffer](t, s.events)
		assert.Equal(t, 10*time.Second, s.peer.expect("SIP/2.0 500").at.Sub(start.at))
	})
}

func TestUpdateInfoAndOptionsWithinTheCall(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		d, inv, _ := s.establishCall()
		s.peer.send(s.request(inv, "INFO", 1, "Content-Type: application/dtmf-relay\n\nSignal= 5\r\nDuration= 250\r\n"), s.localAddr())
		s.peer.expect("SIP/2.0 200")
		assert.Equal(t, sip.InfoDigit{Key: '5', DurationMs: 250}, next[sip.InfoDigit](t, s.events))
		s.peer.send(s.request(inv, "INFO", 1, "Content-Type: application/dtmf-relay\n\nSignal= 5\r\nDuration= 250\r\n"), s.localAddr())
		s.peer.expect("SIP/2.0 200") // retransmission: answered, and reported once
		s.peer.send(s.request(inv, "INFO", 2, "Content-Type: application/dtmf\n\n#"), s.localAddr())
		s.peer.expect("SIP/2.0 200")
		assert.Equal(t, byte('#'), next[sip.InfoDigit](t, s.events).Key)
		s.peer.send(s.request(inv, "INFO", 3, "Content-Type: text/plain\n\nhi"), s.localAddr())
		s.peer.expect("SIP/2.0 415")
		s.peer.send(s.request(inv, "OPTIONS", 4), s.localAddr())
		s.peer.expect("SIP/2.0 200")
		s.peer.send(strings.Replace(s.request(inv, "UPDATE", 5), "sip:peer@127.0.0.1:5070>", "sip:moved@127.0.0.1:5070>", 1), s.localAddr())
		s.peer.expect("SIP/2.0 200")
		assert.Equal(t, "sip:moved@127.0.0.1:5070", d.State().RemoteTarget)
		s.peer.send(s.request(inv, "OPTIONS", 4, "X-Old: 1"), s.localAddr())
		s.peer.expect("SIP/2.0 200") // the stored response
		s.peer.send(s.request(inv, "UPDATE", 3), s.localAddr())
		s.peer.expect("SIP/2.0 500") // a lower CSeq
		s.events.requireNoEvent(t)
	})
}

func TestReofferFailsWhenCallEnds(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		d, inv, _ := s.establishCall()
		got := make(chan sip.OfferResult, 4)
		hear := func(r sip.OfferResult) { got <- r }
		d.Reoffer([]byte(sdp), hear)
		d.Reoffer([]byte(sdp), hear)
		re := s.peer.expect("INVITE sip:peer@")
		s.peer.send(s.request(inv, "BYE", 1), s.localAddr())
		s.peer.expect("SIP/2.0 200")
		require.Error(t, (<-got).Err)
		require.Error(t, (<-got).Err)
		next[sip.Ended](t, s.events)
		s.peer.send(re.reply(200, "", contact, sdp), s.localAddr()) // crosses the BYE
		s.peer.expect("ACK sip:peer@")
		d.Reoffer([]byte(sdp), hear)
		require.Error(t, (<-got).Err)
		s.peer.expectNothing(time.Minute)
		assert.Empty(t, got)
	})
}

func TestUnansweredInvitesAreBoundedAndUnknownSourcesIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := make(chan *sip.Incoming, 1)
		s := newStage(t, func(ua *sip.UserAgent) {
			ua.OnInvite(func(i *sip.Incoming) { calls <- i })
			ua.SetAdmission(func(src transport.Source) sip.Admission {
				return sip.Admission{Allow: src.Addr.Port() == 5070, TrunkID: "trunk_1"}
			})
		})
		stranger := &peer{t, s.net.open("127.0.0.1:5999")}
		stranger.send(inboundInvite(), s.localAddr())
		stranger.send(strings.Replace(inboundInvite(), "INVITE", "OPTIONS", 2), s.localAddr())
		stranger.expectNothing(time.Second)
		assert.EqualValues(t, 2, s.ua.Counters().DroppedUnknown)
		s.peer.send(inboundInvite(), s.localAddr())
		s.peer.expect("SIP/2.0 100")
		assert.Equal(t, "trunk_1", (<-calls).TrunkID)
		s.stop()
	})
}

func TestHostOfLiveCallIsAdmitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, func(ua *sip.UserAgent) {
			ua.SetAdmission(func(transport.Source) sip.Admission { return sip.Admission{} })
			ua.OnInvite(func(*sip.Incoming) { t.Error("a call from nowhere") })
		})
		_, inv, _ := s.establishCall()
		s.peer.send(inboundInvite(), s.localAddr())
		s.peer.expectNothing(time.Second)
		s.peer.send(s.request(inv, "BYE", 1), s.localAddr())
		s.peer.expect("SIP/2.0 200")
		next[sip.Ended](t, s.events)
		time.Sleep(time.Minute)
		_, peers, _ := s.ua.StoredSources()
		assert.Zero(t, peers)
		assert.Zero(t, s.ua.Counters().Dialogs)
		s.stop()
	})
}

func TestForgedResponsesAreDropped(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		s.invite(nil)
		inv := s.peer.expect("INVITE")
		for _, forged := range []string{
			strings.Replace(inv.reply(200, "p1", contact, sdp), "branch=z9hG4bK", "branch=z9hG4bK0", 1),
			strings.Replace(inv.reply(200, "p1", contact, sdp), "1 INVITE", "2 INVITE", 1),
			strings.Replace(inv.reply(200, "p1", contact, sdp), "CSeq:", "Via: SIP/2.0/UDP x;branch=z9hG4bKx\r\nCSeq:", 1),
			strings.Replace(inv.reply(200, "p1", contact, sdp), "SIP/2.0 200", "SIP/7.0 200", 1),
		} {
			s.peer.send(forged, s.localAddr())
			synctest.Wait()
			s.events.requireNoEvent(t)
		}
		s.peer.send(inv.reply(200, "p1", contact, sdp), s.localAddr())
		s.peer.expect("ACK")
		next[sip.Answered](t, s.events)
	})
}

func TestInviteWithNextCSeqAfterRefusalIsNewCall(t *testing.T) {
	bubbleInbound(t, func(t *testing.T, s *stage, in *callReceiver) {
		s.peer.send(inboundInvite(), s.localAddr())
		s.peer.expect("SIP/2.0 100")
		(<-in.calls).Reject(503, 0)
		refused := s.peer.expect("SIP/2.0 503")
		s.peer.send(followUpRequest("ACK", toTagOf(refused), 10), s.localAddr())
		s.peer.send(inboundInvite("CSeq: 11 INVITE", "Via: SIP/2.0/UDP "+peerAddr+";rport;branch=z9hG4bKin2"), s.localAddr())
		s.peer.expect("SIP/2.0 100")
		(<-in.calls).Answer([]byte(sdp), s.events.add)
		ok := s.peer.expect("SIP/2.0 200")
		s.peer.send(followUpRequest("ACK", toTagOf(ok), 11), s.localAddr())
		s.peer.expectNothing(2 * time.Minute)
		s.peer.send(followUpRequest("BYE", toTagOf(ok), 12), s.localAddr())
		s.peer.expect("SIP/2.0 200")
		assert.True(t, next[sip.Ended](t, s.events).ByRemote)
	})
}

func TestUnansweredCallsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newFakeNetwork()
		ua, err := sip.New(sip.Config{Listen: []transport.Listener{{Network: "udp", Addr: localAddr}}, MaxHalfOpen: 2})
		require.NoError(t, err)
		ua.UseSocket(n.open(localAddr))
		ua.OnInvite(func(*sip.Incoming) {})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = ua.Serve(ctx)
		}()
		<-ua.Ready()
		p := &peer{t, n.open(peerAddr)}
		for i, want := range []string{"SIP/2.0 100", "SIP/2.0 100", "SIP/2.0 503"} {
			p.send(inboundInvite(fmt.Sprintf("Call-ID: cap-%d", i)), netip.MustParseAddrPort(localAddr))
			p.expect(want)
		}
		assert.Equal(t, 2, ua.Counters().UnansweredCalls)
		cancel()
		<-ended
	})
}
