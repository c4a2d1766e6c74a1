package node

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/callboard/callboard/domain"
)

// workspaceBlobs stores blobs for workspaces that are not deleted.
type workspaceBlobs struct {
	Blobs
	isDeleted func(workspace string) bool
}

// Put stores a blob. Errors: domain.ErrFenced if its workspace is deleted, also
// meanwhile.
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
