package call_test

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/actors/call/recording"
	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/wav"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/outcome"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/testcarrier"
)

// trunkWithSecondTarget returns a function that builds a trunk with two targets: first, and then the test carrier.
func trunkWithSecondTarget(first resolve.Target) func(h *fixture) []domain.Trunk {
	return func(h *fixture) []domain.Trunk {
		a, b := proxyOf(first), proxyOf(h.carrier.Target())
		b.Priority = 1
		return []domain.Trunk{{Meta: domain.Meta{ID: "trunk_two", Environment: domain.Live}, CallerIDs: []string{"+12025550100"}, Proxies: []domain.Proxy{a, b}}}
	}
}

func legCodes(c *domain.Call) []int {
	var out []int
	for _, l := range c.Legs {
		out = append(out, l.Code)
	}
	return out
}

func TestRefusedLegFailsOverToTheNextTarget(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]struct {
		do   func(*sip.Incoming)
		code int
	}{
		"503": {func(in *sip.Incoming) { in.Reject(503, 0) }, 503},
		"180 then 503": {func(in *sip.Incoming) {
			in.Ring()
			time.AfterFunc(100*time.Millisecond, func() { in.Reject(503, 0) })
		}, 503},
		"403": {func(in *sip.Incoming) { in.Reject(403, 0) }, 403},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var invites atomic.Int32
			ua := newUserAgent(t, func(in *sip.Incoming) {
				invites.Add(1)
				first.do(in)
			})
			h := newFixture(t, fixtureOptions{trunks: trunkWithSecondTarget(targetOf(ua))})
			id := h.dial(numberPrefix+"0000", confirmPathway())
			e := h.waitForEnd(id)
			c := h.waitUntilFinished(id)
			assert.Equal(t, domain.OutcomeConfirmed, e.Verdict.Outcome)
			assert.Equal(t, []int{first.code, 200}, legCodes(c))
			assert.Equal(t, h.ua.CallID(id, 1), c.Legs[0].SIPCallID)
			assert.Equal(t, h.ua.CallID(id, 2), c.Legs[1].SIPCallID)
			assert.NotNil(t, c.Legs[0].EndedAt)
			assert.Equal(t, int32(1), invites.Load())
			h.assertSeenOnce(numberPrefix+"0000", testcarrier.Answered)
			assert.Len(t, h.endsOf(id), 1)
			assert.Equal(t, []event.Type{
				event.CallStarted, event.CallRinging, event.CallAnswered, event.CallEnded, event.CallTranscriptReady, event.CallRecordingReady,
			}, h.store.eventTypes(id), "one ringing and one end event")
		})
	}
}

// delayedUserAgent returns the dialog of the first leg only after the INVITE of the second leg.
type delayedUserAgent struct {
	leg.UserAgent
	secondInvite chan struct{}
}

func (p delayedUserAgent) Invite(in sip.Invite) (leg.Dialog, error) {
	d, err := p.UserAgent.Invite(in)
	if in.Leg == 2 {
		time.AfterFunc(50*time.Millisecond, func() { close(p.secondInvite) })
	} else {
		<-p.secondInvite
	}
	return d, err
}

func TestLateDialogOfARefusedLegIsIgnored(t *testing.T) {
	t.Parallel()
	ua := newUserAgent(t, func(in *sip.Incoming) { in.Reject(503, 0) })
	h := newFixture(t, fixtureOptions{trunks: trunkWithSecondTarget(targetOf(ua)), wrapUserAgent: func(p leg.UserAgent) leg.UserAgent { return delayedUserAgent{p, make(chan struct{})} }})
	e := h.waitForEnd(h.dial(numberPrefix+"0000", confirmPathway()))
	assert.Equal(t, domain.OutcomeConfirmed, e.Verdict.Outcome)
	assert.Equal(t, "agent", e.Call.EndedBy, "the BYE goes to the phone that answered")
}

