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

// routes returns the configuration by which the HTTP forwarder finds the node of a request.
func (m *node) routes() forward.Config {
	c := forward.Config{Shards: m.cfg.Node.Shards, Owner: m.shardOwnerAddr, Self: m.self.Addr, Local: m.http.connRouter, Credential: m.http.credential, Log: m.log}
	if m.cfg.Node.Shards > 1 {
		finder := locate.NewFinder(m, m.cfg.Node.Shards)
		c.Shard, c.Form = finder.Shard, locate.NeedsForm
	}
	return c
}

// WorkspaceOf returns the workspace to which a credential belongs. Package locate calls it to find the shard of a
// request.
func (m *node) WorkspaceOf(ctx context.Context, id string) (string, error) {
	for _, t := range m.shards.all() { // if the store of one shard returns an error, the next shard is tried
		workspace, err := t.store.Records.WorkspaceOf(ctx, id)
		if err == nil || errors.Is(err, domain.ErrNotFound) {
			return workspace, err
		}
	}
	return persistence.WorkspaceOf(ctx, m.driver, id)
}

// shardOwnerAddr returns the node_addr of the node that owns a shard.
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
