package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// maxAnswer bounds an answer: the longest are lists and the ranges of a reader.
const maxAnswer = 8 << 20

var errIdle = errors.New("nothing moved for too long")

// stallTimeoutTransport ends a request in which no byte moves for too long. It returns
// answers that are whole, so that minio-go repeats a request whose answer breaks off.
type stallTimeoutTransport struct {
	http.RoundTripper
	limit time.Duration
}

// RoundTrip is http.RoundTripper.
func (t *stallTimeoutTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	timer := time.AfterFunc(t.limit, func() { cancel(errIdle) })
	defer timer.Stop()
	moved := func() { timer.Reset(t.limit) }
	r = r.WithContext(ctx)
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = &progressReader{r.Body, moved}
	}
	resp, err := t.RoundTripper.RoundTrip(r)
	if err == nil {
		moved()
		err = readWhole(resp, moved)
	}
	switch {
	case err == nil:
		return resp, nil
	case errors.Is(context.Cause(ctx), errIdle):
		err = errIdle
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF): // minio-go puts the URL into the text of these
		err = errors.New("the connection ended before the answer")
	}
	return nil, err
}

// readWhole puts the body of an answer into memory.
func readWhole(resp *http.Response, moved func()) error {
	var body bytes.Buffer
	if n := resp.ContentLength; n > 0 && n <= maxAnswer {
		body.Grow(int(n) + bytes.MinRead)
	}
	_, err := body.ReadFrom(io.LimitReader(&progressReader{resp.Body, moved}, maxAnswer+1))
	_ = resp.Body.Close()
	if err != nil {
		return err
	}
	if body.Len() > maxAnswer {
		return fmt.Errorf("the store answers with more than %d bytes", maxAnswer)
	}
	if resp.StatusCode == http.StatusNotFound && !bytes.Contains(body.Bytes(), []byte("<Code>")) {
		resp.Header.Set("X-Minio-Error-Code", "NotFound") // minio-go takes it for a missing object, but a proxy or another server may say so
	}
	resp.Body = io.NopCloser(&body)
	return nil
}

// progressReader tells that bytes moved.
type progressReader struct {
	io.ReadCloser
	moved func()
}

// Read is io.Reader.
func (b *progressReader) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.moved()
	}
	return n, err
}
