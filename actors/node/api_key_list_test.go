package node_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/keys"
	"github.com/callboard/callboard/service/record"
)

func TestLiveCredentialListsTheKeysOfBothEnvironmentsNewestFirst(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	created := map[domain.Environment][]string{}
	var all []string
	for _, env := range []domain.Environment{domain.Live, domain.Test, domain.Test, domain.Live, domain.Test} {
		k, _, err := d.Keys.CreateKey(ctx, h.live, record.AuditAction{}, &domain.APIKey{Meta: domain.Meta{Environment: env}, Name: "k", Permissions: []domain.Permission{domain.AllRead}})
		require.NoError(t, err)
		created[env], all = append([]string{k.ID}, created[env]...), append([]string{k.ID}, all...)
	}
	// list reads all pages and returns the keys that this test created.
	list := func(p domain.Principal, env domain.Environment, limit int) (ids []string) {
		q := keys.Query{PageQuery: record.PageQuery{Limit: limit}, Environment: env}
		for {
			l, err := d.Keys.ListKeys(ctx, p, q)
			require.NoError(t, err)
			require.LessOrEqual(t, len(l.Data), limit)
			for _, k := range l.Data {
				if slices.Contains(all, k.ID) {
					ids = append(ids, k.ID)
				}
			}
			if q.Cursor = l.Next; q.Cursor == "" {
				return ids
			}
		}
	}
	for _, limit := range []int{1, 2, 100} {
		assert.Equal(t, all, list(h.live, "", limit))
		assert.Equal(t, created[domain.Test], list(h.live, domain.Test, limit))
		assert.Equal(t, created[domain.Live], list(h.live, domain.Live, limit))
		assert.Equal(t, created[domain.Test], list(h.test, "", limit))
		assert.Empty(t, list(h.test, domain.Live, limit), "a test credential sees no live key")
	}
	_, err := d.Keys.ListKeys(ctx, h.live, keys.Query{PageQuery: record.PageQuery{Limit: 1, Cursor: "key_no"}})
	assert.Equal(t, domain.CodeInvalidCursor, domain.CodeOf(err))
}