func TestUnreachableTargetFailsOverToTheNext(t *testing.T) {
	t.Parallel()
	dead := newUserAgent(t, func(*sip.Incoming) {})
	target := targetOf(dead)
	require.NoError(t, dead.Close()) // the port is closed, so the kernel reports it as unreachable
	h := newFixture(t, fixtureOptions{trunks: trunkWithSecondTarget(target)})
	id := h.dial(numberPrefix+"0000", confirmPathway())
	e := h.waitForEnd(id)
	assert.Equal(t, domain.OutcomeConfirmed, e.Verdict.Outcome)
	assert.Equal(t, []int{0, 200}, legCodes(h.waitUntilFinished(id)))
}

func TestFailoverShowsACallerIDOfTheNewTrunk(t *testing.T) {
	t.Parallel()
	ua := newUserAgent(t, func(in *sip.Incoming) { in.Reject(503, 0) })
	h := newFixture(t, fixtureOptions{trunks: func(h *fixture) []domain.Trunk {
		first, second := proxyOf(targetOf(ua)), proxyOf(h.carrier.Target())
		return []domain.Trunk{
			{Meta: domain.Meta{ID: "first", Environment: domain.Live}, CallerIDs: []string{"+12025550100"}, Proxies: []domain.Proxy{first}},
			{Meta: domain.Meta{ID: "second", Environment: domain.Live}, CallerIDs: []string{"+12025550101"}, Proxies: []domain.Proxy{second}, Priority: 1},
		}
	}})
	id := h.dial(numberPrefix+"0000", confirmPathway())
	h.waitForEnd(id)
	c := h.waitUntilFinished(id)
	assert.Equal(t, []int{503, 200}, legCodes(c))
	assert.Equal(t, "+12025550101", c.From)
}

func TestBusyDoesNotFailOver(t *testing.T) {
	t.Parallel()
	ua := newUserAgent(t, func(in *sip.Incoming) { in.Reject(486, 0) })
	h := newFixture(t, fixtureOptions{trunks: trunkWithSecondTarget(targetOf(ua))})
	id := h.dial(numberPrefix+"0000", confirmPathway())
	e := h.waitForEnd(id)
	assert.Equal(t, domain.OutcomeBusy, e.Verdict.Outcome)
	assert.Zero(t, h.phoneLog.count(numberPrefix+"0000", testcarrier.Invited), "no other phone is called")
}

func TestRefusedSDPIsRetriedOnceWithOtherCodecs(t *testing.T) {
	t.Parallel()
	offers := make(chan string, 8)
	ua := newUserAgent(t, func(in *sip.Incoming) {
		offers <- string(in.Body)
		in.Reject(488, 0)
	})
	h := newFixture(t, fixtureOptions{trunks: func(*fixture) []domain.Trunk {
		return []domain.Trunk{{Meta: domain.Meta{ID: "t", Environment: domain.Live}, CallerIDs: []string{"+12025550100"}, Proxies: []domain.Proxy{proxyOf(targetOf(ua))}, Codecs: []string{"PCMU"}}}
	}})
	id := h.dial(numberPrefix+"0000", confirmPathway())
	e := h.waitForEnd(id)
	assert.Equal(t, domain.ReasonMediaRefused, e.Verdict.Reason)
	assert.Equal(t, []int{488, 488}, legCodes(&e.Call))
	require.Len(t, offers, 2)
	assert.Contains(t, <-offers, "PCMU")
	second := <-offers
	assert.Contains(t, second, "PCMA")
	assert.NotContains(t, second, "PCMU")
}

func TestThrottledAttemptDoesNotCount(t *testing.T) {
	t.Parallel()
	ua := newUserAgent(t, func(in *sip.Incoming) { in.Reject(429, 2*time.Second) })
	h := newFixture(t, fixtureOptions{trunks: trunkWithSecondTarget(targetOf(ua))})
	id := h.dial(numberPrefix+"0000", confirmPathway())
	e := h.waitForEnd(id)
	assert.Equal(t, domain.ReasonThrottled, e.Verdict.Reason)
	assert.False(t, e.Verdict.SpendsAttempt())
	_, err := h.store.Get(t.Context(), &domain.LedgerRow{AttemptID: id, WorkspaceID: workspace})
	require.ErrorIs(t, err, domain.ErrNotFound)
}

