package blob

import (
	"context"
	"io"
	"time"

	"github.com/callboard/callboard/persistence/s3"
)

// What is asked for at once: the beginning of an object, with room for its head
// and its first chunk, and where it is read in order more each time.
const (
	firstFetch = chunkSize + tagSize + 1<<10
	mostFetch  = 512 << 10
	slowFetch  = time.Second // what takes so long does not grow
)

// remote reads an object by ranges. It is one reader's, who closes it.
type remote struct {
	get    func(from int64, into []byte) (s3.Piece, error) // of the object that was opened
	end    func()                                          // ends what is under way
	size   int64
	window []byte // holds what lies from start on
	start  int64
	next   int64 // where a reader in order goes on
	ahead  int
}

func newRemote(ctx context.Context, client *s3.Client, key string) (*remote, error) {
	window := make([]byte, firstFetch)
	p, err := client.Get(ctx, key, 0, window, "")
	if err != nil {
		return nil, err
	}
	life, end := context.WithCancel(context.Background()) // a body is read after its request is over
	get := func(from int64, into []byte) (s3.Piece, error) { return client.Get(life, key, from, into, p.ETag) }
	return &remote{get: get, end: end, size: p.Size, window: window[:p.Got], ahead: 2 * chunkSize}, nil
}

// ReadAt is io.ReaderAt, for one caller at a time.
func (f *remote) ReadAt(p []byte, off int64) (int, error) {
	want := int(max(0, min(int64(len(p)), f.size-off)))
	inside := off >= f.start && off+int64(want) <= f.start+int64(len(f.window))
	if !inside {
		if err := f.load(p[:want], off); err != nil {
			return 0, err
		}
	}
	inOrder := off == f.next
	f.next = off + int64(want)
	if inside || inOrder {
		copy(p[:want], f.window[off-f.start:])
	}
	if want < len(p) {
		return want, io.EOF
	}
	return want, nil
}

// load fetches what is not there: into the window with more that follows where
// it is read in order, and just this where it is not.
func (f *remote) load(p []byte, off int64) error {
	if len(p) == 0 {
		return nil
	}
	if off != f.next {
		f.ahead = 2 * chunkSize
		got, err := f.get(off, p)
		return whole(got, len(p), err)
	}
	n := int(min(int64(max(f.ahead, len(p))), f.size-off))
	if cap(f.window) < n {
		f.window = make([]byte, n)
	}
	began := time.Now()
	f.window, f.start = f.window[:n], off
	got, err := f.get(off, f.window)
	if err = whole(got, n, err); err != nil {
		f.window = f.window[:0]
		return err
	}
	if time.Since(began) < slowFetch {
		f.ahead = min(2*f.ahead, mostFetch)
	}
	return nil
}

func whole(got s3.Piece, want int, err error) error {
	if err == nil && got.Got < want {
		err = io.ErrUnexpectedEOF
	}
	return told("read", "on", err)
}

// Close is io.Closer.
func (f *remote) Close() error {
	f.end()
	return nil
}
