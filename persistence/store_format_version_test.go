package persistence_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/persistence"
)

func requirementOf(t testing.TB, d persistence.Driver) persistence.Requirement {
	t.Helper()
	r, err := persistence.StoreRequirement(t.Context(), d.Get)
	require.NoError(t, err)
	return r
}

func TestStoreFormatIsRaisedWithFirstRowOfNewFormat(t *testing.T) {
	withEachDriver(t, func(t *testing.T, _ *persistence.Store, d persistence.Driver) {
		s, err := persistence.OpenShard(t.Context(), d, persistence.Owner{Master: master, Token: "1|next", Version: "1.2.3"})
		require.NoError(t, err)
		plain := commit.Change{Puts: []domain.Record{agent(1, "a")}}
		apply(t, s, plain)
		assert.Equal(t, persistence.Requirement{Format: 1}, requirementOf(t, d))
		apply(t, s, commit.Change{Events: []event.Draft{{ID: "evt_1", Type: "x", WorkspaceID: ws, Subject: "x", Attributes: &event.Attributes{AgentID: "a"}}}})
		assert.Equal(t, persistence.Requirement{Format: 4, Version: "1.2.3"}, requirementOf(t, d))
		apply(t, s, commit.Change{Puts: []domain.Record{delivery()}})
		assert.Equal(t, persistence.Requirement{Format: 5, Version: "1.2.3"}, requirementOf(t, d))
		apply(t, s, commit.Change{Events: []event.Draft{{ID: "evt_2", Type: "x", WorkspaceID: ws, Subject: "x", Attributes: &event.Attributes{TraceParent: "00-1"}}}})
		assert.Equal(t, persistence.Requirement{Format: persistence.StoreFormat, Version: "1.2.3"}, requirementOf(t, d))

		s, err = persistence.OpenShard(t.Context(), d, persistence.Owner{Master: master, Token: "1|later", Version: "1.3.0"})
		require.NoError(t, err)
		apply(t, s, plain)
		apply(t, s, commit.Change{Puts: []domain.Record{delivery()}})
		assert.Equal(t, persistence.Requirement{Format: persistence.StoreFormat, Version: "1.2.3"}, requirementOf(t, d), "a program that writes no new format leaves the requirement")
	})
}

func delivery() *domain.Delivery {
	return &domain.Delivery{WorkspaceID: ws, WebhookID: "webhook_1", EventID: "evt_1"}
}

func TestStoreFormatIsRaisedOnceByConcurrentNodes(t *testing.T) {
	withEachDriver(t, func(t *testing.T, _ *persistence.Store, d persistence.Driver) {
		const of = 4
		require.NoError(t, persistence.SetShardCount(t.Context(), d, of))
		var stores [of]*persistence.Store
		for i := range stores {
			var err error
			stores[i], err = persistence.OpenShard(t.Context(), d, persistence.Owner{Master: master, Token: fmt.Sprint("100|", i), Shard: persistence.Shard{Number: i, Count: of}, Version: "1.2.3"})
			require.NoError(t, err)
		}
		var writes sync.WaitGroup
		for i, s := range stores {
			writes.Go(func() {
				row := delivery()
				row.WorkspaceID = workspaceOf(i, of)
				assert.NoError(t, put(t, s, row))
			})
		}
		writes.Wait()
		assert.Equal(t, persistence.Requirement{Format: 5, Version: "1.2.3"}, requirementOf(t, d))
	})
}

func TestStoreOfNewerFormatIsRefused(t *testing.T) {
	withEachDriver(t, func(t *testing.T, s *persistence.Store, d persistence.Driver) {
		writeRequirement(t, d, persistence.Requirement{Format: persistence.StoreFormat + 1, Version: "9.8.7"})
		_, err := persistence.OpenShard(t.Context(), d, persistence.Owner{Master: master, Token: "1|old", Version: "1.2.3"})
		require.ErrorIs(t, err, persistence.ErrFormat)
		require.EqualError(t, err, fmt.Sprintf("the data need Callboard 9.8.7 (store format %d), and this is Callboard 1.2.3 (store format %d): "+
			"install 9.8.7 or newer, or restore the backup that was made before the upgrade", persistence.StoreFormat+1, persistence.StoreFormat))
		apply(t, s, commit.Change{Puts: []domain.Record{agent(1, "a")}}) // the refused program has not fenced this store
	})
}

// writeRequirement stores a requirement with a commit of the store's owner.
func writeRequirement(t testing.TB, d persistence.Driver, needs persistence.Requirement) {
	t.Helper()
	value, err := json.Marshal(needs)
	require.NoError(t, err)
	_, err = d.Commit(context.Background(), persistence.Commit{
		Shard: persistence.WholeStore, Token: "1|node", Puts: []persistence.Put{{Key: persistence.Key{Table: "_meta/", ID: "format"}, Value: value}},
	})
	require.NoError(t, err)
}
