// Package content reads what other servers answer: it undoes content codings
// and decodes charsets. Its memory is bounded by the size that the caller
// allows after decompression.
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

// Codings is the value of Accept-Encoding: the content codings that Read
// undoes.
const Codings = "gzip, deflate"

// Error says why a body cannot be read. It is fit to be shown.
type Error string

// Error is the text.
func (e Error) Error() string { return string(e) }

// ErrTooLarge says that a body has more bytes than the caller allows.
const ErrTooLarge = Error("it is too large")

// maxCodings bounds the content codings of one body.
const maxCodings = 2

// Read returns a body of at most most bytes, without its content codings
// (RFC 9110 §8.4). An error is an Error, or that of the body.
func Read(h http.Header, body io.Reader, most int64) ([]byte, error) {
	var codings []string
	for name := range strings.SplitSeq(strings.Join(h.Values("Content-Encoding"), ","), ",") {
		if name = strings.ToLower(strings.TrimSpace(name)); name != "" && name != "identity" {
			codings = append(codings, name)
		}
	}
	if len(codings) > maxCodings {
		return nil, Error(fmt.Sprintf("it has %d content codings, at most %d are read", len(codings), maxCodings))
	}
	source := &errorKeeper{from: io.LimitReader(body, most+1)}
	var text io.Reader = source
	for _, name := range slices.Backward(codings) { // the last one was applied last
		var err error
		text, err = decoder(name, text)
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

// errorKeeper remembers an error of the body, which a decoder may replace.
type errorKeeper struct {
	from io.Reader
	err  error
}

// Read is an io.Reader's.
func (k *errorKeeper) Read(p []byte) (int, error) {
	n, err := k.from.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		k.err = err
	}
	return n, err
}

func decoder(name string, from io.Reader) (io.Reader, error) {
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

// Text decodes a text by its byte order mark, the charset of its content type
// or its <meta>; one without any is UTF-8 where it is valid as such, and else
// Windows-1252. Errors are fit to be shown.
func Text(contentType string, body []byte) (string, error) {
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
	if isNoise(decoded) {
		return "", Error("it is not text in " + name)
	}
	return decoded, nil
}

// isNoise says whether a text is none: more than one letter in a hundred was
// no letter of its charset or is a control character.
func isNoise(text string) bool {
	letters, bad := 0, 0
	for _, r := range text {
		letters++
		if r == utf8.RuneError || unicode.IsControl(r) && !unicode.IsSpace(r) {
			bad++
		}
	}
	return 100*bad > letters
}
