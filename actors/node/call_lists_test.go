package node_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/persistence/redis/redistest"
	"github.com/callboard/callboard/service/calls"
	"github.com/callboard/callboard/service/record"
)

// storeEndedCalls stores n ended calls, oldest first. It passes each call to hand, which may modify it.
func (h *fixture) storeEndedCalls(n int, hand func(i int, c *domain.Call)) (ids []string) {
	h.Helper()
	for range n {
		ids = append(ids, mailbox.NewID(domain.PrefixCall))
	}
	slices.Sort(ids)
	for at := 0; at < n; at += 100 {
		c := commit.Change{Workspace: h.live.WorkspaceID}
		for i := at; i < min(at+100, n); i++ {
			now := time.Now().UTC().Truncate(time.Millisecond)
			call := &domain.Call{
				Meta: domain.Meta{
					ID: ids[i], Object: "call", WorkspaceID: h.live.WorkspaceID, Environment: domain.Live, CreatedAt: now, UpdatedAt: now,
				},
				Direction: domain.Outbound, Status: domain.CallCompleted, Legs: []domain.Leg{}, StartedAt: &now, EndedAt: &now,
			}
			hand(i, call)
			c.Puts = append(c.Puts, call)
		}
		_, err := h.store.Apply(h.Context(), c)
		require.NoError(h, err)
	}
	return ids
}

// listAllPages returns the ids on all pages of a list, newest first, and the number of pages.
func (h *fixture) listAllPages(q calls.Query) (ids []string, n int) {
	h.Helper()
	for {
		l, err := h.services().Calls.ListCalls(h.Context(), h.live, q)
		require.NoError(h, err)
		for _, c := range l.Data {
			ids = append(ids, c.ID)
		}
		if n++; l.Next == "" {
			return ids, n
		}
		q.Cursor = l.Next
	}
}

func runOnBothStores(t *testing.T, test func(t *testing.T, h *fixture)) {
	t.Helper()
	t.Parallel()
	for name, url := range map[string]func(*testing.T) string{
		"embedded": func(*testing.T) string { return "" },
		"redis":    func(t *testing.T) string { t.Helper(); url, _ := redistest.Start(t); return url },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newFixtureOn(t, url(t), nil))
		})
	}
}

func TestCallListPagesFilteredByAgentOrContactAreFull(t *testing.T) {
	runOnBothStores(t, func(t *testing.T, h *fixture) {
		mine, other := mailbox.NewID(domain.PrefixAgent), mailbox.NewID(domain.PrefixAgent)
		contact := mailbox.NewID(domain.PrefixContact)
		ids := h.storeEndedCalls(600, func(i int, c *domain.Call) {
			c.AgentID = other
			if i%200 == 0 {
				c.AgentID, c.ContactID = mine, contact
			}
		})
		want := []string{ids[400], ids[200], ids[0]}
		for _, q := range []calls.Query{{AgentID: mine}, {ContactID: contact}, {AgentID: mine, ContactID: contact, Status: "completed"}} {
			q.Limit = 3
			got, n := h.listAllPages(q)
			assert.Equal(t, want, got, "%+v", q)
			assert.Equal(t, 1, n, "one page, whatever the number of other calls: %+v", q)
		}
		q := calls.Query{AgentID: mine}
		q.Limit = 2
		got, n := h.listAllPages(q)
		assert.Equal(t, want, got)
		assert.Equal(t, 2, n)
		none, _ := h.listAllPages(calls.Query{AgentID: mine, Status: "failed", PageQuery: record.PageQuery{Limit: 2}})
		assert.Empty(t, none)
	})
}
