package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/callboard/callboard/persistence/s3"
)

// writer is a function that is an io.Writer.
type writer func([]byte) (int, error)

// Write is io.Writer.
func (w writer) Write(p []byte) (int, error) { return w(p) }

// headKept is how much of an object's beginning tells it from every other: the
// sealed key in it was made for it alone.
const headKept = 4 << 10

// upload sends an object in one request, or in parts where it is larger than
// one. It holds one part in memory.
type upload struct {
	client *s3.Client
	key    string
	id     string // of the upload in parts; empty: it was not begun
	etags  []string
	buffer []byte
	head   []byte
	size   int64
}

func (u *upload) write(ctx context.Context, p []byte) (n int, err error) {
	for n < len(p) {
		if len(u.buffer) == s3.PartLeast { // more comes: it was not the last
			if err = u.sendPart(ctx); err != nil {
				return n, err
			}
		}
		more := p[n:min(len(p), n+s3.PartLeast-len(u.buffer))]
		if need := len(u.buffer) + len(more); need > cap(u.buffer) {
			u.buffer = slices.Grow(u.buffer, min(max(need, 2*cap(u.buffer)), s3.PartLeast)-len(u.buffer))
		}
		u.buffer = append(u.buffer, more...)
		n += len(more)
	}
	u.size += int64(n)
	return n, nil
}

func (u *upload) sendPart(ctx context.Context) (err error) {
	if len(u.etags) == s3.PartsMost {
		return fmt.Errorf("an object of more than %d bytes", int64(s3.PartsMost)*s3.PartLeast)
	}
	if u.id == "" {
		u.head = bytes.Clone(u.buffer[:headKept])
		if u.id, err = u.client.Begin(ctx, u.key); err != nil {
			return err
		}
	}
	etag, err := u.client.PutPart(ctx, u.key, u.id, len(u.etags)+1, u.buffer)
	if err != nil {
		return err
	}
	u.etags, u.buffer = append(u.etags, etag), u.buffer[:0]
	return nil
}

func (u *upload) finish(ctx context.Context) error {
	if u.id == "" {
		return u.client.Put(ctx, u.key, u.buffer)
	}
	if err := u.sendPart(ctx); err != nil {
		return err
	}
	err := u.client.Complete(ctx, u.key, u.id, u.etags)
	if err == nil || ctx.Err() != nil {
		return err
	}
	// An answer may be lost and the object there: it is ours if it begins as ours.
	if away, ok := errors.AsType[*s3.AwayError](err); ok {
		if over := s3.Rest(ctx, away.After); over != nil {
			return errors.Join(over, err)
		}
	}
	got := make([]byte, len(u.head))
	p, unread := u.client.Get(ctx, u.key, 0, got, "")
	if unread == nil && p.Size == u.size && bytes.Equal(got, u.head) {
		u.id = ""
		return nil
	}
	if s3.Missing(err) { // the upload was removed under our hands
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
	_ = u.client.Abort(bound, u.key, u.id)
}
