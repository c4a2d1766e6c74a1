package record_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media/g711"
	"github.com/callboard/callboard/media/record"
	"github.com/callboard/callboard/media/tone"
	"github.com/callboard/callboard/media/wav"
)

// pool returns a pool that closes at the end of the test.
func pool(t *testing.T) *record.Pool {
	t.Helper()
	p := record.NewPool(2, wav.MuLaw)
	t.Cleanup(p.Close)
	return p
}

// pour writes audio to a recorder in frames of 20 ms.
func pour(r *record.Recorder, left, right []byte) {
	for i := 0; i < len(left); i += 160 {
		r.Write(left[i:min(i+160, len(left))], right[i:min(i+160, len(left))])
	}
}

func TestRecordingHasCallerLeftAgentRightAndSilentGaps(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "call.wav")
	r := pool(t).Create(path)
	left, right := tone.Beep(1700*time.Millisecond), tone.Make(1700*time.Millisecond, 0.2, 300)
	pour(r, left, right)
	r.Silence(4000)
	pour(r, left, right)
	done := r.Close()
	result := <-done
	require.NoError(t, result.Err)
	assert.Equal(t, record.Result{Path: path, Duration: 3900 * time.Millisecond}, result)
	assert.Equal(t, done, r.Close(), "closing twice is closing once")

	sound, err := wav.ReadFile(path, 1<<20)
	require.NoError(t, err)
	gap := tone.Silence(500 * time.Millisecond)
	assert.Equal(t, g711.DecodeMu(bytes.Join([][]byte{left, gap, left}, nil)), sound.Channel(0))
	assert.Equal(t, g711.DecodeMu(bytes.Join([][]byte{right, gap, right}, nil)), sound.Channel(1))
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, wav.Header(2, uint32(len(b)-wav.HeaderLen)), b[:wav.HeaderLen])
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func TestRecordingCanBeLinearPCM(t *testing.T) {
	path := filepath.Join(t.TempDir(), "call.wav")
	p := record.NewPool(1, wav.PCM16)
	r := p.Create(path)
	left, right := tone.Beep(1700*time.Millisecond), tone.Make(1700*time.Millisecond, 0.2, 300)
	pour(r, left, right)
	r.Silence(12000)
	pour(r, left, right)
	result := <-r.Close()
	p.Close()
	require.NoError(t, result.Err)
	assert.Equal(t, 4900*time.Millisecond, result.Duration)
	sound, err := wav.ReadFile(path, 1<<20)
	require.NoError(t, err)
	gap := tone.Silence(1500 * time.Millisecond)
	assert.Equal(t, g711.DecodeMu(bytes.Join([][]byte{left, gap, left}, nil)), sound.Channel(0))
	assert.Equal(t, g711.DecodeMu(bytes.Join([][]byte{right, gap, right}, nil)), sound.Channel(1))
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.EqualValues(t, wav.HeaderLen+4*8*4900, info.Size())
	played, err := exec.Command("ffprobe", "-v", "error", "-show_entries", "stream=codec_name,channels,duration", "-of", "csv=p=0", path).Output()
	require.NoError(t, err)
	assert.Equal(t, "pcm_s16le,2,4.900000", strings.TrimSpace(string(played)), "players agree")
}

func TestUnfinishedRecordingIsPlayable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "crash.wav")
	r := pool(t).Create(path)
	sound := tone.Beep(3 * time.Second)
	pour(r, sound, sound)
	require.Eventually(t, func() bool {
		s, err := wav.ReadFile(path, 1<<20)
		return err == nil && s.Duration() >= 2*time.Second
	}, time.Minute, 10*time.Millisecond)
	<-r.Close()
}

