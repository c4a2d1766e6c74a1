package server

import (
	"context"
	"crypto/x509"
	"fmt"
	"log/slog"
	"time"

	actornode "github.com/callboard/callboard/actors/node"
	"github.com/callboard/callboard/cmd/callboard/blobstore"
	"github.com/callboard/callboard/cmd/callboard/datafolder"
	"github.com/callboard/callboard/cmd/callboard/server/spool"
	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/persistence/blob"
)

const (
	blobCheckTimeout    = 40 * time.Second // all steps of it
	uploadSweepInterval = 12 * time.Hour
)

// openBlobs opens the store of recordings and exports. If the store refuses access, the start fails. If the store
// is unavailable, the service starts and recordings wait in the spool.
func (t *shard) openBlobs(ctx context.Context, roots *x509.CertPool) (blobs actornode.Blobs, err error) {
	if t.cfg.Blobs == (configs.Blobs{}) && t.node == nil {
		return blob.NewDisk(t.folder(datafolder.BlobsDir), t.store.Records)
	}
	if t.node == nil {
		if err = blobstore.CheckConfig(t.cfg); err != nil {
			return nil, err
		}
	}
	if t.blobs, err = blobstore.Open(t.cfg, t.store.Records, roots); err != nil {
		return nil, err
	}
	bound, cancel := context.WithTimeout(ctx, blobCheckTimeout)
	defer cancel()
	refused, err := t.blobs.CheckAccess(bound)
	switch {
	case refused:
		return nil, fmt.Errorf("blobs_url: %w", err)
	case err != nil:
		t.log.Error("the store of recordings is away: they wait in the spool, and none can be played", slog.Any("error", err))
	case blobstore.IsVersioned(bound, t.blobs):
		t.log.Warn("the bucket of recordings keeps what is deleted: switch its versions off, or let a rule forget them")
	}
	if t.node != nil {
		return spool.WorkspaceBlobs{Blobs: t.blobs, Transfer: t.node.spool}, nil
	}
	if waiting, err := t.blobs.List(bound, datafolder.SpoolDir); err == nil && len(waiting) > 0 {
		t.log.Error("recordings that nodes moved into the store wait there for a node: start with node_addr until the store has none below spool/", slog.Int("recordings", len(waiting)))
	}
	return t.blobs, nil
}

// sweepUploads removes parts of abandoned uploads at intervals.
func (t *shard) sweepUploads(run context.Context) {
	if t.blobs == nil {
		return
	}
	for {
		n, err := t.blobs.RemoveAbandoned(run)
		if n > 0 || err != nil && run.Err() == nil {
			t.log.Info("abandoned uploads were removed from the store of recordings", slog.Int("uploads", n), slog.Any("error", err))
		}
		select {
		case <-time.After(uploadSweepInterval):
		case <-run.Done():
			return
		}
	}
}
