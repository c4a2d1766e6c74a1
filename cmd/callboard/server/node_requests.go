package server

import (
	"context"
	"errors"
	"net/http"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/forward"
	"github.com/callboard/callboard/httpapi/locate"
	"github.com/callboard/callboard/persistence"
)

// routes say where requests go.
func (m *node) routes() forward.Config {
	c := forward.Config{Shards: m.cfg.Node.Shards, Owner: m.shardOwnerAddr, Self: m.self.Addr, Local: m.http.connRouter, Credential: m.http.credential, Log: m.log}
	if m.cfg.Node.Shards > 1 {
		finder := locate.NewFinder(m, m.cfg.Node.Shards)
		c.Shard, c.Form = finder.Shard, locate.NeedsForm
	}
	return c
}

// WorkspaceOf is the workspace of a credential, for locate.
func (m *node) WorkspaceOf(ctx context.Context, id string) (string, error) {
	for _, t := range m.shards.all() { // each believes the store as far as its own shard goes: one that is refused holds up no other
		workspace, err := t.store.Records.WorkspaceOf(ctx, id)
		if err == nil || errors.Is(err, domain.ErrNotFound) {
			return workspace, err
		}
	}
	return persistence.WorkspaceOf(ctx, m.driver, id)
}

// shardOwnerAddr is the door of the node that has a shard.
func (m *node) shardOwnerAddr(shard int) (string, bool) {
	n, ok := m.leases.Owner(shard)
	return n.Addr, ok && n.Addr != ""
}

// ownsShard says whether this node has a shard now.
func (m *node) ownsShard(shard int) bool {
	_, ok := m.holder.UsableToken(shard)
	return ok
}

func (m *node) serveUntilClosed(until func() error) {
	if err := until(); err != nil && !errors.Is(err, http.ErrServerClosed) {
		m.endProcess(err)
	}
}
