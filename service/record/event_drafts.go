package record

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/callboard/callboard/actors/outbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
)

// NextOffset returns the log offset of the next event of a workspace. A new webhook endpoint receives events from this
// offset on. An offset is used instead of a time, because clocks can be set back.
func NextOffset(ctx context.Context, store commit.Store, workspaceID string) (uint64, error) {
	last, err := store.LastOffset(ctx, workspaceID)
	return last + 1, commit.StoreError(err)
}

// WithTraceParent returns the event draft d with the trace context of the API request that caused the event.
func WithTraceParent(d event.Draft, t domain.RequestTrace) event.Draft {
	if t.TraceParent != "" {
		d.Attributes = &event.Attributes{TraceParent: t.TraceParent}
	}
	return d
}

// NewCallEvent returns the draft of an event about a call.
func NewCallEvent(c *domain.Call, t event.Type, data any) event.Draft {
	d := outbox.NewEvent(&c.Meta, t, c.ID, domain.UnitID(cmp.Or(c.AgentID, c.WorkspaceID)), data)
	d.Attributes = event.CallAttributes(c)
	return d
}

// ChangedFields returns the sorted names of the JSON fields in which two records differ. It leaves out the names in but.
func ChangedFields(before, after any, but ...string) []string {
	a, b := JSONFields(before), JSONFields(after)
	var out []string
	for name, v := range b {
		if string(a[name]) != string(v) && !slices.Contains(but, name) {
			out = append(out, name)
		}
	}
	for name := range a {
		if _, ok := b[name]; !ok && !slices.Contains(but, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// JSONFields returns the fields of v as JSON, or nil if v is not encoded as a JSON object.
func JSONFields(v any) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	b, err := domain.EncodeJSON(v)
	if err != nil || json.Unmarshal(b, &m) != nil {
		return nil
	}
	return m
}

// NewSMSEvent returns the draft of an event about an SMS message.
func NewSMSEvent(m *domain.Message, t event.Type) event.Draft {
	return WithTraceParent(outbox.NewEvent(&m.Meta, t, m.ID, domain.UnitID(m.WorkspaceID), event.NewSMSData(m)), m.RequestTrace)
}
