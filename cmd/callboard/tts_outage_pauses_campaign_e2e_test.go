package main_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/engines/enginetest"
)

// While the only TTS engine is down, a campaign must pause without counting a contact as called. After the engine
// recovers, all contacts must be called.
func TestCampaignPausesDialingWhileTTSEngineIsDown(t *testing.T) {
	t.Parallel()
	engine := enginetest.New(t)
	engine.SetFault("speech", enginetest.Refuses)
	key := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(key, []byte(enginetest.Key), 0o600))
	path := filepath.Join(t.TempDir(), "engines.yaml")
	require.NoError(t, os.WriteFile(path, []byte(`{engines: {hum: {kind: openai, url: "`+engine.URL+`/v1", key_file: "`+key+`", tts: {model: m, sample_rate: 8000}}}, tts: [hum]}`), 0o600))
	s := newRaceFreeService(t, "CALLBOARD_ENGINES_FILE="+path, "PATH="+t.TempDir())
	s.key = s.testKey()
	id := s.startCampaign(s.createGreetingAgent(), []string{"+12025550141", "+12025550142", "+12025550143", "+12025550144"}, nil)
	s.await("the campaign to wait for its engine", 30*time.Second, func() bool {
		st := s.api("GET", "/v1/campaigns/"+id+"/status", nil)
		waiting, _ := st["waiting"].(object)
		return waiting["reason"] == "engine" && waiting["until"] != nil && st["progress"].(object)["in_progress"] == 0.0
	})
	call := s.listData("/v1/calls?campaign_id=" + id + "&status=failed")[0].(object)
	assert.Equal(t, []any{"agent_unavailable", "service"}, []any{call["ended_reason"], call["ended_by"]})
	st, _ := s.campaignStatus(id)
	assert.Equal(t, 4, st.Progress.Remaining)
	assert.Zero(t, st.Progress.Attempted, "no attempt counts")

	unheard, asked := len(s.listData("/v1/calls?campaign_id="+id)), len(engine.Requests())
	s.await("a request to the engine", time.Minute, func() bool { return len(engine.Requests()) > asked })
	assert.Len(t, s.listData("/v1/calls?campaign_id="+id), unheard, "the campaign probes the engine without a call")

	engine.SetFault("speech", enginetest.NoFault)
	assert.Equal(t, 4, s.awaitCampaignEnd(id, 2*time.Minute).Outcomes["completed"])
	assert.Len(t, s.listData("/v1/calls?campaign_id="+id), unheard+4)

	mute := newRaceFreeService(t, "PATH="+t.TempDir())
	mute.key = mute.testKey()
	status, body, _ := mute.tryRequest("POST", "/v1/calls/outbound", object{"to": "+15005550000", "agent_id": mute.createGreetingAgent()})
	assert.Equal(t, http.StatusConflict, status)
	assert.Contains(t, string(body), "has no voice")
}
