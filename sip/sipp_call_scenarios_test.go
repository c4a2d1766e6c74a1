package sip_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/resolve"
)

// leg is the call leg of this side in a SIPp scenario. It calls a reaction for the n-th event of each name.
type leg struct {
	t          *testing.T
	events     *eventLog
	d          *sip.Dialog
	in         *sip.Incoming // set for an inbound call
	last       func()        // called after the end of the call
	limit      time.Duration
	eventNames []string
	counts     map[string]int
	results    chan func() // results of this side's requests
}

func newLeg(t *testing.T) *leg {
	t.Helper()
	return &leg{t: t, events: newEventLog(), counts: make(map[string]int), results: make(chan func(), 32), limit: time.Minute}
}

// reactions are the functions of a leg by event. A key is the name of an event and its number, such as "Reoffer 2".
type reactions map[string]func(l *leg, e sip.Event)

func nameOf(e sip.Event) string {
	switch e := e.(type) {
	case sip.Trying:
		return "Trying"
	case sip.Ringing:
		return "Ringing"
	case sip.Early:
		return "Early"
	case sip.Answered:
		return "Answered"
	case sip.Refused:
		return "Refused"
	case sip.Reoffer:
		return []string{"Reoffer", "Hold sendonly", "Hold inactive", "Hold zero"}[e.Hold]
	case sip.Accepted:
		return "Accepted"
	case sip.InfoDigit:
		return "Digit"
	case sip.Referred:
		return "Referred"
	case sip.Replaced:
		return "Replaced"
	case sip.Ended:
		return "Ended"
	}
	return "?"
}

// sdpWithDirection returns the local SDP with a direction attribute such as sendonly.
func sdpWithDirection(direction string) []byte { return []byte(sdp + "a=" + direction + "\r\n") }

func answerTo(e sip.Reoffer) []byte {
	switch e.Hold {
	case message.HoldSendOnly:
		return sdpWithDirection("recvonly")
	case message.HoldInactive:
		return sdpWithDirection("inactive")
	case message.HoldNone, message.HoldZero:
	}
	return sdpWithDirection("sendrecv")
}

// run handles the events of the leg with the reactions p until the leg ends, and returns the last event.
func (l *leg) run(p reactions) sip.Event {
	l.t.Helper()
	limit := time.After(l.limit)
	for {
		select {
		case f := <-l.results:
			f()
		case e := <-l.events.ch:
			name := nameOf(e)
			l.counts[name]++
			l.eventNames = append(l.eventNames, name)
			if offer, ok := e.(sip.Reoffer); ok {
				offer.Reply(200, answerTo(offer))
			}
			if act := p[name+" "+strconv.Itoa(l.counts[name])]; act != nil {
				act(l, e)
			}
			if name == "Ended" || name == "Refused" {
				return e
			}
		case <-limit:
			require.Fail(l.t, "the call does not end", "heard %v", l.eventNames)
		}
	}
}

func bye(l *leg, _ sip.Event) { l.d.Bye(16, "") }

// reofferThen sends an offer. run then calls then with the result of the offer.
func (l *leg) reofferThen(body []byte, then func(sip.OfferResult)) {
	l.d.Reoffer(body, func(r sip.OfferResult) { l.results <- func() { then(r) } })
}

// requireSuccess waits until SIPp reports that the scenario succeeded.
func (s *sipp) requireSuccess(t *testing.T) {
	t.Helper()
	select {
	case err := <-s.done:
		require.NoError(t, err, s.out.String())
	case <-time.After(time.Minute):
		s.kill()
		require.Error(t, <-s.done, "it was killed")
		require.Fail(t, "SIPp is not satisfied", s.out.String())
	}
}

// shortSessionSeconds is the session interval in the SIPp scenarios with session timers. Before the call is ended, SIPp
// has a sixth of it to answer a refresh, which suffices on a machine that is busy with other tests.
const shortSessionSeconds = 12

// outboundScenario is a SIPp scenario in which this side calls and SIPp is the server (uas).
type outboundScenario struct {
	set  func(*sip.Invite)
	play reactions
	want string // expected events, without Trying
}

