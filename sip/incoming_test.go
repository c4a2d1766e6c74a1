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

// desk takes inbound calls in a test.
type desk struct{ calls chan *sip.Incoming }

func bubbleIn(t *testing.T, f func(t *testing.T, s *stage, in *desk)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		in := &desk{make(chan *sip.Incoming, 64)}
		s := onStage(t, func(ua *sip.UserAgent) { ua.OnInvite(func(i *sip.Incoming) { in.calls <- i }) })
		f(t, s, in)
		s.stop()
	})
}

// callUs is an INVITE of the scripted peer. Lines replace or add headers.
func callUs(lines ...string) string {
	head := []string{
		"INVITE sip:+15551000@" + ourAddr + " SIP/2.0",
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

// follow turns the caller's INVITE into its ACK, CANCEL or BYE.
func follow(method, tag string, cseq int) string {
	branch := "z9hG4bK" + strings.ToLower(method) + strconv.Itoa(cseq)
	if method == "CANCEL" {
		branch = "z9hG4bKin1"
	}
	to := "To: <sip:+15551000@127.0.0.1>"
	if tag != "" {
		to += ";tag=" + tag
	}
	return strings.Join([]string{
		method + " sip:callboard@" + ourAddr + " SIP/2.0", "Via: SIP/2.0/UDP " + peerAddr + ";rport;branch=" + branch,
		`From: "Ann" <sip:+15552000@127.0.0.1>;tag=caller`, to, "Call-ID: in-1", fmt.Sprintf("CSeq: %d %s", cseq, method),
		"Max-Forwards: 70", "Content-Length: 0", "", "",
	}, "\r\n")
}

func tagOf(m msg) string {
	_, tag, _ := strings.Cut(m.get("To"), ";tag=")
	return tag
}

// A signed identity is long, may stand several times, and has a short name.
func TestIdentityHeaderOfACallerIsReportedInFull(t *testing.T) {
	bubbleIn(t, func(t *testing.T, s *stage, in *desk) {
		long := strings.Repeat("a", 2000) + ";info=<https://c.example/x>;ppt=shaken"
		s.peer.send(callUs("Identity: "+long, "y: c.d.e;ppt=div", "X-Long: "+strings.Repeat("x", 2000)), s.us())
		s.peer.expect("SIP/2.0 100 Trying")
		i := <-in.calls
		assert.Equal(t, map[string]string{"Identity": long + ", c.d.e;ppt=div"}, i.Header)
		i.Reject(486, 0)
		s.peer.expect("SIP/2.0 486 Busy Here")
	})
}

func TestInboundCallIsTakenAndEnded(t *testing.T) {
	bubbleIn(t, func(t *testing.T, s *stage, in *desk) {
		s.peer.send(callUs("Diversion: <sip:+15553000@x>", "P-Asserted-Identity: <sip:+15552000@x>"), s.us())
		trying := s.peer.expect("SIP/2.0 100 Trying")
		assert.Empty(t, tagOf(trying))
		assert.Equal(t, "SIP/2.0/UDP 127.0.0.1:5070;rport=5070;branch=z9hG4bKin1;received=127.0.0.1", trying.get("Via"))
		i := <-in.calls
		assert.Equal(t, []string{"+15552000", "Ann", "+15551000", "in-1", sdp}, []string{i.From, i.FromName, i.To, i.CallID, string(i.Body)})
		assert.Equal(t, map[string]string{"Diversion": "<sip:+15553000@x>", "P-Asserted-Identity": "<sip:+15552000@x>"}, i.Header)
		i.Ring()
		ring := s.peer.expect("SIP/2.0 180 Ringing")
		d := i.Answer([]byte(sdp), s.events.add)
		ok := s.peer.expect("SIP/2.0 200 OK")
		assert.Equal(t, tagOf(ring), tagOf(ok))
		assert.Equal(t, "<sip:+15551000@127.0.0.1:5060>", ok.get("Contact"))
		assert.True(t, strings.HasSuffix(ok.text, sdp))
		d.Bye(16, "") // before the ACK: it has to wait
		s.peer.nothing(400 * time.Millisecond)
		s.peer.send(follow("ACK", tagOf(ok), 10), s.us())
		bye := s.peer.expect("BYE sip:peer@127.0.0.1:5070 SIP/2.0")
		assert.Contains(t, bye.get("To"), "tag=caller")
		assert.Contains(t, bye.get("From"), "tag="+tagOf(ok))
		s.peer.send(bye.reply(200, ""), s.us())
		next[sip.Ended](t, s.events)
		s.peer.nothing(time.Minute)
		s.events.quiet(t)
	})
}

func TestRepeatedInviteIsOneCall(t *testing.T) {
	bubbleIn(t, func(t *testing.T, s *stage, in *desk) {
		for range 3 {
			s.peer.send(callUs(), s.us())
			s.peer.expect("SIP/2.0 100")
		}
		i := <-in.calls
		i.Ring()
		s.peer.expect("SIP/2.0 180")
		s.peer.send(callUs(), s.us())
		s.peer.expect("SIP/2.0 180")
		s.peer.send(callUs("Via: SIP/2.0/UDP "+peerAddr+";rport;branch=z9hG4bKother"), s.us())
		s.peer.expect("SIP/2.0 482")
		synctest.Wait()
		assert.Empty(t, in.calls)
	})
}

func TestAnswerWithoutACKIsRepeatedThenEnded(t *testing.T) {
	bubbleIn(t, func(t *testing.T, s *stage, in *desk) {
		s.peer.send(callUs(), s.us())
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
		s.peer.send(bye.reply(200, ""), s.us())
		assert.True(t, next[sip.Ended](t, s.events).Fault)
	})
}

func TestCallerGivesUp(t *testing.T) {
	bubbleIn(t, func(t *testing.T, s *stage, in *desk) {
		s.peer.send(callUs(), s.us())
		s.peer.expect("SIP/2.0 100")
		i := <-in.calls
		i.Notify(s.events.add)
		s.peer.send(follow("CANCEL", "", 10), s.us())
		assert.Equal(t, "10 CANCEL", s.peer.expect("SIP/2.0 200").get("CSeq"))
		gone := s.peer.expect("SIP/2.0 487")
		assert.Equal(t, "10 INVITE", gone.get("CSeq"))
		assert.True(t, next[sip.Refused](t, s.events).Final.Cancelled)
		assert.Equal(t, 500*time.Millisecond, s.peer.expect("SIP/2.0 487").at.Sub(gone.at))
		ack := strings.Replace(follow("ACK", tagOf(gone), 10), "z9hG4bKack10", "z9hG4bKin1", 1)
		s.peer.send(ack, s.us())
		s.peer.nothing(time.Minute)
		late := newEventLog()
		i.Answer([]byte(sdp), late.add)
		end := next[sip.Ended](t, late)
		assert.Equal(t, []bool{true, true}, []bool{end.ByRemote, end.CancelledByCaller})
		s.peer.nothing(time.Minute)
	})
}

func TestCANCELBeforeNotifyIsReported(t *testing.T) {
	bubbleIn(t, func(t *testing.T, s *stage, in *desk) {
		s.peer.send(callUs(), s.us())
		s.peer.expect("SIP/2.0 100")
		i := <-in.calls
		s.peer.send(follow("CANCEL", "", 10), s.us())
		s.peer.expect("SIP/2.0 200")
		s.peer.expect("SIP/2.0 487")
		i.Notify(s.events.add)
		assert.True(t, next[sip.Refused](t, s.events).Final.Cancelled)
		s.events.quiet(t)
	})
}

func TestACallerWhoLeavesBeforeHisACKHasNotGivenUp(t *testing.T) {
	bubbleIn(t, func(t *testing.T, s *stage, in *desk) {
		s.peer.send(callUs(), s.us())
		s.peer.expect("SIP/2.0 100")
		(<-in.calls).Answer([]byte(sdp), s.events.add)
		ok := s.peer.expect("SIP/2.0 200")
		s.peer.send(follow("BYE", tagOf(ok), 11), s.us())
		assert.Equal(t, "11 BYE", s.peer.expect("SIP/2.0 200").get("CSeq"))
		end := next[sip.Ended](t, s.events)
		assert.Equal(t, []bool{true, false}, []bool{end.ByRemote, end.CancelledByCaller})
	})
}

func TestCancelAfterTheAnswerChangesNothing(t *testing.T) {
	bubbleIn(t, func(t *testing.T, s *stage, in *desk) {
		s.peer.send(callUs(), s.us())
		s.peer.expect("SIP/2.0 100")
		(<-in.calls).Answer([]byte(sdp), s.events.add)
		ok := s.peer.expect("SIP/2.0 200")
		s.peer.send(follow("CANCEL", "", 10), s.us())
		assert.Equal(t, "10 CANCEL", s.peer.expect("SIP/2.0 200").get("CSeq"))
		s.peer.send(follow("ACK", tagOf(ok), 10), s.us())
		s.peer.nothing(time.Minute)
		s.events.quiet(t)
	})
}

func TestRejectionIsRepeatedUntilItsACK(t *testing.T) {
	bubbleIn(t, func(t *testing.T, s *stage, in *desk) {
		s.peer.send(callUs(), s.us())
		s.peer.expect("SIP/2.0 100")
		i := <-in.calls
		i.Notify(s.events.add)
		i.Reject(486, 30*time.Second)
		i.Reject(404, 0)
		busy := s.peer.expect("SIP/2.0 486 Busy Here")
		assert.Equal(t, "30", busy.get("Retry-After"))
		s.peer.expect("SIP/2.0 486")
		s.peer.send(follow("ACK", tagOf(busy), 10), s.us())
		s.peer.nothing(time.Minute)
		s.events.quiet(t)
		assert.Zero(t, s.ua.Counters().UnansweredCalls)
		assert.Zero(t, s.ua.Counters().Dialogs)
	})
}

func TestInboundCallWithoutAnOwnerEnds(t *testing.T) {
	bubbleIn(t, func(t *testing.T, s *stage, in *desk) {
		s.peer.send(callUs(), s.us())
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

func TestPanicInTheCallbackIsAnsweredFiveHundred(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := onStage(t, func(ua *sip.UserAgent) { ua.OnInvite(func(*sip.Incoming) { panic("planted") }) })
		s.peer.send(callUs(), s.us())
		s.peer.expect("SIP/2.0 100")
		s.peer.expect("SIP/2.0 500")
		s.stop()
	})
}

func TestLateOfferGetsItsAnswerInTheACK(t *testing.T) {
	bubbleIn(t, func(t *testing.T, s *stage, in *desk) {
		s.peer.send(callUs("no body"), s.us())
		s.peer.expect("SIP/2.0 100")
		i := <-in.calls
		assert.Empty(t, i.Body)
		i.Answer([]byte(sdp), s.events.add)
		ok := s.peer.expect("SIP/2.0 200")
		ack := strings.Replace(follow("ACK", tagOf(ok), 10), "Content-Length: 0\r\n\r\n",
			fmt.Sprintf("Content-Type: application/sdp\r\nContent-Length: %d\r\n\r\n%s", len(sdp), sdp), 1)
		s.peer.send(ack, s.us())
		assert.Equal(t, sdp, string(next[sip.Accepted](t, s.events).Body))
	})
}

func TestCallWithoutAnAnswerToItsOfferEnds(t *testing.T) {
	bubbleIn(t, func(t *testing.T, s *stage, in *desk) {
		s.peer.send(callUs("no body"), s.us())
		s.peer.expect("SIP/2.0 100")
		(<-in.calls).Answer([]byte(sdp), s.events.add)
		ok := s.peer.expect("SIP/2.0 200")
		s.peer.send(follow("ACK", tagOf(ok), 10), s.us())
		bye := s.peer.expect("BYE")
		s.peer.send(bye.reply(200, ""), s.us())
		ended := next[sip.Ended](t, s.events)
		assert.True(t, ended.Fault)
		assert.Equal(t, "the ACK brought no answer to the offer", ended.Text)
	})
}

func TestReinviteIsAnsweredAndRepeated(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		_, inv, _ := s.answered()
		again := s.request(inv, "INVITE", 5, "Content-Type: application/sdp\n\n"+sdp)
		s.peer.send(again, s.us())
		s.peer.expect("SIP/2.0 100")
		offer := next[sip.Reoffer](t, s.events)
		assert.Equal(t, sdp, string(offer.Body))
		s.peer.send(s.request(inv, "INVITE", 6), s.us())
		assert.NotEmpty(t, s.peer.expect("SIP/2.0 500").get("Retry-After"))
		s.peer.send(s.request(inv, "ACK", 6), s.us())
		offer.Reply(200, []byte(sdp))
		offer.Reply(488, nil)
		ok := s.peer.expect("SIP/2.0 200")
		assert.NotEmpty(t, ok.get("Contact"))
		assert.Equal(t, 500*time.Millisecond, s.peer.expect("SIP/2.0 200").at.Sub(ok.at))
		s.peer.send(again, s.us())
		s.peer.expect("SIP/2.0 200")
		s.peer.send(s.request(inv, "ACK", 5), s.us())
		s.peer.nothing(time.Minute)
		s.events.quiet(t)
	})
}

func TestReofferWithoutAnAnswerIsRefused(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		_, inv, _ := s.answered()
		s.peer.send(s.request(inv, "INVITE", 5, "Content-Type: application/sdp\n\n"+sdp), s.us())
		start := s.peer.expect("SIP/2.0 100")
		next[sip.Reoffer](t, s.events)
		assert.Equal(t, 10*time.Second, s.peer.expect("SIP/2.0 500").at.Sub(start.at))
	})
}

