package main

import (
	"context"
	"hash/fnv"
	"net/http"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi"
)

// elsewhere is the rest of the install, as the front door of a seat asks it.
type elsewhere struct{ of *seat }

func (t *seat) elsewhere() httpapi.Elsewhere {
	if t.mine() == nil {
		return nil
	}
	return elsewhere{t}
}

// Has says whether another shard has a workspace.
func (e elsewhere) Has(workspaceID string) bool { return !e.of.mine()(workspaceID) }

// Ask asks the seat of a workspace's shard, wherever that is; "": of the one
// that is to have the next workspace.
func (e elsewhere) Ask(ctx context.Context, workspaceID, seed string, r *http.Request) (*http.Response, error) {
	shards := e.of.cfg.Shards
	shard := domain.ShardOf(workspaceID, shards)
	if workspaceID == "" {
		sum := fnv.New64a()
		_, _ = sum.Write([]byte(seed))            // never fails
		shard = int(sum.Sum64() % uint64(shards)) //nolint:gosec // below shards
	}
	return e.of.member.passes.Ask(ctx, shard, r)
}
