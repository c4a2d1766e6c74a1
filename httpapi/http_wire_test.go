package httpapi_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/httpapi"
)

// sendRaw sends bytes over a new connection and reads all responses until the connection is closed.
func (d *testServer) sendRaw(text string) (responses []reply) {
	d.t.Helper()
	conn := d.dial()
	_, err := io.WriteString(conn, text)
	require.NoError(d.t, err)
	r := bufio.NewReader(conn)
	for {
		res, err := http.ReadResponse(r, &http.Request{Method: strings.Fields(text)[0]})
		if err != nil {
			return responses
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		responses = append(responses, reply{res.StatusCode, res.Header, body})
		if err != nil || res.Close {
			return responses
		}
	}
}

// The server refuses a request that a proxy could parse differently. It parses none of its bytes as a second request.
func TestAmbiguousRequestsAreRefused(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	const inner = "GET /v1/workspace HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer operator\r\nConnection: close\r\n\r\n"
	head := "POST /v1/webhooks HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer operator\r\nContent-Type: application/json\r\n"
	for name, text := range map[string]string{
		"Content-Length before Transfer-Encoding": head + "Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + inner,
		"Transfer-Encoding before Content-Length": head + fmt.Sprintf("Transfer-Encoding: chunked\r\nContent-Length: %d\r\n\r\n0\r\n\r\n%s", 5+len(inner), inner),
		"two Content-Length headers, zero first":  head + fmt.Sprintf("Content-Length: 0\r\nContent-Length: %d\r\n\r\n%s", len(inner), inner),
		"two Content-Length headers, zero last":   head + fmt.Sprintf("Content-Length: %d\r\nContent-Length: 0\r\n\r\n%s", len(inner), inner),
		"Content-Length with a list":              head + fmt.Sprintf("Content-Length: 0, %d\r\n\r\n%s", len(inner), inner),
		"Content-Length with a sign":              head + "Content-Length: +0\r\n\r\n" + inner,
		"negative Content-Length":                 head + "Content-Length: -1\r\n\r\n" + inner,
		"unknown transfer coding":                 head + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + inner,
		"two Transfer-Encoding headers":           head + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n" + inner,
		"space before a colon":                    head + fmt.Sprintf("Content-Length : %d\r\n\r\n%s", len(inner), inner),
		"folded header":                           head + fmt.Sprintf("X-A: b\r\n Content-Length: %d\r\nContent-Length: 0\r\n\r\n%s", len(inner), inner),
		"negative chunk size":                     head + "Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n" + inner,
		"chunk size too large":                    head + "Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n\r\n" + inner,
	} {
		responses := d.sendRaw(text)
		if assert.NotEmpty(t, responses, name) {
			assert.GreaterOrEqual(t, responses[0].Status, 400, name)
		}
		for _, a := range responses {
			assert.NotEqual(t, 200, a.Status, "%s: the request hidden in the body was answered: %s", name, a.Body)
		}
	}
}

func TestEveryResponseHasSecurityHeadersAndRequestID(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	const key = "Host: x\r\nAuthorization: Bearer operator\r\nConnection: close\r\n"
	for name, c := range map[string]struct {
		text   string
		status int
	}{
		"valid request":            {"GET /v1/workspace HTTP/1.1\r\n" + key + "\r\n", 200},
		"no key":                   {"GET /v1/workspace HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 401},
		"unknown path":             {"GET /nowhere HTTP/1.1\r\n" + key + "\r\n", 404},
		"path with dot segments":   {"GET /v1/../../etc/passwd HTTP/1.1\r\n" + key + "\r\n", 404},
		"method without a route":   {"DELETE /v1/campaigns HTTP/1.1\r\n" + key + "\r\n", 405},
		"unknown method":           {"BREW /v1/campaigns HTTP/1.1\r\n" + key + "\r\n", 405},
		"TRACE":                    {"TRACE /v1/campaigns HTTP/1.1\r\n" + key + "\r\n", 405},
		"CONNECT":                  {"CONNECT example.com:443 HTTP/1.1\r\n" + key + "\r\n", 404},
		"OPTIONS":                  {"OPTIONS /v1/campaigns HTTP/1.1\r\n" + key + "\r\n", 405},
		"HEAD":                     {"HEAD /v1/campaigns HTTP/1.1\r\n" + key + "\r\n", 200},
		"wrong media type":         {"POST /v1/campaigns HTTP/1.1\r\n" + key + "Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}", 415},
		"malformed JSON":           {"POST /v1/campaigns HTTP/1.1\r\n" + key + "Content-Type: application/json\r\nContent-Length: 1\r\n\r\n{", 400},
		"header section too large": {"GET /v1/workspace HTTP/1.1\r\n" + key + "X: " + strings.Repeat("a", 20_000) + "\r\n\r\n", 431},
		"health":                   {"GET /healthz HTTP/1.1\r\n" + key + "\r\n", 200},
		"API reference":            {"GET /docs HTTP/1.1\r\n" + key + "\r\n", 200},
		"OpenAPI document":         {"GET /openapi.json HTTP/1.1\r\n" + key + "\r\n", 200},
		"sign-in page":             {"GET /sign-in HTTP/1.1\r\n" + key + "\r\n", 200},
		"public keys":              {"GET /.well-known/jwks.json HTTP/1.1\r\n" + key + "\r\n", 200},
		"two keys":                 {"GET /v1/workspace HTTP/1.1\r\n" + key + "Authorization: Bearer stranger\r\n\r\n", 400},
		"old":                      {"GET /v1/workspace HTTP/1.0\r\n" + key + "\r\n", 200},
	} {
		responses := d.sendRaw(c.text)
		if !assert.Len(t, responses, 1, name) {
			continue
		}
		a := responses[0]
		assert.Equal(t, c.status, a.Status, "%s: %s", name, a.Body)
		assert.Equal(t, "nosniff", a.Header.Get("X-Content-Type-Options"), name)
		assert.NotEmpty(t, a.Header.Get("X-Frame-Options"), name)
		assert.NotEmpty(t, a.Header.Get("Referrer-Policy"), name)
		assert.NotEmpty(t, a.Header.Get("Content-Security-Policy"), name)
		assert.NotEmpty(t, a.Header.Get("X-Request-Id"), name)
		assert.Empty(t, a.Header.Get("Server"), name)
		assert.Empty(t, a.Header.Get("Access-Control-Allow-Origin"), name)
		if a.Status == 405 {
			assert.NotEmpty(t, a.Header.Get("Allow"), name)
		}
		if a.Status >= 400 && len(a.Body) > 0 {
			assert.Equal(t, a.Header.Get("X-Request-Id"), a.failure(t)["request_id"], name)
		}
	}
}
