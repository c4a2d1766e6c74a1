package persistence_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/persistence"
)

func apiKey(id string) *domain.APIKey {
	return &domain.APIKey{Meta: domain.Meta{ID: id, WorkspaceID: ws}}
}

func client(id string) *domain.OAuthClient {
	return &domain.OAuthClient{Meta: domain.Meta{ID: id, WorkspaceID: ws}}
}

// requireFindable checks for each record id whether Store.WorkspaceOf finds it.
func requireFindable(t *testing.T, s *persistence.Store, want map[string]bool) {
	t.Helper()
	for id, there := range want {
		have, err := s.WorkspaceOf(t.Context(), id)
		if there {
			require.NoError(t, err, id)
			assert.Equal(t, ws, have)
			continue
		}
		require.ErrorIs(t, err, domain.ErrNotFound, id)
	}
}

func TestFindableKindsMatchRecords(t *testing.T) {
	for kind, is := range map[string]bool{apiKey("").Key().Kind: true, client("").Key().Kind: true, "agent": false} {
		assert.Equal(t, is, domain.NeedsWorkspaceLookup(kind), kind)
	}
}

func TestWorkspaceOfCredentialIDs(t *testing.T) {
	withEachDriver(t, func(t *testing.T, s *persistence.Store, _ persistence.Driver) {
		requireFindable(t, s, map[string]bool{"key_1": false, "client_1": false, "": false, "\x00": false})
		apply(t, s, commit.Change{Puts: []domain.Record{apiKey("key_1"), client("client_1"), agent(1, "Ada")}})
		requireFindable(t, s, map[string]bool{"key_1": true, "client_1": true, "agent_0001": false})
		apply(t, s, commit.Change{Puts: []domain.Record{apiKey("key_1")}, Deletes: []domain.Key{client("client_1").Key()}})
		requireFindable(t, s, map[string]bool{"key_1": true, "client_1": false})
		_, err := s.Apply(t.Context(), commit.Change{
			Workspace: ws, Guards: []commit.Guard{commit.Absent(apiKey("key_1").Key())}, Puts: []domain.Record{apiKey("key_2")},
		})
		require.ErrorIs(t, err, domain.ErrConflict)
		requireFindable(t, s, map[string]bool{"key_2": false})
		apply(t, s, commit.Change{Puts: []domain.Record{client("client_2")}})
		require.NoError(t, s.Erase(t.Context(), ws))
		requireFindable(t, s, map[string]bool{"key_1": false, "client_2": false})
	})
}
