package metrics_test

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/storecache"
	"github.com/callboard/callboard/cmd/callboard/metrics"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
)

// acceptingStore accepts every commit.
type acceptingStore struct{ storecache.Backend }

func (acceptingStore) Apply(context.Context, commit.Change) ([]event.Event, error) { return nil, nil }

func TestTurnStagesAreMeasured(t *testing.T) {
	t.Parallel()
	m := metrics.New("v")
	now := time.Now()
	c := &domain.Call{Meta: domain.Meta{ID: "call_1"}, AnsweredAt: &now, Latency: domain.LatencyOf([]domain.TurnLatency{
		{Input: domain.InputSpeech, EOUMs: 500, STTMs: 40, LLMFirstTokenMs: 300, TTSFirstAudioMs: 80, TotalMs: 750},
		{Input: domain.InputDTMF, TTSFirstAudioMs: 20, TotalMs: 250},
	})}
	_, err := m.WatchStore(acceptingStore{}).Apply(t.Context(), commit.Change{
		Puts: []domain.Record{c}, Events: []event.Draft{{Type: event.CallEnded, Data: event.CallEndedData{CallID: "call_1"}}},
	})
	require.NoError(t, err)
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	for _, line := range []string{
		`callboard_turn_stage_seconds_sum{stage="eou"} 0.5`, `callboard_turn_stage_seconds_count{stage="stt"} 1`, `callboard_turn_stage_seconds_sum{stage="llm_first_token"} 0.3`,
		`callboard_turn_stage_seconds_count{stage="tts_first_audio"} 2`, `callboard_turn_stage_seconds_sum{stage="total"} 1`,
	} {
		assert.Contains(t, w.Body.String(), line+"\n")
	}
}
