package calls_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/actors/numbers"
	"github.com/callboard/callboard/actors/polltest"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/calls"
)

// callID is the id of the call that these tests place.
const callID = "call_01J00000000000000000000001"

// waitForMessage waits until an actor has received a message of type T.
func waitForMessage[T any](t *testing.T, f *fakeActor) {
	t.Helper()
	polltest.Until(t, 5*time.Second, "the actor receives the message", func() bool {
		for _, m := range f.received() {
			if _, ok := m.(T); ok {
				return true
			}
		}
		return false
	})
}

func TestPlacedCallIsCommittedBeforeStart(t *testing.T) {
	t.Parallel()
	s, n := newFixture(t)
	n.opened = func(o call.OpeningCommit) {
		assert.Empty(t, n.calls.received(), "the call is committed before it starts")
		assert.Equal(t, callID, o.Attempt.ID)
	}
	c, err := s.Place(t.Context(), caller(), calls.Placement{Order: newOrder(), CallID: callID})
	require.NoError(t, err)
	assert.Equal(t, []any{callID, domain.CallQueued, "+12025550100", "+12025550115", 3}, []any{c.ID, c.Status, c.From, c.To, c.AgentVersion})
	waitForMessage[numbers.AttemptCommitted](t, n.numbers)
	waitForMessage[call.StartOutbound](t, n.calls)

	stored, err := s.Call(t.Context(), caller(), callID)
	require.NoError(t, err)
	assert.Equal(t, c.To, stored.To)
}

func TestRefusedCallRequestTakesNoPermit(t *testing.T) {
	t.Parallel()
	opens := time.Now().UTC().Add(12 * time.Hour).Truncate(time.Hour)
	closed := &domain.CallingHours{Start: opens.Format("15:04"), End: opens.Add(time.Minute).Format("15:04"), Timezone: "UTC"}
	for name, c := range map[string]struct {
		change func(*fakeNode, *domain.Principal, *domain.NewCall)
		code   domain.Code
	}{
		"caller ID of another workspace": {func(_ *fakeNode, _ *domain.Principal, o *domain.NewCall) { o.From = "+12025550188" }, domain.CodeCallerIDNotAllowed},
		"number on a list":               {func(n *fakeNode, _ *domain.Principal, o *domain.NewCall) { n.listed = map[string]bool{o.To: true} }, domain.CodeDNCBlocked},
		"country not allowed":            {func(_ *fakeNode, _ *domain.Principal, o *domain.NewCall) { o.To = "+442071838750" }, domain.CodeDestinationNotAllowed},
		"emergency number":               {func(_ *fakeNode, _ *domain.Principal, o *domain.NewCall) { o.To = "911" }, domain.CodeDestinationNotAllowed},
		"no number":                      {func(_ *fakeNode, _ *domain.Principal, o *domain.NewCall) { o.To = "no-number" }, domain.CodeValidation},
		"outside the calling hours":      {func(_ *fakeNode, _ *domain.Principal, o *domain.NewCall) { o.CallingHours = closed }, domain.CodeOutsideCallingHours},
		"node that is stopping": {func(n *fakeNode, _ *domain.Principal, _ *domain.NewCall) {
			n.refusal = domain.Errorf(domain.CodeUnavailable, "the service is being stopped")
		}, domain.CodeUnavailable},
		"unknown agent": {func(n *fakeNode, _ *domain.Principal, _ *domain.NewCall) {
			n.scripts = map[string]*domain.Error{"agent_1": domain.Errorf(domain.CodeNotFound, "there is no such agent")}
		}, domain.CodeValidation},
		"unknown workspace": {func(_ *fakeNode, p *domain.Principal, _ *domain.NewCall) { p.WorkspaceID = "ws_2" }, domain.CodeNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, n := newFixture(t)
			p, o := caller(), newOrder()
			c.change(n, &p, &o)
			_, err := s.PlaceCall(t.Context(), p, o)
			assert.Equal(t, c.code, domain.CodeOf(err), "%v", err)
			assert.Empty(t, n.lines.received())
			assert.Empty(t, n.trunks.received())
		})
	}
}