func TestThrottledCallWithoutOwnerIsRetriedAfterRetryAfter(t *testing.T) {
	t.Parallel()
	var invites atomic.Int32
	ua := newUserAgent(t, func(in *sip.Incoming) {
		if invites.Add(1) == 1 {
			in.Reject(429, time.Second)
			return
		}
		in.Reject(503, 0)
	})
	h := newFixture(t, fixtureOptions{trunks: trunkWithSecondTarget(targetOf(ua))})
	o := h.prepareCall(numberPrefix+"0000", confirmPathway())
	o.Owner = nil
	c := h.waitUntilFinished(h.startCall(o))
	assert.Equal(t, string(domain.OutcomeConfirmed), c.Disposition)
	assert.Equal(t, []int{429, 503, 200}, legCodes(c), "only the throttled target is tried again")
	assert.GreaterOrEqual(t, c.Legs[1].StartedAt.Sub(*c.Legs[0].EndedAt), 900*time.Millisecond, "the trunk rested first")
	_, err := h.store.Get(t.Context(), &domain.LedgerRow{AttemptID: c.ID, WorkspaceID: workspace})
	require.NoError(t, err, "one bill")
}

func TestThrottledCallWithoutOwnerFailsIfRetryAfterIsTooLong(t *testing.T) {
	t.Parallel()
	ua := newUserAgent(t, func(in *sip.Incoming) { in.Reject(429, time.Minute) })
	h := newFixture(t, fixtureOptions{trunks: trunkWithSecondTarget(targetOf(ua))})
	o := h.prepareCall(numberPrefix+"0000", confirmPathway())
	o.Owner = nil
	c := h.waitUntilFinished(h.startCall(o))
	assert.Equal(t, domain.ReasonThrottled, c.EndedReason)
	assert.Equal(t, []int{429}, legCodes(c))
	assert.Less(t, c.EndedAt.Sub(*c.StartedAt), 30*time.Second, "the call ends at once")
}

func TestAttemptDoesNotCountIfTheOtherTargetRests(t *testing.T) {
	t.Parallel()
	ua := newUserAgent(t, func(in *sip.Incoming) { in.Reject(503, 0) })
	h := newFixture(t, fixtureOptions{trunks: trunkWithSecondTarget(targetOf(ua))})
	h.sys.Root.Send(h.trunks, trunk.LegResult{
		TrunkID: "trunk_two", Key: "trunk_two|" + h.carrier.Target().String(),
		Final: outcome.Final{Code: 503, RetryAfter: 5 * time.Minute}, Verdict: outcome.Classify(outcome.Final{Code: 503}),
	})
	id := h.dial(numberPrefix+"0000", confirmPathway())
	e := h.waitForEnd(id)
	assert.Equal(t, domain.ReasonTrunkError, e.Verdict.Reason, "the campaign learns that its trunk fails")
	assert.False(t, e.Verdict.SpendsAttempt())
	assert.Equal(t, []int{503}, legCodes(&e.Call))
	_, err := h.store.Get(t.Context(), &domain.LedgerRow{AttemptID: id, WorkspaceID: workspace})
	require.ErrorIs(t, err, domain.ErrNotFound)
}

func TestNextLegIsCommittedBeforeItsInvite(t *testing.T) {
	t.Parallel()
	var store atomic.Pointer[memoryStore] // atomic, because packets on the wire give no happens-before relation
	ua := newUserAgent(t, func(in *sip.Incoming) {
		store.Load().setDown(true)
		in.Reject(503, 0)
	})
	h := newFixture(t, fixtureOptions{trunks: trunkWithSecondTarget(targetOf(ua))})
	store.Store(h.store)
	id := h.dial(numberPrefix+"0000", confirmPathway())
	h.waitUntil(5*time.Second, "the first leg is refused", func() bool { return ua.Counters().Incoming == 1 })
	<-time.After(700 * time.Millisecond)
	assert.Zero(t, h.phoneLog.count(numberPrefix+"0000", testcarrier.Invited), "no INVITE before its commit")
	h.store.setDown(false)
	e := h.waitForEnd(id)
	assert.Equal(t, domain.OutcomeConfirmed, e.Verdict.Outcome)
}

