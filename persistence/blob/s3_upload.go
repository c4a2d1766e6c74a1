package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/minio/minio-go/v7"
)

// writer is a function that is an io.Writer.
type writer func([]byte) (int, error)

// Write is io.Writer.
func (w writer) Write(p []byte) (int, error) { return w(p) }

// partSize is the least size of a part that is not the last one, and maxParts how
// many an object has at most.
const (
	partSize = 5 << 20
	maxParts = 10_000
)

// headKept is how much of an object's beginning tells it from every other: the
// sealed key in it was made for it alone.
const headKept = 4 << 10

// upload sends an object in one request, or in parts where it is larger than
// one. It holds one part in memory.
type upload struct {
	client *s3Client
	key    string
	id     string // of the upload in parts; empty: it was not begun
	parts  []minio.CompletePart
	buffer []byte
	head   []byte
	size   int64
}

func (u *upload) write(ctx context.Context, p []byte) (n int, err error) {
	for n < len(p) {
		if len(u.buffer) == partSize { // more comes: it was not the last
			if err = u.sendPart(ctx); err != nil {
				return n, err
			}
		}
		more := p[n:min(len(p), n+partSize-len(u.buffer))]
		if need := len(u.buffer) + len(more); need > cap(u.buffer) {
			u.buffer = slices.Grow(u.buffer, min(max(need, 2*cap(u.buffer)), partSize)-len(u.buffer))
		}
		u.buffer = append(u.buffer, more...)
		n += len(more)
	}
	u.size += int64(n)
	return n, nil
}

func (u *upload) sendPart(ctx context.Context) (err error) {
	if len(u.parts) == maxParts {
		return fmt.Errorf("an object of more than %d bytes", int64(maxParts)*partSize)
	}
	if u.id == "" {
		u.head = bytes.Clone(u.buffer[:headKept])
		err = u.client.callShort(ctx, func(ctx context.Context) (failed error) {
			u.id, failed = u.client.core.NewMultipartUpload(ctx, u.client.bucket, u.key, minio.PutObjectOptions{})
			return failed
		})
		if err != nil {
			return err
		}
	}
	return u.client.callLong(ctx, func(ctx context.Context) error {
		opts := minio.PutObjectPartOptions{Sha256Hex: sha256Hex(u.buffer), DisableContentSha256: true}
		part, failed := u.client.core.PutObjectPart(ctx, u.client.bucket, u.key, u.id, len(u.parts)+1, bytes.NewReader(u.buffer), int64(len(u.buffer)), opts)
		if failed == nil {
			u.parts, u.buffer = append(u.parts, minio.CompletePart{PartNumber: part.PartNumber, ETag: part.ETag}), u.buffer[:0]
		}
		return failed
	})
}

func (u *upload) finish(ctx context.Context) error {
	if u.id == "" {
		return u.client.put(ctx, u.key, u.buffer)
	}
	if err := u.sendPart(ctx); err != nil {
		return err
	}
	err := u.client.callLong(ctx, func(ctx context.Context) error {
		_, failed := u.client.core.CompleteMultipartUpload(ctx, u.client.bucket, u.key, u.id, u.parts, minio.PutObjectOptions{})
		return failed
	})
	if err == nil || ctx.Err() != nil {
		return err
	}
	// An answer may be lost and the object there: it is ours if it begins as ours.
	if away, ok := errors.AsType[*unavailableError](err); ok {
		select {
		case <-time.After(away.after):
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		}
	}
	got := make([]byte, len(u.head))
	p, unread := u.client.get(ctx, u.key, 0, got, "")
	if unread == nil && p.size == u.size && bytes.Equal(got, u.head) {
		u.id = ""
		return nil
	}
	if isNotFound(err) { // the upload was removed under our hands
		err = fmt.Errorf("the parts are gone: %w", err)
	}
	return errors.Join(err, unread)
}

// abort leaves nothing of an upload in parts, if the store can be asked; what
// stays is swept.
func (u *upload) abort(ctx context.Context) {
	if u.id == "" {
		return
	}
	bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), endLimit)
	defer cancel()
	_ = u.client.abortUpload(bound, u.key, u.id)
}
