package message

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// ErrControlCharacter refuses a value that would end its line.
var ErrControlCharacter = errors.New("control character")

// Writer writes one message. It is the only way bytes leave this package, and
// it refuses what would let a value begin a header of its own.
type Writer struct {
	b   []byte
	err error
}

// scratch lends the buffers in which messages grow; what is kept for
// retransmission is a copy of its true size.
var scratch = sync.Pool{New: func() any { return &Writer{b: make([]byte, 0, 2048)} }}

func newWriter() *Writer {
	w, ok := scratch.Get().(*Writer)
	if !ok {
		w = new(Writer)
	}
	w.b, w.err = w.b[:0], nil
	return w
}

// NewRequest begins a request.
func NewRequest(method, uri string) *Writer {
	w := newWriter()
	w.line(method, " ", uri, " SIP/2.0")
	return w
}

// NewResponse begins a response.
func NewResponse(code int, phrase string) *Writer {
	w := newWriter()
	w.line("SIP/2.0 ", strconv.Itoa(code), " ", phrase)
	return w
}

func (w *Writer) line(parts ...string) { w.addLine(IsSingleLine, parts) }

func (w *Writer) addLine(may func(string) bool, parts []string) {
	for _, p := range parts {
		if !may(p) && w.err == nil {
			w.err = fmt.Errorf("sip: %w in %q", ErrControlCharacter, p)
		}
		w.b = append(w.b, p...)
	}
	w.b = append(w.b, '\r', '\n')
}

// AddHeader adds a header whose value is the parts together.
func (w *Writer) AddHeader(name string, value ...string) {
	w.headerName(name)
	w.line(value...)
}

func (w *Writer) headerName(name string) {
	if !IsToken(name) && w.err == nil {
		w.err = fmt.Errorf("sip: %q is no header name", name)
	}
	w.b = append(w.b, name...)
	w.b = append(w.b, ':', ' ')
}

// RepeatHeader writes a header as the request had it, which may hold NUL in a quoted pair.
func (w *Writer) RepeatHeader(name string, value ...string) {
	w.headerName(name)
	w.addLine(func(s string) bool { return IsSingleLine(strings.ReplaceAll(s, "\\\x00", "")) }, value)
}

// Finish adds the body and returns the whole message.
func (w *Writer) Finish(body []byte) ([]byte, error) { return w.FinishWithType(ContentSDP, body) }

// FinishWithType is Finish for a body that may be no SDP.
func (w *Writer) FinishWithType(contentType string, body []byte) ([]byte, error) {
	if len(body) > 0 {
		w.AddHeader("Content-Type", contentType)
	}
	w.AddHeader("Content-Length", strconv.Itoa(len(body)))
	w.b = append(w.b, '\r', '\n')
	w.b = append(w.b, body...)
	message, err := bytes.Clone(w.b), w.err
	scratch.Put(w)
	return message, err
}
