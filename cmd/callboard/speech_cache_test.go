package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestStartDeletesSpeechThatAnEarlierVersionKept(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	require.NoError(t, deleteSpeechCache(data), "there is none")
	for _, name := range []string{"cache/speech/aa.wav", "cache/simulator/bb.wav", "prompts/waiting.wav"} {
		path := filepath.Join(data, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte("RIFF"), 0o600))
	}
	require.NoError(t, deleteSpeechCache(data))
	assert.NoDirExists(t, filepath.Join(data, "cache"))
	assert.FileExists(t, filepath.Join(data, "prompts", "waiting.wav"))
}