func TestCallsContinueWhileTheStoreIsDown(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fixtureOptions{})
	o := h.prepareCall(numberPrefix+"0002", confirmPathway())
	o.RingTimeout = 2 * time.Second
	h.store.setDown(true)
	id := h.startCall(o)
	h.waitUntil(5*time.Second, "it rings", func() bool { return h.phoneLog.count(numberPrefix+"0002", testcarrier.Ringing) == 1 })
	o = func() call.StartOutbound {
		h.store.setDown(false)
		defer h.store.setDown(true)
		return h.prepareCall(numberPrefix+"0000", confirmPathway())
	}()
	talking := h.startCall(o)
	h.waitUntil(8*time.Second, "the conversation runs to its end", func() bool { return h.phoneLog.count(numberPrefix+"0000", testcarrier.CallerHungUp) == 1 })
	h.assertSeenOnce(numberPrefix+"0000", testcarrier.KeyPressed)
	h.store.mu.Lock()
	h.store.down, h.store.lostAnswers = false, 1 // the next commit succeeds, but its answer is an error
	h.store.mu.Unlock()
	h.waitUntilFinished(talking)
	h.waitUntilFinished(id)
	assert.Equal(t, []event.Type{
		event.CallStarted, event.CallRinging, event.CallAnswered, event.CallEnded, event.CallTranscriptReady, event.CallRecordingReady,
	}, h.store.eventTypes(talking), "each event once and in order")
	assert.Equal(t, []event.Type{event.CallStarted, event.CallRinging, event.CallEnded}, h.store.eventTypes(id))
}

func TestInboundCallIsAnsweredCancelledOrHungUp(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fixtureOptions{})
	var service *sip.UserAgent
	incoming := make(chan *sip.Incoming, 4)
	service = newUserAgent(t, func(in *sip.Incoming) { incoming <- in })
	in := func() (call.StartInbound, string) {
		i := receive(t, incoming)
		now := time.Now().UTC()
		id := mailbox.NewID(domain.PrefixCall)
		c := domain.Call{
			Meta:      domain.Meta{ID: id, WorkspaceID: workspace, Environment: domain.Live, CreatedAt: now},
			Direction: domain.Inbound, From: i.From, To: i.To, Status: domain.CallInitiated, Record: true, StartedAt: &now,
			Context: domain.Context{"name": "Ada"},
		}
		a := domain.Attempt{ID: id, WorkspaceID: workspace, CallID: id, Direction: domain.Inbound, OpenedAt: now}
		_, err := h.store.Apply(t.Context(), commit.Change{Puts: []domain.Record{&c, &a}})
		require.NoError(t, err)
		p, err := mailbox.Ask[lines.Permit](t.Context(), h.sys, h.inboundLines, lines.TryPermit{})
		require.NoError(t, err)
		return call.StartInbound{In: i, Call: c, Attempt: a, Script: domain.Script{Pathway: confirmPathway()}, Permit: p, Owner: h.owner}, id
	}
	caller := newTestPhone(t, h)

	first := caller.invite(targetOf(service), "a1")
	m, id := in()
	h.sys.Root.Send(h.calls, m)
	caller.acceptAnswer(first)
	h.waitUntil(5*time.Second, "both are heard", func() bool { return caller.session.Position() > 700*time.Millisecond })
	caller.session.SendDigits(1, "1")
	e := h.waitForEnd(id)
	assert.Equal(t, domain.OutcomeConfirmed, e.Verdict.Outcome)
	assert.Equal(t, "agent", e.Call.EndedBy)
	h.waitUntilFinished(id)
	assert.Equal(t, []event.Type{event.CallAnswered, event.CallEnded, event.CallTranscriptReady, event.CallRecordingReady}, h.store.eventTypes(id))
	_, err := h.store.Get(t.Context(), &domain.LedgerRow{AttemptID: id, WorkspaceID: workspace})
	require.ErrorIs(t, err, domain.ErrNotFound, "calls that come in are not billed")

	second := caller.invite(targetOf(service), "a2")
	m, id = in()
	second.Cancel("changed my mind")
	require.IsType(t, sip.Refused{}, caller.nextEvent(t))
	h.sys.Root.Send(h.calls, m)
	e = h.waitForEnd(id)
	assert.Equal(t, domain.Verdict{Outcome: domain.OutcomeCancelled, Reason: domain.ReasonCancelled}, e.Verdict)

	third := caller.invite(targetOf(service), "a3")
	m, id = in()
	h.sys.Root.Send(h.calls, m)
	caller.acceptAnswer(third)
	third.Bye(16, "")
	e = h.waitForEnd(id)
	assert.Equal(t, domain.Verdict{Outcome: domain.OutcomeCompleted, Reason: domain.ReasonRemoteHangup}, e.Verdict)
	h.waitUntilFinished(id)
}

