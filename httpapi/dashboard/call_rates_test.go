package dashboard

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestCallRatesByInterval(t *testing.T) {
	t.Parallel()
	at := time.Date(2030, 4, 1, 9, 0, 0, 0, time.UTC)
	call := func(after time.Duration, status, answered string) object {
		return object{"created_at": at.Add(after).Format(time.RFC3339Nano), "status": status, "answered_at": answered}
	}
	calls := []object{
		call(0, "completed", "x"), call(59*time.Second, "failed", ""), call(2*time.Minute, "busy", ""), call(time.Hour, "completed", "x"), call(-time.Second, "completed", "x"),
	}
	hour := ratesOf(calls, at, at.Add(time.Hour))
	assert.Len(t, hour, 60)
	assert.Equal(t, callRate{At: at, Calls: 2, Answered: 50, Failed: 1}, hour[0], "only calls of the first minute")
	assert.Equal(t, callRate{At: at.Add(time.Minute), Answered: -1}, hour[1], "without calls there is no rate")
	assert.Equal(t, callRate{At: at.Add(2 * time.Minute), Calls: 1}, hour[2])
	assert.Equal(t, callRate{At: at.Add(59 * time.Minute), Answered: -1}, hour[59], "the end is exclusive")

	short := ratesOf(calls, at, at.Add(20*time.Second))
	assert.Len(t, short, 20)
	assert.InDelta(t, 60.0, short[0].Calls, 1e-9, "one call per second is 60 per minute")

	underWay := ratesOf(append(calls, call(59*time.Minute+time.Second, "completed", "x")), at, at.Add(59*time.Minute+30*time.Second))
	assert.Len(t, underWay, 60)
	assert.Equal(t, callRate{At: at.Add(59 * time.Minute), Calls: 2, Answered: 100}, underWay[59], "one call in half a minute")
	assert.Len(t, ratesOf(calls, at, at.Add(59*time.Minute+14*time.Second)), 59, "a quarter of a minute gets no rate")

	long := ratesOf(calls, at.Add(10*time.Second), at.Add(62*time.Minute))
	assert.Len(t, long, 13)
	assert.Equal(t, at, long[0].At, "intervals begin at round times")
	assert.InDelta(t, 0.6, long[0].Calls, 1e-9)
	assert.Empty(t, ratesOf(calls, at, at))
	for days := range 400 {
		assert.LessOrEqual(t, len(ratesOf(nil, at, at.Add(time.Duration(days)*24*time.Hour+time.Second))), 60)
	}
}
