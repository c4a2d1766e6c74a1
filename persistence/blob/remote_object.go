package blob

import (
	"context"
	"io"
	"time"
)

// Sizes of the ranges that a range request fetches. The first range contains the header and the first chunk. Sequential
// reads double the range with each request, up to maxFetchSize.
const (
	firstFetchSize = chunkSize + tagSize + 1<<10
	maxFetchSize   = 512 << 10
	slowFetchTime  = time.Second // a range that takes longer is not followed by a larger one
)

// remoteObject reads an object by range requests. It belongs to one reader, which closes it.
type remoteObject struct {
	get            func(from int64, into []byte) (got int, err error) // reads the object that was opened, from an offset on
	cancel         func()                                             // cancels requests under way
	size           int64
	window         []byte // the bytes of the object from offset start on
	start          int64
	nextSequential int64 // the offset at which a sequential reader continues
	ahead          int   // bytes to fetch at the next sequential read
}

// rangeResult is the result of a range request: the size and the ETag of the whole object, and the number of bytes
// that were read.
type rangeResult struct {
	size   int64
	etag   string
	length int
}

// openRemoteObject fetches the first range of an object. get reads a range; if etag is set, the object must have that
// ETag. Later ranges must have the ETag of the first. ctx bounds the first request only.
func openRemoteObject(ctx context.Context, get func(ctx context.Context, from int64, into []byte, etag string) (rangeResult, error)) (*remoteObject, error) {
	window := make([]byte, firstFetchSize)
	p, err := get(ctx, 0, window, "")
	if err != nil {
		return nil, err
	}
	life, end := context.WithCancel(context.Background()) // later reads outlive ctx
	return &remoteObject{
		get: func(from int64, into []byte) (int, error) {
			next, err := get(life, from, into, p.etag)
			return next.length, err
		},
		cancel: end, size: p.size, window: window[:p.length], ahead: 2 * chunkSize,
	}, nil
}

// ReadAt implements io.ReaderAt. It must not be called concurrently.
func (f *remoteObject) ReadAt(p []byte, off int64) (int, error) {
	want := int(max(0, min(int64(len(p)), f.size-off)))
	inside := off >= f.start && off+int64(want) <= f.start+int64(len(f.window))
	if !inside {
		if err := f.load(p[:want], off); err != nil {
			return 0, err
		}
	}
	inOrder := off == f.nextSequential
	f.nextSequential = off + int64(want)
	if inside || inOrder {
		copy(p[:want], f.window[off-f.start:])
	}
	if want < len(p) {
		return want, io.EOF
	}
	return want, nil
}

// load fetches bytes that are not in the window. For a sequential read it fetches a larger range into the window. For
// any other read it fetches only p.
func (f *remoteObject) load(p []byte, off int64) error {
	if len(p) == 0 {
		return nil
	}
	if off != f.nextSequential {
		f.ahead = 2 * chunkSize
		got, err := f.get(off, p)
		return checkLength(got, len(p), err)
	}
	n := int(min(int64(max(f.ahead, len(p))), f.size-off))
	if cap(f.window) < n {
		f.window = make([]byte, n)
	}
	began := time.Now()
	f.window, f.start = f.window[:n], off
	got, err := f.get(off, f.window)
	if err = checkLength(got, n, err); err != nil {
		f.window = f.window[:0]
		return err
	}
	if time.Since(began) < slowFetchTime {
		f.ahead = min(2*f.ahead, maxFetchSize)
	}
	return nil
}

func checkLength(got, want int, err error) error {
	if err == nil && got < want {
		err = io.ErrUnexpectedEOF
	}
	return wrapStoreError("read", "on", err)
}

// Close implements io.Closer.
func (f *remoteObject) Close() error {
	f.cancel()
	return nil
}
