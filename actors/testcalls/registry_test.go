package testcalls_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/actors/testcalls"
	"github.com/callboard/callboard/domain"
)

func TestOrderIsRemovedWhenItsCallArrives(t *testing.T) {
	t.Parallel()
	var r testcalls.Registry
	watched := 0
	arrived, remove := r.Add("test_1", testcalls.TestCallRequest{WorkspaceID: "ws_1", AgentID: "agent_1", OnSegment: func(domain.Segment) { watched++ }})
	defer remove()
	o, ok := r.Order("test_1")
	assert.True(t, ok)
	assert.Equal(t, "agent_1", o.AgentID)
	assert.Nil(t, r.Watcher("call_1"), "the call is not open")

	r.AssignCall("test_1", "call_1")
	r.Watcher("call_1")(domain.Segment{})
	assert.Equal(t, 1, watched)
	r.ReportArrival("test_1", "call_1")
	assert.Equal(t, "call_1", <-arrived)
	_, ok = r.Order("test_1")
	assert.False(t, ok)
	assert.NotNil(t, r.Watcher("call_1"), "the transcript is watched until the caller leaves")
	r.RemoveWatcher("call_1")
	assert.Nil(t, r.Watcher("call_1"))
}

func TestCancelledOrderLeavesNoWatcher(t *testing.T) {
	t.Parallel()
	watch := func(domain.Segment) {}
	for name, happened := range map[string]func(*testcalls.Registry){
		"not open": func(*testcalls.Registry) {},
		"open":     func(r *testcalls.Registry) { r.AssignCall("test_1", "call_1") },
		"arrived":  func(r *testcalls.Registry) { r.AssignCall("test_1", "call_1"); r.ReportArrival("test_1", "call_1") },
	} {
		var r testcalls.Registry
		arrived, _ := r.Add("test_1", testcalls.TestCallRequest{OnSegment: watch})
		happened(&r)
		r.Cancel("test_1", arrived)
		assert.Nil(t, r.Watcher("call_1"), name)
		_, ok := r.Order("test_1")
		assert.False(t, ok, name)
	}
}

func TestTestCallWithUnknownOrderMarkIsIgnored(t *testing.T) {
	t.Parallel()
	var r testcalls.Registry
	r.AssignCall("", "call_1")
	r.ReportArrival("", "call_1")
	_, ok := r.Order("")
	assert.False(t, ok)
	assert.Nil(t, r.Watcher("call_1"))
}
