package blob

import (
	"context"
	"io"
	"time"
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
	get    func(from int64, into []byte) (got int, err error) // of the object that was opened
	end    func()                                             // ends what is under way
	size   int64
	window []byte // holds what lies from start on
	start  int64
	next   int64 // where a reader in order goes on
	ahead  int
}

// piece is what a ranged read brought of an object: its whole size, a mark that
// no other object of its name has, and how many bytes were read.
type piece struct {
	size int64
	mark string
	got  int
}

// newRemote begins with get, which reads of the object that is named by its mark, or
// of whichever there is. ctx is for the beginning alone.
func newRemote(ctx context.Context, get func(ctx context.Context, from int64, into []byte, mark string) (piece, error)) (*remote, error) {
	window := make([]byte, firstFetch)
	p, err := get(ctx, 0, window, "")
	if err != nil {
		return nil, err
	}
	life, end := context.WithCancel(context.Background()) // a body is read after its request is over
	return &remote{
		get: func(from int64, into []byte) (int, error) {
			next, err := get(life, from, into, p.mark)
			return next.got, err
		},
		end: end, size: p.size, window: window[:p.got], ahead: 2 * chunkSize,
	}, nil
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

func whole(got, want int, err error) error {
	if err == nil && got < want {
		err = io.ErrUnexpectedEOF
	}
	return told("read", "on", err)
}

// Close is io.Closer.
func (f *remote) Close() error {
	f.end()
	return nil
}
