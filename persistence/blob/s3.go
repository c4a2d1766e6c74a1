package blob

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"golang.org/x/sync/errgroup"

	"github.com/callboard/callboard/domain"
)

// Limits of concurrent requests and of their duration.
const (
	maxPuts        = 8              // concurrent uploads; each holds one part in memory
	putTimeout     = 12 * time.Hour // timeout of one upload
	maxDeletes     = 8              // concurrent deletions in one workspace
	cleanupTimeout = 15 * time.Second
	abandonedAfter = 24 * time.Hour // older incomplete uploads are removed
)

// S3 stores blobs in a bucket. The key of an object consists of a prefix, the workspace and the name. If the bucket
// cannot be reached, the methods return a domain.Error with CodeUnavailable and retry_after. They return it after a
// few seconds, or at once while the circuit breaker is open.
type S3 struct {
	client *s3Client
	prefix string // "", or ends with a slash
	seal   Sealer
	puts   chan struct{}
}

// NewS3 returns the store of a bucket without sending a request. prefix is "" or a path such as calls/eu.
func NewS3(cfg S3Config, prefix string, seal Sealer) (*S3, error) {
	client, err := newS3Client(cfg)
	if err != nil {
		return nil, err
	}
	if prefix = strings.Trim(prefix, "/"); prefix != "" {
		prefix += "/"
	}
	return &S3{client: client, prefix: prefix, seal: seal, puts: make(chan struct{}, maxPuts)}, nil
}

// String returns a description of the store for users.
func (s *S3) String() string {
	if s.prefix == "" {
		return s.client.bucketName
	}
	return s.client.bucketName + " below " + s.prefix
}

// wrapStoreError adds the operation to an error of the object store. An unavailable store becomes a domain.Error
// with CodeUnavailable.
func wrapStoreError(what, name string, err error) error {
	if err == nil {
		return nil
	}
	if away, ok := errors.AsType[*unavailableError](err); ok {
		seconds := max(1, int(math.Ceil(away.after.Seconds())))
		err = unavailable(seconds, err)
	}
	return fmt.Errorf("blob: %s %s: %w", what, name, err)
}

// Put stores the bytes that r returns under a name and returns their number. It replaces an existing blob of that name.
// When Put returns, the bucket has the complete blob. After an error the bucket has the previous blob or none. If the
// last request failed without a response, the bucket may also have the new blob.
func (s *S3) Put(ctx context.Context, workspace, name string, r io.Reader) (size int64, err error) {
	place, err := blobPath(workspace, name)
	if err != nil {
		return 0, err
	}
	err = s.upload(ctx, place, name, func(ctx context.Context, w io.Writer) (err error) {
		size, err = writeSealed(ctx, s.seal, w, workspace, name, r)
		return err
	})
	if err != nil {
		return 0, err
	}
	return size, nil
}

// upload stores an object. fill writes the bytes of the object to its io.Writer.
func (s *S3) upload(ctx context.Context, place, name string, fill func(context.Context, io.Writer) error) error {
	if _, err := s.client.checkAvailable(false); err != nil {
		return wrapStoreError("put", name, err)
	}
	ctx, cancel := context.WithTimeout(ctx, putTimeout)
	defer cancel()
	select {
	case s.puts <- struct{}{}:
		defer func() { <-s.puts }()
	case <-ctx.Done():
		return wrapStoreError("put", name, ctx.Err())
	}
	u := &upload{client: s.client, key: s.prefix + place}
	err := fill(ctx, writerFunc(func(p []byte) (int, error) { return u.write(ctx, p) }))
	if err == nil {
		err = u.finish(ctx)
	}
	if err != nil {
		u.abort(ctx)
	}
	return wrapStoreError("put", name, err)
}

// Open opens a blob for reading and returns its size. The caller closes it. A read after a seek decrypts one chunk. ctx
// bounds the opening only. Reads fail once the blob is replaced. A missing blob is the error domain.ErrNotFound.
func (s *S3) Open(ctx context.Context, workspace, name string) (io.ReadSeekCloser, int64, error) {
	place, err := blobPath(workspace, name)
	if err != nil {
		return nil, 0, err
	}
	f, err := s.fetch(ctx, place)
	if err != nil {
		return nil, 0, wrapStoreError("open", name, err)
	}
	r, err := openSealed(ctx, s.seal, f, f.size, workspace, name)
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return r, r.size, nil
}

// fetch opens an object with a request for its first range.
func (s *S3) fetch(ctx context.Context, place string) (*remoteObject, error) {
	f, err := openRemoteObject(ctx, func(ctx context.Context, from int64, into []byte, etag string) (rangeResult, error) {
		return s.client.get(ctx, s.prefix+place, from, into, etag)
	})
	if isNotFound(err) {
		return nil, domain.ErrNotFound
	}
	if e, ok := errors.AsType[*storeError](err); ok && e.StatusCode == http.StatusRequestedRangeNotSatisfiable { // an empty object
		return nil, ErrDamaged
	}
	return f, err
}

