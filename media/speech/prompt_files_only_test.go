package speech_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media/speech"
)

func TestHasEngineWithPromptFilesOnly(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	dir := t.TempDir()
	v, err := speech.NewSynthesizerChain(speech.Config{PromptDir: dir})
	require.NoError(t, err)
	for _, engine := range []string{"", speech.LocalVoice, speech.PromptFilesEngine, "other"} {
		assert.False(t, v.HasEngine(engine), engine)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "hello.wav"), nil, 0o600))
	assert.True(t, v.HasEngine(""))
	assert.True(t, v.HasEngine(speech.PromptFilesEngine))
	assert.False(t, v.HasEngine("other"))
}
