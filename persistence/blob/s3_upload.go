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

// writerFunc adapts a function to io.Writer.
type writerFunc func([]byte) (int, error)

// Write implements io.Writer.
func (w writerFunc) Write(p []byte) (int, error) { return w(p) }

// Limits of S3 multipart uploads. partSize is the minimum size of every part except the last, maxParts the maximum
// number of parts.
const (
	partSize = 5 << 20
	maxParts = 10_000
)

// keptHeadBytes is the number of bytes at the beginning of an object that upload keeps to identify the object. They
// contain the sealed key of the blob, which is unique.
const keptHeadBytes = 4 << 10

// upload writes an object to the bucket in one request, or as a multipart upload if it exceeds partSize. It holds at
// most one part in memory.
type upload struct {
	client *s3Client
	key    string
	id     string // of the multipart upload; "": none was started
	parts  []minio.CompletePart
	buffer []byte
	head   []byte
	size   int64
}

func (u *upload) write(ctx context.Context, p []byte) (n int, err error) {
	for n < len(p) {
		if len(u.buffer) == partSize { // more bytes follow, so this part is not the last
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
		return fmt.Errorf("the object has more than %d bytes", int64(maxParts)*partSize)
	}
	if u.id == "" {
		u.head = bytes.Clone(u.buffer[:keptHeadBytes])
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
	// The store may have completed the upload although its response was lost. The object is from this upload if its first
	// bytes are equal.
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
	if isNotFound(err) { // the upload was removed meanwhile
		err = fmt.Errorf("the parts of the upload were removed: %w", err)
	}
	return errors.Join(err, unread)
}

// abort removes an incomplete multipart upload. If the store cannot be reached, RemoveAbandoned removes it later.
func (u *upload) abort(ctx context.Context) {
	if u.id == "" {
		return
	}
	bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	_ = u.client.abortUpload(bound, u.key, u.id)
}