// Delete removes a blob with its key. A missing blob is not an error.
func (s *S3) Delete(ctx context.Context, workspace, name string) error {
	place, err := blobPath(workspace, name)
	if err != nil {
		return err
	}
	return wrapStoreError("delete", name, s.client.delete(ctx, s.prefix+place))
}

// DeleteAll removes all blobs of a workspace and its incomplete uploads.
func (s *S3) DeleteAll(ctx context.Context, workspace string) error {
	place, err := blobPath(workspace, "all")
	if err != nil {
		return err
	}
	prefix := s.prefix + strings.TrimSuffix(place, "all")
	if _, err = s.abortUploadsBefore(ctx, prefix, time.Now().Add(abandonedAfter)); err != nil {
		return wrapStoreError("delete", workspace, err)
	}
	for after := ""; ; {
		keys, err := s.client.list(ctx, prefix, after)
		if err == nil {
			err = s.deleteKeys(ctx, prefix, keys)
		}
		if err != nil || len(keys) < listPageSize {
			return wrapStoreError("delete", workspace, err)
		}
		after = keys[len(keys)-1]
	}
}

func (s *S3) deleteKeys(ctx context.Context, prefix string, keys []string) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxDeletes)
	for _, key := range keys {
		group.Go(func() error {
			if !strings.HasPrefix(key, prefix) { // a server that returns other keys than requested
				return fmt.Errorf("blob: the store lists the key %q, which does not begin with %q", key, prefix)
			}
			return s.client.delete(ctx, key)
		})
	}
	return group.Wait()
}

// RemoveAbandoned removes multipart uploads that began more than a day ago, with their parts. It returns the number of
// these uploads.
func (s *S3) RemoveAbandoned(ctx context.Context) (int, error) {
	n, err := s.abortUploadsBefore(ctx, s.prefix, time.Now().Add(-abandonedAfter))
	return n, wrapStoreError("sweep", s.prefix, err)
}

func (s *S3) abortUploadsBefore(ctx context.Context, prefix string, before time.Time) (n int, err error) {
	var all minio.ListMultipartUploadsResult
	err = s.client.callShort(ctx, func(ctx context.Context) (failed error) {
		all, failed = s.client.core.ListMultipartUploads(ctx, s.client.bucket, prefix, "", "", "", listPageSize)
		return failed
	})
	if err != nil {
		return 0, err
	}
	for _, u := range all.Uploads {
		if !s.isBlobKey(u.Key, prefix) || u.Initiated.IsZero() || !u.Initiated.Before(before) {
			continue
		}
		if err = s.client.abortUpload(ctx, u.Key, u.UploadID); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// isBlobKey reports whether an object key below a prefix has the form that Put creates. Other programs may store
// objects in the same bucket, which must not be deleted.
func (s *S3) isBlobKey(key, prefix string) bool {
	place, ok := strings.CutPrefix(key, s.prefix)
	workspace, name, parted := strings.Cut(place, "/")
	return ok && parted && strings.HasPrefix(key, prefix) && validName.MatchString(workspace) && validName.MatchString(name)
}

// CheckAccess writes, reads and deletes a small object. refused is true if the store refused one of these
// operations or can never be reached. If the store is only unavailable now, refused is false and err is set.
func (s *S3) CheckAccess(ctx context.Context) (refused bool, err error) {
	key, text := s.prefix+"try/"+rand.Text(), []byte("Callboard checks that it can write, read and delete here.\n")
	got := make([]byte, len(text)+1)
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"write", func() error { return s.client.put(ctx, key, text) }},
		{"read", func() error {
			p, wrong := s.client.get(ctx, key, 0, got, "")
			if wrong == nil && !bytes.Equal(got[:p.length], text) {
				wrong = errors.New("the bytes read differ from those written")
			}
			return wrong
		}},
		{"list", func() error { _, wrong := s.client.list(ctx, key, ""); return wrong }},
		{"delete", func() error { return s.client.delete(ctx, key) }},
	} {
		if err = step.do(); err != nil {
			_, away := errors.AsType[*unavailableError](err)
			return !away && ctx.Err() == nil, fmt.Errorf("cannot %s in %s: %w", step.name, s, err)
		}
	}
	return false, nil
}

// IsVersioned reports whether the bucket keeps deleted objects. It also returns false if the store gives no answer.
func (s *S3) IsVersioned(ctx context.Context) (kept bool) {
	err := s.client.callShort(ctx, func(ctx context.Context) error {
		found, failed := s.client.core.GetBucketVersioning(ctx, s.client.bucket)
		kept = found.Enabled()
		return failed
	})
	return err == nil && kept
}

// Close closes idle connections.
func (s *S3) Close() { s.client.http.CloseIdleConnections() }
