package main

import (
	"net/http"
	"path/filepath"

	"github.com/callboard/callboard/persistence/blob"
	"github.com/callboard/callboard/persistence/shelf"
)

// Files that nodes give each other stand below these paths.
const blobShelf = "/blobs"

// shelves are the files of this node that the others may have.
func (m *member) shelves() http.Handler {
	mux := http.NewServeMux()
	mux.Handle(blobShelf+"/", http.StripPrefix(blobShelf, blob.Shelf(filepath.Join(m.cfg.Data, backupBlobs))))
	return mux
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

var _ shelf.Nodes = (*member)(nil)

