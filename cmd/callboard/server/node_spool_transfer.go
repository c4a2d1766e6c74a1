package server

import (
	"path/filepath"

	"github.com/callboard/callboard/cmd/callboard/blobstore"
	"github.com/callboard/callboard/cmd/callboard/datafolder"
	"github.com/callboard/callboard/cmd/callboard/egress"
	"github.com/callboard/callboard/cmd/callboard/server/spool"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence"
)

// openTransfer opens the transfer of recordings between the spools of nodes. The recordings are encrypted with a
// key derived from the installation's root key, because a node lacks the keys of workspaces that it does not serve.
func (m *node) openTransfer() error {
	seal, err := persistence.NewSealer(datafolder.DeriveKey(m.storeRoot, "callboard spool"))
	if err != nil {
		return err
	}
	roots, err := egress.Roots(m.cfg, nil)
	if err != nil {
		return err
	}
	blobs, err := blobstore.Open(m.cfg, seal, roots)
	if err != nil {
		return err
	}
	m.spool = spool.New(spool.Config{Dir: filepath.Join(m.cfg.Data, datafolder.SpoolDir), Blobs: blobs, Serves: m.mayServeWorkspace, Joiner: m.partJoinerOf, Log: m.log})
	return nil
}

// mayServeWorkspace reports whether this node serves a workspace or may start to. The transfer must then leave the
// workspace's files in the spool.
func (m *node) mayServeWorkspace(workspace string) bool {
	shard := domain.ShardOf(workspace, m.cfg.Node.Shards)
	running := m.shards.shard(shard) != nil // read before the owner, so that a stopping shard counts
	n, owned := m.leases.Owner(shard)
	return running || !owned || n.ID == m.self.ID
}

// partJoinerOf returns the actor node of a workspace's shard, which joins the parts of recordings. It returns nil if
// this node does not run the shard.
func (m *node) partJoinerOf(workspace string) spool.PartJoiner {
	if c := m.shards.shard(domain.ShardOf(workspace, m.cfg.Node.Shards)); c != nil {
		return c.actors
	}
	return nil
}
