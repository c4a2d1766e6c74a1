package message

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// ErrControlCharacter reports a value with a control character that would end its header line.
var ErrControlCharacter = errors.New("control character")

// Writer writes one SIP message. It refuses values with line breaks, with which a peer could add a header.
type Writer struct {
	b   []byte
	err error
}

// scratch is a pool of buffers in which messages are written. A finished message is a copy of its exact size.
var scratch = sync.Pool{New: func() any { return &Writer{b: make([]byte, 0, 2048)} }}

func newWriter() *Writer {
	w, ok := scratch.Get().(*Writer)
	if !ok {
		w = new(Writer)
	}
	w.b, w.err = w.b[:0], nil
	return w
}

// NewRequest starts a request.
func NewRequest(method, uri string) *Writer {
	w := newWriter()
	w.line(method, " ", uri, " SIP/2.0")
	return w
}

// NewResponse starts a response.
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

// AddHeader adds a header. Its value is the concatenation of the parts.
func (w *Writer) AddHeader(name string, value ...string) {
	w.headerName(name)
	w.line(value...)
}

func (w *Writer) headerName(name string) {
	if !IsToken(name) && w.err == nil {
		w.err = fmt.Errorf("sip: %q is not a valid header name", name)
	}
	w.b = append(w.b, name...)
	w.b = append(w.b, ':', ' ')
}

// RepeatHeader copies a header of the request into its response. Unlike in AddHeader, a NUL may occur in a quoted pair.
func (w *Writer) RepeatHeader(name string, value ...string) {
	w.headerName(name)
	w.addLine(func(s string) bool { return IsSingleLine(strings.ReplaceAll(s, "\\\x00", "")) }, value)
}

// Finish adds an SDP body and returns the whole message.
func (w *Writer) Finish(body []byte) ([]byte, error) { return w.FinishWithType(ContentSDP, body) }

// FinishWithType adds a body of any content type and returns the whole message.
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
