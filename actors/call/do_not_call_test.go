package call_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/testcarrier"
)

// The number is added to a do-not-call list after the first leg. The second leg must not be dialled.
func TestNextLegIsNotDialledIfTheNumberWasListedMeanwhile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		listed bool
		err    error
	}{
		"listed":            {listed: true},
		"lists unavailable": {err: errors.New("the store does not answer")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var refused atomic.Bool
			ua := newUserAgent(t, func(in *sip.Incoming) {
				refused.Store(true)
				in.Reject(503, 0)
			})
			scrub := dnc.ScrubRules{Default: "dnc_own", List: "dnc_other"}
			h := newFixture(t, fixtureOptions{trunks: trunkWithSecondTarget(targetOf(ua)), listed: func(_ context.Context, s dnc.ScrubRules, to string) (bool, error) {
				assert.Equal(t, scrub, s, "the lists that apply to the call")
				assert.Equal(t, numberPrefix+"0000", to)
				assert.True(t, refused.Load(), "the first leg is checked by the starter of the call")
				return c.listed, c.err
			}})
			s := h.prepareCall(numberPrefix+"0000", confirmPathway())
			s.Scrub = scrub
			id := h.startCall(s)
			e := h.waitForEnd(id)
			assert.Equal(t, domain.OutcomeFailed, e.Verdict.Outcome, "the verdict of the first leg")
			assert.True(t, e.Reached)
			assert.Zero(t, h.phoneLog.count(numberPrefix+"0000", testcarrier.Invited), "no phone is called")
			h.waitUntil(5*time.Second, "the permit is released", func() bool { return h.permitsInUse() == 0 })
		})
	}
}

func TestTransferToAListedNumberIsNotDialled(t *testing.T) {
	t.Parallel()
	for _, mode := range []domain.TransferMode{domain.TransferBridge, domain.TransferBlind, domain.TransferAttended} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			p := newPeer(t)
			var asked atomic.Int32
			p.onRefer(func(r sip.Referred) {
				asked.Add(1)
				r.Refuse(603)
			})
			h := newFixture(t, fixtureOptions{trunks: trunksToPeer(p), listed: func(_ context.Context, s dnc.ScrubRules, to string) (bool, error) {
				assert.Equal(t, dnc.DefaultScrub(workspace, domain.Live), s)
				return to == silentNumber, nil
			}})
			id := h.dialUntilAnswered(numberPrefix+"7777", transferPathway(silentNumber, mode))
			e := h.waitForEnd(id)
			assert.Equal(t, domain.OutcomeDeclined, e.Verdict.Outcome, "the failure edge")
			require.NotEmpty(t, e.Call.Transfers)
			assert.Equal(t, domain.TransferFailed, e.Call.Transfers[0].Status)
			assert.Equal(t, string(domain.CodeDNCBlocked), e.Call.Transfers[0].Reason)
			assert.Equal(t, []string{"agent: One moment.", "agent: Nobody there."}, transcriptLines(e))
			assert.Zero(t, h.phoneLog.count(silentNumber, testcarrier.Invited), "no phone is called")
			assert.Zero(t, asked.Load(), "no REFER is sent")
			h.waitUntil(5*time.Second, "the permits are released", func() bool { return h.permitsInUse() == 0 })
		})
	}
}

// A hang-up that arrives while the do-not-call lists are being queried prevents the INVITE.
func TestHangupDuringTheDoNotCallCheckPreventsTheInvite(t *testing.T) {
	t.Parallel()
	asked, answer := make(chan struct{}, 1), make(chan struct{})
	ua := newUserAgent(t, func(in *sip.Incoming) { in.Reject(503, 0) })
	h := newFixture(t, fixtureOptions{trunks: trunkWithSecondTarget(targetOf(ua)), listed: func(ctx context.Context, _ dnc.ScrubRules, _ string) (bool, error) {
		asked <- struct{}{}
		select {
		case <-answer:
		case <-ctx.Done():
		}
		return false, nil
	}})
	id := h.dial(numberPrefix+"0000", confirmPathway())
	select {
	case <-asked:
	case <-time.After(patience):
		t.Fatal("the lists were not queried")
	}
	require.NoError(t, h.hangUp(id))
	close(answer)
	e := h.waitForEnd(id)
	assert.Equal(t, domain.OutcomeCancelled, e.Verdict.Outcome)
	assert.Equal(t, "api", e.Call.EndedBy)
	assert.Zero(t, h.phoneLog.count(numberPrefix+"0000", testcarrier.Invited))
	h.waitUntil(5*time.Second, "the permit is released", func() bool { return h.permitsInUse() == 0 })
}