func TestCallWithoutFreePermitIsNotPlaced(t *testing.T) {
	t.Parallel()
	s, n := newFixture(t)
	n.lines.answer = func(any) any {
		return domain.Errorf(domain.CodeConcurrentLimit, "all 2 lines are busy").With("limit", 2)
	}
	_, err := s.PlaceCall(t.Context(), caller(), newOrder())
	assert.Equal(t, domain.CodeConcurrentLimit, domain.CodeOf(err))
	assert.Equal(t, []any{lines.TryPermit{}}, n.lines.received())
	assert.Empty(t, n.trunks.received())
}

func TestPlacementPermitIsUsedAndReturnedOnFailure(t *testing.T) {
	t.Parallel()
	s, n := newFixture(t)
	n.trunks.answer = func(m any) any {
		w, _ := m.(trunk.RequestSlot)
		return trunk.SlotDenied{CallID: w.CallID, Reason: trunk.ReasonNoTrunk}
	}
	_, err := s.Place(t.Context(), caller(), calls.Placement{Order: newOrder(), CallID: callID, Permit: func(context.Context) (lines.Permit, error) {
		return lines.Permit{ID: 7}, nil
	}})
	assert.Equal(t, domain.CodeNoTrunk, domain.CodeOf(err))
	waitForMessage[lines.ReturnPermit](t, n.lines)
	assert.Equal(t, []any{lines.ReturnPermit{Permit: lines.Permit{ID: 7}}}, n.lines.received(), "only the permit of the placement is returned")
	waitForMessage[trunk.ReleaseCall](t, n.trunks)
}

func TestFailedCallOpeningReturnsPermitSlotAndNumber(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*fakeNode)
		code   domain.Code
	}{
		"number denied by a list": {func(n *fakeNode) {
			n.numbers.answer = func(any) any { return numbers.NumberDenied{CallID: callID, Reason: numbers.DNC} }
		}, domain.CodeDNCBlocked},
		"frequency cap reached": {func(n *fakeNode) {
			n.numbers.answer = func(any) any {
				return numbers.NumberDenied{CallID: callID, Reason: numbers.Frequency, DayLimit: 1, DayCount: 1}
			}
		}, domain.CodeFrequencyCap},
		"number permission unknown": {func(n *fakeNode) {
			n.numbers.answer = func(any) any { return numbers.NumberDenied{CallID: callID, Reason: numbers.Unknown} }
		}, domain.CodeUnavailable},
		"commit failed": {func(n *fakeNode) { n.openErr = domain.Errorf(domain.CodeUnavailable, "the store is full") }, domain.CodeUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, n := newFixture(t)
			c.change(n)
			_, err := s.Place(t.Context(), caller(), calls.Placement{Order: newOrder(), CallID: callID})
			assert.Equal(t, c.code, domain.CodeOf(err), "%v", err)
			waitForMessage[lines.ReturnPermit](t, n.lines)
			waitForMessage[trunk.ReturnSlot](t, n.trunks)
			waitForMessage[numbers.ReleaseNumber](t, n.numbers)
			assert.Empty(t, n.calls.received(), "no call is started")
		})
	}
}

func TestPlacementAddsRowsToOpeningCommit(t *testing.T) {
	t.Parallel()
	s, n := newFixture(t)
	item := &domain.BulkItem{BulkID: "bulk_1", WorkspaceID: "ws_1", Index: 0}
	_, err := s.Place(t.Context(), caller(), calls.Placement{Order: newOrder(), CallID: callID, More: func(c *commit.Change, _ *domain.Call) {
		c.Puts = append(c.Puts, item)
	}})
	require.NoError(t, err)
	_, err = n.store.Get(t.Context(), &domain.BulkItem{BulkID: "bulk_1", WorkspaceID: "ws_1", Index: 0})
	assert.NoError(t, err)
}
