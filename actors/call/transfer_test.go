package call_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/call/transferleg"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/testcarrier"
)

// findTestTarget implements call.FindTarget. It accepts every number of the test carrier, given as a number or by the name
// of a destination.
func findTestTarget(_ context.Context, _ *domain.Call, t *domain.AgentTransfer, w call.TransferDestination) (transferleg.Target, error) {
	to := w.To
	if d, ok := t.Find(w.Destination); ok {
		return transferleg.Target{To: d.To, Name: d.Name, Mode: d.Mode}, nil
	}
	if to == "" {
		to = w.Destination
	}
	if !strings.HasPrefix(to, numberPrefix) {
		return transferleg.Target{}, domain.Errorf(domain.CodeDestinationNotAllowed, "not there")
	}
	return transferleg.Target{To: to}, nil
}

const (
	silentNumber     = numberPrefix + "0009" // answers, and neither speaks nor presses digits
	leavingNumber    = numberPrefix + "0118" // hangs up 1.5 s after the answer
	busyNumber       = numberPrefix + "0001"
	unansweredNumber = numberPrefix + "0002" // rings and never answers
)

// dialUntilAnswered places a call and waits for its answer.
func (h *fixture) dialUntilAnswered(to string, p domain.Pathway, change ...func(*call.StartOutbound)) string {
	h.t.Helper()
	s := h.prepareCall(to, p)
	for _, f := range change {
		f(&s)
	}
	id := h.startCall(s)
	h.waitUntil(10*time.Second, "the answer", func() bool { return h.store.readCall(id).AnsweredAt != nil })
	return id
}

func (h *fixture) request(msg any) error {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, err := mailbox.Ask[call.RequestDone](ctx, h.sys, h.calls, msg)
	return err
}

// lastTransfer returns the last transfer in the call's record.
func (h *fixture) lastTransfer(id string) domain.Transfer {
	c := h.store.readCall(id)
	if len(c.Transfers) == 0 {
		return domain.Transfer{}
	}
	return c.Transfers[len(c.Transfers)-1]
}

func (h *fixture) waitForTransferStatus(id string, s domain.TransferStatus) {
	h.t.Helper()
	h.waitUntil(10*time.Second, "the transfer is "+string(s), func() bool { return h.lastTransfer(id).Status == s })
}

// transferStatuses returns the statuses of all call.transferred events in order.
func (h *fixture) transferStatuses(id string) []domain.TransferStatus {
	h.store.mu.Lock()
	defer h.store.mu.Unlock()
	var out []domain.TransferStatus
	for _, e := range h.store.events {
		if d, ok := e.Data.(event.TransferredData); ok && e.Subject == id {
			out = append(out, d.Status)
		}
	}
	return out
}

// lastTransferSteps returns the SIP responses in the last call.transferred event.
func (h *fixture) lastTransferSteps(id string) (out []domain.SIPStep) {
	h.store.mu.Lock()
	defer h.store.mu.Unlock()
	for _, e := range h.store.events {
		if d, ok := e.Data.(event.TransferredData); ok && e.Subject == id {
			out = d.SIP
		}
	}
	return out
}

// transferPathway returns a pathway that transfers the caller to a destination.
func transferPathway(destination string, mode domain.TransferMode) domain.Pathway {
	return domain.Pathway{
		Start: "hand",
		Nodes: []domain.Node{
			{ID: "hand", Type: domain.NodeTransfer, Prompt: "One moment.", Destination: destination, Mode: mode, Summary: "{{name}} calls."},
			{ID: "back", Type: domain.NodeEnd, Prompt: "Welcome back.", Outcome: domain.OutcomeConfirmed},
			{ID: "sorry", Type: domain.NodeEnd, Prompt: "Nobody there.", Outcome: domain.OutcomeDeclined},
		},
		Edges: []domain.Edge{newEdge("hand", "back", domain.EdgeSuccess), newEdge("hand", "sorry", domain.EdgeFailure)},
	}
}

func transcriptLines(e call.Ended) []string {
	var out []string
	for _, s := range e.Segments {
		out = append(out, s.Speaker+": "+s.Text)
	}
	return out
}

