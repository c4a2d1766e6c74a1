package call_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/sip"
)

// plantedPanics makes the actors panic once per call, when they receive a chosen message.
type plantedPanics struct {
	mu     sync.Mutex
	set    map[string]string // message kind by call ID
	thrown map[string]bool
}

// messageKind returns a name for a message: the actor, the message type, and the SIP event that the message contains.
func messageKind(who string, msg any) string {
	name := fmt.Sprintf("%T", msg)
	if strings.HasSuffix(name, ".dialogEvent") {
		switch text := fmt.Sprintf("%+v", msg); {
		case strings.Contains(text, "event:{Final"):
			name += " refused"
		case strings.Contains(text, "PDD"):
			name += " answered"
		case strings.Contains(text, "ByRemote"):
			name += " ended"
		case strings.Contains(text, "Code:18"):
			name += " ringing"
		}
	}
	return who + " " + name
}

func (p *plantedPanics) before(who, callID string, msg any) {
	p.mu.Lock()
	want, ok := p.set[callID]
	hit := ok && !p.thrown[callID] && messageKind(who, msg) == want
	if hit {
		p.thrown[callID] = true
	}
	p.mu.Unlock()
	if hit {
		panic("planted at " + want)
	}
}

func (p *plantedPanics) hasThrown(callID string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.thrown[callID]
}

func TestPanicAtAnyMessageEndsOnlyItsOwnCall(t *testing.T) {
	t.Parallel()
	p := &plantedPanics{set: make(map[string]string), thrown: make(map[string]bool)}
	refusing := newUserAgent(t, func(in *sip.Incoming) { in.Reject(503, 0) })
	h := newFixture(t, fixtureOptions{before: p.before, speaker: toneSpeaker{fails: "Goodbye."}, trunks: func(h *fixture) []domain.Trunk {
		first, second := proxyOf(targetOf(refusing)), proxyOf(h.carrier.Target())
		second.Priority = 1
		return []domain.Trunk{
			{Meta: domain.Meta{ID: "plain", Environment: domain.Live}, CallerIDs: []string{"+12025550100"}, Proxies: []domain.Proxy{proxyOf(h.carrier.Target())}, Prefixes: []string{numberPrefix}},
			{Meta: domain.Meta{ID: "over", Environment: domain.Live}, CallerIDs: []string{"+12025550100"}, Proxies: []domain.Proxy{first, second}, Prefixes: []string{"+1600555"}},
			{Meta: domain.Meta{ID: "none", Environment: domain.Live}, CallerIDs: []string{"+12025550100"}, Proxies: []domain.Proxy{first}, Prefixes: []string{"+1700555"}},
		}
	}})
	bystander := h.dial(numberPrefix+"0009", waitingPathway())
	h.waitUntil(5*time.Second, "the bystander talks", func() bool { return h.store.readCall(bystander).Status == domain.CallInProgress })

	// Each case names the message at which the panic occurs, the called number, and whether the call had already ended
	// by then.
	cases := []struct {
		at, to string
		over   bool
	}{
		{at: "call call.beginCall", to: numberPrefix + "0000"},
		{at: "call lines.PermitBound", to: numberPrefix + "0000"},
		{at: "call call.legPrepared", to: numberPrefix + "0000"},
		{at: "call call.dialogEvent", to: numberPrefix + "0000"}, // Trying
		{at: "call call.dialogEvent ringing", to: numberPrefix + "0000"},
		{at: "call call.dialogEvent answered", to: numberPrefix + "0000"},
		{at: "call call.dialogEvent refused", to: numberPrefix + "0001"},
		{at: "call call.dialogEvent ended", to: numberPrefix + "0000"},
		{at: "call call.mediaEvent", to: numberPrefix + "0000"},
		{at: "call call.commitDone", to: numberPrefix + "0000"},
		{at: "call trunk.Slot", to: "+16005550000"},
		{at: "call trunk.SlotDenied", to: "+17005550000"},
		{at: "call conversation.PathwayEnded", to: numberPrefix + "0000"},
		{at: "call conversation.Fault", to: numberPrefix + "0009"},
		{at: "call conversation.FinishReply", to: numberPrefix + "0000"},
		{at: "call call.HangUp", to: numberPrefix + "0002"},
		{at: "call call.maxDurationReached", to: numberPrefix + "0009"},
		{at: "call call.AcknowledgeEnd", to: numberPrefix + "0001", over: true},
		{at: "call call.repeatEnd", to: numberPrefix + "0001", over: true},
		{at: "conversation conversation.StartConversation", to: numberPrefix + "0000"},
		{at: "conversation conversation.MediaEvent", to: numberPrefix + "0000"},
		{at: "conversation conversation.promptSynthesized", to: numberPrefix + "0000"},
		{at: "conversation conversation.clipPrepared", to: numberPrefix + "0000"},
		{at: "conversation conversation.inputTimeout", to: numberPrefix + "0009"},
		{at: "conversation conversation.delayedEnd", to: numberPrefix + "0000"},
		{at: "conversation conversation.FinishConversation", to: numberPrefix + "0000", over: true},
	}
	ids := make([]string, len(cases))
	h.mu.Lock()
	h.withholdAck = true // so that calls repeat their end
	h.mu.Unlock()
	for i, c := range cases {
		w := confirmPathway()
		w.Nodes[1].TimeoutSeconds, w.Nodes[1].Retries = 0.5, 0
		o := h.prepareCall(c.to, w)
		if strings.HasSuffix(c.at, "maxDurationReached") {
			o.MaxDuration = 300 * time.Millisecond
		}
		ids[i] = o.Call.ID
		p.mu.Lock()
		p.set[o.Call.ID] = c.at
		p.mu.Unlock()
		h.startCall(o)
		if strings.HasSuffix(c.at, "HangUp") {
			h.waitUntil(5*time.Second, "it rings", func() bool { return h.store.readCall(o.Call.ID).Status == domain.CallRinging })
			h.sys.Root.RequestWithCustomSender(h.calls, call.HangUp{CallID: o.Call.ID}, h.sys.Root.Spawn(actor.PropsFromFunc(func(actor.Context) {})))
		}
	}
	before := h.packetsSent(bystander)
	h.waitUntil(20*time.Second, "each call has reported its end", func() bool {
		for i, id := range ids {
			if len(h.endsOf(id)) == 0 || strings.HasSuffix(cases[i].at, "repeat") && !p.hasThrown(id) {
				return false
			}
		}
		return true
	})
	h.mu.Lock()
	h.withholdAck = false
	for _, id := range ids {
		h.ended[id] = nil
	}
	h.mu.Unlock()
	for i, id := range ids {
		e := h.waitForEnd(id)
		h.waitUntilFinished(id)
		h.waitUntil(5*time.Second, cases[i].at+" is planted", func() bool { return p.hasThrown(id) })
		ended := 0
		for _, v := range h.store.eventTypes(id) {
			if v == event.CallEnded {
				ended++
			}
		}
		assert.Equal(t, 1, ended, "%s: one end is committed", cases[i].at)
		if !cases[i].over {
			assert.Equal(t, domain.ReasonInternal, e.Verdict.Reason, cases[i].at)
			assert.Equal(t, domain.CallFailed, e.Call.Status, cases[i].at)
		}
	}
	h.waitUntil(10*time.Second, "only the bystander has a permit, a session and a phone", func() bool {
		return h.permitsInUse() == 1 && h.engine.Live() == 1 && h.carrier.LiveCalls() == 1
	})
	h.waitUntil(10*time.Second, "the bystander still sends audio", func() bool { return h.packetsSent(bystander) > before+100 })
	_, err := mailbox.Ask[call.HangupStarted](t.Context(), h.sys, h.calls, call.HangUp{CallID: bystander})
	require.NoError(t, err)
	c := h.waitUntilFinished(bystander)
	assert.Equal(t, domain.ReasonHangup, c.EndedReason)
	assert.Zero(t, c.Quality.LossPercent)
}

