package main

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/callboard/callboard/actors"
	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence/blob"
	"github.com/callboard/callboard/persistence/shelf"
)

// Files that nodes give each other stand below these paths: recordings and exports
// that were kept, and recordings that could not be, of workspaces that have gone to
// another node since (docs/adr/0089-the-node-that-has-a-recording-gives-it.md).
const (
	blobShelf  = "/blobs"
	spoolShelf = "/spool"
	spoolDir   = "spool"
)

const (
	gatherEvery  = 15 * time.Second
	gatherWithin = 5 * time.Second // for a node to say of which workspaces it has something
)

// shelves are the files of this node that the others may have.
func (m *member) shelves() http.Handler {
	mux := http.NewServeMux()
	for at, folder := range map[string]shelf.Folder{
		blobShelf:  blob.Shelf(filepath.Join(m.cfg.Data, backupBlobs)),
		spoolShelf: {Dir: filepath.Join(m.cfg.Data, spoolDir), Half: func(name string) bool { return !call.Spooled(name) }, Mine: m.goesOn},
	} {
		mux.Handle(at+"/", http.StripPrefix(at, folder))
	}
	return mux
}

// goesOn says whether this node has a workspace, or is about to have it: what lies
// in its spool is in use.
func (m *member) goesOn(workspace string) bool {
	shard := domain.ShardOf(workspace, m.cfg.Shards)
	m.mu.Lock()
	seat := m.seats[shard]
	m.mu.Unlock()
	n, owned := m.engine.Owner(shard)
	return seat != nil || !owned || n.ID == m.self.ID
}

// emptied removes the folders in the spool of workspaces that have gone, where
// nothing is left in them: what is left is looked for by others all the time.
func (m *member) emptied(gone func(shard int) bool) {
	dir := filepath.Join(m.cfg.Data, spoolDir)
	folders, err := os.ReadDir(dir)
	if err != nil {
		return // there is none
	}
	for _, f := range folders {
		if f.IsDir() && gone(domain.ShardOf(f.Name(), m.cfg.Shards)) {
			_ = os.Remove(filepath.Join(dir, f.Name())) // it stays where something is in it
		}
	}
}

// Others are the nodes that live besides this one.
func (m *member) Others() (out []shelf.Node) {
	for _, n := range m.engine.Nodes() {
		if n.ID != m.self.ID && n.Addr != "" {
			out = append(out, shelf.Node{ID: n.ID, Addr: n.Addr})
		}
	}
	return out
}

// AskFiles asks one of them.
func (m *member) AskFiles(addr string, r *http.Request) (*http.Response, error) {
	if err := parted(); err != nil {
		return nil, err
	}
	return m.passes.AskFiles(addr, r)
}

// left are the spools of the other nodes; nil: the process is alone.
func (t *seat) left() actors.Left {
	if t.member == nil {
		return nil
	}
	return spools{shelf.Far{Nodes: t.member, At: spoolShelf}, t.log}
}

// spools are those of the other nodes.
type spools struct {
	far shelf.Far
	log *slog.Logger
}

// Take is actors.Left's.
func (s spools) Take(ctx context.Context, workspace string, place func(file string) string) {
	files, err := s.far.Take(ctx, workspace, place)
	if err != nil {
		s.log.Warn("what another node has of recordings could not be fetched", slog.String("workspace_id", workspace), slog.Any("error", err))
	}
	for _, path := range files {
		s.log.Info("a recording was fetched that another node had in its spool", slog.String("workspace_id", workspace), slog.String("file", filepath.Base(path)))
	}
}

// Drop is actors.Left's.
func (s spools) Drop(ctx context.Context, workspace string, age time.Duration) {
	bound, cancel := context.WithTimeout(ctx, gatherWithin)
	defer cancel()
	if err := s.far.Drop(bound, workspace, age); err != nil {
		s.log.Warn("what another node has of recordings could not be deleted", slog.String("workspace_id", workspace), slog.Any("error", err))
	}
}

// gathers asks the other nodes, now and then, whether they have recordings in their
// spools of workspaces that are here.
func (m *member) gathers(ctx context.Context) {
	far := shelf.Far{Nodes: m, At: spoolShelf}
	tick := time.NewTicker(gatherEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		found := make(map[string]bool)
		for _, n := range m.Others() {
			bound, cancel := context.WithTimeout(ctx, gatherWithin)
			err := far.Workspaces(bound, n, func(workspace string) { found[workspace] = true })
			cancel()
			if err != nil {
				m.log.Debug("another node does not say of which workspaces it has recordings", slog.String("node_addr", n.Addr), slog.Any("error", err))
			}
		}
		for workspace := range found {
			m.mu.Lock()
			c := m.seats[domain.ShardOf(workspace, m.cfg.Shards)]
			m.mu.Unlock()
			if c != nil && c.node != nil {
				bound, cancel := context.WithTimeout(ctx, gatherWithin)
				c.node.Gather(bound, workspace)
				cancel()
			}
		}
	}
}
