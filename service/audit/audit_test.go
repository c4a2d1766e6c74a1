package audit_test

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/persistence/pebbletest"
	"github.com/callboard/callboard/service/audit"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/recordtest"
)

func setUp(t *testing.T) (*audit.Service, *pebbletest.Store) {
	t.Helper()
	store := pebbletest.OpenStore(t)
	operators := func() []string { return []string{"ws_1", "ws_deleted"} }
	return audit.New(store, recordtest.Workspaces{"ws_1": {}, "ws_2": {}}, operators, slog.New(slog.DiscardHandler)), store
}

// flush stores the buffered entries.
func flush(t *testing.T, s *audit.Service) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.RunAudit(ctx)
}

// counts returns how many actions the audit log of a workspace contains for each IP address.
func counts(t *testing.T, s *audit.Service, p domain.Principal, q audit.Query) map[string]int {
	t.Helper()
	q.PageQuery = record.PageQuery{Limit: 1000}
	l, err := s.ListAudit(t.Context(), p, q)
	require.NoError(t, err)
	out := make(map[string]int)
	for _, e := range l.Data {
		out[e.IP] += e.Count
	}
	return out
}

func from(address, action string) record.AuditAction {
	return record.AuditAction{Type: "auth", Action: action, IP: netip.MustParseAddr(address)}
}

func TestEqualAuditActionsOfAMinuteAreMerged(t *testing.T) {
	t.Parallel()
	s, store := setUp(t)
	p := domain.Principal{KeyID: "key_1", WorkspaceID: "ws_1", Environment: domain.Test}
	for range 20 {
		s.RecordSoon(t.Context(), p, from("192.0.2.1", "api_key.used"))
	}
	s.RecordSoon(t.Context(), p, from("192.0.2.2", "api_key.used"))
	s.RecordSoon(t.Context(), recordtest.Live("ws_1"), from("192.0.2.3", "token.issued"))
	s.RecordSoon(t.Context(), recordtest.Live("ws_deleted"), from("192.0.2.4", "api_key.used"))
	flush(t, s)
	assert.Equal(t, map[string]int{"192.0.2.1": 20, "192.0.2.2": 1}, counts(t, s, p, audit.Query{}), "a test key sees entries of the test environment only")
	assert.Equal(t, map[string]int{"192.0.2.3": 1}, counts(t, s, recordtest.Live("ws_1"), audit.Query{Action: "token.issued"}))
	assert.Equal(t, map[string]int{"192.0.2.1": 20, "192.0.2.2": 1}, counts(t, s, recordtest.Live("ws_1"), audit.Query{Actor: "key_1"}))
	assert.Empty(t, counts(t, s, recordtest.Live("ws_2"), audit.Query{}))
	assert.Empty(t, counts(t, s, recordtest.Live("ws_deleted"), audit.Query{}))

	var rows atomic.Int32
	store.BeforeApply = func(c commit.Change) error { rows.Add(int32(len(c.Puts))); return nil }
	for range 20 {
		s.RecordSoon(t.Context(), p, from("192.0.2.5", "api_key.used"))
	}
	flush(t, s)
	assert.LessOrEqual(t, rows.Load(), int32(2), "one row, or two if a new minute began")
}

func TestAuditEntriesAreStoredAfterStoreFailure(t *testing.T) {
	t.Parallel()
	s, store := setUp(t)
	p := domain.Principal{KeyID: "key_1", WorkspaceID: "ws_1", Environment: domain.Live}
	store.BeforeApply = func(commit.Change) error { return errors.New("the disk is full") }
	s.Record(t.Context(), p, from("192.0.2.1", "webhook.deleted"))
	s.RecordSoon(t.Context(), p, from("192.0.2.2", "api_key.used"))
	flush(t, s)
	assert.Empty(t, counts(t, s, p, audit.Query{}))
	store.BeforeApply = nil
	flush(t, s)
	assert.Equal(t, map[string]int{"192.0.2.1": 1, "192.0.2.2": 1}, counts(t, s, p, audit.Query{}))
}

func TestAuditEntryCommittedWithChangeIsNotStoredAgain(t *testing.T) {
	t.Parallel()
	s, store := setUp(t)
	p := domain.Principal{KeyID: "key_1", WorkspaceID: "ws_1", Environment: domain.Live}
	action := from("192.0.2.1", "webhook.created")
	action.Resource.Type = "webhook"
	ctx := s.WithAuditEntry(t.Context(), p, action)
	w := &domain.Webhook{Meta: domain.Meta{ID: record.RequestResourceID(ctx, domain.PrefixWebhook), Object: "webhook", WorkspaceID: "ws_1", Environment: domain.Live}}
	c, rider := commit.AddAudit(ctx, commit.Change{Workspace: "ws_1", Puts: []domain.Record{w}}) // as the store of the node does
	_, err := store.Apply(ctx, c)
	require.NoError(t, err)
	rider.MarkCommitted()
	store.BeforeApply = func(commit.Change) error { t.Error("the entry is stored a second time"); return nil }
	s.Record(ctx, p, action)
	assert.Equal(t, map[string]int{"192.0.2.1": 1}, counts(t, s, p, audit.Query{}))
}

func TestUnknownCredentialFailuresBeyondLimitShareAuditEntry(t *testing.T) {
	t.Parallel()
	s, _ := setUp(t)
	for i := range 200 {
		s.RecordSoon(t.Context(), domain.Principal{}, from(netip.AddrFrom4([4]byte{198, 51, 100, byte(i)}).String(), "auth.failed"))
	}
	flush(t, s)
	got, sum := counts(t, s, recordtest.Live("ws_1"), audit.Query{}), 0
	for _, n := range got {
		sum += n
	}
	assert.Equal(t, 200, sum)
	assert.LessOrEqual(t, len(got), 2*50+1, "50 addresses per minute have their own rows; the test takes at most two minutes")
	assert.Positive(t, got[""])
}
