package call_test

import (
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/call/recording"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/numbers"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/media/wav"
	"github.com/callboard/callboard/sip/testcarrier"
)

const numberPrefix = "+1500555"

func TestOutboundCallIsPlacedRecordedAndReported(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fixtureOptions{})
	id := h.dial(numberPrefix+"0000", confirmPathway())
	e := h.waitForEnd(id)
	assert.Equal(t, domain.OutcomeConfirmed, e.Verdict.Outcome)
	assert.Equal(t, domain.ReasonCompleted, e.Verdict.Reason)
	assert.True(t, e.Reached)
	c := h.waitUntilFinished(id)
	assert.Equal(t, []event.Type{
		event.CallStarted, event.CallRinging, event.CallAnswered, event.CallEnded, event.CallTranscriptReady, event.CallRecordingReady,
	}, h.store.eventTypes(id))
	assert.Equal(t, domain.CallCompleted, c.Status)
	assert.Equal(t, "confirmed", c.Disposition)
	assert.Equal(t, "agent", c.EndedBy)
	assert.Equal(t, map[string]string{"choice": "1"}, c.Variables)
	assert.Equal(t, &domain.CallOutcome{Result: domain.OutcomeConfirmed, Notes: "chose 1"}, c.Outcome)
	assert.Equal(t, "https://calls.example/v1/calls/"+id+"/recording", c.RecordingURL)
	assert.True(t, c.RecordingAvailable)
	assert.True(t, c.TranscriptAvailable)
	require.Len(t, c.Legs, 1)
	assert.Equal(t, 200, c.Legs[0].Code)
	assert.Equal(t, "PCMU/8000", c.Legs[0].Codec)
	assert.NotNil(t, c.Legs[0].EndedAt)
	assert.GreaterOrEqual(t, c.Legs[0].PDDMs, int64(0))
	require.NotNil(t, c.Quality)
	assert.Greater(t, c.Quality.PacketsSent, uint64(40))
	assert.Greater(t, c.Quality.PacketsReceived, uint64(40))
	assert.Zero(t, c.Quality.LossPercent)
	var said []string
	for _, s := range e.Segments {
		said = append(said, s.Speaker+": "+s.Text)
		assert.GreaterOrEqual(t, s.EndMs, s.StartMs)
	}
	assert.Contains(t, said, "agent: Hello Ada.")
	assert.Contains(t, said, "caller: [pressed 1]")
	assert.Contains(t, said, "agent: Thanks.")
	sound, err := wav.Decode(h.blobs.get(recording.BlobName(id)))
	require.NoError(t, err)
	assert.InDelta(t, c.RecordingSeconds, sound.Duration().Seconds(), 0.01)
	assert.InDelta(t, float64(c.DurationSeconds), sound.Duration().Seconds(), 5)
	h.waitUntil(2*time.Second, "the spool is empty", func() bool { return h.countSpoolFiles() == 0 })
	h.waitUntil(2*time.Second, "the permit is released", func() bool { return h.permitsInUse() == 0 })
	assert.Len(t, h.endsOf(id), 1)
	row := &domain.LedgerRow{AttemptID: id, WorkspaceID: workspace}
	_, err = h.store.Get(t.Context(), row)
	require.NoError(t, err, "one bill")
}

