package wav_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media/wav"
)

// stereo returns a two-channel recording. Each value of stretches fills 20 ms.
func stereo(f wav.Format, stretches ...byte) []byte {
	var sound []byte
	for _, v := range stretches {
		sound = append(sound, bytes.Repeat([]byte{v}, 160*2*f.Bytes())...)
	}
	return append(f.Header(2, uint32(len(sound))), sound...)
}

func TestOverlayFillsSilenceFromSecondRecording(t *testing.T) {
	for f, none := range map[wav.Format]byte{wav.MuLaw: 0xFF, wav.PCM16: 0} {
		for name, c := range map[string]struct {
			first, second, want []byte
			taken               time.Duration
		}{
			"its beginning":                          {[]byte{none, none, 3, 4}, []byte{1, 2}, []byte{1, 2, 3, 4}, 40 * time.Millisecond},
			"its middle":                             {[]byte{1, none, 3}, []byte{none, 2}, []byte{1, 2, 3}, 20 * time.Millisecond},
			"its end":                                {[]byte{1}, []byte{none, none, 3}, []byte{1, none, 3}, 20 * time.Millisecond},
			"nothing that it has itself is replaced": {[]byte{1, 2}, []byte{7, 8}, []byte{1, 2}, 0},
			"silence is nothing":                     {[]byte{none, 2}, []byte{none}, []byte{none, 2}, 0},
			"nothing":                                {[]byte{1}, nil, []byte{1}, 0},
		} {
			var out bytes.Buffer
			taken, err := wav.Overlay(&out, bytes.NewReader(stereo(f, c.first...)), bytes.NewReader(stereo(f, c.second...)))
			require.NoError(t, err, name)
			assert.Equal(t, stereo(f, c.want...), out.Bytes(), name)
			assert.Equal(t, c.taken, taken, name)
		}
	}
}

func TestOverlayKeepsFirstIfOneChannelHasAudioAndReadsPartialFrame(t *testing.T) {
	first, second := stereo(wav.MuLaw, 0xFF, 0xFF, 3), stereo(wav.MuLaw, 1, 2)
	first[wav.HeaderLen+1] = 9 // the agent speaks
	short := append(wav.Header(2, 480), second[wav.HeaderLen:wav.HeaderLen+480]...)
	var out bytes.Buffer
	_, err := wav.Overlay(&out, bytes.NewReader(first), bytes.NewReader(short))
	require.NoError(t, err)
	want := append([]byte(nil), first...)
	copy(want[wav.HeaderLen+320:], bytes.Repeat([]byte{2}, 160))
	assert.Equal(t, want, out.Bytes())
}

func TestOverlayRefusesDifferentFormats(t *testing.T) {
	good := stereo(wav.MuLaw, 1)
	for name, other := range map[string][]byte{
		"another format": stereo(wav.PCM16, 1), "unfinished": append(wav.Header(2, wav.Unknown), 1, 2), "one channel": wav.EncodeMu(1, []byte{1, 2}), "nothing": nil, "junk": bytes.Repeat([]byte("junk"), 100),
	} {
		for _, two := range [][2][]byte{{good, other}, {other, good}} {
			_, err := wav.Overlay(&bytes.Buffer{}, bytes.NewReader(two[0]), bytes.NewReader(two[1]))
			require.ErrorIs(t, err, wav.ErrFormat, name)
		}
	}
}