func TestBridgeReturnsTheCallerWhenTheTargetHangsUp(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fixtureOptions{})
	id := h.dialUntilAnswered(silentNumber, transferPathway("front desk", ""), func(s *call.StartOutbound) {
		s.Script.Transfer.Destinations = []domain.Destination{{Name: "Front Desk", To: leavingNumber}}
	})
	e := h.waitForEnd(id)
	c := h.waitUntilFinished(id)
	assert.Equal(t, domain.OutcomeConfirmed, e.Verdict.Outcome, "the pathway goes on at its success edge")
	assert.Equal(t, []domain.TransferStatus{domain.TransferStarted, domain.TransferConnected, domain.TransferReturned}, h.transferStatuses(id))
	require.Len(t, c.Transfers, 1)
	tr := c.Transfers[0]
	assert.Equal(t, "Front Desk", tr.Name)
	assert.Equal(t, leavingNumber, tr.To)
	assert.Equal(t, "agent", tr.By)
	assert.Equal(t, []int{2}, tr.Legs)
	assert.Equal(t, "Ada calls.", tr.Summary)
	assert.NotNil(t, tr.AnsweredAt)
	assert.Equal(t, 200, tr.SIP[len(tr.SIP)-1].Code)
	assert.Equal(t, tr.SIP, h.lastTransferSteps(id), "the event carries them as well")
	require.Len(t, c.Legs, 2)
	assert.Equal(t, "transfer", c.Legs[1].Role)
	assert.Equal(t, h.ua.CallID(id, 2), c.Legs[1].SIPCallID)
	assert.Equal(t, 200, c.Legs[1].Code)
	assert.NotEmpty(t, c.Legs[1].Codec)
	assert.Equal(t, []string{"agent: One moment.", "human: [on the line]", "agent: Welcome back."}, transcriptLines(e))
	human := e.Segments[1]
	assert.Greater(t, human.EndMs, human.StartMs, "the segment has a duration")
	h.assertSeenOnce(leavingNumber, testcarrier.PhoneHungUp)
	h.waitUntil(2*time.Second, "both permits are released", func() bool { return h.permitsInUse() == 0 })
}

func TestBridgeEndsWithTheCall(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fixtureOptions{})
	id := h.dialUntilAnswered(silentNumber, waitingPathway())
	require.NoError(t, h.request(call.StartTransfer{CallID: id, Target: transferleg.Target{To: numberPrefix + "0109"}, Mode: domain.TransferBridge}))
	assert.Equal(t, domain.CodeInvalidState, domain.CodeOf(h.request(call.StartTransfer{CallID: id, Target: transferleg.Target{To: busyNumber}, Mode: domain.TransferBridge})), "one at a time")
	h.waitForTransferStatus(id, domain.TransferConnected)
	assert.Equal(t, domain.CallInProgress, h.store.readCall(id).Status)
	assert.Equal(t, 2, h.permitsInUse(), "each leg has a permit")
	assert.Equal(t, domain.CodeInvalidState, domain.CodeOf(h.request(call.SpeakText{CallID: id, Text: "Hello?"})), "the agent is not connected")
	require.NoError(t, h.hangUp(id))
	e := h.waitForEnd(id)
	assert.Equal(t, domain.TransferCompleted, e.Call.Transfers[0].Status)
	h.waitUntil(5*time.Second, "the target gets a BYE", func() bool { return h.phoneLog.count(numberPrefix+"0109", testcarrier.CallerHungUp) == 1 })
	h.waitUntil(2*time.Second, "both permits are released", func() bool { return h.permitsInUse() == 0 })
}

func TestFailedTransferReturnsTheCallerToTheAgent(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fixtureOptions{})
	id := h.dialUntilAnswered(silentNumber, transferPathway(busyNumber, domain.TransferBridge))
	e := h.waitForEnd(id)
	assert.Equal(t, domain.OutcomeDeclined, e.Verdict.Outcome, "the failure edge")
	assert.Equal(t, []domain.TransferStatus{domain.TransferStarted, domain.TransferFailed}, h.transferStatuses(id))
	tr := e.Call.Transfers[0]
	assert.Equal(t, "busy", tr.Reason)
	assert.Equal(t, 486, tr.SIP[len(tr.SIP)-1].Code)
	assert.Equal(t, 486, e.Call.Legs[1].Code)
	assert.Equal(t, []string{"agent: One moment.", "agent: Nobody there."}, transcriptLines(e))
	h.waitUntil(2*time.Second, "both permits are released", func() bool { return h.permitsInUse() == 0 })
}

