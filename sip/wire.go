package sip

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

var errUnclean = errors.New("control character")

// wire writes one message. It is the only way bytes leave this package, and
// it refuses what would let a value begin a header of its own.
type wire struct {
	b   []byte
	err error
}

// scratch lends the buffers in which messages grow; what is kept for
// retransmission is a copy of its true size.
var scratch = sync.Pool{New: func() any { return &wire{b: make([]byte, 0, 2048)} }}

func newWire() *wire {
	w, ok := scratch.Get().(*wire)
	if !ok {
		w = new(wire)
	}
	w.b, w.err = w.b[:0], nil
	return w
}

func newRequest(method, uri string) *wire {
	w := newWire()
	w.line(method, " ", uri, " SIP/2.0")
	return w
}

func newResponse(code int, phrase string) *wire {
	w := newWire()
	w.line("SIP/2.0 ", strconv.Itoa(code), " ", phrase)
	return w
}

func (w *wire) line(parts ...string) { w.checked(clean, parts) }

func (w *wire) checked(may func(string) bool, parts []string) {
	for _, p := range parts {
		if !may(p) && w.err == nil {
			w.err = fmt.Errorf("sip: %w in %q", errUnclean, p)
		}
		w.b = append(w.b, p...)
	}
	w.b = append(w.b, '\r', '\n')
}

func (w *wire) header(name string, value ...string) {
	w.headerName(name)
	w.line(value...)
}

func (w *wire) headerName(name string) {
	if !isToken(name) && w.err == nil {
		w.err = fmt.Errorf("sip: %q is no header name", name)
	}
	w.b = append(w.b, name...)
	w.b = append(w.b, ':', ' ')
}

// repeat writes a header as the request had it, which may hold NUL in a quoted pair.
func (w *wire) repeat(name string, value ...string) {
	w.headerName(name)
	w.checked(func(s string) bool { return clean(strings.ReplaceAll(s, "\\\x00", "")) }, value)
}

// finish adds the body and returns the whole message.
func (w *wire) finish(body []byte) ([]byte, error) { return w.finishAs(contentSDP, body) }

// finishAs is finish for a body that may be no SDP.
func (w *wire) finishAs(contentType string, body []byte) ([]byte, error) {
	if len(body) > 0 {
		w.header("Content-Type", contentType)
	}
	w.header("Content-Length", strconv.Itoa(len(body)))
	w.b = append(w.b, '\r', '\n')
	w.b = append(w.b, body...)
	message, err := bytes.Clone(w.b), w.err
	scratch.Put(w)
	return message, err
}

func clean(s string) bool { return !strings.ContainsAny(s, "\r\n\x00") }

func isToken(s string) bool {
	for i := range len(s) {
		if !isAlnum(s[i]) && !strings.ContainsRune("-.!%*_+`'~", rune(s[i])) {
			return false
		}
	}
	return s != ""
}

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// userPart escapes what a telephone user may hold and refuses the rest.
func userPart(s string) (string, error) {
	for i := range len(s) {
		if !isAlnum(s[i]) && !strings.ContainsRune("+-_.!~*#", rune(s[i])) {
			return "", fmt.Errorf("sip: %q is no user", s)
		}
	}
	if s == "" || len(s) > 64 {
		return "", fmt.Errorf("sip: %q is no user", s)
	}
	return strings.ReplaceAll(s, "#", "%23"), nil
}

func isHost(s string) bool {
	for i := range len(s) {
		if !isAlnum(s[i]) && !strings.ContainsRune("-._:[]", rune(s[i])) {
			return false
		}
	}
	return s != "" && len(s) <= 253
}

// quoted is a display name or text as a quoted string (RFC 3261 25.1).
func quoted(s string) string {
	if !strings.ContainsAny(s, `\"`) {
		return `"` + s + `"`
	}
	return `"` + strings.ReplaceAll(strings.ReplaceAll(s, `\`, `\\`), `"`, `\"`) + `"`
}
