package persistence_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/persistence"
)

// lateDriver is a driver that applies another commit while a workspace is being erased.
type lateDriver struct {
	persistence.Driver
	late  *persistence.Commit // applied after the first commit that deletes a log
	first int                 // scans of agent rows from the beginning
}

func (d *lateDriver) Commit(ctx context.Context, c persistence.Commit) (persistence.Result, error) {
	res, err := d.Driver.Commit(ctx, c)
	if late := d.late; err == nil && c.DeleteLog != "" && late != nil {
		d.late = nil
		late.Shard, late.Token = c.Shard, c.Token
		_, err = d.Driver.Commit(ctx, *late)
	}
	return res, err
}

func (d *lateDriver) Scan(ctx context.Context, r persistence.Range) (persistence.Page, error) {
	if r.After == "" && strings.HasPrefix(r.Table, "agent/") {
		d.first++
	}
	return d.Driver.Scan(ctx, r)
}

func TestEraseDeletesLateCommits(t *testing.T) {
	d := &lateDriver{Driver: embedded(t)}
	s := open(t, d)
	var c commit.Change
	for n := range 600 {
		c.Puts = append(c.Puts, agent(n, "a"))
	}
	apply(t, s, c)
	apply(t, s, commit.Change{Puts: []domain.Record{webhook("wh_1", "secret")}})
	d.late = &persistence.Commit{Puts: []persistence.Put{{Key: persistence.Key{Table: "late/" + ws, ID: "x"}, Value: []byte("{}")}}}
	require.NoError(t, s.Erase(t.Context(), ws))
	left, err := d.Tables(t.Context(), "/"+ws)
	require.NoError(t, err)
	assert.Empty(t, left)
	assert.Equal(t, 1, d.first, "deleted rows are not scanned again")

	_, err = s.Seal(t.Context(), domain.Key{Kind: "blob", Workspace: ws, ID: "a"}, "key", "text")
	require.ErrorIs(t, err, domain.ErrFenced, "no data key is created after the erasure")
	left, err = d.Tables(t.Context(), "/"+ws)
	require.NoError(t, err)
	assert.Empty(t, left)
	_, err = s.Seal(t.Context(), domain.Key{Kind: "blob", Workspace: "ws_2", ID: "a"}, "key", "text")
	require.NoError(t, err)
}