func TestCallOutcomeMatchesHowTheCallEnded(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fixtureOptions{})
	type want struct {
		outcome domain.Outcome
		reason  domain.Reason
		by      string
		code    int
		status  domain.CallStatus
	}
	ends := map[string]want{
		numberPrefix + "0001": {domain.OutcomeBusy, domain.ReasonBusy, "remote", 486, domain.CallBusy},
		numberPrefix + "0002": {domain.OutcomeNoAnswer, domain.ReasonNoAnswer, "service", 487, domain.CallNoAnswer},
		numberPrefix + "0004": {domain.OutcomeDeclined, domain.ReasonCompleted, "agent", 200, domain.CallCompleted},
		numberPrefix + "0005": {domain.OutcomeFailed, domain.ReasonInvalidNumber, "remote", 404, domain.CallFailed},
		numberPrefix + "0006": {domain.OutcomeFailed, domain.ReasonTrunkError, "remote", 503, domain.CallFailed},
		numberPrefix + "0009": {domain.OutcomeCompleted, domain.ReasonCompleted, "agent", 200, domain.CallCompleted},
		numberPrefix + "4413": {domain.OutcomeFailed, domain.ReasonRejected, "remote", 603, domain.CallFailed},
		numberPrefix + "4418": {domain.OutcomeCompleted, domain.ReasonRemoteHangup, "remote", 200, domain.CallCompleted},
	}
	ids := make(map[string]string)
	for n := range ends {
		s := h.prepareCall(n, confirmPathway())
		switch n {
		case unansweredNumber:
			s.RingTimeout = 2 * time.Second
		case silentNumber:
			s.Script.Pathway.Nodes[1].TimeoutSeconds, s.Script.Pathway.Nodes[1].Retries = 1.5, 0
		case numberPrefix + "4418":
			s.Script.Pathway = waitingPathway()
		}
		ids[n] = h.startCall(s)
	}
	got := make(map[string]want)
	for n, id := range ids {
		e := h.waitForEnd(id)
		c := h.waitUntilFinished(id)
		got[n] = want{e.Verdict.Outcome, e.Verdict.Reason, c.EndedBy, c.Legs[0].Code, c.Status}
		assert.True(t, e.Reached, n)
		assert.Contains(t, h.store.eventTypes(id), event.CallEnded, n)
		row := domain.Attempt{ID: id, WorkspaceID: workspace}
		_, err := h.store.Get(t.Context(), &row)
		require.ErrorIs(t, err, domain.ErrNotFound, "the attempt is closed")
	}
	assert.Equal(t, ends, got)
	h.waitUntil(2*time.Second, "all permits are released", func() bool { return h.permitsInUse() == 0 })
	h.waitUntil(2*time.Second, "no phone is in a call", func() bool { return h.carrier.LiveCalls() == 0 && h.engine.Live() == 0 })
}

func TestAPIHangupEndsRingingAnsweredAndStartingCalls(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fixtureOptions{})
	hangup := func(id string) error {
		_, err := mailbox.Ask[call.HangupStarted](t.Context(), h.sys, h.calls, call.HangUp{CallID: id})
		return err
	}
	ringing := h.dial(numberPrefix+"0002", confirmPathway())
	h.waitUntil(5*time.Second, "it rings", func() bool { return h.phoneLog.count(numberPrefix+"0002", testcarrier.Ringing) == 1 })
	require.NoError(t, hangup(ringing))
	e := h.waitForEnd(ringing)
	assert.Equal(t, domain.OutcomeCancelled, e.Verdict.Outcome)
	assert.Equal(t, "api", e.Call.EndedBy)
	assert.Equal(t, domain.CallCancelled, e.Call.Status)
	h.assertSeenOnce(numberPrefix+"0002", testcarrier.Cancelled, "the phone has stopped ringing")

	talking := h.dial(numberPrefix+"0009", waitingPathway())
	h.waitUntil(5*time.Second, "the call is answered", func() bool { return h.store.readCall(talking).Status == domain.CallInProgress })
	require.NoError(t, hangup(talking))
	e = h.waitForEnd(talking)
	assert.Equal(t, domain.Verdict{Outcome: domain.OutcomeCompleted, Reason: domain.ReasonHangup}, e.Verdict)
	h.waitUntil(2*time.Second, "the BYE is seen", func() bool { return h.phoneLog.count(numberPrefix+"0009", testcarrier.CallerHungUp) == 1 })

	at := h.prepareCall(numberPrefix+"0000", waitingPathway())
	h.startCall(at)
	require.NoError(t, hangup(at.Call.ID), "at once")
	e = h.waitForEnd(at.Call.ID)
	assert.Equal(t, "api", e.Call.EndedBy)
	h.waitUntilFinished(at.Call.ID)
	h.waitUntil(5*time.Second, "nothing is left", func() bool { return h.engine.Live() == 0 && h.carrier.LiveCalls() == 0 && h.permitsInUse() == 0 })
	assert.Equal(t, domain.CodeNotFound, domain.CodeOf(hangup("call_nobody")))
}