func TestRecordNamesTheRefusedSDPOfATransfer(t *testing.T) {
	t.Parallel()
	const onlyGSM = "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 40000 RTP/AVP 3\r\n"
	ua := newUserAgent(t, func(in *sip.Incoming) { in.Answer([]byte(onlyGSM), func(sip.Event) {}) })
	meta := func(id string) domain.Meta { return domain.Meta{ID: id, Environment: domain.Live} }
	h := newFixture(t, fixtureOptions{trunks: func(h *fixture) []domain.Trunk {
		return []domain.Trunk{
			{Meta: meta("plain"), CallerIDs: []string{"+12025550100"}, Proxies: []domain.Proxy{proxyOf(h.carrier.Target())}, Prefixes: []string{numberPrefix + "0"}},
			{Meta: meta("gsm"), CallerIDs: []string{"+12025550100"}, Proxies: []domain.Proxy{proxyOf(targetOf(ua))}, Prefixes: []string{numberPrefix + "7"}},
		}
	}})
	e := h.waitForEnd(h.dialUntilAnswered(silentNumber, transferPathway(numberPrefix+"7001", domain.TransferBridge)))
	assert.Equal(t, []any{domain.TransferFailed, "media"}, []any{e.Call.Transfers[0].Status, e.Call.Transfers[0].Reason})
	assert.Contains(t, e.Call.MediaIssue, "The SDP was refused")
	assert.Contains(t, e.Call.MediaIssue, "GSM")
}

func TestForbiddenTransferTargetIsNotCalled(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fixtureOptions{})
	id := h.dialUntilAnswered(silentNumber, transferPathway("+19005550123", domain.TransferBlind))
	e := h.waitForEnd(id)
	assert.Equal(t, domain.OutcomeDeclined, e.Verdict.Outcome)
	assert.Empty(t, e.Call.Transfers)
	assert.Len(t, e.Call.Legs, 1)
	assert.Contains(t, h.store.eventTypes(id), event.AgentError)
}

func TestHangupCancelsTheRingingTransferLeg(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fixtureOptions{})
	id := h.dialUntilAnswered(silentNumber, waitingPathway())
	require.NoError(t, h.request(call.StartTransfer{CallID: id, Target: transferleg.Target{To: unansweredNumber}, Mode: domain.TransferBridge}))
	h.waitUntil(5*time.Second, "it rings", func() bool { return h.phoneLog.count(unansweredNumber, testcarrier.Ringing) == 1 })
	require.NoError(t, h.hangUp(id))
	e := h.waitForEnd(id)
	h.assertSeenOnce(unansweredNumber, testcarrier.Cancelled, "the CANCEL came first")
	assert.Equal(t, domain.TransferFailed, e.Call.Transfers[0].Status)
	assert.Equal(t, 487, e.Call.Legs[1].Code)
	h.waitUntil(2*time.Second, "both permits are released", func() bool { return h.permitsInUse() == 0 })
}

func TestTransferLegIsCommittedBeforeItsInvite(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fixtureOptions{})
	id := h.dialUntilAnswered(silentNumber, waitingPathway())
	h.waitUntil(2*time.Second, "its answer is stored", func() bool { return h.store.readCall(id).Status == domain.CallInProgress })
	h.store.setDown(true)
	require.NoError(t, h.request(call.StartTransfer{CallID: id, Target: transferleg.Target{To: leavingNumber}, Mode: domain.TransferBridge}))
	h.assertNever(700*time.Millisecond, "the target is called before the commit", func() bool { return h.phoneLog.count(leavingNumber, testcarrier.Invited) > 0 })
	h.store.setDown(false)
	h.waitUntil(10*time.Second, "it rings", func() bool { return h.phoneLog.count(leavingNumber, testcarrier.Invited) == 1 })
	row := &domain.Attempt{ID: id, WorkspaceID: workspace}
	_, err := h.store.Get(t.Context(), row)
	require.NoError(t, err)
	require.Len(t, row.Legs, 2)
	assert.Equal(t, h.ua.CallID(id, 2), row.Legs[1].SIPCallID)
	assert.NotEmpty(t, row.Legs[1].Dialog, "enough to end it after a crash")
	h.waitForTransferStatus(id, domain.TransferReturned)
	require.NoError(t, h.hangUp(id))
	h.waitForEnd(id)
}

