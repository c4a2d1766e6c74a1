package server

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestStartBackoffDoublesUpToAMinuteUntilAStartSucceeds(t *testing.T) {
	t.Parallel()
	var b startBackoff
	assert.False(t, b.active(0), "no start has failed")
	for _, pause := range []time.Duration{4 * time.Second, 8 * time.Second, 16 * time.Second, 32 * time.Second, time.Minute, time.Minute} {
		b.fail(time.Second, time.Hour)
		assert.True(t, b.active(time.Hour+pause-1), pause)
		assert.False(t, b.active(time.Hour+pause), pause)
	}
	b.succeed()
	b.fail(time.Second, time.Hour)
	assert.False(t, b.active(time.Hour+4*time.Second))
}
