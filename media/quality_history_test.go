package media //nolint:testpackage // what a session counts by itself takes minutes

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestQualityHistoryIsBoundedAndKeepsWorstValues(t *testing.T) {
	t.Parallel()
	const second = sampleRate
	var c quality
	assert.Empty(t, c.stretches(qualityMark{at: second - 1}), "less than a second is not reported")
	c.add(qualityMark{at: 5 * second, received: 250, jitter: 1, trip: 20, delay: 60})
	c.add(qualityMark{at: 10 * second, received: 450, lost: 50, jitter: 9, trip: 10, delay: 60})
	c.add(qualityMark{at: 15 * second, received: 450, lost: 50})
	all := c.stretches(qualityMark{at: 17 * second, received: 550, lost: 49, delay: 60})
	assert.Len(t, all, 4)
	assert.Equal(t, []any{time.Duration(0), 5 * time.Second, 0.0, 1.0, 20.0}, []any{all[0].At, all[0].For, all[0].LossPercent, all[0].JitterMs, all[0].RoundTripMs})
	assert.Equal(t, []any{5 * time.Second, 5 * time.Second, 20.0, 9.0}, []any{all[1].At, all[1].For, all[1].LossPercent, all[1].JitterMs})
	assert.Equal(t, []any{0.0, 0.0}, []any{all[2].MOS, all[2].LossPercent}, "nothing came")
	assert.Equal(t, []any{15 * time.Second, 2 * time.Second, 0.0}, []any{all[3].At, all[3].For, all[3].LossPercent}, "late packets are not lost")
	assert.Greater(t, all[0].MOS, 4.0)
	assert.Less(t, all[1].MOS, 3.0)

	c = quality{marks: c.marks[:0], each: 2}
	c.add(qualityMark{at: 5 * second, received: 250, jitter: 3})
	under := c.stretches(qualityMark{at: 7 * second, received: 300, lost: 100, jitter: 2})
	assert.Len(t, under, 1, "an unfinished part is not separate")
	assert.Equal(t, []any{7 * time.Second, 25.0, 3.0}, []any{under[0].For, under[0].LossPercent, under[0].JitterMs})

	c = quality{}
	at, received := int64(0), uint64(0)
	for n := range 5000 {
		at, received = at+5*second, received+250
		m := qualityMark{at: at, received: received, jitter: 1}
		if n == 2345 {
			m.jitter = 77
		}
		c.add(m)
		assert.LessOrEqual(t, len(c.stretches(qualityMark{at: at + 2*second, received: received + 100})), mostStretches)
	}
	all = c.stretches(qualityMark{at: at, received: received})
	assert.GreaterOrEqual(t, len(all), mostStretches/2)
	assert.LessOrEqual(t, len(all), mostStretches)
	ends, worst := time.Duration(0), 0.0
	for i, s := range all {
		assert.Equal(t, ends, s.At, "each part begins where the previous one ends")
		assert.True(t, s.For == all[0].For || i == len(all)-1, "all but the last have the same length")
		ends, worst = s.At+s.For, max(worst, s.JitterMs)
	}
	assert.Equal(t, 5000*5*time.Second, ends)
	assert.InDelta(t, 77.0, worst, 1e-9, "the worst values are kept")
}