// testPhone is a SIP phone with audio that calls the service.
type testPhone struct {
	t       *testing.T
	ua      *sip.UserAgent
	session *media.Session
	engine  *media.Engine
	events  chan sip.Event
}

func newTestPhone(t *testing.T, _ *fixture) *testPhone {
	t.Helper()
	from, to := rtpPorts(t)
	e, err := media.NewEngine(media.Config{BindIP: netip.MustParseAddr("127.0.0.1"), PortMin: from, PortMax: to})
	require.NoError(t, err)
	t.Cleanup(func() { _ = e.Close() })
	return &testPhone{t: t, ua: newUserAgent(t, nil), engine: e, events: make(chan sip.Event, 64)}
}

func (p *testPhone) invite(to resolve.Target, attempt string) *sip.Dialog {
	p.t.Helper()
	s, err := p.engine.Open(media.Options{})
	require.NoError(p.t, err)
	p.session = s
	d, err := p.ua.Invite(sip.Invite{
		Attempt: attempt, Leg: 1, Target: to, To: "+15550002222", From: "+15550003333", Body: s.Offer(),
		Notify: func(e sip.Event) { p.events <- e },
	})
	require.NoError(p.t, err)
	return d
}

// nextEvent returns the next event that reports an answer, a refusal or a request.
func (p *testPhone) nextEvent(t *testing.T) sip.Event {
	t.Helper()
	for {
		e := receive(t, p.events)
		switch e.(type) {
		case sip.Trying, sip.Ringing, sip.Ended:
		default:
			return e
		}
	}
}

func (p *testPhone) acceptAnswer(*sip.Dialog) {
	p.t.Helper()
	a, ok := p.nextEvent(p.t).(sip.Answered)
	require.True(p.t, ok)
	require.NoError(p.t, p.session.Accept(a.Body))
	p.session.Begin()
}

func TestRecordingsLeftByACrashAreStored(t *testing.T) {
	t.Parallel()
	spool := t.TempDir()
	dir := filepath.Join(spool, workspace)
	require.NoError(t, os.MkdirAll(dir, 0o700))
	sound := strings.Repeat("\x7f", 32000) // two seconds
	broken := append(wav.Header(2, wav.Unknown), sound...)
	id := "call_01J0000000000000000000000C"
	past := time.Now().Add(-time.Minute)
	for name, b := range map[string][]byte{id + ".wav": broken, "call_unknown.wav": broken, "call_junk.wav": []byte("x")} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), b, 0o600))
		require.NoError(t, os.Chtimes(filepath.Join(dir, name), past, past))
	}
	h := newFixture(t, fixtureOptions{spool: spool, store: newStoreOfInterruptedCalls(t, id)})
	h.waitUntil(10*time.Second, "the recording is stored", func() bool { return h.store.readCall(id).RecordingAvailable })
	assert.InDelta(t, 2, h.store.readCall(id).RecordingSeconds, 0.001)
	assert.Equal(t, []event.Type{event.CallEnded, event.CallRecordingReady}, h.store.eventTypes(id))
	kept, err := wav.Decode(h.blobs.get(recording.BlobName(id)))
	require.NoError(t, err)
	assert.Equal(t, 2*time.Second, kept.Duration())
	h.waitUntil(5*time.Second, "the spool is empty", func() bool { return h.countSpoolFiles() == 0 })
}
