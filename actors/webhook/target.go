package webhook

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// target is a URL taken apart.
type target struct {
	text  string
	url   *url.URL
	addr  string // host and port
	head  string // of a request: its first line, and its host
	plain bool   // all of it may be written as it stands
}

// target is that of a URL; nil: it is not valid. The last one is kept: an
// endpoint has one.
func (c *Client) target(text string) *target {
	if t := c.last.Load(); t != nil && t.text == text {
		return t
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" || u.Host == "" {
		return nil
	}
	t := &target{text: text, url: u}
	port := u.Port()
	if port == "" {
		port = "443"
	}
	uri := u.RequestURI()
	t.addr = net.JoinHostPort(u.Hostname(), port)
	t.head = "POST " + uri + " HTTP/1.1\r\nHost: " + u.Host + "\r\n"
	t.plain = strings.HasPrefix(uri, "/") && visible(uri) && !strings.Contains(uri, " ") &&
		!strings.ContainsFunc(u.Host, func(r rune) bool { return !inHost(r) })
	c.last.Store(t)
	return t
}

// inHost says whether a name or an address, with its port, may have a letter
// that needs no other spelling on the wire.
func inHost(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune(".-:[]", r)
}

// fits says whether a request may be written on a wire as it stands, in one
// piece.
func (t *target) fits(r *Request) bool {
	n := len(t.head) + len("Content-Length: 16384\r\n\r\n") + len(r.Body)
	for _, h := range r.Header {
		n += len(h.Name) + len(h.Value) + len(": \r\n")
		if !visible(h.Name) || !visible(h.Value) {
			return false
		}
	}
	return t.plain && n <= mostAtOnce
}

// visible says whether a text has nothing but visible letters of ASCII and
// spaces.
func visible(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// request is what goes out by the transport. The names of its header lines are
// in their canonical form.
func (t *target) request(ctx context.Context, r *Request) *http.Request {
	req := &http.Request{
		Method: http.MethodPost, URL: t.url, Host: t.url.Host, Header: make(http.Header, len(r.Header)+1),
		ContentLength: int64(len(r.Body)), Body: io.NopCloser(bytes.NewReader(r.Body)),
		// A connection that was closed before anything was written to it is no attempt.
		GetBody: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(r.Body)), nil },
	}
	values := make([]string, len(r.Header))
	for i, h := range r.Header {
		values[i] = h.Value
		req.Header[h.Name] = values[i : i+1 : i+1]
	}
	return req.WithContext(ctx)
}
