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

// routes returns the configuration of the request forwarder.
func (m *node) routes() forward.Config {
	c := forward.Config{Shards: m.cfg.Node.Shards, Owner: m.shardOwnerAddr, Self: m.self.Addr, Local: m.http.connRouter, Credential: m.http.credential, Log: m.log}
	if m.cfg.Node.Shards > 1 {
		finder := locate.NewFinder(m, m.cfg.Node.Shards)
		c.Shard, c.Form = finder.Shard, locate.NeedsForm
	}
	return c
}

// WorkspaceOf returns the workspace of a credential, for the package locate.
func (m *node) WorkspaceOf(ctx context.Context, id string) (string, error) {
	for _, t := range m.shards.all() { // a shard trusts the store for its own rows only; after an error the next shard is tried
		workspace, err := t.store.Records.WorkspaceOf(ctx, id)
		if err == nil || errors.Is(err, domain.ErrNotFound) {
			return workspace, err
		}
	}
	return persistence.WorkspaceOf(ctx, m.driver, id)
}

// shardOwnerAddr returns the address of the node that owns a shard.
func (m *node) shardOwnerAddr(shard int) (string, bool) {
	n, ok := m.leases.Owner(shard)
	return n.Addr, ok && n.Addr != ""
}

// ownsShard reports whether this node holds the lease of a shard now.
func (m *node) ownsShard(shard int) bool {
	_, ok := m.holder.UsableToken(shard)
	return ok
}

// serveUntilClosed runs a server and ends the process if the server fails.
func (m *node) serveUntilClosed(until func() error) {
	if err := until(); err != nil && !errors.Is(err, http.ErrServerClosed) {
		m.endProcess(err)
	}
}
