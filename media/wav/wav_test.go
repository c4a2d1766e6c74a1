package wav_test

import (
	"encoding/binary"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media/g711"
	"github.com/callboard/callboard/media/tone"
	"github.com/callboard/callboard/media/wav"
)

// pcm returns a WAV file of 16-bit samples with a sine wave on each channel.
func pcm(rate, channels int, hertz float64, d time.Duration) []byte {
	n := int(d.Seconds() * float64(rate))
	le := binary.LittleEndian
	b := le.AppendUint32([]byte("RIFF"), uint32(36+2*n*channels))
	b = le.AppendUint32(append(b, "WAVEfmt "...), 16)
	b = le.AppendUint16(b, 1)
	b = le.AppendUint16(b, uint16(channels))
	b = le.AppendUint32(b, uint32(rate))
	b = le.AppendUint32(b, uint32(2*rate*channels))
	b = le.AppendUint16(b, uint16(2*channels))
	b = le.AppendUint16(b, 16)
	b = le.AppendUint32(append(b, "data"...), uint32(2*n*channels))
	for i := range n {
		for range channels {
			b = le.AppendUint16(b, uint16(int16(10000*math.Sin(2*math.Pi*hertz*float64(i)/float64(rate)))))
		}
	}
	return b
}

// share returns the share of a signal's power that lies at one frequency, and the amplitude at that frequency.
func share(in []int16, hertz float64) (share, amplitude float64) {
	var re, im, all float64
	for i, v := range in {
		x := float64(v)
		re += x * math.Cos(2*math.Pi*hertz*float64(i)/8000)
		im += x * math.Sin(2*math.Pi*hertz*float64(i)/8000)
		all += x * x
	}
	n := float64(len(in))
	return 2 * (re*re + im*im) / n / (all + 1), 2 * math.Sqrt(re*re+im*im) / n
}

func TestResamplingKeepsVoiceBandWithoutAliasing(t *testing.T) {
	for _, rate := range []int{8000, 11025, 16000, 22050, 44100, 48000, 7919} {
		sound, err := wav.Decode(pcm(rate, 2, 1000, time.Second))
		require.NoError(t, err)
		mono, err := wav.Resample(sound.Channel(1), rate, 8000)
		require.NoError(t, err)
		assert.InDelta(t, 8000, len(mono), 1)
		part, amplitude := share(mono[400:7600], 1000)
		assert.Greater(t, part, 0.9999, rate)
		assert.InEpsilon(t, 10000, amplitude, 0.01, rate)
		if rate < 11000 {
			continue
		}
		for hertz, most := range map[float64]float64{3200: 12000, 4300: 60, 5000: 10} {
			sound, err = wav.Decode(pcm(rate, 1, hertz, time.Second))
			require.NoError(t, err)
			mono, err = wav.Resample(sound.Samples, rate, 8000)
			require.NoError(t, err)
			power := 0.0
			for _, v := range mono[400:7600] {
				power += float64(v) * float64(v)
			}
			level := math.Sqrt(2 * power / 7200)
			assert.Less(t, level, most, "%d Hz: %g Hz", rate, hertz)
			if hertz < 3400 {
				assert.Greater(t, level, 9500.0, "%d Hz: %g Hz", rate, hertz)
			}
		}
	}
}

func TestDecodeReadsWrittenFile(t *testing.T) {
	left, right := tone.Beep(time.Second), tone.Silence(time.Second)
	both := make([]byte, 16000)
	for i := range left {
		both[2*i], both[2*i+1] = left[i], right[i]
	}
	sound, err := wav.Decode(wav.EncodeMu(2, both))
	require.NoError(t, err)
	assert.Equal(t, time.Second, sound.Duration())
	assert.Equal(t, g711.DecodeMu(left), sound.Channel(0))
	assert.Equal(t, g711.DecodeMu(right), sound.Channel(1))
	mono, err := wav.Decode(wav.EncodeMu(1, left))
	require.NoError(t, err)
	mu, err := mono.Mu()
	require.NoError(t, err)
	assert.Equal(t, left, mu)
}

