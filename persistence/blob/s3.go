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

// Bounds of what an object store is asked at once and of how long.
const (
	putsMost    = 8              // at once; each holds one part in memory
	putLongest  = 12 * time.Hour // of one blob
	deletesMost = 8              // at once, of one workspace
	endLimit    = 15 * time.Second
	abandoned   = 24 * time.Hour // an upload that began before is nobody's
)

// S3 keeps blobs in a bucket, the object of each below a prefix and the name of
// its workspace. Where the store is away its methods say so by a domain.Error
// of CodeUnavailable that tells when it is worth asking again, and within some
// seconds; while it is known to be away, at once.
type S3 struct {
	client *s3Client
	prefix string // empty, or with a slash at its end
	seal   Sealer
	puts   chan struct{}
}

// NewS3 makes a store of a bucket; nothing is asked yet. prefix is empty or a
// path such as calls/eu.
func NewS3(cfg S3Config, prefix string, seal Sealer) (*S3, error) {
	client, err := newS3Client(cfg)
	if err != nil {
		return nil, err
	}
	if prefix = strings.Trim(prefix, "/"); prefix != "" {
		prefix += "/"
	}
	return &S3{client: client, prefix: prefix, seal: seal, puts: make(chan struct{}, putsMost)}, nil
}

// String names the place to people.
func (s *S3) String() string {
	if s.prefix == "" {
		return s.client.place
	}
	return s.client.place + " below " + s.prefix
}

// told makes an error of the store one of ours.
func told(what, name string, err error) error {
	if err == nil {
		return nil
	}
	if away, ok := errors.AsType[*unavailableError](err); ok {
		seconds := max(1, int(math.Ceil(away.after.Seconds())))
		err = unavailable(seconds, err)
	}
	return fmt.Errorf("blob: %s %s: %w", what, name, err)
}

// Put keeps what r gives under a name and returns its size; a blob of that
// name is replaced. When it returns, the store has the object whole. On an error
// there is the object of before, or none; only where the store went away at the
// very end may it be there, whole.
func (s *S3) Put(ctx context.Context, workspace, name string, r io.Reader) (size int64, err error) {
	place, err := placeOf(workspace, name)
	if err != nil {
		return 0, err
	}
	err = s.upload(ctx, place, name, func(ctx context.Context, w io.Writer) (err error) {
		size, err = write(ctx, s.seal, w, workspace, name, r)
		return err
	})
	if err != nil {
		return 0, err
	}
	return size, nil
}

// upload sends what fill writes.
func (s *S3) upload(ctx context.Context, place, name string, fill func(context.Context, io.Writer) error) error {
	if _, err := s.client.checkAvailable(false); err != nil {
		return told("put", name, err)
	}
	ctx, cancel := context.WithTimeout(ctx, putLongest)
	defer cancel()
	select {
	case s.puts <- struct{}{}:
		defer func() { <-s.puts }()
	case <-ctx.Done():
		return told("put", name, ctx.Err())
	}
	u := &upload{client: s.client, key: s.prefix + place}
	err := fill(ctx, writer(func(p []byte) (int, error) { return u.write(ctx, p) }))
	if err == nil {
		err = u.finish(ctx)
	}
	if err != nil {
		u.abort(ctx)
	}
	return told("put", name, err)
}

// Open reads a blob; domain.ErrNotFound where there is none. Whoever opens it
// closes it. Seeking costs one chunk. The context is for the opening alone; a
// blob that is replaced while it is read breaks off.
func (s *S3) Open(ctx context.Context, workspace, name string) (io.ReadSeekCloser, int64, error) {
	place, err := placeOf(workspace, name)
	if err != nil {
		return nil, 0, err
	}
	f, err := s.fetch(ctx, place)
	if err != nil {
		return nil, 0, told("open", name, err)
	}
	r, err := open(ctx, s.seal, f, f.size, workspace, name)
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return r, r.size, nil
}

// fetch reads the beginning of an object.
func (s *S3) fetch(ctx context.Context, place string) (*remote, error) {
	f, err := newRemote(ctx, func(ctx context.Context, from int64, into []byte, mark string) (piece, error) {
		return s.client.get(ctx, s.prefix+place, from, into, mark)
	})
	if isNotFound(err) {
		return nil, domain.ErrNotFound
	}
	if e, ok := errors.AsType[*storeError](err); ok && e.StatusCode == http.StatusRequestedRangeNotSatisfiable { // nothing is in it
		return nil, ErrDamaged
	}
	return f, err
}

