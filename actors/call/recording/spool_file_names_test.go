package recording_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/call/recording"
)

func TestFreePartPathRefusesASecondPart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := recording.FreePartPath(dir, "call_1.wav")
	assert.Equal(t, filepath.Join(dir, "call_1.wav.beginning"), path)
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	assert.Empty(t, recording.FreePartPath(dir, "call_1.wav"))
	assert.Empty(t, recording.FreePartPath(dir, "call_1.wav.beginning"))
}

func TestRenameToFreeReplacesNoFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	part, other := filepath.Join(dir, "call_1.wav"), filepath.Join(dir, "call_1.wav.beginning")
	require.NoError(t, os.WriteFile(part, []byte("part"), 0o600))
	require.NoError(t, os.WriteFile(other, []byte("other"), 0o600))
	require.ErrorIs(t, recording.RenameToFree(part, other), fs.ErrExist)
	assert.FileExists(t, part)
	require.NoError(t, os.Remove(other))
	require.NoError(t, recording.RenameToFree(part, other))
	assert.NoFileExists(t, part)
	text, err := os.ReadFile(other)
	require.NoError(t, err)
	assert.Equal(t, "part", string(text))
}

func TestSpoolFileNamesAreRecognized(t *testing.T) {
	t.Parallel()
	now := time.Now()
	old := now.Add(-2 * time.Hour)
	for name, want := range map[string][]bool{ // is a recording; is abandoned if old
		"call_1.wav":             {true, false},
		"call_1.wav.beginning":   {true, false},
		".wav":                   {false, false},
		"call_1.wav.joined":      {false, true},
		"call_1.wav.part-123":    {false, true},
		"notes.txt":              {false, false},
		"call_1.beginning":       {false, false},
		"call_1.wav.beginning.x": {false, false},
	} {
		assert.Equal(t, want, []bool{recording.IsSpoolFile(name), recording.IsAbandoned(name, old, now)}, name)
		assert.False(t, recording.IsAbandoned(name, now, now), "%s is being written", name)
	}
}