func TestPanicOfATransferLegReturnsTheCaller(t *testing.T) {
	t.Parallel()
	for at, status := range map[string]domain.TransferStatus{
		"transferleg lines.PermitBound": domain.TransferFailed, "transferleg transferleg.DialLeg": domain.TransferFailed, "transferleg transferleg.inviteSent": domain.TransferFailed,
		"transferleg transferleg.dialogEvent ringing": domain.TransferFailed, "transferleg transferleg.dialogEvent answered": domain.TransferFailed, "transferleg transferleg.mediaEvent": domain.TransferReturned,
	} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			traps := &plantedPanics{set: map[string]string{}, thrown: map[string]bool{}}
			h := newFixture(t, fixtureOptions{before: traps.before})
			s := h.prepareCall(silentNumber, waitingPathway())
			traps.mu.Lock()
			traps.set[s.Call.ID] = at
			traps.mu.Unlock()
			id := h.startCall(s)
			h.waitUntil(10*time.Second, "the answer", func() bool { return h.store.readCall(id).AnsweredAt != nil })
			require.NoError(t, h.request(call.StartTransfer{CallID: id, Target: transferleg.Target{To: numberPrefix + "0000"}, Mode: domain.TransferBridge}))
			h.waitForTransferStatus(id, status)
			assert.Equal(t, "internal_error", h.lastTransfer(id).Reason)
			h.waitUntil(5*time.Second, "the permit is released", func() bool { return h.permitsInUse() == 1 })
			h.waitUntil(5*time.Second, "the agent is connected to the caller", func() bool { return h.request(call.SpeakText{CallID: id, Text: "Hello again."}) == nil })
			h.waitUntil(10*time.Second, "no phone is in a call", func() bool { return h.carrier.LiveCalls() == 1 })
			require.NoError(t, h.hangUp(id))
			h.waitForEnd(id)
		})
	}
}

func TestPanicOfACallEndsItsTransferLeg(t *testing.T) {
	t.Parallel()
	traps := &plantedPanics{set: map[string]string{}, thrown: map[string]bool{}}
	h := newFixture(t, fixtureOptions{before: traps.before})
	id := h.dialUntilAnswered(silentNumber, waitingPathway())
	require.NoError(t, h.request(call.StartTransfer{CallID: id, Target: transferleg.Target{To: numberPrefix + "0109"}, Mode: domain.TransferBridge}))
	h.waitForTransferStatus(id, domain.TransferConnected)
	traps.mu.Lock()
	traps.set[id] = "call call.SendDigits"
	traps.mu.Unlock()
	h.sys.Root.Send(h.calls, call.SendDigits{CallID: id, Digits: "1"})
	e := h.waitForEnd(id)
	assert.Equal(t, domain.ReasonInternal, e.Verdict.Reason)
	assert.Equal(t, domain.TransferFailed, e.Call.Transfers[0].Status)
	h.waitUntil(5*time.Second, "no phone is in a call", func() bool { return h.carrier.LiveCalls() == 0 })
	h.waitUntil(5*time.Second, "both permits are released", func() bool { return h.permitsInUse() == 0 })
}