func TestByeFollowsTheCommitOfTheAnswer(t *testing.T) {
	t.Parallel()
	mute := domain.Pathway{Start: "bye", Nodes: []domain.Node{{ID: "bye", Type: domain.NodeEnd}}}
	t.Run("the BYE waits for it", func(t *testing.T) {
		t.Parallel()
		h := newFixture(t, fixtureOptions{})
		gate := make(chan struct{})
		h.store.gates = map[event.Type]chan struct{}{event.CallAnswered: gate}
		id := h.dial(numberPrefix+"0009", mute)
		h.waitUntil(5*time.Second, "it is answered", func() bool { return h.phoneLog.count(numberPrefix+"0009", testcarrier.Answered) == 1 })
		time.AfterFunc(100*time.Millisecond, func() { close(gate) })
		h.waitUntil(5*time.Second, "the BYE is seen", func() bool { return h.phoneLog.count(numberPrefix+"0009", testcarrier.CallerHungUp) == 1 })
		assert.Contains(t, h.store.eventTypes(id), event.CallAnswered)
		assert.Equal(t, domain.OutcomeCompleted, h.waitForEnd(id).Verdict.Outcome)
		h.waitUntilFinished(id)
	})
	t.Run("but not for a store that hangs", func(t *testing.T) {
		t.Parallel()
		h := newFixture(t, fixtureOptions{})
		gate := make(chan struct{})
		h.store.gates = map[event.Type]chan struct{}{event.CallAnswered: gate}
		id := h.dial(numberPrefix+"0009", mute)
		h.waitUntil(5*time.Second, "the BYE is seen", func() bool { return h.phoneLog.count(numberPrefix+"0009", testcarrier.CallerHungUp) == 1 })
		assert.NotContains(t, h.store.eventTypes(id), event.CallAnswered)
		close(gate)
		assert.Equal(t, domain.OutcomeCompleted, h.waitForEnd(id).Verdict.Outcome)
		h.waitUntilFinished(id)
	})
}

func TestCallEndsAtMaxDuration(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fixtureOptions{})
	o := h.prepareCall(numberPrefix+"0009", waitingPathway())
	o.MaxDuration = 500 * time.Millisecond
	e := h.waitForEnd(h.startCall(o))
	assert.Equal(t, domain.Verdict{Outcome: domain.OutcomeCompleted, Reason: domain.ReasonMaxDuration}, e.Verdict)
	assert.Equal(t, "service", e.Call.EndedBy)
}

func TestCallWithAnExpiredPermitSendsNoInvite(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fixtureOptions{})
	o := h.prepareCall(numberPrefix+"0000", confirmPathway())
	o.Permit.Epoch = "another"
	e := h.waitForEnd(h.startCall(o))
	assert.Equal(t, domain.ReasonNotSent, e.Verdict.Reason)
	assert.False(t, e.Verdict.SpendsAttempt())
	assert.False(t, e.Reached)
	assert.Zero(t, h.ua.Counters().Invites)
	_, err := h.store.Get(t.Context(), &domain.LedgerRow{AttemptID: e.AttemptID, WorkspaceID: workspace})
	require.ErrorIs(t, err, domain.ErrNotFound, "no bill")
}

func TestEndIsReportedUntilTheOwnerAcknowledges(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fixtureOptions{})
	h.withholdAck = true
	id := h.dial(numberPrefix+"0001", confirmPathway())
	h.waitUntil(8*time.Second, "the end is reported again", func() bool { return len(h.endsOf(id)) >= 2 })
	assert.Equal(t, 1, h.permitsInUse(), "the call keeps its permit until then")
	h.mu.Lock()
	h.withholdAck = false
	h.ended[id] = nil
	h.mu.Unlock()
	h.waitUntilFinished(id)
	h.waitUntil(2*time.Second, "the permit is released", func() bool { return h.permitsInUse() == 0 })
}

func TestCallWithoutOwnerIsStoredByCalls(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fixtureOptions{})
	o := h.prepareCall(numberPrefix+"0000", confirmPathway())
	o.Owner = nil
	c := h.waitUntilFinished(h.startCall(o))
	assert.Equal(t, "confirmed", c.Disposition)
	assert.Equal(t, []event.Type{
		event.CallStarted, event.CallRinging, event.CallAnswered, event.CallEnded, event.CallTranscriptReady, event.CallRecordingReady,
	}, h.store.eventTypes(c.ID))
}