// outboundScenarios returns the reactions of this side in the scenarios in which this side calls.
func outboundScenarios() map[string]outboundScenario {
	reliable := func(in *sip.Invite) { in.Reliable = true }
	hangUp := reactions{"Answered 1": bye}
	offerAtOnce := reactions{"Answered 1": func(l *leg, _ sip.Event) {
		l.reofferThen(sdpWithDirection("sendonly"), func(r sip.OfferResult) {
			assert.Equal(l.t, 200, r.Code, "%v", r.Err)
			assert.Contains(l.t, string(r.Body), "m=audio")
			l.d.Bye(16, "")
		})
	}}
	return map[string]outboundScenario{
		"uas-prack":  {reliable, hangUp, "Early Ringing Answered Ended"},
		"uas-update": {nil, reactions{"Reoffer 1": bye}, "Ringing Answered Hold sendonly Reoffer Ended"},
		"uas-early-update": {reliable, reactions{"Answered 1": bye, "Early 1": func(l *leg, e sip.Event) {
			assert.True(l.t, e.(sip.Early).Reliable)
			l.reofferThen(sdpWithDirection("inactive"), func(r sip.OfferResult) { assert.Equal(l.t, 200, r.Code, "%v", r.Err) })
		}}, "Early Answered Ended"},
		"uas-491":    {nil, offerAtOnce, "Ringing Answered Ended"},
		"uas-glare":  {nil, offerAtOnce, "Ringing Answered Ended"},
		"uas-routes": {nil, offerAtOnce, "Ringing Answered Ended"},
		"uas-strict": {nil, hangUp, "Ringing Answered Ended"},
		"uas-early":  {nil, hangUp, "Early Ringing Early Answered Ended"},
		"uas-forks": {reliable, reactions{"Answered 1": func(l *leg, e sip.Event) {
			assert.True(l.t, strings.HasSuffix(e.(sip.Answered).State.RemoteTag, "b"))
			assert.Equal(l.t, "m=audio", string(e.(sip.Answered).Body)[strings.Index(string(e.(sip.Answered).Body), "m="):][:7])
			time.AfterFunc(300*time.Millisecond, func() { l.d.Bye(16, "") })
		}}, "Early Early Early Answered Ended"},
		"uas-late-offer": {func(in *sip.Invite) { in.Body, in.Reliable = nil, true }, reactions{"Answered 1": func(l *leg, e sip.Event) {
			assert.True(l.t, e.(sip.Answered).Offer)
			l.d.Ack() // the ACK waits for the answer
			l.d.Respond([]byte(sdp))
			l.d.Respond([]byte("twice"))
			l.d.Bye(16, "")
		}}, "Ringing Answered Ended"},
		"uas-offerless": {nil, reactions{"Accepted 1": func(l *leg, _ sip.Event) {
			l.reofferThen(nil, func(r sip.OfferResult) {
				assert.Contains(l.t, string(r.Body), "m=audio")
				r.Respond([]byte(sdp))
				l.d.Bye(16, "")
			})
		}}, "Ringing Answered Reoffer Accepted Ended"},
		"uas-session-422":             {func(in *sip.Invite) { in.SessionExpires = 90 * time.Second }, hangUp, "Answered Ended"},
		"uas-session-expect":          {nil, nil, "Ringing Answered Ended"},
		"uas-session-expect-reinvite": {nil, nil, "Ringing Answered Ended"},
		"uas-session-refresh":         {nil, nil, "Ringing Answered Ended"},
		"uas-bye-glare":               {nil, hangUp, "Ringing Answered Ended"},
		"uas-refer":                   {nil, reactions{"Answered 1": referToThirdParty}, "Ringing Answered Ended"},
		"uas-refers": {nil, reactions{"Referred 1": func(l *leg, e sip.Event) {
			r := e.(sip.Referred)
			assert.Equal(l.t, "sip:+12025550199@example.com", r.To)
			assert.True(l.t, strings.HasPrefix(r.ReferredBy, "sip:sipp@"))
			notify := r.Accept()
			notify(200, "OK", true)
			r.Refuse(403)
			time.AfterFunc(300*time.Millisecond, func() { l.d.Bye(16, "") })
		}}, "Ringing Answered Referred Ended"},
		"uas-replaces": {func(in *sip.Invite) {
			in.Replaces = &message.DialogID{CallID: "abc@example.com", RemoteTag: "t1", LocalTag: "f1"}
		}, hangUp, "Ringing Answered Ended"},
		"uas-info": {nil, reactions{
			"Answered 1": func(l *leg, _ sip.Event) {
				l.d.Info("application/dtmf-relay", []byte("Signal=5\r\nDuration=160\r\n"))
			},
			"Digit 1": func(l *leg, e sip.Event) {
				assert.Equal(l.t, sip.InfoDigit{Key: '#', DurationMs: 200}, e)
				l.d.Bye(16, "")
			},
		}, "Ringing Answered Digit Ended"},
	}
}

// referToThirdParty transfers the remote party by REFER and hangs up once the transfer has succeeded.
func referToThirdParty(l *leg, _ sip.Event) {
	var codes []int
	l.d.Refer(sip.ReferTo{URI: "sip:+12025550199@127.0.0.1:5099", ReferredBy: "sip:+15559999@127.0.0.1"}, func(p sip.ReferProgress) {
		l.results <- func() {
			codes = append(codes, p.Code)
			if p.Final {
				assert.False(l.t, p.Failed)
				assert.Equal(l.t, []int{202, 100, 180, 200}, codes)
				l.d.Bye(16, "")
			}
		}
	})
}

