package actors_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/hook"
)

// sometimes are the fields of payloads that an event may lack, by its category.
func sometimes(category string) []string {
	switch category {
	case "call":
		return []string{"campaign_id", "answered_by", "reason"}
	case "sms":
		return []string{"error_code", "reply_to"}
	case "appointment":
		return []string{"call_id", "notes", "cancel_reason", "metadata", "previous", "message_id"}
	case "campaign":
		return []string{"reason", "pause_reason", "completion_reason"}
	case "contact":
		return []string{"keyword", "call_id", "message_id", "campaign_id", "contact_id"}
	}
	return nil
}

// payloads holds every event that this test caused to the sample of its type,
// whose file is in domain/hook/testdata: no field more, and none less but those
// that are there sometimes.
func (h *house) payloads() {
	h.Helper()
	if h.driver == nil {
		return
	}
	log, err := h.store.Events(context.Background(), h.live.WorkspaceID, 0, 1000)
	if err != nil { // the test took the store away
		return
	}
	seen := make(map[event.Type]int)
	for _, e := range log {
		if seen[e.Type]++; seen[e.Type] > 20 {
			continue
		}
		var fields, sample map[string]json.RawMessage
		w := &domain.Webhook{Meta: domain.Meta{ID: "wh_1", WorkspaceID: e.WorkspaceID}}
		if !assert.NoError(h, json.Unmarshal(e.Data, &fields), e.Type) ||
			!assert.NoError(h, json.Unmarshal(hook.Sample(e.Type, w, e.ID, e.CreatedAt).Data, &sample)) {
			continue
		}
		category, _, _ := strings.Cut(string(e.Type), ".")
		for name := range fields {
			if _, ok := sample[name]; !ok && name != "reminder_call_id" { // the sample is of a message
				h.Errorf("%s has a field that its file does not tell, %s: %s", e.Type, name, e.Data)
			}
		}
		for name := range sample {
			if _, ok := fields[name]; !ok && name != "test" && !slices.Contains(sometimes(category), name) {
				h.Errorf("%s lacks what its file tells, %s: %s", e.Type, name, e.Data)
			}
		}
	}
}
