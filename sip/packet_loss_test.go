package sip_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/transport"
)

const remoteAddr = "127.0.0.1:5070"

// newLossyPair starts two user agents on a network that loses datagrams with the probability lost.
func newLossyPair(t *testing.T, lost float64) (near *sip.UserAgent, calls chan *sip.Incoming, stop func()) {
	t.Helper()
	n := newFakeNetwork()
	r := rand.New(rand.NewPCG(1, 2))
	n.lose = func() bool { return r.Float64() < lost }
	calls = make(chan *sip.Incoming, 256)
	var both []*sip.UserAgent
	ctx, cancel := context.WithCancel(t.Context())
	var ended sync.WaitGroup
	for _, addr := range []string{localAddr, remoteAddr} {
		ua, err := sip.New(sip.Config{Listen: []transport.Listener{{Network: "udp", Addr: addr}}, Secret: []byte(addr), SessionExpires: 4 * time.Minute})
		require.NoError(t, err)
		ua.UseSocket(n.open(addr))
		ua.OnInvite(func(i *sip.Incoming) { calls <- i })
		ended.Go(func() { _ = ua.Serve(ctx) })
		<-ua.Ready()
		both = append(both, ua)
	}
	return both[0], calls, func() { cancel(); ended.Wait() }
}

// runLossyCall makes one call that uses every kind of request, on a network that loses a tenth of the datagrams.
func runLossyCall(t *testing.T, ua *sip.UserAgent, calls chan *sip.Incoming, k int) string {
	t.Helper()
	here, there := newLeg(t), newLeg(t)
	here.limit, there.limit = time.Hour, time.Hour
	d, err := ua.Invite(sip.Invite{
		Attempt: fmt.Sprintf("lossy-%d", k), To: "+15550001", From: "+15559999", Body: sdpWithDirection("sendrecv"), Notify: here.events.add,
		Target: resolve.Target{Host: "127.0.0.1", Port: 5070}, Reliable: true, SilentAfter: 32 * time.Second,
	})
	require.NoError(t, err)
	here.d = d
	in := <-calls
	in.Progress(183, sdpWithDirection("sendrecv"))
	in.Progress(180, nil)
	there.d = in.Answer(sdpWithDirection("sendrecv"), there.events.add)
	done := make(chan struct{})
	go func() {
		defer close(done)
		there.run(reactions{
			"Hold sendonly 1": func(l *leg, _ sip.Event) { // and a re-INVITE in the other direction
				l.reofferThen(sdpWithDirection("inactive"), func(r sip.OfferResult) { assert.Equal(t, 200, r.Code, "%v", r.Err) })
			},
			"Referred 1": func(_ *leg, e sip.Event) {
				notify := e.(sip.Referred).Accept()
				notify(180, "", false)
				notify(200, "", true)
			},
		})
	}()
	here.run(reactions{
		"Answered 1": func(l *leg, _ sip.Event) {
			l.d.Info("application/dtmf", []byte("5"))
			l.reofferThen(sdpWithDirection("sendonly"), func(r sip.OfferResult) { assert.Equal(t, 200, r.Code, "%v", r.Err) })
		},
		"Hold inactive 1": func(l *leg, _ sip.Event) {
			time.AfterFunc(10*time.Minute, func() { // after several session refreshes
				l.d.Refer(sip.ReferTo{URI: "sip:a@b"}, func(p sip.ReferProgress) {
					if p.Final {
						assert.False(t, p.Failed, "%+v", p)
						l.d.Bye(16, "done")
					}
				})
			})
		},
	})
	<-done
	return strings.Join(here.eventNames, " ") + " | " + strings.Join(there.eventNames, " ")
}

func TestCallsSurviveTenPercentPacketLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ua, calls, stop := newLossyPair(t, 0.1)
		for k := range 60 {
			story := runLossyCall(t, ua, calls, k)
			require.True(t, strings.HasSuffix(story, "Answered Hold inactive Ended | Digit Hold sendonly Referred Ended"), story)
		}
		assert.Greater(t, ua.Counters().Retransmitted, uint64(60))
		time.Sleep(2 * time.Minute)
		assert.Zero(t, ua.Counters().Dialogs)
		stop()
	})
}

// checkOrder checks the events of a call with lost messages: each event occurs once and in order, and the call ends
// once. Ringing may be missing. It returns whether all other wanted events occurred.
func (l *leg) checkOrder(want []string) (whole bool) {
	whole = true
	rest := slices.DeleteFunc(strings.Fields(strings.Join(l.eventNames, " ")), func(name string) bool { return name == "Trying" })
	for _, name := range want {
		switch {
		case len(rest) > 0 && rest[0] == name:
			rest = rest[1:]
		case name != "Ringing":
			whole = false
		}
	}
	if len(rest) == 1 && rest[0] == "Refused" { // SIPp has given up the call
		return false
	}
	assert.Empty(l.t, rest, "heard %v", l.eventNames)
	return whole
}

