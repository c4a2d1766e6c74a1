package main_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip/siptest"
)

func TestEnginesGuideCommandsWork(t *testing.T) {
	t.Parallel()
	blocks := codeBlocks(t, "docs/engines.md", "sh run")
	require.Len(t, blocks, 2)
	port := strconv.Itoa(siptest.Port(t))
	path := filepath.Join(t.TempDir(), "engines.yaml")
	require.NoError(t, os.WriteFile(path, []byte(`engines: {hum: {kind: openai, url: "http://127.0.0.1:`+port+`/v1", tts: {sample_rate: 8000}}}`), 0o600))
	s := newRaceFreeService(t, "CALLBOARD_ENGINES_FILE="+path)
	output := s.runBlocks(t.TempDir(), blocks, "", "TEST_KEY="+s.testKey(), "ENGINE_PORT="+port)
	assert.Equal(t, "[]\n", output.outputOf(t, blocks, "voice"), "the engine spoke without a fallback")
}
