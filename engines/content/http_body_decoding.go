// Package content reads the bodies of HTTP responses from other servers: it
// decompresses them and decodes their charset. Its memory is bounded by the size
// that the caller allows after decompression.
package content

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
)

// Codings is the value of Accept-Encoding: the content codings that ReadBody
// decodes.
const Codings = "gzip, deflate"

// Error explains why a body cannot be read. API responses may contain it.
type Error string

// Error returns the explanation.
func (e Error) Error() string { return string(e) }

// ErrTooLarge means that a body has more bytes than the caller allows.
const ErrTooLarge = Error("it is too large")

// maxCodings is the maximum number of content codings that are applied to one body.
const maxCodings = 2

// ReadBody returns the decompressed body (RFC 9110 §8.4). A body of more than most bytes is an error. The error is an
// Error, or the error of reading the body.
func ReadBody(h http.Header, body io.Reader, most int64) ([]byte, error) {
	var codings []string
	for name := range strings.SplitSeq(strings.Join(h.Values("Content-Encoding"), ","), ",") {
		if name = strings.ToLower(strings.TrimSpace(name)); name != "" && name != "identity" {
			codings = append(codings, name)
		}
	}
	if len(codings) > maxCodings {
		return nil, Error(fmt.Sprintf("it has %d content codings, at most %d are read", len(codings), maxCodings))
	}
	source := &stickyErrorReader{from: io.LimitReader(body, most+1)}
	var text io.Reader = source
	for _, name := range slices.Backward(codings) { // the last coding was applied last and is removed first
		var err error
		text, err = newDecompressor(name, text)
		switch {
		case source.err != nil:
			return nil, source.err
		case err != nil:
			return nil, err
		}
	}
	all, err := io.ReadAll(io.LimitReader(text, most+1))
	switch {
	case source.err != nil:
		return nil, source.err
	case int64(len(all)) > most:
		return nil, ErrTooLarge
	case err != nil:
		return nil, Error(fmt.Sprintf("it is not what its content coding %s says", strings.Join(codings, ", ")))
	}
	return all, nil
}

// stickyErrorReader keeps the read error of the body, because a decompressor may
// replace it with an error of its own.
type stickyErrorReader struct {
	from io.Reader
	err  error
}

// Read implements io.Reader.
func (k *stickyErrorReader) Read(p []byte) (int, error) {
	n, err := k.from.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		k.err = err
	}
	return n, err
}

func newDecompressor(name string, from io.Reader) (io.Reader, error) {
	switch name {
	case "gzip", "x-gzip":
		text, err := gzip.NewReader(from)
		if err != nil {
			return nil, Error("it is not what its content coding gzip says")
		}
		return text, nil
	case "deflate": // zlib; some servers send the bare stream
		b := bufio.NewReader(from)
		head, _ := b.Peek(2)
		if len(head) < 2 || head[0]&0x0f != 8 || (int(head[0])<<8+int(head[1]))%31 != 0 { // RFC 1950 §2.2
			return flate.NewReader(b), nil
		}
		text, err := zlib.NewReader(b)
		if err != nil {
			return nil, Error("it is not what its content coding deflate says")
		}
		return text, nil
	}
	return nil, Error(fmt.Sprintf("it has the content coding %.40q, which is not read: send %s, or none", name, Codings))
}

// DecodeText converts a text to UTF-8. The byte order mark, the content type or a
// <meta> element names the charset. Without a charset, the text is UTF-8 if it is valid
// UTF-8, and otherwise Windows-1252. The error is an Error: the charset is unknown, or
// the data are not text.
func DecodeText(contentType string, body []byte) (string, error) {
	if _, params, err := mime.ParseMediaType(contentType); err == nil && params["charset"] != "" {
		if e, _ := charset.Lookup(params["charset"]); e == nil {
			return "", Error(fmt.Sprintf("its charset %.40q is not known", params["charset"]))
		}
	}
	encoding, name, certain := charset.DetermineEncoding(body, contentType)
	if !certain && utf8.Valid(body) {
		name = "utf-8"
	}
	text := body
	if name != "utf-8" {
		var err error
		if text, err = encoding.NewDecoder().Bytes(body); err != nil {
			return "", Error("it is not text in " + name)
		}
	}
	decoded := strings.TrimPrefix(strings.ToValidUTF8(string(text), "\uFFFD"), "\ufeff")
	if isBinary(decoded) {
		return "", Error("it is not text in " + name)
	}
	return decoded, nil
}

// isBinary reports whether data are not text: more than one character in a hundred is
// invalid in the charset or a control character.
func isBinary(text string) bool {
	characters, bad := 0, 0
	for _, r := range text {
		characters++
		if r == utf8.RuneError || unicode.IsControl(r) && !unicode.IsSpace(r) {
			bad++
		}
	}
	return 100*bad > characters
}
