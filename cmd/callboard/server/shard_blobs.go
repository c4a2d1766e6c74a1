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
	blobCheckTimeout    = 40 * time.Second // for all steps of the check
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
		t.log.Error("the recording store is unavailable: new recordings wait in the spool and stored ones cannot be played", slog.Any("error", err))
	case blobstore.IsVersioned(bound, t.blobs):
		t.log.Warn("the bucket keeps old versions of deleted recordings: disable versioning or add a lifecycle rule that deletes them")
	}
	if t.node != nil {
		return spool.WorkspaceBlobs{Blobs: t.blobs, Transfer: t.node.spool}, nil
	}
	if waiting, err := t.blobs.List(bound, datafolder.SpoolDir); err == nil && len(waiting) > 0 {
		t.log.Error("recordings below spool/ in the blob store wait for a cluster node: run with node_addr until spool/ is empty", slog.Int("recordings", len(waiting)))
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
			t.log.Info("abandoned uploads were removed from the recording store", slog.Int("uploads", n), slog.Any("error", err))
		}
		select {
		case <-time.After(uploadSweepInterval):
		case <-run.Done():
			return
		}
	}
}
