package node_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
)

// placeMovableCall places a call to a phone that says nothing. It returns when the state of the call is stored and
// another process could resume the call.
func (h *fixture) placeMovableCall() (id string) {
	h.Helper()
	c, err := h.services().Calls.PlaceCall(h.Context(), h.test, domain.NewCall{
		To: "+15005550009", AgentID: h.createAgent(h.test, waitingPathway()), RingTimeout: 20 * time.Second, MaxDuration: 10 * time.Minute,
	})
	require.NoError(h, err)
	h.waitForMovableCall()
	return c.ID
}

// waitForMovableCall waits until exactly one call is live and its state is stored, so that another process could resume
// it.
func (h *fixture) waitForMovableCall() {
	h.Helper()
	h.waitUntil(20*time.Second, "a call that another process could go on with", func() bool {
		now, err := h.node.CountMovableCalls(h.Context())
		return err == nil && now.Open == 1 && now.Movable == 1
	})
}

func TestNodeHandsOverLiveCallsIfASuccessorExists(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	h.shutdown()
	h.surviveCalls = true
	h.start()
	id := h.placeMovableCall()
	var requests atomic.Int64
	require.True(t, h.node.DrainForHandover(t.Context(), func() bool { return requests.Add(1) > 3 }))
	assert.Greater(t, requests.Load(), int64(3), "without a successor the node keeps waiting")
	assert.False(t, h.getCall(h.test, id).Final())
	h.node.HandOverCalls(t.Context())
	h.shutdown()
	n, answered := h.phoneLog.liveDialogs()
	assert.Equal(t, []int{1, 1}, []int{n, answered}, "the remote party receives no BYE")
	h.start()
	h.waitForMovableCall()
	assert.False(t, h.getCall(h.test, id).Final(), "the change has no effect on the running state")
	over, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	assert.False(t, h.node.DrainForHandover(over, func() bool { return false }), "no successor exists")
	c := h.getCall(h.test, id)
	assert.Equal(t, "hangup", string(c.EndedReason))
	assert.Len(t, h.phoneLog.all(), 1, "no number was called again")
}

func TestNodeAcceptsWritesWhileItWaitsForARingingCall(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	h.shutdown()
	h.surviveCalls = true
	h.start()
	call := domain.NewCall{To: "+15005550002", AgentID: h.createAgent(h.test, waitingPathway()), RingTimeout: 20 * time.Second, MaxDuration: 10 * time.Minute}
	_, err := h.services().Calls.PlaceCall(h.Context(), h.test, call)
	require.NoError(t, err)
	ctx, end := context.WithCancel(t.Context())
	defer end()
	over := make(chan struct{})
	go func() { h.node.DrainForHandover(ctx, func() bool { return true }); close(over) }()
	h.waitUntil(20*time.Second, "no call begins", func() bool {
		_, err := h.services().Calls.PlaceCall(h.Context(), h.test, call)
		return err != nil
	})
	assert.False(t, h.node.RefusesWrites(), "the API takes writes")
	select {
	case <-over:
		t.Error("a call that rings was not waited for")
	default:
	}
	h.node.RefuseWrites()
	assert.True(t, h.node.RefusesWrites())
	end()
	<-over
}

func TestNodeThatLostItsShardStopsWithoutWaitingForCalls(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	h.shutdown()
	h.surviveCalls = true
	h.start()
	id := h.placeMovableCall()
	lost, cancel := context.WithCancel(t.Context())
	cancel()
	assert.False(t, h.node.DrainForHandover(lost, func() bool { return true }))
	assert.False(t, h.getCall(h.test, id).Final())
}