func TestBlindTransferSendsReferAndRecordsItsProgress(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	heard := make(chan sip.Referred, 1)
	p.onRefer(func(r sip.Referred) {
		heard <- r
		notify := r.Accept()
		notify(180, "Ringing", false)
		notify(200, "OK", true)
	})
	h := newFixture(t, fixtureOptions{trunks: trunksToPeer(p)})
	id := h.dialUntilAnswered(numberPrefix+"7777", waitingPathway())
	require.NoError(t, h.request(call.StartTransfer{CallID: id, Target: transferleg.Target{To: busyNumber}, Mode: domain.TransferBlind}))
	e := h.waitForEnd(id)
	assert.Equal(t, domain.ReasonTransferred, e.Verdict.Reason)
	assert.Equal(t, domain.OutcomeCompleted, e.Verdict.Outcome)
	assert.Equal(t, []domain.TransferStatus{domain.TransferStarted, domain.TransferCompleted}, h.transferStatuses(id))
	asked := receive(t, heard)
	assert.True(t, strings.HasPrefix(asked.To, "sip:"+busyNumber+"@127.0.0.1:"), asked.To)
	assert.NotEmpty(t, asked.ReferredBy)
	var steps []string
	for _, s := range e.Call.Transfers[0].SIP {
		steps = append(steps, s.Method+" "+s.Phrase)
	}
	assert.Equal(t, "REFER Accepted", steps[0])
	assert.Contains(t, steps, "NOTIFY OK")
	assert.Len(t, e.Call.Legs, 1, "the peer calls the target itself")
	h.waitUntil(5*time.Second, "the peer gets a BYE", p.hasEnded)
}

func TestRefusedReferReturnsTheCallerToTheAgent(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	p.onRefer(func(r sip.Referred) { r.Refuse(603) })
	h := newFixture(t, fixtureOptions{trunks: trunksToPeer(p)})
	id := h.dialUntilAnswered(numberPrefix+"7777", transferPathway(busyNumber, domain.TransferBlind))
	e := h.waitForEnd(id)
	assert.Equal(t, domain.OutcomeDeclined, e.Verdict.Outcome, "the failure edge")
	assert.Equal(t, "sip_603", e.Call.Transfers[0].Reason)
	assert.Equal(t, []string{"agent: One moment.", "agent: Nobody there."}, transcriptLines(e))
}

func TestFailedNotifyReturnsTheCallerToTheAgent(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	p.onRefer(func(r sip.Referred) { r.Accept()(486, "Busy Here", true) })
	h := newFixture(t, fixtureOptions{trunks: trunksToPeer(p)})
	id := h.dialUntilAnswered(numberPrefix+"7777", transferPathway(busyNumber, domain.TransferBlind))
	e := h.waitForEnd(id)
	assert.Equal(t, domain.OutcomeDeclined, e.Verdict.Outcome)
	assert.Equal(t, "sip_486", e.Call.Transfers[0].Reason)
}

// secretRecorder records the secret texts that it synthesizes.
type secretRecorder struct {
	speech.Synthesizer
	secret chan string
}

func (s secretRecorder) Speak(ctx context.Context, r speech.Request) (media.Clip, error) {
	if r.Secret {
		s.secret <- r.Text
	}
	return s.Synthesizer.Speak(ctx, r)
}

func TestAttendedTransferRefersThePeerWithReplaces(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	asked := make(chan sip.Referred, 1)
	p.onRefer(func(r sip.Referred) {
		asked <- r
		r.Accept()(200, "OK", true)
	})
	secret := make(chan string, 10)
	h := newFixture(t, fixtureOptions{trunks: trunksToPeer(p), speaker: secretRecorder{toneSpeaker{}, secret}, redact: domain.Redaction{Patterns: []string{`\b4\d{3}\b`}}})
	id := h.dialUntilAnswered(numberPrefix+"7777", waitingPathway())
	require.NoError(t, h.request(call.StartTransfer{CallID: id, Target: transferleg.Target{To: silentNumber}, Mode: domain.TransferAttended, Summary: "A caller with card 4111."}))
	e := h.waitForEnd(id)
	r := receive(t, asked)
	require.NotNil(t, r.Replaces)
	assert.Equal(t, h.ua.CallID(id, 2), r.Replaces.CallID)
	assert.Equal(t, domain.TransferCompleted, e.Call.Transfers[0].Status)
	assert.Equal(t, "A caller with card [redacted].", e.Call.Transfers[0].Summary, "redacted as stored")
	assert.Equal(t, "A caller with card 4111.", receive(t, secret), "the synthesizer must not cache it")
	assert.Equal(t, domain.ReasonTransferred, e.Verdict.Reason)
	h.waitUntil(5*time.Second, "nothing is left", func() bool { return h.carrier.LiveCalls() == 0 && h.permitsInUse() == 0 })
}

func TestForbiddenReferOfThePeerIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		accept bool
		to     string
		code   int
	}{
		"not allowed":   {false, "sip:" + silentNumber + "@anywhere.example", 403},
		"not a number":  {true, "sip:anybody@anywhere.example;x", 403},
		"not reachable": {true, "sip:+19005550123@anywhere.example", 403},
		"not a SIP URI": {true, "tel:110", 403},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPeer(t)
			h := newFixture(t, fixtureOptions{trunks: trunksToPeer(p)})
			id := h.dialUntilAnswered(numberPrefix+"7777", waitingPathway(), func(s *call.StartOutbound) { s.Script.Transfer.AcceptRefer = c.accept })
			got := make(chan sip.ReferProgress, 8)
			p.waitForDialog().Refer(sip.ReferTo{URI: c.to}, func(r sip.ReferProgress) { got <- r })
			r := receive(t, got)
			assert.Equal(t, c.code, r.Code)
			assert.True(t, r.Failed)
			require.NoError(t, h.hangUp(id))
			e := h.waitForEnd(id)
			assert.Len(t, e.Call.Legs, 1)
		})
	}
}

func TestReferOfThePeerConnectsTheAgentToTheTarget(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	h := newFixture(t, fixtureOptions{trunks: trunksToPeer(p)})
	id := h.dialUntilAnswered(numberPrefix+"7777", waitingPathway(), func(s *call.StartOutbound) { s.Script.Transfer.AcceptRefer = true })
	got := make(chan sip.ReferProgress, 8)
	p.waitForDialog().Refer(sip.ReferTo{URI: "sip:" + silentNumber + "@anywhere.example"}, func(r sip.ReferProgress) { got <- r })
	var last sip.ReferProgress
	for !last.Final {
		last = receive(t, got)
	}
	assert.Equal(t, 200, last.Code)
	assert.False(t, last.Failed)
	h.waitUntil(5*time.Second, "the peer gets a BYE", p.hasEnded)
	h.waitForTransferStatus(id, domain.TransferCompleted)
	assert.Equal(t, "remote", h.lastTransfer(id).By)
	sent := h.carrier.PacketsReceived()[silentNumber]
	h.waitUntil(5*time.Second, "the target hears the agent", func() bool { return h.carrier.PacketsReceived()[silentNumber] > sent+20 })
	require.NoError(t, h.hangUp(id))
	e := h.waitForEnd(id)
	assert.Equal(t, "api", e.Call.EndedBy)
	assert.Len(t, e.Call.Legs, 2)
	h.waitUntil(5*time.Second, "no phone is in a call", func() bool { return h.carrier.LiveCalls() == 0 })
}

func TestTraceContainsBothLegsOfATransfer(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fixtureOptions{})
	id := h.dialUntilAnswered(silentNumber, waitingPathway())
	live := h.traces.Trace(h.store.readCall(id))
	require.NotNil(t, live)
	assert.True(t, strings.HasPrefix(string(live.Messages[0].Data), "INVITE "))
	require.NoError(t, h.request(call.StartTransfer{CallID: id, Target: transferleg.Target{To: busyNumber}, Mode: domain.TransferBridge}))
	h.waitForTransferStatus(id, domain.TransferFailed)
	require.NoError(t, h.hangUp(id))
	h.waitForEnd(id)
	row := &domain.TraceRow{CallID: id, WorkspaceID: workspace}
	h.waitUntil(5*time.Second, "the trace is stored with the end", func() bool {
		_, err := h.store.Get(t.Context(), row)
		return err == nil
	})
	kept, err := row.Unpack()
	require.NoError(t, err)
	var lines []string
	for _, m := range kept.Messages {
		line, _, _ := strings.Cut(string(m.Data), " ")
		if line == "SIP/2.0" {
			line = strings.Fields(string(m.Data))[1]
		}
		lines = append(lines, line)
	}
	assert.Subset(t, lines, []string{"INVITE", "180", "200", "ACK", "486", "BYE"})
	assert.Nil(t, h.traces.Trace(h.store.readCall(id)), "nothing stays in memory")
}

func (h *fixture) hangUp(id string) error { return h.sendHangUp(call.HangUp{CallID: id}) }

func (h *fixture) sendHangUp(m call.HangUp) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, err := mailbox.Ask[call.HangupStarted](ctx, h.sys, h.calls, m)
	return err
}
