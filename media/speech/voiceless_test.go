package speech_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media/speech"
)

func TestWithoutAnEngineOnlyPromptFilesAreAVoice(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	dir := t.TempDir()
	v, err := speech.New(speech.Config{PromptDir: dir})
	require.NoError(t, err)
	for _, engine := range []string{"", speech.LocalVoice, speech.PromptsAre, "other"} {
		assert.False(t, v.Speaks(engine), engine)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "hello.wav"), nil, 0o600))
	assert.True(t, v.Speaks(""))
	assert.True(t, v.Speaks(speech.PromptsAre))
	assert.False(t, v.Speaks("other"))
}
