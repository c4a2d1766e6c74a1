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

// maxResponseBytes is the maximum size of a response. The largest responses are lists and ranges of objects.
const maxResponseBytes = 8 << 20

var errIdle = errors.New("no bytes were transferred for too long")

// stallTimeoutTransport cancels a request in which no byte is transferred for the time limit. It reads responses
// completely, so that minio-go repeats a request whose response is cut off.
type stallTimeoutTransport struct {
	http.RoundTripper
	limit time.Duration
}

// RoundTrip implements http.RoundTripper. The body of the response is already in memory.
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
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF): // minio-go adds the URL to these errors
		err = errors.New("the connection ended before the end of the response")
	}
	return nil, err
}

// readWhole reads the body of a response into memory and calls moved whenever bytes arrive.
func readWhole(resp *http.Response, moved func()) error {
	var body bytes.Buffer
	if n := resp.ContentLength; n > 0 && n <= maxResponseBytes {
		body.Grow(int(n) + bytes.MinRead)
	}
	_, err := body.ReadFrom(io.LimitReader(&progressReader{resp.Body, moved}, maxResponseBytes+1))
	_ = resp.Body.Close()
	if err != nil {
		return err
	}
	if body.Len() > maxResponseBytes {
		return fmt.Errorf("the response of the store has more than %d bytes", maxResponseBytes)
	}
	if resp.StatusCode == http.StatusNotFound && !bytes.Contains(body.Bytes(), []byte("<Code>")) {
		resp.Header.Set("X-Minio-Error-Code", "NotFound") // minio-go takes any 404 for a missing object, but it may come from a proxy or another server
	}
	resp.Body = io.NopCloser(&body)
	return nil
}

// progressReader is a reader that calls moved after each read of at least one byte.
type progressReader struct {
	io.ReadCloser
	moved func()
}

// Read implements io.Reader.
func (b *progressReader) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.moved()
	}
	return n, err
}
