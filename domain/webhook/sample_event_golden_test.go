package webhook_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/webhook"
)

var update = flag.Bool("update", false, "write the events of testdata/events anew")

// Each golden file is the JSON of one event type with all fields, as an endpoint receives it. A change of the JSON must
// change the file.
func TestEventEnvelopesMatchGoldenFiles(t *testing.T) {
	t.Parallel()
	w := &domain.Webhook{Meta: domain.Meta{ID: "wh_00000000000000000000000000", WorkspaceID: "ws_00000000000000000000000000"}, URL: "https://example.com/hook"}
	for _, kind := range event.Types() {
		body, err := webhook.Body(webhook.SampleEvent(kind, w, "evt_00000000000000000000000000", noon), "")
		require.NoError(t, err)
		var text bytes.Buffer
		require.NoError(t, json.Indent(&text, body, "", "  "))
		text.WriteByte('\n')
		path := filepath.Join("testdata", "events", string(kind)+".json")
		if *update {
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
			require.NoError(t, os.WriteFile(path, text.Bytes(), 0o600))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, string(want), text.String(), kind)
	}
	files, err := os.ReadDir(filepath.Join("testdata", "events"))
	require.NoError(t, err)
	assert.Len(t, files, len(event.Types()), "no file of an unknown event")
}
