package numbers_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/pebbletest"
	"github.com/callboard/callboard/service/numbers"
)

// uncachedStore is a store that reports a change at each call of Changes, so that the service never uses cached values.
type uncachedStore struct {
	*persistence.Store

	changes uint64
}

func (s *uncachedStore) Changes(string) uint64 {
	s.changes++ // invalidates all caches
	return s.changes
}

// node is a fake node. several says whether the installation has several workspaces.
type node struct{ several bool }

func (node) ReloadTrunks(context.Context, string) error { return nil }
func (n node) HasSeveralWorkspaces() bool               { return n.several }

func TestNumberInSharedInstallationRequiresApproval(t *testing.T) {
	t.Parallel()
	ctx, p := t.Context(), domain.Principal{WorkspaceID: "ws_1", Environment: domain.Live}
	s := numbers.New(&uncachedStore{Store: pebbletest.Open(t)}, node{several: true}, slog.New(slog.DiscardHandler))
	n, err := s.CreateNumber(ctx, p, &domain.PhoneNumber{Number: "+12025550170"})
	require.NoError(t, err)
	assert.Equal(t, domain.NumberPending, n.Status)
	own, err := s.CallerIDs(ctx, p)
	require.NoError(t, err)
	assert.Empty(t, own)

	other := domain.Principal{WorkspaceID: "ws_2", Environment: domain.Live}
	_, err = s.CreateNumber(ctx, other, &domain.PhoneNumber{Number: "+12025550170"})
	assert.Equal(t, domain.CodeAlreadyExists, domain.CodeOf(err), "a number is unique in the installation")

	_, err = s.ApproveNumber(ctx, p.WorkspaceID, n.ID)
	require.NoError(t, err)
	own, err = s.CallerIDs(ctx, p)
	require.NoError(t, err)
	assert.Equal(t, []string{"+12025550170"}, own)
	live, err := s.LiveNumber(ctx, p.WorkspaceID, domain.Live, "+12025550170")
	require.NoError(t, err)
	assert.Equal(t, n.ID, live.ID)
	require.NoError(t, s.DeleteNumber(ctx, p, n.ID))
	_, err = s.CreateNumber(ctx, other, &domain.PhoneNumber{Number: "+12025550170"})
	require.NoError(t, err, "a deleted number can be registered again")
}
