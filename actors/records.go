package actors

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
)

// every walks all rows of an index, oldest first.
func every[T any, R record[T]](ctx context.Context, store commit.Store, kind, workspace, index string, each func(R)) error {
	q := commit.Query{Kind: kind, Workspace: workspace, Index: index, Oldest: true, Limit: 1000}
	for {
		next, err := store.List(ctx, q, func() domain.Record { return R(new(T)) }, func(rec domain.Record) error {
			if r, ok := rec.(R); ok {
				each(r)
			}
			return nil
		})
		if err != nil || next == "" {
			return err
		}
		q.Cursor = next
	}
}

// draft is an event about a resource.
func draft(m *domain.Meta, t event.Type, subject, unit string, data any) event.Draft {
	return event.Draft{
		ID: mailbox.NewID(domain.PrefixEvent), Type: t, CreatedAt: stamp(), WorkspaceID: m.WorkspaceID,
		Environment: m.Environment, SvcID: unit, Subject: subject, Data: data,
	}
}

// traced returns d as the event of an API request.
func traced(d event.Draft, t domain.RequestTrace) event.Draft {
	if t.TraceParent != "" {
		d.About = &event.About{TraceParent: t.TraceParent}
	}
	return d
}

// callDraft is an event about a call.
func callDraft(c *domain.Call, t event.Type, data any) event.Draft {
	d := draft(&c.Meta, t, c.ID, domain.Unit(cmp.Or(c.AgentID, c.WorkspaceID)), data)
	d.About = event.AboutCall(c)
	return d
}

// changed names the JSON fields in which two nouns differ, in order.
func changed(before, after any, but ...string) []string {
	a, b := fieldsOf(before), fieldsOf(after)
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

func fieldsOf(v any) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	b, err := domain.EncodeJSON(v)
	if err != nil || json.Unmarshal(b, &m) != nil {
		return nil
	}
	return m
}
