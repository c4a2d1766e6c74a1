package blob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// List returns the names of a workspace's blobs in no particular order.
func (d *Disk) List(_ context.Context, workspace string) (names []string, err error) {
	path, err := d.path(workspace, "all")
	if err != nil {
		return nil, err
	}
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("blob: list %s: %w", workspace, err)
	}
	for _, f := range files {
		if _, err := blobPath(workspace, f.Name()); err == nil {
			names = append(names, f.Name())
		}
	}
	return names, nil
}

// List returns the names of a workspace's blobs in no particular order.
func (s *S3) List(ctx context.Context, workspace string) (names []string, err error) {
	place, err := blobPath(workspace, "all")
	if err != nil {
		return nil, err
	}
	prefix := s.prefix + strings.TrimSuffix(place, "all")
	for after := ""; ; {
		keys, err := s.client.list(ctx, prefix, after)
		if err != nil {
			return nil, wrapStoreError("list", workspace, err)
		}
		for _, key := range keys {
			name, below := strings.CutPrefix(key, prefix)
			if _, err := blobPath(workspace, name); below && err == nil {
				names = append(names, name)
			}
		}
		if len(keys) < listPageSize {
			return names, nil
		}
		after = keys[len(keys)-1]
	}
}
