package persistence_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/persistence"
)

func TestRotateMasterKeyReplacesKey(t *testing.T) {
	withEachDriver(t, func(t *testing.T, s *persistence.Store, d persistence.Driver) {
		second, third := bytes.Repeat([]byte{8}, persistence.MasterKeySize), bytes.Repeat([]byte{9}, persistence.MasterKeySize)
		apply(t, s, commit.Change{Puts: []domain.Record{webhook("wh_1", "whsec_first")}})
		sealed, err := s.Seal(t.Context(), domain.Key{Kind: "install", ID: "x"}, "f", "of no workspace")
		require.NoError(t, err)
		assert.Equal(t, master, s.RootKey())
		require.Error(t, s.RotateMasterKey(t.Context(), second[:31]))
		old := master
		for n, next := range [][]byte{second, third} {
			require.ErrorIs(t, s.RotateMasterKey(t.Context(), old), persistence.ErrSameKey, "rotating to the same key is refused")
			require.NoError(t, s.RotateMasterKey(t.Context(), next))
			_, err = persistence.NewStore(t.Context(), d, old, "2|node")
			require.ErrorIs(t, err, persistence.ErrMasterKey)
			s, err = persistence.NewStore(t.Context(), d, next, "1|node")
			require.NoError(t, err)
			assert.Equal(t, master, s.RootKey(), "derived keys do not change")
			got := webhook("wh_1", "")
			_, err = s.Get(t.Context(), got)
			require.NoError(t, err)
			assert.Equal(t, "whsec_first", got.Secret)
			text, err := s.Unseal(t.Context(), domain.Key{Kind: "install", ID: "x"}, "f", sealed)
			require.NoError(t, err)
			assert.Equal(t, "of no workspace", text)
			other := &domain.Webhook{Meta: domain.Meta{ID: "wh_2", WorkspaceID: string(rune('a' + n)), Environment: domain.Live}, Secret: "whsec_new"}
			_, err = s.Apply(t.Context(), commit.Change{Workspace: other.WorkspaceID, Puts: []domain.Record{other}})
			require.NoError(t, err, "a new workspace gets a data key")
			old = next
		}
	})
}
