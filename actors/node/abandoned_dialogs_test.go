package node_test

import (
	"context"
	"encoding/json"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/numbers"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/sip"
)

// storeCrashedCall stores the records of a call whose process crashed. Each element of dialogs is one leg of the call. nil
// is a leg without a stored dialog.
func (h *fixture) storeCrashedCall(to string, dialogs ...*sip.DialogState) (callID string) {
	h.Helper()
	id, now := mailbox.NewID(domain.PrefixCall), time.Now().UTC()
	c := &domain.Call{
		Meta:      domain.Meta{ID: id, Object: "call", WorkspaceID: h.live.WorkspaceID, Environment: domain.Live, CreatedAt: now, UpdatedAt: now},
		Direction: domain.Outbound, To: to, Status: domain.CallRinging, StartedAt: &now, Legs: []domain.Leg{}, Attempt: 1,
	}
	var legs []domain.AttemptLeg
	for i, dialog := range dialogs {
		leg := domain.AttemptLeg{Number: i + 1, SIPCallID: id + "@left" + strconv.Itoa(i)}
		if dialog != nil {
			dialog.CallID = leg.SIPCallID
			var err error
			leg.Dialog, err = json.Marshal(dialog)
			require.NoError(h, err)
		}
		legs = append(legs, leg)
	}
	a := &domain.Attempt{
		ID: id, WorkspaceID: h.live.WorkspaceID, Environment: domain.Live, CallID: id, Number: 1,
		Direction: domain.Outbound, Boot: "boot_left", OpenedAt: now, Legs: legs,
	}
	_, err := h.store.Apply(context.Background(), commit.Change{Workspace: h.live.WorkspaceID, Puts: []domain.Record{c, a}})
	require.NoError(h, err)
	return id
}

// answeredDialog returns the state of an answered dialog with a phone of the test carrier. The phone will answer a BYE.
func (h *fixture) answeredDialog(to string) *sip.DialogState {
	return &sip.DialogState{
		LocalTag: "ours", RemoteTag: "theirs", LocalURI: "sip:+12025550100@127.0.0.1", RemoteURI: "sip:" + to + "@127.0.0.1",
		RemoteTarget: "sip:" + to + "@" + h.phones.Addr().String(), LocalCSeq: 2, Target: h.phones.Target(), Confirmed: true,
	}
}

// mayCall reports whether the numbers actor allows a call to a number. It denies the call while the number is in another
// call.
func (h *fixture) mayCall(to string) bool {
	h.Helper()
	got, err := h.node.MayCall(h.Context(), h.live.WorkspaceID, to)
	require.NoError(h, err)
	d, denied := got.(numbers.NumberDenied)
	if denied {
		require.Equal(h, numbers.Busy, d.Reason)
	}
	return !denied
}

func TestNumberOfAnAbandonedDialogIsNotCalledUntilTheDialogEnds(t *testing.T) {
	h := newFixture(t, nil)
	silent, answers, other := carrierNumber(7, 1, "11"), carrierNumber(7, 2, "11"), carrierNumber(7, 3, "11")
	h.storeCrashedCall(silent, nil)
	h.storeCrashedCall(answers, h.answeredDialog(answers))
	h.shutdown()
	h.start()
	assert.True(t, h.mayCall(other))
	h.waitUntil(20*time.Second, "the BYE of the other call is answered", func() bool {
		require.False(t, h.mayCall(silent), "the abandoned leg may still ring")
		return h.mayCall(answers) // the call times of both numbers end when this BYE is answered
	})
}

// abandonedCallRows returns how many abandoned calls of earlier processes are stored.
func (h *fixture) abandonedCallRows() (n int) {
	h.Helper()
	_, err := h.store.List(context.Background(), commit.Query{Kind: "orphan", Workspace: h.live.WorkspaceID, Index: "left", Limit: 100},
		func() domain.Record { return &domain.AbandonedCall{} }, func(domain.Record) error {
			n++
			return nil
		})
	require.NoError(h, err)
	return n
}

func TestAbandonedDialogHoldsNumberAndPermitAfterASecondCrash(t *testing.T) {
	h := newFixture(t, nil)
	silent := carrierNumber(7, 1, "11")
	h.storeCrashedCall(silent, nil)
	for range 2 {
		h.shutdown()
		h.start()
		assert.False(t, h.mayCall(silent), "the abandoned leg may still ring")
		assert.Equal(t, 1, h.abandonedCallRows())
		live, err := h.node.LinesUsage(t.Context(), h.live.WorkspaceID, domain.Outbound)
		require.NoError(t, err)
		assert.Equal(t, 1, live.Active, "the abandoned call holds its permit")
	}
}

func TestAbandonedDialogRowIsDeletedAfterItsByeIsAnswered(t *testing.T) {
	h := newFixture(t, nil)
	answers := carrierNumber(7, 2, "11")
	h.storeCrashedCall(answers, h.answeredDialog(answers))
	h.shutdown()
	h.start()
	h.waitUntil(20*time.Second, "the BYE is answered", func() bool { return h.mayCall(answers) })
	h.waitUntil(20*time.Second, "the row is deleted", func() bool { return h.abandonedCallRows() == 0 })
}

func TestAbandonedDialogRowIsDeletedWhileAnotherDialogIsStillOpen(t *testing.T) {
	h := newFixture(t, nil)
	silent, answers := carrierNumber(7, 1, "11"), carrierNumber(7, 2, "11")
	h.storeCrashedCall(silent, nil)
	h.storeCrashedCall(answers, h.answeredDialog(answers))
	h.shutdown()
	h.start()
	h.waitUntil(20*time.Second, "the row of the answered dialog is deleted", func() bool { return h.abandonedCallRows() == 1 })
	require.False(t, h.mayCall(silent), "the abandoned leg may still ring")
	h.shutdown()
	h.start()
	assert.True(t, h.mayCall(answers), "no second BYE is sent")
}

func TestCallHoldsItsPermitUntilItsLastAbandonedLegEnds(t *testing.T) {
	h := newFixture(t, nil)
	both, answers := carrierNumber(7, 1, "11"), carrierNumber(7, 2, "11")
	left := h.storeCrashedCall(both, h.answeredDialog(both), nil)
	h.storeCrashedCall(answers, h.answeredDialog(answers))
	h.shutdown()
	h.start()
	begun := time.Now()
	active := func() int {
		now, err := h.node.LinesUsage(h.Context(), h.live.WorkspaceID, domain.Outbound)
		require.NoError(h, err)
		return now.Active
	}
	h.waitUntil(20*time.Second, "the BYE of the first leg is answered", func() bool { return h.node.AbandonedLegs(h.live.WorkspaceID, left) < 2 })
	h.waitUntil(20*time.Second, "the BYE of the other call is answered too", func() bool { return h.mayCall(answers) && active() < 2 })
	h.mayCall(both) // returns after all earlier messages to the numbers actor are processed
	if now := active(); time.Since(begun) < 30*time.Second {
		assert.Equal(t, 1, now, "the transfer leg may still ring")
	}
}
