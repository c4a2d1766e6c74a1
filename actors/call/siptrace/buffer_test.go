package siptrace_test

import (
	"fmt"
	"net/netip"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/call/siptrace"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip"
)

func tracedMessage(n, size int) sip.TracedMessage {
	data := make([]byte, size)
	copy(data, "m"+strconv.Itoa(n))
	return sip.TracedMessage{
		At: time.Unix(int64(n), 0), Out: n%2 == 0, Network: "udp", Data: data,
		Local: netip.MustParseAddrPort("192.0.2.9:5060"), Remote: netip.MustParseAddrPort("192.0.2.1:5060"),
	}
}

func callWithLegs(ids ...string) *domain.Call {
	c := &domain.Call{Meta: domain.Meta{ID: "call_1", WorkspaceID: "ws_01J0000000000000000000000A"}}
	for _, id := range ids {
		c.Legs = append(c.Legs, domain.Leg{SIPCallID: id})
	}
	return c
}

func TestTraceMergesLegsByTime(t *testing.T) {
	t.Parallel()
	traces := siptrace.NewBuffer()
	traces.AssignDialog("call_1", "a", "")
	traces.AssignDialog("call_1", "b", "")
	for n, id := range []string{"a", "b", "a", "c", "b"} {
		traces.Add(id, tracedMessage(n, 10))
	}
	got, err := traces.TakeTrace(callWithLegs("a", "b")).Unpack()
	require.NoError(t, err)
	var order []string
	for _, m := range got.Messages {
		order = append(order, fmt.Sprint(m.SIPCallID, m.At.Unix()))
	}
	assert.Equal(t, []string{"a0", "b1", "a2", "b4"}, order)
	assert.Equal(t, "192.0.2.1:5060", got.Messages[0].Remote)
	assert.Nil(t, traces.TakeTrace(callWithLegs("a", "b")), "taken once")
	assert.Nil(t, traces.TakeTrace(callWithLegs("c")), "unclaimed")
	traces.AssignDialog("call_1", "c", "")
	assert.NotNil(t, traces.TakeTrace(callWithLegs("c")), "claimed after it began")
	assert.Nil(t, (*siptrace.Buffer)(nil).Trace(callWithLegs("a")), "a nil buffer holds nothing")
}

func TestFullTraceKeepsFirstAndLastMessages(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int{"many": 10, "large": 20_000, "fat": 3000} {
		traces := siptrace.NewBuffer()
		traces.AssignDialog("call_1", "a", "")
		for n := range 1000 {
			traces.Add("a", tracedMessage(n, size))
		}
		traces.Add("a", tracedMessage(1000, 1<<20))
		got := traces.Trace(callWithLegs("a"))
		total := 0
		for _, m := range got.Messages {
			total += len(m.Data)
		}
		assert.LessOrEqual(t, total, 96<<10, name)
		assert.LessOrEqual(t, len(got.Messages), 200, name)
		assert.Equal(t, 1001, len(got.Messages)+got.Dropped, name)
		assert.Equal(t, int64(0), got.Messages[0].At.Unix(), "%s: how it began", name)
		if name != "large" {
			assert.Equal(t, int64(999), got.Messages[len(got.Messages)-1].At.Unix(), "%s: and how it ended", name)
		}
	}
}

func TestUnclaimedDialogsAreDropped(t *testing.T) {
	t.Parallel()
	traces := siptrace.NewBuffer()
	traces.Add("kept", tracedMessage(1, 10))
	traces.AssignDialog("call_1", "kept", "")
	traces.AssignDialog("call_1", "early", "")
	for n := range 100_000 {
		traces.Add("stray"+strconv.Itoa(n), tracedMessage(n, 10))
	}
	traces.Add("early", tracedMessage(2, 10))
	left := 0
	for n := range 100_000 {
		traces.AssignDialog("call_1", "stray"+strconv.Itoa(n), "")
		if traces.TakeTrace(callWithLegs("stray"+strconv.Itoa(n))) != nil {
			left++
		}
	}
	assert.LessOrEqual(t, left, 64*128)
	require.NotNil(t, traces.TakeTrace(callWithLegs("kept")))
	require.NotNil(t, traces.TakeTrace(callWithLegs("early")))
}

