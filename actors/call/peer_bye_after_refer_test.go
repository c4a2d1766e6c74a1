package call_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip"
)

// Many phones hang up as soon as their REFER is accepted. The call must continue if the REFER's target answers, and end
// otherwise.
func TestCallContinuesIfThePeerHangsUpAfterItsRefer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		target string
		hangUp bool // by the API, while no party is connected
		status domain.TransferStatus
		by     string
	}{
		"the target answers":  {silentNumber, false, domain.TransferCompleted, "api"},
		"the target is busy":  {busyNumber, false, domain.TransferFailed, "remote"},
		"the call is hung up": {numberPrefix + "0002", true, domain.TransferFailed, "api"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPeer(t)
			h := newFixture(t, fixtureOptions{trunks: trunksToPeer(p)})
			id := h.dialUntilAnswered(numberPrefix+"7777", waitingPathway(), func(s *call.StartOutbound) { s.Script.Transfer.AcceptRefer = true })
			got := make(chan sip.ReferProgress, 8)
			p.waitForDialog().Refer(sip.ReferTo{URI: "sip:" + c.target + "@anywhere.example"}, func(r sip.ReferProgress) { got <- r })
			require.Equal(t, 202, receive(t, got).Code)
			p.waitForDialog().Bye(16, "")
			h.waitUntil(5*time.Second, "the peer has hung up", p.hasEnded)
			if c.hangUp {
				h.waitUntil(5*time.Second, "its leg is over and the target is called", func() bool {
					legs := h.store.readCall(id).Legs
					return legs[0].EndedAt != nil && len(legs) == 2
				})
				require.NoError(t, h.hangUp(id))
			}
			if c.status == domain.TransferCompleted {
				h.waitForTransferStatus(id, domain.TransferCompleted)
				heard := h.carrier.PacketsReceived()[silentNumber]
				h.waitUntil(5*time.Second, "the target hears the agent", func() bool { return h.carrier.PacketsReceived()[silentNumber] > heard+20 })
				require.NoError(t, h.hangUp(id))
			}
			begun := time.Now()
			e := h.waitForEnd(id)
			assert.Less(t, time.Since(begun), 20*time.Second, "the end waits neither for the target nor for a BYE response")
			assert.Equal(t, c.status, e.Call.Transfers[0].Status)
			assert.Equal(t, c.by, e.Call.EndedBy)
			assert.Len(t, e.Call.Legs, 2)
			assert.NotNil(t, e.Call.Legs[0].EndedAt)
			h.waitUntil(5*time.Second, "no phone is in a call", func() bool { return h.carrier.LiveCalls() == 0 })
		})
	}
}
