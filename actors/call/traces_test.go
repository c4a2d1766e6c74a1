package call_test

import (
	"fmt"
	"net/netip"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip"
)

func message(n, size int) sip.TracedMessage {
	data := make([]byte, size)
	copy(data, "m"+strconv.Itoa(n))
	return sip.TracedMessage{
		At: time.Unix(int64(n), 0), Out: n%2 == 0, Network: "udp", Data: data,
		Local: netip.MustParseAddrPort("192.0.2.9:5060"), Remote: netip.MustParseAddrPort("192.0.2.1:5060"),
	}
}

func legs(ids ...string) *domain.Call {
	c := &domain.Call{Meta: domain.Meta{ID: "call_1", WorkspaceID: workspace}}
	for _, id := range ids {
		c.Legs = append(c.Legs, domain.Leg{SIPCallID: id})
	}
	return c
}

func TestATraceJoinsItsLegsInTheOrderOfTime(t *testing.T) {
	t.Parallel()
	traces := call.NewTraces()
	for n, id := range []string{"a", "b", "a", "c", "b"} {
		traces.Note(id, message(n, 10))
	}
	got, err := traces.Take(legs("a", "b")).Unpack()
	require.NoError(t, err)
	var order []string
	for _, m := range got.Messages {
		order = append(order, fmt.Sprint(m.SIPCallID, m.At.Unix()))
	}
	assert.Equal(t, []string{"a0", "b1", "a2", "b4"}, order)
	assert.Equal(t, "192.0.2.1:5060", got.Messages[0].Remote)
	assert.Nil(t, traces.Take(legs("a", "b")), "taken once")
	assert.NotNil(t, traces.Take(legs("c")))
	assert.Nil(t, (*call.Traces)(nil).Of(legs("a")), "nothing is kept where nobody keeps")
}

func TestATraceIsBoundedAndKeepsItsBeginning(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int{"many": 10, "large": 20_000, "fat": 3000} {
		traces := call.NewTraces()
		for n := range 1000 {
			traces.Note("a", message(n, size))
		}
		traces.Note("a", message(1000, 1<<20))
		got := traces.Of(legs("a"))
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

func TestDialogsThatNoCallClaimsAreForgotten(t *testing.T) {
	t.Parallel()
	traces := call.NewTraces()
	traces.Note("kept", message(1, 10))
	traces.Keep("kept")
	traces.Keep("early")
	for n := range 100_000 {
		traces.Note("stray"+strconv.Itoa(n), message(n, 10))
	}
	traces.Note("early", message(2, 10))
	left := 0
	for n := range 100_000 {
		if traces.Take(legs("stray"+strconv.Itoa(n))) != nil {
			left++
		}
	}
	assert.LessOrEqual(t, left, 64*128)
	require.NotNil(t, traces.Take(legs("kept")))
	require.NotNil(t, traces.Take(legs("early")))
}

// BenchmarkATrace is what keeping the messages of a short call costs.
func BenchmarkATrace(b *testing.B) {
	traces := call.NewTraces()
	c := legs("a")
	m := message(1, 700)
	b.ReportAllocs()
	for b.Loop() {
		traces.Keep("a")
		for range 8 {
			traces.Note("a", m)
		}
		traces.Take(c)
	}
}