func TestUpdateInfoAndOptionsWithinTheCall(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		d, inv, _ := s.answered()
		s.peer.send(s.request(inv, "INFO", 1, "Content-Type: application/dtmf-relay\n\nSignal= 5\r\nDuration= 250\r\n"), s.us())
		s.peer.expect("SIP/2.0 200")
		assert.Equal(t, sip.InfoDigit{Key: '5', DurationMs: 250}, next[sip.InfoDigit](t, s.events))
		s.peer.send(s.request(inv, "INFO", 1, "Content-Type: application/dtmf-relay\n\nSignal= 5\r\nDuration= 250\r\n"), s.us())
		s.peer.expect("SIP/2.0 200") // repeated: answered, not pressed again
		s.peer.send(s.request(inv, "INFO", 2, "Content-Type: application/dtmf\n\n#"), s.us())
		s.peer.expect("SIP/2.0 200")
		assert.Equal(t, byte('#'), next[sip.InfoDigit](t, s.events).Key)
		s.peer.send(s.request(inv, "INFO", 3, "Content-Type: text/plain\n\nhi"), s.us())
		s.peer.expect("SIP/2.0 415")
		s.peer.send(s.request(inv, "OPTIONS", 4), s.us())
		s.peer.expect("SIP/2.0 200")
		s.peer.send(strings.Replace(s.request(inv, "UPDATE", 5), "sip:peer@127.0.0.1:5070>", "sip:moved@127.0.0.1:5070>", 1), s.us())
		s.peer.expect("SIP/2.0 200")
		assert.Equal(t, "sip:moved@127.0.0.1:5070", d.State().RemoteTarget)
		s.peer.send(s.request(inv, "OPTIONS", 4, "X-Old: 1"), s.us())
		s.peer.expect("SIP/2.0 200") // kept answer
		s.peer.send(s.request(inv, "UPDATE", 3), s.us())
		s.peer.expect("SIP/2.0 500") // an older CSeq
		s.events.quiet(t)
	})
}

