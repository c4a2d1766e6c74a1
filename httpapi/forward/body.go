package forward

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// errLong: a body that has to be read has more than keptBody bytes.
var errLong = errors.New("forward: the body is too long")

// keep reads a short body, so that it can be sent again; nil: it is none. A
// longer one is passed on as it comes, which must not be too slowly. form: one
// that does not say how long it is is read, too.
func keep(w http.ResponseWriter, r *http.Request, form bool) ([]byte, error) {
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		return nil, nil
	}
	conn := http.NewResponseController(w)
	if r.ContentLength < 0 && !form || r.ContentLength > keptBody {
		r.Body = &paced{r.Body, conn}
		return nil, nil
	}
	_ = conn.SetReadDeadline(time.Now().Add(bodyLimit)) // a server's connections know deadlines
	all, err := io.ReadAll(io.LimitReader(r.Body, keptBody+1))
	switch {
	case err != nil:
		return nil, err
	case len(all) > keptBody:
		return nil, errLong
	case int64(len(all)) < r.ContentLength:
		return nil, io.ErrUnexpectedEOF
	}
	_ = conn.SetReadDeadline(time.Time{})
	if r.ContentLength < 0 {
		r.ContentLength, r.TransferEncoding = int64(len(all)), nil
	}
	return all, nil
}

// paced is a body of which each piece has its time.
type paced struct {
	io.ReadCloser
	conn *http.ResponseController
}

// Read is an io.Reader's.
func (p *paced) Read(b []byte) (int, error) {
	_ = p.conn.SetReadDeadline(time.Now().Add(bodyLimit))
	n, err := p.ReadCloser.Read(b)
	if err != nil {
		_ = p.conn.SetReadDeadline(time.Time{}) // what follows is no body
	}
	return n, err
}

// unhurried is an answer of which each piece has its time.
type unhurried struct{ http.ResponseWriter }

// Write is an io.Writer's.
func (u unhurried) Write(b []byte) (int, error) {
	_ = http.NewResponseController(u.ResponseWriter).SetWriteDeadline(time.Now().Add(writeLimit))
	return u.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (u unhurried) Unwrap() http.ResponseWriter { return u.ResponseWriter }

// kept is a body that can be sent again, where it was read before.
type kept struct {
	stream io.ReadCloser // of one that was not
	bytes  []byte
	used   bool
}

func keptOf(r *http.Request, one *flight) *kept {
	switch {
	case one.body != nil:
		return &kept{bytes: one.body}
	case r.Body == nil || r.Body == http.NoBody:
		return &kept{}
	}
	return &kept{stream: r.Body}
}

// whole says whether all of it is there still.
func (k *kept) whole() bool { return k.stream == nil || !k.used }

func (k *kept) reader() io.ReadCloser {
	if k.stream != nil {
		return &once{ReadCloser: k.stream, k: k}
	}
	if len(k.bytes) == 0 {
		return nil
	}
	return io.NopCloser(bytes.NewReader(k.bytes))
}

// once is a body that is gone once it was read from. It stays open for another
// try; the server closes it.
type once struct {
	io.ReadCloser
	k *kept
}

// Read is an io.Reader's.
func (o *once) Read(p []byte) (int, error) {
	o.k.used = true
	return o.ReadCloser.Read(p)
}

// Close leaves it to whoever reads the request.
func (o *once) Close() error { return nil }

// pieceMost is how much of an answer is passed on at a time, in bytes.
const pieceMost = 16 << 10

// buffers are for pieces of answers.
type buffers struct{ all sync.Pool }

// Get is an httputil.BufferPool's.
func (b *buffers) Get() []byte {
	if one, ok := b.all.Get().(*[pieceMost]byte); ok {
		return one[:]
	}
	return new([pieceMost]byte)[:]
}

// Put is an httputil.BufferPool's.
func (b *buffers) Put(one []byte) {
	if len(one) == pieceMost {
		b.all.Put((*[pieceMost]byte)(one))
	}
}
