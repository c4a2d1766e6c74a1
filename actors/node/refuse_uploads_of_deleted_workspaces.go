package node

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/callboard/callboard/domain"
)

// workspaceBlobs stores blobs of existing workspaces and refuses to store blobs of deleted ones.
type workspaceBlobs struct {
	Blobs
	isDeleted func(workspace string) bool
}

// Put stores a blob and returns its size in bytes. It returns domain.ErrFenced if the workspace is deleted, also if
// the deletion happens during the upload.
func (b workspaceBlobs) Put(ctx context.Context, workspace, name string, r io.Reader) (int64, error) {
	if b.isDeleted(workspace) {
		return 0, domain.ErrFenced
	}
	size, err := b.Blobs.Put(ctx, workspace, name, r)
	if b.isDeleted(workspace) {
		bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		return 0, errors.Join(domain.ErrFenced, b.DeleteAll(bound, workspace))
	}
	return size, err
}
