package router

import (
	"bytes"
	"errors"
	"hash"
	"io"
	"iter"
	"net"
	"time"

	"github.com/callboard/callboard/domain"
)

// The default time limits of a request body. The client may take BodyGrace in total, plus one second for each
// MinBodyRate bytes that have arrived. Only the time spent waiting for the client counts.
const (
	BodyGrace   = 20 * time.Second
	MinBodyRate = 1024
)

// BodyBufferSize is the maximum size in bytes of the buffer that is allocated for a declared Content-Length.
const BodyBufferSize = 64 << 10

// Body reads a request body within a size limit and a time limit. It reads from the connection only when the handler
// reads. A Body must be used by one goroutine at a time.
type Body struct {
	Stream io.Reader // nil: the request has no body
	Conn   net.Conn
	Framed bool // Stream decodes the framing of an HTTP message, so Body checks that the message is complete
	Length int  // the declared Content-Length; negative: the body is chunked
	Limit  int64
	Grace  time.Duration
	Rate   int64 // minimum rate of the client, bytes per second
	read   int64
	waited time.Duration
	Sum    hash.Hash // nil: the body is not digested
	err    error     // the first error of Stream, which must not be read after it
}

var (
	// ErrBodyTooLarge reports a body above the size limit of its route.
	ErrBodyTooLarge   = &domain.Error{Code: domain.CodePayloadTooLarge, Message: "The body is larger than this route accepts."}
	errSlowBody       = &domain.Error{Code: CodeRequestTimeout, Message: "The body arrived too slowly."}
	errIncompleteBody = &domain.Error{Code: domain.CodeInvalidRequest, Message: "The body is incomplete: the connection ended before the declared Content-Length or the last chunk. Nothing was stored; send the whole body again."}
)

// Read reads the next bytes of the body. It returns an error when the body is too long, too slow or incomplete.
func (b *Body) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	if b.Stream == nil {
		b.err = io.EOF
		return 0, b.err
	}
	if room := b.Limit + 1 - b.read; int64(len(p)) > room {
		p = p[:room]
	}
	from := time.Now()
	allowed := b.Grace + time.Duration(b.read/b.Rate)*time.Second - b.waited
	if err := b.Conn.SetReadDeadline(from.Add(allowed)); err != nil {
		b.err = err
		return 0, err
	}
	n, err := b.Stream.Read(p)
	b.waited += time.Since(from)
	b.read += int64(n)
	if b.Sum != nil {
		_, _ = b.Sum.Write(p[:n]) // Write of a hash never fails
	}
	var netErr net.Error
	switch {
	case b.read > b.Limit:
		b.err = ErrBodyTooLarge.With("limit", b.Limit)
	case err == nil:
	case errors.Is(err, io.EOF) && b.incomplete():
		b.err = errIncompleteBody
	case errors.Is(err, io.EOF):
		b.err = io.EOF
	case domain.CodeOf(err) != "": // Stream is a Body, which has returned this error
		b.err = err
	case errors.As(err, &netErr) && netErr.Timeout():
		b.err = errSlowBody
	default:
		b.err = errIncompleteBody
	}
	return n, b.err
}

// incomplete reports whether a stream that has ended lacks a part of the body (RFC 9112 §6.3, §8): bytes that
// Content-Length declares, or the last chunk. fasthttp returns io.EOF in both cases.
func (b *Body) incomplete() bool {
	switch {
	case !b.Framed:
		return false
	case b.Length >= 0:
		return b.read < int64(b.Length)
	}
	c, ok := b.Conn.(interface{ InputEnded() bool })
	return ok && c.InputEnded()
}

// RowsThenDrain yields the rows that a reader decodes from the body, and then reads the remainder of the body. If the
// body is incomplete, the last pair holds an error.
func RowsThenDrain[T any](b *Body, rows iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for row, err := range rows {
			if !yield(row, err) || err != nil {
				return
			}
		}
		if _, err := io.Copy(io.Discard, b); err != nil {
			var none T
			yield(none, err)
		}
	}
}

// ReadAll returns the whole body. declared is the Content-Length, negative if unknown.
func (b *Body) ReadAll(declared int) ([]byte, error) {
	if int64(declared) > b.Limit {
		return nil, ErrBodyTooLarge.With("limit", b.Limit)
	}
	if b.Stream == nil {
		return nil, nil
	}
	var text bytes.Buffer
	text.Grow(min(max(declared, 0), BodyBufferSize) + bytes.MinRead)
	_, err := text.ReadFrom(b)
	return text.Bytes(), err
}

// Discard reads the remainder of the body: at most most bytes, for at most within. Otherwise a client that is still
// sending could lose the response. clean reports whether the connection can carry another request.
func (b *Body) Discard(most int64, within time.Duration) (clean bool) {
	if b.Stream == nil || errors.Is(b.err, io.EOF) {
		return true
	}
	if b.err != nil && domain.CodeOf(b.err) != domain.CodePayloadTooLarge {
		return false
	}
	if b.Conn.SetReadDeadline(time.Now().Add(within)) != nil {
		return false
	}
	n, err := io.CopyN(io.Discard, b.Stream, most)
	b.err = errIncompleteBody
	return n < most && errors.Is(err, io.EOF)
}
