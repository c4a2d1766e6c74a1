// Package blobstore opens the store of recordings and exports that blobs_url configures: a bucket or a shared
// folder.
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

// Store is a store of recordings and exports outside the data folder.
type Store interface {
	node.Blobs
	fmt.Stringer
	// List returns the names of the blobs of a workspace.
	List(ctx context.Context, workspace string) (names []string, err error)
	// RemoveAbandoned removes the stored parts of uploads that were not completed.
	RemoveAbandoned(ctx context.Context) (uploads int, err error)
	// CheckAccess writes, reads and deletes a test object. refused means that the store refuses the access, for example
	// because of wrong credentials, so that a retry does not help.
	CheckAccess(ctx context.Context) (refused bool, err error)
}

// Open opens the bucket or the folder that blobs_url names. If blobs_url is not set, it returns a store that is
// unavailable.
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

// Location describes in words the folder or bucket that blobs_url names. It is empty if blobs_url is not set.
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

// IsVersioned reports whether the bucket keeps old versions of deleted objects.
func IsVersioned(ctx context.Context, blobs Store) bool {
	bucket, is := blobs.(*blob.S3)
	return is && bucket.IsVersioned(ctx)
}

// openAndCheck opens the store that blobs_url names and tests the access to it. It has no key, so its callers must not
// encrypt or decrypt blobs.
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

// CheckAccess tests the access to the store that blobs_url names, for the command callboard doctor. place describes the
// store in words. versioned reports whether the bucket keeps old versions of deleted objects.
func CheckAccess(ctx context.Context, cfg *configs.Config) (place string, versioned bool, err error) {
	blobs, err := openAndCheck(ctx, cfg)
	if err != nil {
		return "", false, err
	}
	return blobs.String(), IsVersioned(ctx, blobs), nil
}
