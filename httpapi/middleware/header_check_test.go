package middleware

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFindAmbiguousHeader(t *testing.T) {
	for raw, ambiguous := range map[string]bool{
		"Host: a\r\nContent-Length: 5\r\n":                          false,
		"Host: a\r\nTransfer-Encoding: chunked\r\n":                 false,
		"Content-Length: 5\r\ncontent-length: 5\r\n":                true,
		"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n":       true,
		"Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n": true,
		"X-One: a\r\n folded: b\r\n":                                true,
		"X-One: a\r\n\tfolded: b\r\n":                               true,
		"Authorization: Bearer a\r\nAuthorization: Bearer b\r\n":    true,
		"Authorization: Bearer a\r\nX-Authorization: Bearer b\r\n":  false,
		"": false,
	} {
		assert.Equal(t, ambiguous, findAmbiguousHeader([]byte(raw)) != nil, "%q", raw)
	}
}