func TestOutboundSIPpScenarios(t *testing.T) {
	t.Parallel()
	faults := map[string]bool{"uas-session-expect": true, "uas-session-expect-reinvite": true, "uas-session-refresh": true}
	for scenario, c := range outboundScenarios() {
		for _, network := range []string{"udp", "tcp"} {
			if network == "tcp" && scenario != "uas-prack" && scenario != "uas-refer" {
				continue
			}
			t.Run(scenario+" "+network, func(t *testing.T) {
				t.Parallel()
				there := runSIPp(t, scenario, network, "-m", "1", "-key", "expires", strconv.Itoa(shortSessionSeconds))
				there.waitUntilListening(t, network)
				l := newLeg(t)
				ua := startUserAgent(t, func(_ *sip.Config, ua *sip.UserAgent) {
					if ua != nil {
						ua.SetMinSessionInterval(shortSessionSeconds * time.Second)
					}
				})
				in := sip.Invite{
					Attempt: scenario, To: "+15550001", From: "+15559999", Body: sdpWithDirection("sendrecv"), Notify: l.events.add,
					Target: resolve.Target{Host: "127.0.0.1", Port: there.port, Transport: network},
				}
				if c.set != nil {
					c.set(&in)
				}
				if scenario == "uas-session-422" {
					ua.SetMinSessionInterval(90 * time.Second)
				}
				d, err := ua.Invite(in)
				require.NoError(t, err)
				l.d = d
				end := l.run(c.play)
				ended, ok := end.(sip.Ended)
				require.True(t, ok, "%+v", end)
				there.requireSuccess(t)
				assert.Equal(t, c.want, strings.TrimPrefix(strings.Join(l.eventNames, " "), "Trying "))
				assert.Equal(t, faults[scenario], ended.Fault, "%+v", ended)
				if scenario == "uas-491" {
					gap := there.logGap(t, "CROSSED", "AGAIN")
					assert.True(t, gap >= 2000 && gap <= 20000, "%d ms", gap) // the upper limit of RFC 3261 is tested on synthetic time
				}
			})
		}
	}
}

// logGap returns the milliseconds between two lines of SIPp's log.
func (s *sipp) logGap(t *testing.T, first, second string) int {
	t.Helper()
	at := make(map[string]int)
	words := s.readLog(t)
	for i := 0; i+2 < len(words); i += 3 {
		n, err := strconv.Atoi(words[i+2])
		require.NoError(t, err)
		at[words[i]] = n
	}
	require.Contains(t, at, first)
	require.Contains(t, at, second)
	return at[second] - at[first]
}

// inboundScenario is a SIPp scenario in which SIPp calls (uac) and this side answers.
type inboundScenario struct {
	take func(l *leg, in *sip.Incoming)
	play reactions
	want string
}

func inboundScenarios() map[string]inboundScenario {
	answer := func(l *leg, in *sip.Incoming) { l.d = in.Answer(sdpWithDirection("sendrecv"), l.events.add) }
	then := func(act func(*leg)) func(*leg, *sip.Incoming) {
		return func(l *leg, in *sip.Incoming) {
			answer(l, in)
			act(l)
		}
	}
	early := func(l *leg, in *sip.Incoming) {
		in.Progress(183, sdpWithDirection("sendrecv"))
		in.Progress(180, nil)
		answer(l, in)
	}
	return map[string]inboundScenario{
		"uac-prack": {early, nil, "Ended"},
		"uac-early": {early, nil, "Ended"},
		"uac-early-update": {func(l *leg, in *sip.Incoming) {
			in.Notify(l.events.add)
			in.Progress(183, sdpWithDirection("sendrecv"))
		}, reactions{"Hold sendonly 1": func(l *leg, _ sip.Event) { answer(l, l.in) }}, "Hold sendonly Ended"},
		"uac-491": {then(func(l *leg) {
			l.reofferThen(sdpWithDirection("sendonly"), func(r sip.OfferResult) { assert.Equal(l.t, 200, r.Code, "%v", r.Err) })
		}), nil, "Ended"},
		"uac-reinvite":                {answer, reactions{"Reoffer 1": bye}, "Hold sendonly Hold inactive Hold zero Reoffer Ended"},
		"uac-late-offer":              {answer, nil, "Accepted Reoffer Accepted Ended"},
		"uac-session-422":             {answer, nil, "Ended"},
		"uac-session-expect":          {answer, nil, "Ended"},
		"uac-session-expect-reinvite": {answer, nil, "Ended"},
		"uac-session-refresh":         {answer, nil, "Ended"},
		"uac-bye-glare":               {then(func(l *leg) { l.d.Bye(16, "") }), nil, "Ended"},
		"uac-routes":                  {answer, reactions{"Reoffer 1": bye}, "Reoffer Ended"},
		"uac-strict":                  {then(func(l *leg) { l.d.Bye(16, "") }), nil, "Ended"},
		"uac-refer":                   {then(referAttended), nil, "Ended"},
		"uac-refers": {answer, reactions{"Referred 1": func(l *leg, e sip.Event) {
			r := e.(sip.Referred)
			assert.Equal(l.t, &message.DialogID{CallID: "abc@example.com", RemoteTag: "t1", LocalTag: "f1"}, r.Replaces)
			r.Accept()(603, "", true)
		}}, "Referred Ended"},
		"uac-refers-refused":   {answer, reactions{"Referred 1": func(_ *leg, e sip.Event) { e.(sip.Referred).Refuse(403) }}, "Referred Ended"},
		"uac-replaces":         {answer, reactions{"Replaced 1": acceptReplacement}, "Replaced Ended"},
		"uac-replaces-refused": {answer, reactions{"Replaced 1": func(_ *leg, e sip.Event) { e.(sip.Replaced).By.Reject(403, 0) }}, "Replaced Ended"},
		"uac-info": {answer, reactions{"Digit 1": func(l *leg, _ sip.Event) {
			l.d.Info("application/dtmf-relay", []byte("Signal=5\r\nDuration=160\r\n"))
		}}, "Digit Ended"},
	}
}

