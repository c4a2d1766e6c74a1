package httpapi

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
	bodyGrace   = 20 * time.Second
	bodySlowest = 1024
)

// bodyAtOnce bounds what is set aside for a body because it says that it is so
// long.
const bodyAtOnce = 64 << 10

// body reads what a client sends, no faster than it is wanted, no more than
// was agreed, and not for ever. One goroutine at a time.
type body struct {
	stream io.Reader // nil: there is none
	conn   net.Conn
	framed bool // stream decodes the framing of an HTTP message: its end has to be checked
	length int  // that Content-Length declares; negative: the body is chunked
	limit  int64
	grace  time.Duration
	rate   int64 // bytes per second, at least
	read   int64
	waited time.Duration
	sum    hash.Hash // nil: the body is not digested
	err    error     // sticky: the stream below must not be read again
}

var (
	errTooLarge = &domain.Error{Code: domain.CodePayloadTooLarge, Message: "The body is larger than this route takes."}
	errTooSlow  = &domain.Error{Code: codeTimeout, Message: "The body came too slowly."}
	errBroken   = &domain.Error{Code: domain.CodeInvalidRequest, Message: "The body is incomplete: the connection ended before the declared Content-Length or the last chunk. Nothing of it was kept; send the whole body again."}
)

func (b *body) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	if b.stream == nil {
		b.err = io.EOF
		return 0, b.err
	}
	if room := b.limit + 1 - b.read; int64(len(p)) > room {
		p = p[:room]
	}
	from := time.Now()
	allowed := b.grace + time.Duration(b.read/b.rate)*time.Second - b.waited
	if err := b.conn.SetReadDeadline(from.Add(allowed)); err != nil {
		b.err = err
		return 0, err
	}
	n, err := b.stream.Read(p)
	b.waited += time.Since(from)
	b.read += int64(n)
	if b.sum != nil {
		_, _ = b.sum.Write(p[:n]) // never fails
	}
	var netErr net.Error
	switch {
	case b.read > b.limit:
		b.err = errTooLarge.With("limit", b.limit)
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
func (b *body) incomplete() bool {
	switch {
	case !b.framed:
		return false
	case b.length >= 0:
		return b.read < int64(b.length)
	}
	c, ok := b.conn.(interface{ InputEnded() bool })
	return ok && c.InputEnded()
}

// rowsThenDrain yields rows and then reads the rest of the body. An incomplete
// body is an error before the consumer takes the rows for complete.
func rowsThenDrain[T any](b *body, rows iter.Seq2[T, error]) iter.Seq2[T, error] {
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

// all is the whole body.
func (b *body) all(declared int) ([]byte, error) {
	if int64(declared) > b.limit {
		return nil, errTooLarge.With("limit", b.limit)
	}
	if b.stream == nil {
		return nil, nil
	}
	var text bytes.Buffer
	text.Grow(min(max(declared, 0), bodyAtOnce) + bytes.MinRead)
	_, err := text.ReadFrom(b)
	return text.Bytes(), err
}

// rest swallows what the handler left, up to so many bytes and so long, and
// tells whether the connection can carry another request. A client that is
// still sending would otherwise lose our answer.
func (b *body) rest(most int64, within time.Duration) (clean bool) {
	if b.stream == nil || errors.Is(b.err, io.EOF) {
		return true
	}
	if b.err != nil && domain.CodeOf(b.err) != domain.CodePayloadTooLarge {
		return false
	}
	if b.conn.SetReadDeadline(time.Now().Add(within)) != nil {
		return false
	}
	n, err := io.CopyN(io.Discard, b.stream, most)
	b.err = errBroken
	return n < most && errors.Is(err, io.EOF)
}