// Callers choose their Call-IDs, and a proxy may send calls with the same Call-ID to several workspaces. Each call must see
// only its own SIP messages.
func TestCallsWithTheSameCallIDSeeOnlyTheirOwnMessages(t *testing.T) {
	t.Parallel()
	traces := siptrace.NewBuffer()
	for n, tag := range []string{"", "x", "y", "x", "", "z"} {
		m := tracedMessage(n, 10)
		m.Tag = tag
		traces.Add("same", m)
	}
	for owner, tag := range map[string]string{"call_1": "", "call_2": "x", "call_3": "y"} {
		traces.AssignDialog(owner, "same", tag)
	}
	traces.AssignDialog("call_3", "same", "x") // already claimed
	for owner, want := range map[string][]int64{"call_1": {0, 4}, "call_2": {1, 3}, "call_3": {2}, "call_4": nil} {
		c := callWithLegs("same")
		c.ID = owner
		var got []int64
		if of := traces.Trace(c); of != nil {
			for _, m := range of.Messages {
				got = append(got, m.At.Unix())
			}
		}
		assert.Equal(t, want, got, owner)
		assert.Equal(t, want == nil, traces.TakeTrace(c) == nil, owner)
	}
}

func TestUnclaimedDialogHasASmallerLimit(t *testing.T) {
	t.Parallel()
	traces := siptrace.NewBuffer()
	for n := range 100 {
		traces.Add("a", tracedMessage(n, 4<<10))
	}
	traces.AssignDialog("call_1", "a", "")
	assert.Len(t, traces.Trace(callWithLegs("a")).Messages, 6)
}

func TestAttemptTraceIsBoundedAndOrderedByTime(t *testing.T) {
	t.Parallel()
	traces := siptrace.NewBuffer()
	traces.Add("a", tracedMessage(0, 10))
	begun := domain.Attempt{CallID: "call_1", WorkspaceID: "ws_01J0000000000000000000000A", Trace: traces.UnclaimedAttemptTrace("a", "")}
	require.Len(t, begun.StoredTrace().Messages, 1, "before the call has claimed it")
	traces.AssignDialog("call_1", "a", "")
	traces.AssignDialog("call_1", "b", "")
	traces.AssignDialog("call_2", "a", "another")
	assert.Empty(t, traces.UnclaimedAttemptTrace("a", ""), "already claimed")
	for n, id := range []string{"b", "a", "b"} {
		traces.Add(id, tracedMessage(n+1, 10))
	}
	m := tracedMessage(9, 10)
	m.Tag = "another"
	traces.Add("a", m)
	left := (&domain.Attempt{CallID: "call_1", WorkspaceID: "ws_01J0000000000000000000000A", Trace: traces.AttemptTrace(callWithLegs("a", "b"))}).StoredTrace()
	var order []string
	for _, m := range left.Messages {
		order = append(order, fmt.Sprint(m.SIPCallID, m.At.Unix()))
	}
	assert.Equal(t, []string{"a0", "b1", "a2", "b3"}, order)
	assert.Nil(t, (&domain.Attempt{}).StoredTrace())
	assert.Nil(t, (*siptrace.Buffer)(nil).AttemptTrace(callWithLegs("a")))
	traces.AssignDialog("call_1", "c", "")
	for n := range 200 {
		traces.Add("c", tracedMessage(n, 1000))
	}
	assert.LessOrEqual(t, len(traces.AttemptTrace(callWithLegs("c"))), 32<<10)
}

// BenchmarkAttemptTrace measures AttemptTrace for a call that has just been answered.
func BenchmarkAttemptTrace(b *testing.B) {
	traces := siptrace.NewBuffer()
	c := callWithLegs("a")
	traces.AssignDialog("call_1", "a", "")
	for n := range 4 {
		traces.Add("a", tracedMessage(n, 700))
	}
	b.ReportAllocs()
	for b.Loop() {
		traces.AttemptTrace(c)
	}
}

// BenchmarkTraceOfAShortCall measures how long the buffer takes to record the SIP messages of a short call.
func BenchmarkTraceOfAShortCall(b *testing.B) {
	traces := siptrace.NewBuffer()
	c := callWithLegs("a")
	m := tracedMessage(1, 700)
	b.ReportAllocs()
	for b.Loop() {
		traces.AssignDialog("call_1", "a", "")
		for range 8 {
			traces.Add("a", m)
		}
		traces.TakeTrace(c)
	}
}
