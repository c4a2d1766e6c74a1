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

// How slow a client may be: it may take grace, and a second more for each
// slowest bytes. Only time spent waiting for the client counts.
const (
	BodyGrace   = 20 * time.Second
	SlowestBody = 1024
)

// BodyBufferSize bounds what is set aside for a body because it says that it is so
// long.
const BodyBufferSize = 64 << 10

// Body reads what a client sends, no faster than it is wanted, no more than
// was agreed, and not for ever. One goroutine at a time.
type Body struct {
	Stream io.Reader // nil: there is none
	Conn   net.Conn
	Framed bool // stream decodes the framing of an HTTP message: its end has to be checked
	Length int  // that Content-Length declares; negative: the body is chunked
	Limit  int64
	Grace  time.Duration
	Rate   int64 // bytes per second, at least
	read   int64
	waited time.Duration
	Sum    hash.Hash // nil: the body is not digested
	err    error     // sticky: the stream below must not be read again
}

var (
	// ErrBodyTooLarge refuses a body above the limit of its route.
	ErrBodyTooLarge = &domain.Error{Code: domain.CodePayloadTooLarge, Message: "The body is larger than this route takes."}
	errTooSlow      = &domain.Error{Code: CodeRequestTimeout, Message: "The body came too slowly."}
	errBroken       = &domain.Error{Code: domain.CodeInvalidRequest, Message: "The body is incomplete: the connection ended before the declared Content-Length or the last chunk. Nothing of it was kept; send the whole body again."}
)

// Read reads from the client within the limits of the body.
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
		_, _ = b.Sum.Write(p[:n]) // never fails
	}
	var netErr net.Error
	switch {
	case b.read > b.Limit:
		b.err = ErrBodyTooLarge.With("limit", b.Limit)
	case err == nil:
	case errors.Is(err, io.EOF) && b.incomplete():
		b.err = errBroken
	case errors.Is(err, io.EOF):
		b.err = io.EOF
	case domain.CodeOf(err) != "": // of a body within this one
		b.err = err
	case errors.As(err, &netErr) && netErr.Timeout():
		b.err = errTooSlow
	default:
		b.err = errBroken
	}
	return n, b.err
}

// incomplete says whether a stream at its end lacks a part of the body (RFC
// 9112 §6.3, §8): fewer bytes than Content-Length declares, or no last chunk.
// fasthttp reports the end of the connection in both places as io.EOF.
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

// RowsThenDrain yields rows and then reads the rest of the body. An incomplete
// body is an error before the consumer takes the rows for complete.
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

// ReadAll is the whole body.
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

// Discard swallows what the handler left, up to so many bytes and so long, and
// tells whether the connection can carry another request. A client that is
// still sending would otherwise lose our answer.
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
	b.err = errBroken
	return n < most && errors.Is(err, io.EOF)
}