func TestFilesAreInteroperableWithSox(t *testing.T) {
	sox, err := exec.LookPath("sox")
	require.NoError(t, err, "sox is needed")
	dir := t.TempDir()
	ours, theirs, a := filepath.Join(dir, "ours.wav"), filepath.Join(dir, "theirs.wav"), filepath.Join(dir, "a.wav")
	require.NoError(t, os.WriteFile(ours, wav.EncodeMu(1, tone.Beep(time.Second)), 0o600))
	out, err := exec.CommandContext(t.Context(), sox, ours, "-b", "16", "-e", "signed-integer", theirs).CombinedOutput()
	require.NoError(t, err, string(out))
	assert.NotContains(t, string(out), "WARN")
	sound, err := wav.ReadFile(theirs, 1<<20)
	require.NoError(t, err)
	assert.Equal(t, g711.DecodeMu(tone.Beep(time.Second)), sound.Samples)
	out, err = exec.CommandContext(t.Context(), sox, ours, "-e", "a-law", "-r", "16000", "-c", "2", a).CombinedOutput()
	require.NoError(t, err, string(out))
	sound, err = wav.ReadFile(a, 1<<20)
	require.NoError(t, err)
	assert.Equal(t, 2, sound.Channels)
	assert.InDelta(t, 16000, len(sound.Channel(0)), 2)
}

func TestUnfinishedFileIsReadAndRepaired(t *testing.T) {
	path := filepath.Join(t.TempDir(), "crash.wav")
	torn := append(wav.Header(2, wav.Unknown), make([]byte, 4001)...)
	require.NoError(t, os.WriteFile(path, torn, 0o600))
	sound, err := wav.ReadFile(path, 1<<20)
	require.NoError(t, err)
	assert.Equal(t, 250*time.Millisecond, sound.Duration())
	for range 2 {
		sounds, errRepair := wav.Repair(path)
		require.NoError(t, errRepair)
		assert.Equal(t, 250*time.Millisecond, sounds)
		b, errRead := os.ReadFile(path)
		require.NoError(t, errRead)
		assert.Equal(t, wav.Header(2, 4000), b[:wav.HeaderLen])
	}
	require.NoError(t, os.WriteFile(path, []byte("nothing"), 0o600))
	_, err = wav.Repair(path)
	require.ErrorIs(t, err, wav.ErrFormat)

	whole := append(wav.PCM16.Header(2, wav.Unknown), make([]byte, 8001)...)
	require.NoError(t, os.WriteFile(path, whole, 0o600))
	sounds, err := wav.Repair(path)
	require.NoError(t, err)
	assert.Equal(t, 250*time.Millisecond, sounds)
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, wav.PCM16.Header(2, 8000), b[:wav.HeaderLen])
}

func TestDecodeRefusesInvalidFile(t *testing.T) {
	good := pcm(8000, 1, 100, time.Second)
	for name, b := range map[string][]byte{
		"empty": nil, "text": []byte("hello, world, this is no file"), "no data": good[:36], "data first": append(append([]byte{}, good[:12]...), good[36:]...),
		"rate 0": patched(good, 24, 0), "3 channels": patched(good, 22, 3), "tag": patched(good, 20, 99), "8 bits": patched(good, 34, 8),
	} {
		_, err := wav.Decode(b)
		require.ErrorIs(t, err, wav.ErrFormat, name)
	}
	path := filepath.Join(t.TempDir(), "large.wav")
	require.NoError(t, os.WriteFile(path, good, 0o600))
	_, err := wav.ReadFile(path, 100)
	require.ErrorIs(t, err, wav.ErrTooLarge)
}

func patched(b []byte, at int, v uint16) []byte {
	out := append([]byte(nil), b...)
	binary.LittleEndian.PutUint16(out[at:], v)
	return out
}

func FuzzDecode(f *testing.F) {
	f.Add(pcm(8000, 1, 100, 10*time.Millisecond))
	f.Add(wav.EncodeMu(2, make([]byte, 20)))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := wav.Decode(b)
		if err == nil {
			assert.Zero(t, len(s.Samples)%s.Channels)
			s.Duration()
		}
	})
}
