// Package blobstore opens the store of recordings and exports that blobs_url names: a
// bucket or a shared folder.
package blobstore

import (
	"context"
	"crypto/x509"
	"fmt"

	"github.com/callboard/callboard/actors/node"
	"github.com/callboard/callboard/cmd/callboard/egress"
	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/persistence/blob"
)

// Store keep recordings and exports outside the data folder.
type Store interface {
	node.Blobs
	fmt.Stringer
	// List names the blobs of a workspace.
	List(ctx context.Context, workspace string) (names []string, err error)
	// Sweep removes what abandoned uploads have left.
	RemoveAbandoned(ctx context.Context) (uploads int, err error)
	// Try writes, reads and deletes. refused: that will not succeed by waiting.
	CheckAccess(ctx context.Context) (refused bool, err error)
}

// Open opens the bucket or the folder of blobs_url.
func Open(cfg *configs.Config, seal blob.Sealer, roots *x509.CertPool) (Store, error) {
	b := cfg.Blobs
	if b == (configs.Blobs{}) {
		return unsetStore{}, nil
	}
	if b.Folder != "" {
		return blob.NewSharedDisk(b.Folder, seal), nil
	}
	keys := &bucketKeys{file: cfg.BlobsKeyFile}
	if _, err := keys.Retrieve(); err != nil {
		return nil, err
	}
	bucket, err := blob.NewS3(blob.S3Config{Endpoint: b.Endpoint, Region: b.Region, Bucket: b.Bucket, PathStyle: b.PathStyle, Credentials: keys, RootCAs: roots}, b.Prefix, seal)
	if err != nil {
		return nil, fmt.Errorf("blobs_url: %w", err)
	}
	return bucket, nil
}

// Location names the place of blobs_url to people; empty: there is none.
func Location(cfg *configs.Config) string {
	b := cfg.Blobs
	switch {
	case b.Folder != "":
		return "the folder " + b.Folder
	case b.Bucket == "":
		return ""
	}
	place := "the bucket " + b.Bucket + " at " + b.Endpoint
	if b.Prefix != "" {
		place += " below " + b.Prefix + "/"
	}
	return place
}

// IsVersioned says whether a store keeps what is deleted.
func IsVersioned(ctx context.Context, blobs Store) bool {
	bucket, is := blobs.(*blob.S3)
	return is && bucket.IsVersioned(ctx)
}

// openAndCheck opens the store of blobs_url and tests it, for commands that neither seal nor open blobs.
func openAndCheck(ctx context.Context, cfg *configs.Config) (Store, error) {
	roots, err := egress.Roots(cfg, nil)
	if err != nil {
		return nil, err
	}
	blobs, err := Open(cfg, nil, roots)
	if err != nil {
		return nil, err
	}
	if _, err = blobs.CheckAccess(ctx); err != nil {
		return nil, fmt.Errorf("blobs_url: %w", err)
	}
	return blobs, nil
}

// CheckAccess is what the doctor asks.
func CheckAccess(ctx context.Context, cfg *configs.Config) (place string, versioned bool, err error) {
	blobs, err := openAndCheck(ctx, cfg)
	if err != nil {
		return "", false, err
	}
	return blobs.String(), IsVersioned(ctx, blobs), nil
}
