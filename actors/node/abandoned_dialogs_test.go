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

// crashedOn writes what a process leaves behind that crashed during a call.
// Each dialog is a leg of it; nil: nothing is known of one.
func (h *fixture) crashedOn(to string, dialogs ...*sip.DialogState) (callID string) {
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

// answering is a dialog of a call to a phone of the simulator, which answers
// its BYE.
func (h *fixture) answering(to string) *sip.DialogState {
	return &sip.DialogState{
		LocalTag: "ours", RemoteTag: "theirs", LocalURI: "sip:+12025550100@127.0.0.1", RemoteURI: "sip:" + to + "@127.0.0.1",
		RemoteTarget: "sip:" + to + "@" + h.phones.Addr().String(), LocalCSeq: 2, Target: h.phones.Target(), Confirmed: true,
	}
}

// free says whether a campaign may ring a number.
func (h *fixture) free(to string) bool {
	h.Helper()
	got, err := h.node.MayRing(h.Context(), h.live.WorkspaceID, to)
	require.NoError(h, err)
	d, denied := got.(numbers.NumberDenied)
	if denied {
		require.Equal(h, numbers.Busy, d.Reason)
	}
	return !denied
}

func TestNobodyRingsANumberWhoseOrphanedLegMayStillRing(t *testing.T) {
	h := build(t, nil)
	silent, answers, other := number(7, 1, "11"), number(7, 2, "11"), number(7, 3, "11")
	h.crashedOn(silent, nil)
	h.crashedOn(answers, h.answering(answers))
	h.shut()
	h.open()
	assert.True(t, h.free(other))
	h.until(20*time.Second, "the BYE of the other is answered", func() bool {
		require.False(t, h.free(silent), "it may ring for all that is known")
		return h.free(answers) // by its answer: the time of both is over at once
	})
}

// orphaned counts the rows of calls that earlier processes left.
func (h *fixture) orphaned() (n int) {
	h.Helper()
	_, err := h.store.List(context.Background(), commit.Query{Kind: "orphan", Workspace: h.live.WorkspaceID, Index: "left", Limit: 100},
		func() domain.Record { return &domain.AbandonedCall{} }, func(domain.Record) error {
			n++
			return nil
		})
	require.NoError(h, err)
	return n
}

func TestALegThatMayStillRingIsKnownAfterAnotherCrash(t *testing.T) {
	h := build(t, nil)
	silent := number(7, 1, "11")
	h.crashedOn(silent, nil)
	for range 2 {
		h.shut()
		h.open()
		assert.False(t, h.free(silent), "it may ring for all that is known")
		assert.Equal(t, 1, h.orphaned())
		live, err := h.node.Usage(t.Context(), h.live.WorkspaceID, domain.Outbound)
		require.NoError(t, err)
		assert.Equal(t, 1, live.Active, "and has its line")
	}
}

func TestNothingIsKeptOfAnOrphanedCallThatIsOver(t *testing.T) {
	h := build(t, nil)
	answers := number(7, 2, "11")
	h.crashedOn(answers, h.answering(answers))
	h.shut()
	h.open()
	h.until(20*time.Second, "its BYE is answered", func() bool { return h.free(answers) })
	h.until(20*time.Second, "its row is gone", func() bool { return h.orphaned() == 0 })
}

func TestNothingIsKeptOfAnOrphanedCallThatIsOverWhileAnotherMayRing(t *testing.T) {
	h := build(t, nil)
	silent, answers := number(7, 1, "11"), number(7, 2, "11")
	h.crashedOn(silent, nil)
	h.crashedOn(answers, h.answering(answers))
	h.shut()
	h.open()
	h.until(20*time.Second, "the row of the other is gone", func() bool { return h.orphaned() == 1 })
	require.False(t, h.free(silent), "it may ring for all that is known")
	h.shut()
	h.open()
	assert.True(t, h.free(answers), "nobody asks its phone again")
}

func TestACallKeepsItsLineUntilTheLastOfItsOrphanedLegsHasEnded(t *testing.T) {
	h := build(t, nil)
	both, answers := number(7, 1, "11"), number(7, 2, "11")
	left := h.crashedOn(both, h.answering(both), nil)
	h.crashedOn(answers, h.answering(answers))
	h.shut()
	h.open()
	begun := time.Now()
	active := func() int {
		now, err := h.node.Usage(h.Context(), h.live.WorkspaceID, domain.Outbound)
		require.NoError(h, err)
		return now.Active
	}
	h.until(20*time.Second, "the BYE of the first leg is answered", func() bool { return h.node.OrphanedLegs(h.live.WorkspaceID, left) < 2 })
	h.until(20*time.Second, "that of the other call too", func() bool { return h.free(answers) && active() < 2 })
	h.free(both) // whatever was told has been heard
	if now := active(); time.Since(begun) < 30*time.Second {
		assert.Equal(t, 1, now, "the transfer leg may yet ring")
	}
}