// SIPp does not answer messages of a call that it considers over, and treats a BYE that arrives before a lost message
// as an error. Therefore some calls fail at SIPp, at random. The events of this side must be correct even then.
func TestOutboundSIPpScenariosWithPacketLoss(t *testing.T) {
	t.Parallel()
	const n = 12
	late := func(l *leg, _ sip.Event) { time.AfterFunc(2*time.Second, func() { l.d.Bye(16, "") }) }
	reliable := func(in *sip.Invite) { in.Reliable = true }
	// After SIPp has given up the call, it sends nothing, so this side ends the call after 15 s.
	atLast := func(l *leg, _ sip.Event) { time.AfterFunc(15*time.Second, func() { l.d.Bye(16, "") }) }
	refer := func(l *leg, e sip.Event) {
		atLast(l, e)
		time.AfterFunc(2*time.Second, func() {
			l.d.Refer(sip.ReferTo{URI: "sip:+12025550199@127.0.0.1", ReferredBy: "sip:+15559999@127.0.0.1"}, func(p sip.ReferProgress) {
				if p.Final {
					late(l, e)
				}
			})
		})
	}
	for scenario, c := range map[string]outboundScenario{
		"uas-answer":   {nil, reactions{"Answered 1": late}, "Ringing Answered Ended"},
		"uas-prack":    {reliable, reactions{"Answered 1": late}, "Early Ringing Answered Ended"},
		"uas-reinvite": {nil, reactions{"Answered 1": atLast, "Reoffer 1": late}, "Ringing Answered Hold sendonly Reoffer Ended"},
		"uas-update":   {nil, reactions{"Answered 1": atLast, "Reoffer 1": late}, "Ringing Answered Hold sendonly Reoffer Ended"},
		"uas-refer":    {nil, reactions{"Answered 1": refer}, "Ringing Answered Ended"},
	} {
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()
			there := runSIPp(t, scenario, "udp", "-m", strconv.Itoa(n), "-lost", "5", "-timeout", "40")
			there.waitUntilListening(t, "udp")
			ua := startUserAgent(t, nil)
			var all sync.WaitGroup
			var whole atomic.Int64
			want := strings.Fields(c.want)
			for k := range n {
				l := newLeg(t)
				l.limit = 100 * time.Second // a CANCEL or BYE without a response is given up after 32 s
				in := sip.Invite{
					Attempt: fmt.Sprintf("%s-%d", scenario, k), To: "+15550001", From: "+15559999", Body: sdpWithDirection("sendrecv"), Notify: l.events.add,
					Target: resolve.Target{Host: "127.0.0.1", Port: there.port}, SilentAfter: 20 * time.Second, RingTimeout: 12 * time.Second,
				}
				if c.set != nil {
					c.set(&in)
				}
				d, err := ua.Invite(in)
				require.NoError(t, err)
				l.d = d
				all.Go(func() {
					l.run(c.play)
					if l.checkOrder(want) {
						whole.Add(1)
					}
				})
			}
			all.Wait()
			assert.GreaterOrEqual(t, whole.Load(), int64(n/2), scenario)
		})
	}
}

// lossyInboundScenarios returns the scenarios in which SIPp calls this side and messages are lost.
func lossyInboundScenarios() map[string]inboundScenario {
	all := inboundScenarios()
	answer := func(l *leg, in *sip.Incoming) {
		in.Ring()
		l.d = in.Answer(sdpWithDirection("sendrecv"), l.events.add)
	}
	return map[string]inboundScenario{
		"uac-hangup": {answer, nil, "Ended"}, "uac-prack": all["uac-prack"], "uac-early": all["uac-early"], "uac-late-offer": all["uac-late-offer"],
		"uac-reinvite": all["uac-reinvite"], "uac-refers": all["uac-refers"], "uac-info": all["uac-info"], "uac-early-update": all["uac-early-update"],
	}
}

func TestInboundSIPpScenariosWithPacketLoss(t *testing.T) {
	t.Parallel()
	const n = 12
	for scenario, c := range lossyInboundScenarios() {
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()
			var all sync.WaitGroup
			var whole, told atomic.Int64
			ids := make(map[string]int)
			var mu sync.Mutex
			ua := startUserAgent(t, func(_ *sip.Config, ua *sip.UserAgent) {
				if ua == nil {
					return
				}
				ua.OnInvite(func(in *sip.Incoming) {
					told.Add(1)
					mu.Lock()
					ids[in.CallID]++
					mu.Unlock()
					all.Go(func() {
						l := newLeg(t)
						l.in, l.limit = in, 90*time.Second
						in.Notify(l.events.add)
						c.take(l, in)
						over := time.AfterFunc(20*time.Second, func() { // SIPp no longer knows the call
							l.results <- func() {
								if l.d != nil {
									l.d.Bye(16, "")
									return
								}
								in.Reject(480, 0)
								l.events.add(sip.Refused{})
							}
						})
						defer over.Stop()
						if l.run(c.play); l.checkOrder(strings.Fields(c.want)) {
							whole.Add(1)
						}
					})
				})
			})
			there := runSIPp(t, scenario, "udp", "-m", strconv.Itoa(n), "-r", "6", "-l", strconv.Itoa(n), "-lost", "5", "-timeout", "15",
				"-s", "+15551000", "-d", "300", ua.Addr("udp").String())
			err := <-there.done
			t.Logf("SIPp, whether satisfied or not, which is chance: %v", err)
			all.Wait()
			mu.Lock()
			defer mu.Unlock()
			assert.Len(t, ids, int(told.Load()), "a retransmitted INVITE is not a second call")
			assert.GreaterOrEqual(t, told.Load(), int64(n-2), "an INVITE is retransmitted until it is answered")
			assert.GreaterOrEqual(t, whole.Load(), int64(n/2), scenario)
		})
	}
}
