package node

import (
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/load"
)

// drainRecorder records the arguments of each call of its Drain method.
type drainRecorder []bool

func (d *drainRecorder) Drain(on bool) { *d = append(*d, on) }

func newNodeDrain(shared bool) (d *Drain, sip *drainRecorder, changes *int) {
	sip, changes = &drainRecorder{}, new(int)
	return &Drain{
		sip: sip, shared: shared, onChange: func() { *changes++ }, current: new(atomic.Pointer[load.DrainNow]), log: slog.New(slog.DiscardHandler),
	}, sip, changes
}

func TestNodeDrainEndsUnlessTheNodeIsStopping(t *testing.T) {
	t.Parallel()
	d, sip, changes := newNodeDrain(false)
	first, second := time.Unix(1_700_000_000, 0), time.Unix(1_700_000_060, 0)
	require.NoError(t, d.reason())
	require.NoError(t, d.End(domain.Actor{}), "the node is not drained")
	d.Start(first, domain.Actor{ID: "user_1"})
	assert.Equal(t, first, *d.Start(second, domain.Actor{ID: "user_2"}).Since, "the first drain stays")
	require.ErrorContains(t, d.reason(), "drained the node at")
	require.NoError(t, d.End(domain.Actor{}))
	assert.Equal(t, []any{load.DrainNow{}, drainRecorder{true, false}, 2}, []any{d.Current(), *sip, *changes})
	d.stop()
	assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(d.End(domain.Actor{})))
	assert.Equal(t, drainRecorder{true, false, true}, *sip)
	other, sip, _ := newNodeDrain(true)
	other.stop()
	assert.True(t, other.isStopping())
	assert.Empty(t, *sip, "the user agent still accepts calls for other shards")
}

func TestCallAdmissionReturnsTheReasonOfTheRefusal(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set     func(a *callAdmission)
		reason  string // reason for campaigns and outbound calls
		inbound bool   // inbound calls may begin
	}{
		"nothing":    {func(*callAdmission) {}, "", true},
		"quarantine": {func(a *callAdmission) { a.quarantined = true }, "quarantine", false},
		"dial stop":  {func(a *callAdmission) { a.dialStop.row.Store(&domain.DialStop{Stopped: true}) }, "dialling_stopped", true},
		"drain":      {func(a *callAdmission) { a.drain.Start(time.Now(), domain.Actor{}) }, "draining", false},
	} {
		drain, _, _ := newNodeDrain(false)
		stop, _ := newDialStop(&dialStopRow{}, false)
		a := &callAdmission{dialStop: stop, drain: drain}
		c.set(a)
		assert.Equal(t, c.reason, a.holdReason(), name)
		assert.Equal(t, c.reason == "", a.CheckCallAdmission() == nil, name)
		assert.Equal(t, c.inbound, a.CheckInboundCallAdmission() == nil, name)
		assert.Equal(t, c.reason == "quarantine", a.QuarantineError() != nil, name)
		drain.stop()
		require.ErrorContains(t, a.CheckCallAdmission(), "is stopping", name)
		require.ErrorContains(t, a.CheckInboundCallAdmission(), "is stopping", name)
	}
}
