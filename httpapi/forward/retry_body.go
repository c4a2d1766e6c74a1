package forward

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// errBodyTooLong reports a form that must be read before its shard is known and is longer than maxRetryBody.
var errBodyTooLong = errors.New("forward: the body is too long")

// readShortBody reads a short body into memory, so that it can be sent again. It returns nil for no body and for a
// longer body, which is streamed. With form it also reads a body of unknown length.
func readShortBody(w http.ResponseWriter, r *http.Request, form bool) ([]byte, error) {
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		return nil, nil
	}
	conn := http.NewResponseController(w)
	if r.ContentLength < 0 && !form || r.ContentLength > maxRetryBody {
		r.Body = &timedBody{r.Body, conn}
		return nil, nil
	}
	_ = conn.SetReadDeadline(time.Now().Add(bodyTimeout)) // server connections support deadlines
	all, err := io.ReadAll(io.LimitReader(r.Body, maxRetryBody+1))
	switch {
	case err != nil:
		return nil, err
	case len(all) > maxRetryBody:
		return nil, errBodyTooLong
	case int64(len(all)) < r.ContentLength:
		return nil, io.ErrUnexpectedEOF
	}
	_ = conn.SetReadDeadline(time.Time{})
	if r.ContentLength < 0 {
		r.ContentLength, r.TransferEncoding = int64(len(all)), nil
	}
	return all, nil
}

// timedBody is a request body that sets a new read deadline before each read.
type timedBody struct {
	io.ReadCloser
	conn *http.ResponseController
}

// Read implements io.Reader.
func (p *timedBody) Read(b []byte) (int, error) {
	_ = p.conn.SetReadDeadline(time.Now().Add(bodyTimeout))
	n, err := p.ReadCloser.Read(b)
	if err != nil {
		_ = p.conn.SetReadDeadline(time.Time{}) // the body has ended
	}
	return n, err
}

// timedResponse is a response that sets a new write deadline before each write.
type timedResponse struct{ http.ResponseWriter }

// Write implements io.Writer.
func (u timedResponse) Write(b []byte) (int, error) {
	_ = http.NewResponseController(u.ResponseWriter).SetWriteDeadline(time.Now().Add(writeTimeout))
	return u.ResponseWriter.Write(b)
}

// Unwrap returns the wrapped writer for http.ResponseController.
func (u timedResponse) Unwrap() http.ResponseWriter { return u.ResponseWriter }

// retryBody is a request body that can be sent again if it was read into memory.
type retryBody struct {
	stream io.ReadCloser // a body that was not read into memory
	bytes  []byte
	used   bool
}

func newRetryBody(r *http.Request, request *forwardedRequest) *retryBody {
	switch {
	case request.body != nil:
		return &retryBody{bytes: request.body}
	case r.Body == nil || r.Body == http.NoBody:
		return &retryBody{}
	}
	return &retryBody{stream: r.Body}
}

// isComplete reports whether the whole body can still be sent.
func (k *retryBody) isComplete() bool { return k.stream == nil || !k.used }

func (k *retryBody) reader() io.ReadCloser {
	if k.stream != nil {
		return &usedMarkingReader{ReadCloser: k.stream, body: k}
	}
	if len(k.bytes) == 0 {
		return nil
	}
	return io.NopCloser(bytes.NewReader(k.bytes))
}

// usedMarkingReader reads a streamed body and marks it as used at the first read. The HTTP server closes the body.
type usedMarkingReader struct {
	io.ReadCloser
	body *retryBody
}

// Read implements io.Reader.
func (o *usedMarkingReader) Read(p []byte) (int, error) {
	o.body.used = true
	return o.ReadCloser.Read(p)
}

// Close does nothing, because another attempt may send the body.
func (o *usedMarkingReader) Close() error { return nil }

// bufferSize is the size in bytes of the buffers that copy response bodies.
const bufferSize = 16 << 10

// bufferPool is a pool of the buffers that copy response bodies.
type bufferPool struct{ all sync.Pool }

// Get implements httputil.BufferPool.
func (b *bufferPool) Get() []byte {
	if one, ok := b.all.Get().(*[bufferSize]byte); ok {
		return one[:]
	}
	return new([bufferSize]byte)[:]
}

// Put implements httputil.BufferPool.
func (b *bufferPool) Put(buffer []byte) {
	if len(buffer) == bufferSize {
		b.all.Put((*[bufferSize]byte)(buffer))
	}
}