func TestReofferEndsWithTheCall(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		d, inv, _ := s.answered()
		got := make(chan sip.OfferResult, 4)
		hear := func(r sip.OfferResult) { got <- r }
		d.Reoffer([]byte(sdp), hear)
		d.Reoffer([]byte(sdp), hear)
		re := s.peer.expect("INVITE sip:peer@")
		s.peer.send(s.request(inv, "BYE", 1), s.us())
		s.peer.expect("SIP/2.0 200")
		require.Error(t, (<-got).Err)
		require.Error(t, (<-got).Err)
		next[sip.Ended](t, s.events)
		s.peer.send(re.reply(200, "", contact, sdp), s.us()) // it crossed the BYE
		s.peer.expect("ACK sip:peer@")
		d.Reoffer([]byte(sdp), hear)
		require.Error(t, (<-got).Err)
		s.peer.nothing(time.Minute)
		assert.Empty(t, got)
	})
}

func TestInviteCapAndUnknownSources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := make(chan *sip.Incoming, 1)
		s := onStage(t, func(ua *sip.UserAgent) {
			ua.OnInvite(func(i *sip.Incoming) { calls <- i })
			ua.SetAdmission(func(src transport.Source) sip.Admission {
				return sip.Admission{Allow: src.Addr.Port() == 5070, TrunkID: "trunk_1"}
			})
		})
		stranger := &peer{t, s.net.open("127.0.0.1:5999")}
		stranger.send(callUs(), s.us())
		stranger.send(strings.Replace(callUs(), "INVITE", "OPTIONS", 2), s.us())
		stranger.nothing(time.Second)
		assert.EqualValues(t, 2, s.ua.Counters().DroppedUnknown)
		s.peer.send(callUs(), s.us())
		s.peer.expect("SIP/2.0 100")
		assert.Equal(t, "trunk_1", (<-calls).TrunkID)
		s.stop()
	})
}

