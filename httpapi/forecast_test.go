package httpapi_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/httpapi"
)

func TestSimulationAssumptionsOverrideMeasuredRates(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	at := d.pathWithResource("POST /v1/campaigns/{id}/simulate")
	assumed := func(body any) map[string]any {
		got, ok := d.must(200, "POST", at, "*:read", body).json(t)["assumptions"].(map[string]any)
		assert.True(t, ok)
		return got
	}
	known := assumed(nil)
	assert.InDelta(t, 0.4, known["answer_rate"], 1e-9)
	assert.InDelta(t, 0.1, known["no_answer_rate"], 1e-9)

	over := assumed(m{"assumptions": m{"answer_rate": 0.7, "talk_seconds": 90}})
	assert.InDelta(t, 0.7, over["answer_rate"], 1e-9)
	assert.InDelta(t, 0.24, over["voicemail_rate"], 1e-9, "the other outcomes share the rest in the same proportions")
	assert.InDelta(t, 0.06, over["busy_rate"], 1e-9)
	assert.InDelta(t, 0, over["no_answer_rate"], 1e-9)
	assert.InDelta(t, 90, over["talk_seconds"], 1e-9)

	less := assumed(m{"assumptions": m{"answer_rate": 0.1}})
	assert.InDelta(t, 0.4, less["voicemail_rate"], 1e-9)
	assert.InDelta(t, 0.4, less["no_answer_rate"], 1e-9)

	for _, body := range []m{
		{"assumptions": m{"answer_rate": 0.7, "busy_rate": 0.4}},
		{"assumptions": m{"answer_rate": 1.1}},
		{"assumptions": m{"talk_seconds": -1}},
		{"assumptions": m{"unknown": 1}},
		{"seed": -1},
	} {
		d.must(422, "POST", at, "*:read", body)
	}
}
