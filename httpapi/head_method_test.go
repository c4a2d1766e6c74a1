package httpapi_test

import (
	"bufio"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/httpapi"
)

// changing are the headers that no two answers share.
func changing(h http.Header) http.Header {
	h = h.Clone()
	for _, name := range []string{"Date", "X-Request-Id", "X-Ratelimit-Remaining", "X-Ratelimit-Reset", "Retry-After", "Transfer-Encoding"} {
		h.Del(name)
	}
	return h
}

// Each GET × each kind of credential: HEAD is let in or refused as GET is, and
// tells what GET tells (RFC 9110 §9.3.2).
func TestHEADAnswersAsGETDoesWithoutTheBody(t *testing.T) {
	t.Parallel()
	d := startServer(t, httpapi.Config{TrustedProxies: loopback()})
	for i, c := range routeCases() {
		method, _, _ := strings.Cut(c.route, " ")
		if method != http.MethodGet || strings.HasSuffix(c.route, "/stream") || strings.HasSuffix(c.route, "/listen") || strings.HasSuffix(c.route, "/talk") {
			continue
		}
		d.unlimited() // its requests are not counted with those of others, nor its refusals
		path := d.stock(c.route)
		for _, key := range []string{"operator", "calls:read", "agents:read", "analytics:read", "calls:write", "revoked"} {
			get := d.do(http.MethodGet, path, key, nil, "X-Forwarded-For", addressNo(i))
			d.noted()
			head := d.do(http.MethodHead, path, key, nil, "X-Forwarded-For", addressNo(i))
			assert.Equal(t, get.Status, head.Status, "%s with %s", c.route, key)
			assert.Empty(t, head.Body, c.route)
			want, got := changing(get.Header), changing(head.Header)
			if get.Status >= 400 { // which quotes the request's id
				want.Del("Content-Length")
				got.Del("Content-Length")
			}
			assert.Equal(t, want, got, "%s with %s", c.route, key)
			for _, act := range d.noted() {
				assert.True(t, strings.HasPrefix(act, "auth "), "%s: %s: nothing was fetched", c.route, act)
			}
		}
	}
	for _, path := range []string{"/v1/events/stream", d.stock("GET /v1/calls/{id}/listen"), d.stock("GET /v1/agents/{id}/talk")} {
		assert.Equal(t, []string{"GET"}, d.must(405, http.MethodHead, path, "operator", nil).Header.Values("Allow"))
	}
}

// What follows on the connection is the next answer, not the body of this one.
func TestAConnectionGoesOnAfterHEAD(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	for _, path := range []string{d.stock("GET /v1/campaigns/{id}/results"), d.stock("GET /v1/campaigns/{id}/contacts.csv"), d.stock("GET /v1/calls/{id}/recording"), "/v1/calls"} {
		conn := d.dial()
		r := bufio.NewReader(conn)
		for _, method := range []string{http.MethodHead, http.MethodGet, http.MethodHead} {
			_, err := fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer operator\r\nRange: bytes=0-1\r\n\r\n", method, path)
			require.NoError(t, err)
			res, err := http.ReadResponse(r, &http.Request{Method: method})
			require.NoError(t, err, "%s %s", method, path)
			body := new(strings.Builder)
			_, err = bufio.NewReader(res.Body).WriteTo(body)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			if method == http.MethodHead {
				assert.Equal(t, 200, res.StatusCode, path) // of which there is no part
				assert.Empty(t, body.String())
			} else {
				assert.NotEmpty(t, body.String())
			}
		}
	}
}