func TestHostOfALiveCallIsHeardWithoutAdmission(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := onStage(t, func(ua *sip.UserAgent) {
			ua.SetAdmission(func(transport.Source) sip.Admission { return sip.Admission{} })
			ua.OnInvite(func(*sip.Incoming) { t.Error("a call from nowhere") })
		})
		_, inv, _ := s.answered()
		s.peer.send(callUs(), s.us())
		s.peer.nothing(time.Second)
		s.peer.send(s.request(inv, "BYE", 1), s.us())
		s.peer.expect("SIP/2.0 200")
		next[sip.Ended](t, s.events)
		time.Sleep(time.Minute)
		_, peers, _ := s.ua.Remembered()
		assert.Zero(t, peers)
		assert.Zero(t, s.ua.Counters().Dialogs)
		s.stop()
	})
}

func TestForgedAnswersAreDropped(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		s.invite(nil)
		inv := s.peer.expect("INVITE")
		for _, forged := range []string{
			strings.Replace(inv.reply(200, "p1", contact, sdp), "branch=z9hG4bK", "branch=z9hG4bK0", 1),
			strings.Replace(inv.reply(200, "p1", contact, sdp), "1 INVITE", "2 INVITE", 1),
			strings.Replace(inv.reply(200, "p1", contact, sdp), "CSeq:", "Via: SIP/2.0/UDP x;branch=z9hG4bKx\r\nCSeq:", 1),
			strings.Replace(inv.reply(200, "p1", contact, sdp), "SIP/2.0 200", "SIP/7.0 200", 1),
		} {
			s.peer.send(forged, s.us())
			synctest.Wait()
			s.events.quiet(t)
		}
		s.peer.send(inv.reply(200, "p1", contact, sdp), s.us())
		s.peer.expect("ACK")
		next[sip.Answered](t, s.events)
	})
}

