package record_test

import (
	"bytes"
	"os"
	"os/signal"
	"path/filepath"
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

// full simulates a full disk: it limits the size of files that this process writes until freed is called.
func full(t *testing.T, size uint64) (freed func()) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ)
	var before syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before))
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: size, Max: before.Max}))
	freed = func() { assert.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before)) }
	t.Cleanup(freed)
	return freed
}

// A disk that is full for a while must leave a gap of that duration in the recording. A disk that stays full must cut
// off the end.
func TestFullDiskLeavesGapInRecording(t *testing.T) { //nolint:paralleltest // the limit is the process's
	for what, stays := range map[string]bool{"for a while": false, "to the end": true} {
		t.Run(what, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "call.wav")
			p := record.NewPool(1, wav.MuLaw)
			defer p.Close()
			const most = 2*16000 + 123
			freed := full(t, most)
			r := p.Create(path)
			left, right := tone.Beep(8*time.Second), tone.Make(8*time.Second, 0.2, 300)
			pour(r, left, right)
			require.Eventually(t, func() bool {
				info, err := os.Stat(path)
				return err == nil && info.Size() == most
			}, 10*time.Second, time.Millisecond)
			if !stays {
				freed()
			}
			pour(r, left, right)
			result := <-r.Close()
			require.NoError(t, result.Err, "it is not lost")
			require.ErrorIs(t, result.Gap, syscall.EFBIG)
			freed()

			sound, err := wav.ReadFile(path, 1<<20)
			require.NoError(t, err)
			got, want := sound.Channel(0), g711.DecodeMu(bytes.Join([][]byte{left, left}, nil))
			assert.Equal(t, result.Duration, time.Duration(len(got))*time.Second/8000)
			assert.Equal(t, want[:8000], got[:8000], "its beginning is there")
			if stays {
				assert.Less(t, result.Duration, 3*time.Second)
				return
			}
			assert.Equal(t, 16*time.Second, result.Duration)
			assert.Equal(t, want[len(want)-8000:], got[len(got)-8000:], "and its end")
			for i, s := range got {
				if s != want[i] {
					require.Equal(t, got[20000], s, "what is missing is silence")
				}
			}
		})
	}
}
