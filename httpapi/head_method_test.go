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

// stableHeaders returns the headers without those whose values differ between two equal requests.
func stableHeaders(h http.Header) http.Header {
	h = h.Clone()
	for _, name := range []string{"Date", "X-Request-Id", "X-Ratelimit-Remaining", "X-Ratelimit-Reset", "Retry-After", "Transfer-Encoding"} {
		h.Del(name)
	}
	return h
}

// For each GET route and each kind of credential, HEAD returns the status and headers of GET (RFC 9110 §9.3.2).
func TestHEADReturnsHeadersOfGET(t *testing.T) {
	t.Parallel()
	d := startServer(t, httpapi.Config{TrustedProxies: loopback()})
	for i, c := range routeCases() {
		method, _, _ := strings.Cut(c.route, " ")
		if method != http.MethodGet || strings.HasSuffix(c.route, "/stream") || strings.HasSuffix(c.route, "/listen") || strings.HasSuffix(c.route, "/talk") {
			continue
		}
		d.resetLimits() // a fresh rate limit for each case
		path := d.pathWithResource(c.route)
		for _, key := range []string{"operator", "calls:read", "agents:read", "analytics:read", "calls:write", "revoked"} {
			get := d.do(http.MethodGet, path, key, nil, "X-Forwarded-For", addressNo(i))
			d.takeAuditEntries()
			head := d.do(http.MethodHead, path, key, nil, "X-Forwarded-For", addressNo(i))
			assert.Equal(t, get.Status, head.Status, "%s with %s", c.route, key)
			assert.Empty(t, head.Body, c.route)
			want, got := stableHeaders(get.Header), stableHeaders(head.Header)
			if get.Status >= 400 { // the error contains the request id
				want.Del("Content-Length")
				got.Del("Content-Length")
			}
			assert.Equal(t, want, got, "%s with %s", c.route, key)
			for _, act := range d.takeAuditEntries() {
				assert.True(t, strings.HasPrefix(act, "auth "), "%s: %s: a HEAD request fetches nothing", c.route, act)
			}
		}
	}
	for _, path := range []string{"/v1/events/stream", d.pathWithResource("GET /v1/calls/{id}/listen"), d.pathWithResource("GET /v1/agents/{id}/talk")} {
		assert.Equal(t, []string{"GET"}, d.must(405, http.MethodHead, path, "operator", nil).Header.Values("Allow"))
	}
}

// A HEAD response has no body: the bytes after its headers are the next response on the connection.
func TestConnectionIsReusableAfterHEAD(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	for _, path := range []string{d.pathWithResource("GET /v1/campaigns/{id}/results"), d.pathWithResource("GET /v1/campaigns/{id}/contacts.csv"), d.pathWithResource("GET /v1/calls/{id}/recording"), "/v1/calls"} {
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
				assert.Equal(t, 200, res.StatusCode, path) // HEAD ignores the Range header
				assert.Empty(t, body.String())
			} else {
				assert.NotEmpty(t, body.String())
			}
		}
	}
}