func TestCallerMayTryAgainWithTheNextCSeq(t *testing.T) {
	bubbleIn(t, func(t *testing.T, s *stage, in *desk) {
		s.peer.send(callUs(), s.us())
		s.peer.expect("SIP/2.0 100")
		(<-in.calls).Reject(503, 0)
		refused := s.peer.expect("SIP/2.0 503")
		s.peer.send(follow("ACK", tagOf(refused), 10), s.us())
		s.peer.send(callUs("CSeq: 11 INVITE", "Via: SIP/2.0/UDP "+peerAddr+";rport;branch=z9hG4bKin2"), s.us())
		s.peer.expect("SIP/2.0 100")
		(<-in.calls).Answer([]byte(sdp), s.events.add)
		ok := s.peer.expect("SIP/2.0 200")
		s.peer.send(follow("ACK", tagOf(ok), 11), s.us())
		s.peer.nothing(2 * time.Minute)
		s.peer.send(follow("BYE", tagOf(ok), 12), s.us())
		s.peer.expect("SIP/2.0 200")
		assert.True(t, next[sip.Ended](t, s.events).ByRemote)
	})
}

func TestHalfOpenCallsAreCapped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newWire()
		ua, err := sip.New(sip.Config{Listen: []transport.Listener{{Network: "udp", Addr: ourAddr}}, MaxHalfOpen: 2})
		require.NoError(t, err)
		ua.BindTo(n.open(ourAddr))
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
			p.send(callUs(fmt.Sprintf("Call-ID: cap-%d", i)), netip.MustParseAddrPort(ourAddr))
			p.expect(want)
		}
		assert.Equal(t, 2, ua.Counters().UnansweredCalls)
		cancel()
		<-ended
	})
}
