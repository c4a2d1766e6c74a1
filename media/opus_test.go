//go:build opus

package media_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/media"
)

func TestOpusIsNegotiatedIfAvailable(t *testing.T) {
	t.Parallel()
	o := media.Options{Codecs: []media.Codec{media.Opus}}
	correlation, a, b := sendThrough(t, o, o)
	assert.Greater(t, correlation, 0.8)
	assert.Equal(t, "opus/48000/2", a.Codec)
	assert.Equal(t, "opus/48000/2", b.Codec)
	assert.Less(t, b.JitterMs, 50.0, "the RTP clock of Opus is 48 kHz")
}
