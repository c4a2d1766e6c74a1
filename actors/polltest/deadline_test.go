package polltest

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestLoadFactorGrowsWithRunnableThreads(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{
		"0.00 0.01 0.05 1/340 7952":    1,
		"0.00 0.01 0.05 2/340 7952":    1,
		"9.60 4.45 3.99 4/340 7952":    4,
		"9.60 4.45 3.99 17/340 7952":   30,
		"9.60 4.45 3.99 many/340 7952": 1,
		"":                             1,
	} {
		assert.InDelta(t, want, slownessOf([]byte(text), 2), 0.001, "%s", text)
	}
}

// The time during which the test process was suspended must not count towards the limit.
func TestLongStepCountsAsOneStep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := NewDeadline(time.Second)
		time.Sleep(longestGrace)
		assert.False(t, d.HasPassed())
		for looks := 0; !d.HasPassed(); looks++ {
			time.Sleep(Interval)
			assert.LessOrEqual(t, looks, int(time.Second/Interval))
		}
	})
}
