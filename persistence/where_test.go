package persistence_test

import (
	"context"
	"fmt"
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

// stands checks which ids are found.
func stands(t *testing.T, s *persistence.Store, want map[string]bool) {
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

func TestTheKindsThatAreFoundAreThoseOfTheirNouns(t *testing.T) {
	assert.Equal(t, []string{apiKey("").Key().Kind, client("").Key().Kind}, domain.FindableKinds())
	for _, kind := range domain.FindableKinds() {
		assert.True(t, domain.Findable(kind))
	}
	assert.False(t, domain.Findable("agent"))
}

func TestAWorkspaceIsFoundByTheIDsOfItsCredentials(t *testing.T) {
	both(t, func(t *testing.T, s *persistence.Store, _ persistence.Driver) {
		stands(t, s, map[string]bool{"key_1": false, "client_1": false, "": false, "\x00": false})
		apply(t, s, commit.Change{Puts: []domain.Record{apiKey("key_1"), client("client_1"), agent(1, "Ada")}})
		stands(t, s, map[string]bool{"key_1": true, "client_1": true, "agent_0001": false})
		apply(t, s, commit.Change{Puts: []domain.Record{apiKey("key_1")}, Deletes: []domain.Key{client("client_1").Key()}})
		stands(t, s, map[string]bool{"key_1": true, "client_1": false})
		_, err := s.Apply(t.Context(), commit.Change{
			Workspace: ws, Guards: []commit.Guard{commit.Absent(apiKey("key_1").Key())}, Puts: []domain.Record{apiKey("key_2")},
		})
		require.ErrorIs(t, err, domain.ErrConflict)
		stands(t, s, map[string]bool{"key_2": false})
		apply(t, s, commit.Change{Puts: []domain.Record{client("client_2")}})
		require.NoError(t, s.Index(t.Context(), ws))
		require.NoError(t, s.Erase(t.Context(), ws))
		stands(t, s, map[string]bool{"key_1": false, "client_2": false})
	})
}

// counted counts what is asked of a driver.
type counted struct {
	persistence.Driver
	commits, scans int
	before         func() // a commit, once
}

func (c *counted) Commit(ctx context.Context, k persistence.Commit) (persistence.Result, error) {
	if c.commits++; c.before != nil {
		c.before()
		c.before = nil
	}
	return c.Driver.Commit(ctx, k)
}

func (c *counted) Scan(ctx context.Context, r persistence.Range) (persistence.Page, error) {
	c.scans++
	return c.Driver.Scan(ctx, r)
}

func TestAWorkspaceOfBeforeIsIndexedOnce(t *testing.T) {
	both(t, func(t *testing.T, s *persistence.Store, d persistence.Driver) {
		const many = 600
		want := map[string]bool{"client_1": true}
		apply(t, s, commit.Change{Puts: []domain.Record{client("client_1")}})
		for i := range many {
			id := fmt.Sprintf("key_%04d", i)
			want[id] = true
			apply(t, s, commit.Change{Puts: []domain.Record{apiKey(id)}})
		}
		strip := persistence.Commit{Shard: persistence.Whole, Token: "1|node"}
		for id := range want { // as a store of before has it
			strip.Puts = append(strip.Puts, persistence.Put{Key: persistence.Key{Table: "_where/", ID: id}})
		}
		_, err := d.Commit(t.Context(), strip)
		require.NoError(t, err)
		stands(t, s, map[string]bool{"key_0000": false, "client_1": false})

		driver := &counted{Driver: d}
		own := open(t, driver)
		driver.before = func() { // a key that goes while it is read
			apply(t, s, commit.Change{Deletes: []domain.Key{apiKey("key_0007").Key()}})
		}
		want["key_0007"] = false
		require.NoError(t, own.Index(t.Context(), ws))
		stands(t, s, want)
		*driver = counted{Driver: d}
		require.NoError(t, own.Index(t.Context(), ws))
		assert.Zero(t, driver.commits+driver.scans, "it was done before")
		require.ErrorIs(t, own.Index(t.Context(), ""), persistence.ErrMalformed)
	})
}