func TestPermitIsReleasedIfTheOwnerStoredTheEndAndStopped(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fixtureOptions{})
	stored := make(chan struct{})
	owner := h.sys.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		e, ok := ctx.Message().(call.Ended)
		if !ok {
			return
		}
		_, err := h.store.Apply(context.Background(), call.EndChange(e, time.Now()))
		assert.NoError(t, err) //nolint:testifylint // not the test's own goroutine
		ctx.Stop(ctx.Self())   // the acknowledgement gets lost
		close(stored)
	}))
	o := h.prepareCall(numberPrefix+"0001", confirmPathway())
	o.Owner = owner
	h.startCall(o)
	receive(t, stored)
	h.waitUntil(10*time.Second, "its permit is released", func() bool { return h.permitsInUse() == 0 })
	h.waitUntil(10*time.Second, "no call is open", func() bool {
		now, err := mailbox.Ask[call.LiveCalls](t.Context(), h.sys, h.calls, call.GetLiveCalls{})
		return err == nil && now.Open == 0
	})
}

func TestUnstoredEndIsReportedAgainAfterItsOwnerStopped(t *testing.T) {
	t.Parallel()
	var sought atomic.Int32
	h := newFixture(t, fixtureOptions{before: func(_, _ string, msg any) {
		if fmt.Sprintf("%T", msg) == "call.endStored" {
			sought.Add(1)
		}
	}})
	o := h.prepareCall(numberPrefix+"0001", confirmPathway())
	o.Owner = h.sys.Root.Spawn(actor.PropsFromFunc(func(actor.Context) {}))
	require.NoError(t, h.sys.Root.StopFuture(o.Owner).Wait())
	id := h.startCall(o)
	h.waitUntil(10*time.Second, "the end is looked up in the store", func() bool { return sought.Load() > 1 })
	now, err := mailbox.Ask[call.LiveCalls](t.Context(), h.sys, h.calls, call.GetLiveCalls{})
	require.NoError(t, err)
	assert.Equal(t, 1, now.Open, "the owner may return")
	assert.NotContains(t, h.store.eventTypes(id), event.CallEnded)
}
