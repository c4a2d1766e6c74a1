package node_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/webhook"
)

// optionalFields returns the payload fields that events of a category need not contain.
func optionalFields(category string) []string {
	switch category {
	case "call":
		return []string{
			"campaign_id", "answered_by", "reason", "outcome.intent", "outcome.notes", "outcome.appointment_id", "outcome.appointment_date",
			"outcome.appointment_time", "sip", "sip[].code", "sip[].phrase", "analysis.success", "analysis.reason", "analysis.fields", "analysis.error",
		}
	case "sms":
		return []string{"error_code", "reply_to"}
	case "appointment":
		return []string{"call_id", "notes", "cancel_reason", "metadata", "previous", "message_id"}
	case "campaign":
		return []string{"reason", "pause_reason", "completion_reason", "answered_by"}
	case "contact":
		return []string{"keyword", "call_id", "message_id", "campaign_id", "contact_id"}
	}
	return nil
}

// checkPayloads compares every event of the test with the sample event of its type in domain/webhook/testdata. An
// event fails if it has additional fields or lacks a field that is not optional.
func (h *fixture) checkPayloads() {
	h.Helper()
	if h.driver == nil {
		return
	}
	log, err := h.store.Events(context.Background(), h.live.WorkspaceID, 0, 1000)
	if err != nil { // the test closed the store
		return
	}
	seen := make(map[event.Type]int)
	for _, e := range log {
		if seen[e.Type]++; seen[e.Type] > 20 {
			continue
		}
		w := &domain.Webhook{Meta: domain.Meta{ID: "wh_1", WorkspaceID: e.WorkspaceID}}
		example := webhook.SampleEvent(e.Type, w, e.ID, e.CreatedAt)
		var fields, sample map[string]any
		if !assert.NoError(h, json.Unmarshal(e.Data, &fields), e.Type) || !assert.NoError(h, json.Unmarshal(example.Data, &sample)) {
			continue
		}
		if e.Type != event.ContactOptedOut { // an opt-out may come by call or by message
			assert.Equal(h, kindOf(example.Subject), kindOf(e.Subject), "%s has a subject of another type than its sample: %s", e.Type, e.Subject)
		}
		delete(sample, "test")
		category, _, _ := strings.Cut(string(e.Type), ".")
		for _, wrong := range payloadDifferences(fields, sample, "", optionalFields(category)) {
			h.Errorf("%s is not as its file tells, %s: %s", e.Type, wrong, e.Data)
		}
	}
}

func kindOf(id string) string {
	kind, _, _ := strings.Cut(id, "_")
	return kind
}

// freeFormFields are the payload objects whose keys are chosen by users or vary from event to event.
var freeFormFields = []string{"metadata", "previous", "entities", "arguments", "result", "outcomes", "analysis.fields"}

// payloadDifferences returns the paths at which a payload differs from its sample: additional or missing keys, or
// values of another type.
func payloadDifferences(got, sample any, at string, sometimes []string) (wrong []string) {
	if got == nil || sample == nil {
		return nil
	}
	switch want := sample.(type) {
	case map[string]any:
		has, ok := got.(map[string]any)
		if !ok {
			return []string{at + " is no object"}
		}
		if slices.Contains(freeFormFields, at) {
			return nil
		}
		for name, value := range has {
			inside := strings.TrimPrefix(at+"."+name, ".")
			if example, known := want[name]; known {
				wrong = append(wrong, payloadDifferences(value, example, inside, sometimes)...)
			} else if name != "reminder_call_id" && name != "media_issue" { // the samples lack these two fields
				wrong = append(wrong, inside+" is not told")
			}
		}
		for name := range want {
			if _, there := has[name]; !there && !slices.Contains(sometimes, strings.TrimPrefix(at+"."+name, ".")) {
				wrong = append(wrong, strings.TrimPrefix(at+"."+name, ".")+" is missing")
			}
		}
	case []any:
		has, ok := got.([]any)
		if !ok {
			return []string{at + " is no list"}
		}
		for _, value := range has {
			if len(want) > 0 {
				wrong = append(wrong, payloadDifferences(value, want[0], at+"[]", sometimes)...)
			}
		}
	default:
		if a, b := fmt.Sprintf("%T", got), fmt.Sprintf("%T", sample); a != b {
			return []string{at + " is a " + a + ", no " + b}
		}
	}
	return wrong
}

func TestPayloadCheckFindsDifferencesAtAnyDepth(t *testing.T) {
	t.Parallel()
	read := func(text string) (v any) {
		require.NoError(t, json.Unmarshal([]byte(text), &v))
		return v
	}
	sample := read(`{"a":1,"o":{"b":"x","c":true},"l":[{"d":1}],"metadata":{"m":"1"}}`)
	for got, want := range map[string][]string{
		`{"a":2,"o":{"b":"y","c":false},"l":[{"d":2},{"d":3}],"metadata":{"n":"2"}}`: nil,
		`{"a":2,"o":{"b":"y"},"l":[],"metadata":{}}`:                                 {"o.c is missing"},
		`{"a":2,"o":{"b":"y","c":true,"z":1},"l":[],"metadata":{}}`:                  {"o.z is not told"},
		`{"a":"2","o":{"b":"y","c":true},"l":[{"d":"1"}],"metadata":{}}`:             {"a is a string, no float64", "l[].d is a string, no float64"},
		`{"o":3,"l":[],"metadata":{}}`:                                               {"o is no object", "a is missing"},
	} {
		assert.ElementsMatch(t, want, payloadDifferences(read(got), sample, "", nil), got)
	}
	assert.Empty(t, payloadDifferences(read(`{"a":1,"o":{"b":"x"},"l":[],"metadata":{}}`), sample, "", []string{"o.c"}))
}
