package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestABarShowsHowFarAFolderIs(t *testing.T) {
	t.Parallel()
	from, to := t.TempDir(), t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(from, "below"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(from, "a"), make([]byte, 3000), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(from, "below", "b"), make([]byte, 1000), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(to, "a"), make([]byte, 3000), 0o600))
	assert.Equal(t, int64(4000), sizeOf(from))
	assert.Zero(t, sizeOf(filepath.Join(from, "nothing")))
	var shown bytes.Buffer
	fill(t.Context(), &shown, "  copying", from, to)()
	assert.Contains(t, shown.String(), "copying")
	assert.Contains(t, shown.String(), "75%")
	shown.Reset()
	fill(t.Context(), &shown, "  copying", to, from)()
	assert.NotContains(t, shown.String(), "133%", "more than was there at first is all of it")
}