// referAttended sends a REFER with Replaces to a target that is busy, and checks that the failure is reported.
func referAttended(l *leg) {
	var heard []sip.ReferProgress
	to := sip.ReferTo{
		URI:      "sip:+12025550199@127.0.0.1:5099",
		Replaces: &message.DialogID{CallID: "other@example.com", LocalTag: "ours", RemoteTag: "theirs"},
	}
	l.d.Refer(to, func(p sip.ReferProgress) {
		l.results <- func() {
			if heard = append(heard, p); p.Final {
				assert.Equal(l.t, []sip.ReferProgress{
					{Code: 202, Phrase: "Accepted"},
					{Code: 100, Phrase: "Trying", Notify: true},
					{Code: 486, Phrase: "Busy Here", Notify: true, Final: true, Failed: true},
				}, heard)
			}
		}
	})
}

// acceptReplacement answers the INVITE that replaces this call, and checks that SIPp ends the new call.
func acceptReplacement(l *leg, e sip.Event) {
	by := e.(sip.Replaced).By
	assert.Equal(l.t, l.d.ID(), *by.Replaces)
	by.Ring()
	second := newEventLog()
	by.Answer(sdpWithDirection("sendrecv"), second.add)
	l.last = func() { assert.True(l.t, next[sip.Ended](l.t, second).ByRemote) }
}

func TestInboundSIPpScenarios(t *testing.T) {
	t.Parallel()
	faults := map[string]bool{"uac-session-expect": true, "uac-session-expect-reinvite": true, "uac-session-refresh": true}
	for scenario, c := range inboundScenarios() {
		for _, network := range []string{"udp", "tcp"} {
			if network == "tcp" && scenario != "uac-early-update" && scenario != "uac-refers" && scenario != "uac-replaces" {
				continue
			}
			t.Run(scenario+" "+network, func(t *testing.T) {
				t.Parallel()
				l, calls := newLeg(t), make(chan *sip.Incoming, 4)
				ua := startUserAgent(t, func(_ *sip.Config, ua *sip.UserAgent) {
					if ua == nil {
						return
					}
					ua.OnInvite(func(i *sip.Incoming) { calls <- i })
					if scenario != "uac-session-422" {
						ua.SetMinSessionInterval(shortSessionSeconds * time.Second)
					}
				})
				there := runSIPp(t, scenario, network, "-m", "1", "-s", "+15551000", "-key", "expires", strconv.Itoa(shortSessionSeconds), ua.Addr(network).String())
				select {
				case l.in = <-calls:
				case err := <-there.done:
					require.Fail(t, "SIPp ended before we took its call", "%v: %s", err, there.out)
				}
				c.take(l, l.in)
				end, ok := l.run(c.play).(sip.Ended)
				there.requireSuccess(t)
				assert.Equal(t, c.want, strings.Join(l.eventNames, " "))
				require.True(t, ok)
				assert.Equal(t, faults[scenario], end.Fault, "%+v", end)
				if l.last != nil {
					l.last()
				}
				if scenario == "uac-491" {
					gap := there.logGap(t, "CROSSED", "AGAIN")
					assert.LessOrEqual(t, gap, 20000) // the two seconds of RFC 3261 are those of our timer (TestReinviteGlareOfInboundCall), and the rest is the machine's
				}
			})
		}
	}
}