func TestSlowDiskDoesNotBlockWriteAndKeepsLength(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe.wav")
	require.NoError(t, syscall.Mkfifo(path, 0o600)) // opening a FIFO blocks until a reader opens it, like a hanging disk
	p := pool(t)
	r := p.Create(path)
	quiet, loud := tone.Silence(time.Second), tone.Make(time.Second, 0.5, 440)
	begun := time.Now()
	for range 120 {
		pour(r, loud, quiet)
	}
	assert.Less(t, time.Since(begun), 30*time.Second, "two minutes of sound are taken at once, by a disk that would hang for ever")
	done := r.Close()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	var got bytes.Buffer
	_, err = got.ReadFrom(f)
	require.NoError(t, err)
	result := <-done
	require.Error(t, result.Err, "a pipe has no header to patch")
	assert.Equal(t, wav.HeaderLen+120*16000, got.Len(), "what did not fit is silence of the same length")
	assert.Equal(t, []byte{g711.MuSilence, g711.MuSilence}, got.Bytes()[got.Len()-2:])
}

func TestDiskErrorIsReportedInResult(t *testing.T) {
	r := pool(t).Create("/proc/nowhere/call.wav")
	pour(r, tone.Beep(time.Second), tone.Beep(time.Second))
	result := <-r.Close()
	require.Error(t, result.Err)
	assert.Zero(t, result.Duration)
}

func TestRecordingWithoutAudioIsEmptyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "empty.wav")
	result := <-pool(t).Create(path).Close()
	require.NoError(t, result.Err)
	sound, err := wav.ReadFile(path, 100)
	require.NoError(t, err)
	assert.Empty(t, sound.Samples)
}

func TestDiscardedRecordingLeavesNoFile(t *testing.T) {
	for name, long := range map[string]time.Duration{"before the disk had any of it": 100 * time.Millisecond, "afterwards": 3 * time.Second} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "unanswered.wav")
			r := pool(t).Create(path)
			pour(r, tone.Beep(long), tone.Beep(long))
			if long > time.Second {
				require.Eventually(t, func() bool { _, err := os.Stat(path); return err == nil }, time.Minute, 5*time.Millisecond)
			}
			assert.Equal(t, record.Result{}, <-r.Discard())
			assert.NoFileExists(t, path)
		})
	}
}

func TestConcurrentRecordingsAreComplete(t *testing.T) {
	p := pool(t)
	dir := t.TempDir()
	sound := tone.Beep(2 * time.Second)
	var done []<-chan record.Result
	for i := range 100 {
		r := p.Create(filepath.Join(dir, string(rune('a'+i/10))+string(rune('0'+i%10))+".wav"))
		pour(r, sound, sound)
		done = append(done, r.Close())
	}
	for _, d := range done {
		result := <-d
		require.NoError(t, result.Err)
		assert.Equal(t, 2*time.Second, result.Duration)
	}
}

// Another process continues the recording of a killed process. The time between both processes must be silence.
func TestContinueAppendsToRecordingOfKilledProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "call.wav")
	left, right := tone.Beep(time.Second), tone.Make(time.Second, 0.2, 300)
	body := make([]byte, 0, 4*len(left))
	for i := range left {
		body = append(body, left[i], right[i])
	}
	for name, begun := range map[string][]byte{
		"killed":                  append(wav.Header(2, wav.Unknown), append(body, 7)...), // half a frame more
		"finished by a start":     append(wav.Header(2, uint32(len(body))), body...),
		"of a linear format":      append(wav.PCM16.Header(2, wav.Unknown), body...),
		"never begun, or is away": nil,
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.RemoveAll(path))
			if begun != nil {
				require.NoError(t, os.WriteFile(path, begun, 0o600))
			}
			r := pool(t).Continue(path)
			r.Silence(16000)
			pour(r, right, left)
			result := <-r.Close()
			require.NoError(t, result.Err)
			assert.Equal(t, 3*time.Second, result.Duration)
			sound, err := wav.ReadFile(path, 1<<20)
			require.NoError(t, err)
			first := [2][]byte{left, right}
			if name == "of a linear format" || begun == nil {
				first = [2][]byte{tone.Silence(time.Second), tone.Silence(time.Second)}
			}
			gap := tone.Silence(time.Second)
			assert.Equal(t, g711.DecodeMu(bytes.Join([][]byte{first[0], gap, right}, nil)), sound.Channel(0))
			assert.Equal(t, g711.DecodeMu(bytes.Join([][]byte{first[1], gap, left}, nil)), sound.Channel(1))
			b, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, wav.Header(2, uint32(len(b)-wav.HeaderLen)), b[:wav.HeaderLen])
		})
	}
}