// Delete removes a blob and with it its key; one that is not there is gone.
func (s *S3) Delete(ctx context.Context, workspace, name string) error {
	place, err := placeOf(workspace, name)
	if err != nil {
		return err
	}
	return told("delete", name, s.client.delete(ctx, s.prefix+place))
}

// DeleteAll removes all blobs of a workspace, and what is being uploaded.
func (s *S3) DeleteAll(ctx context.Context, workspace string) error {
	place, err := placeOf(workspace, "all")
	if err != nil {
		return err
	}
	prefix := s.prefix + strings.TrimSuffix(place, "all")
	if _, err = s.abortBefore(ctx, prefix, time.Now().Add(abandoned)); err != nil {
		return told("delete", workspace, err)
	}
	for after := ""; ; {
		keys, err := s.client.list(ctx, prefix, after)
		if err == nil {
			err = s.deleteKeys(ctx, prefix, keys)
		}
		if err != nil || len(keys) < listPage {
			return told("delete", workspace, err)
		}
		after = keys[len(keys)-1]
	}
}

func (s *S3) deleteKeys(ctx context.Context, prefix string, keys []string) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(deletesMost)
	for _, key := range keys {
		group.Go(func() error {
			if !strings.HasPrefix(key, prefix) { // a store that lists what it was not asked for
				return fmt.Errorf("blob: the store lists %q below %q", key, prefix)
			}
			return s.client.delete(ctx, key)
		})
	}
	return group.Wait()
}

// Sweep removes the parts of uploads that nobody will end, and says how many
// uploads those were.
func (s *S3) Sweep(ctx context.Context) (int, error) {
	n, err := s.abortBefore(ctx, s.prefix, time.Now().Add(-abandoned))
	return n, told("sweep", s.prefix, err)
}

func (s *S3) abortBefore(ctx context.Context, prefix string, before time.Time) (n int, err error) {
	var all minio.ListMultipartUploadsResult
	err = s.client.callShort(ctx, func(ctx context.Context) (failed error) {
		all, failed = s.client.core.ListMultipartUploads(ctx, s.client.bucket, prefix, "", "", "", listPage)
		return failed
	})
	if err != nil {
		return 0, err
	}
	for _, u := range all.Uploads {
		if !s.ours(u.Key, prefix) || u.Initiated.IsZero() || !u.Initiated.Before(before) {
			continue
		}
		if err = s.client.abortUpload(ctx, u.Key, u.UploadID); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// ours says whether a key below a prefix is one that Put makes: others may keep
// things in the same bucket.
func (s *S3) ours(key, prefix string) bool {
	place, ok := strings.CutPrefix(key, s.prefix)
	workspace, name, parted := strings.Cut(place, "/")
	return ok && parted && strings.HasPrefix(key, prefix) && plain.MatchString(workspace) && plain.MatchString(name)
}

// Try writes, reads and deletes a small object, as an install has to be able
// to. refused is true where the store answered that it will not, or where it
// can never be reached; false with an error: it is away now.
func (s *S3) Try(ctx context.Context) (refused bool, err error) {
	key, text := s.prefix+"try/"+rand.Text(), []byte("Callboard tries whether it can write, read and delete here.\n")
	got := make([]byte, len(text)+1)
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"write", func() error { return s.client.put(ctx, key, text) }},
		{"read", func() error {
			p, wrong := s.client.get(ctx, key, 0, got, "")
			if wrong == nil && !bytes.Equal(got[:p.got], text) {
				wrong = errors.New("something else came back")
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

// Versioned says whether the bucket keeps what is deleted; false also where the
// store does not say.
func (s *S3) Versioned(ctx context.Context) (kept bool) {
	err := s.client.callShort(ctx, func(ctx context.Context) error {
		found, failed := s.client.core.GetBucketVersioning(ctx, s.client.bucket)
		kept = found.Enabled()
		return failed
	})
	return err == nil && kept
}

// Close gives idle connections back.
func (s *S3) Close() { s.client.http.CloseIdleConnections() }