func TestUnsentCallIsReportedAsUncounted(t *testing.T) {
	t.Parallel()
	uncounted := make(chan numbers.UncountAttempt, 8)
	h := newFixture(t, fixtureOptions{numbers: func(ctx actor.Context) {
		if m, ok := ctx.Message().(numbers.UncountAttempt); ok {
			uncounted <- m
		}
	}})
	rung, late := h.prepareCall(numberPrefix+"0001", confirmPathway()), h.prepareCall(numberPrefix+"0000", confirmPathway())
	rung.Owner, late.Owner, late.Permit.Epoch = nil, nil, "another"
	h.waitUntilFinished(h.startCall(rung))
	id := h.startCall(late)
	h.waitUntilFinished(id)
	h.waitUntil(5*time.Second, "no call is open", func() bool {
		now, err := mailbox.Ask[call.LiveCalls](t.Context(), h.sys, h.calls, call.GetLiveCalls{})
		return err == nil && now.Open == 0
	})
	select {
	case m := <-uncounted:
		assert.Equal(t, numbers.UncountAttempt{CallID: id, Number: numberPrefix + "0000", Environment: domain.Live}, m)
	case <-time.After(patience):
		require.Fail(t, "no message arrived")
	}
	assert.Empty(t, uncounted, "the busy call counts")
}

func TestCallFailsWithoutBillingIfTheAgentCannotSpeak(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		speaker toneSpeaker
		verdict domain.Verdict
		errors  int
	}{
		"its first words": {toneSpeaker{fails: "Hello Ada."}, domain.Verdict{Outcome: domain.OutcomeFailed, Reason: domain.ReasonAgentUnavailable}, 2},
		"its last words":  {toneSpeaker{panics: "Thanks."}, domain.Verdict{Outcome: domain.OutcomeConfirmed, Reason: domain.ReasonCompleted}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t, fixtureOptions{speaker: c.speaker})
			id := h.dial(numberPrefix+"0000", confirmPathway())
			e := h.waitForEnd(id)
			h.waitUntilFinished(id)
			assert.Equal(t, c.verdict, e.Verdict)
			bills := 0
			for _, r := range call.EndChange(e, time.Now()).Puts {
				if _, is := r.(*domain.LedgerRow); is {
					bills++
				}
			}
			assert.Equal(t, e.Verdict.Reason == domain.ReasonCompleted, bills == 1, "a call without a word is free")
			n := 0
			for _, v := range h.store.eventTypes(id) {
				if v == event.AgentError {
					n++
				}
			}
			assert.Equal(t, c.errors, n, "each error is reported once")
		})
	}
}

func TestCallCancelledByItsCampaignHasOutcomeCancelled(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fixtureOptions{})
	id := h.dial(numberPrefix+"0009", waitingPathway())
	h.waitUntil(5*time.Second, "the call is answered", func() bool { return h.store.readCall(id).Status == domain.CallInProgress })
	require.NoError(t, h.sendHangUp(call.HangUp{CallID: id, Cancelled: true}))
	assert.Equal(t, domain.Verdict{Outcome: domain.OutcomeCancelled, Reason: domain.ReasonCancelled}, h.waitForEnd(id).Verdict)
	assert.Equal(t, domain.CallCancelled, h.waitUntilFinished(id).Status)
}

func TestDrainRefusesNewCallsAndWaitsForLiveOnes(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fixtureOptions{})
	id := h.dial(numberPrefix+"0000", confirmPathway())
	h.waitUntil(5*time.Second, "the call is answered", func() bool { return h.store.readCall(id).Status == domain.CallInProgress })
	drained := make(chan struct{})
	h.sys.Root.RequestWithCustomSender(h.calls, call.DrainCalls{}, h.sys.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		if _, ok := ctx.Message().(call.CallsDrained); ok {
			close(drained)
		}
	})))
	o := h.prepareCall(numberPrefix+"0000", confirmPathway())
	assert.Equal(t, domain.ReasonNotSent, h.waitForEnd(h.startCall(o)).Verdict.Reason)
	receive(t, drained)
	c := h.store.readCall(id)
	assert.Equal(t, "confirmed", c.Disposition)
	assert.True(t, c.RecordingAvailable, "its recording is stored")
}

func TestGetLiveCallsListsALiveCall(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fixtureOptions{})
	id := h.dial(numberPrefix+"0009", waitingPathway())
	h.waitUntil(5*time.Second, "the call is answered", func() bool { return h.store.readCall(id).Status == domain.CallInProgress })
	now, err := mailbox.Ask[call.LiveCalls](t.Context(), h.sys, h.calls, call.GetLiveCalls{})
	require.NoError(t, err)
	require.Len(t, now.Calls, 1)
	assert.Equal(t, id, now.Calls[0].CallID)
	assert.Equal(t, domain.Outbound, now.Calls[0].Direction)
	_, err = mailbox.Ask[call.HangupStarted](t.Context(), h.sys, h.calls, call.HangUp{CallID: id})
	require.NoError(t, err)
	h.waitUntilFinished(id)
}
