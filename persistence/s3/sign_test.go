package s3_test

import (
	"crypto/sha256"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/persistence/s3"
)

// The examples of the documentation of S3 ("Signature Calculations for the
// Authorization Header").
func TestRequestsAreSignedAsTheDocumentationSigns(t *testing.T) {
	keys := s3.Keys{ID: "AKIAIOSFODNN7EXAMPLE", Secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"}
	at := time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		method, url, body string
		header            http.Header
		want              string
	}{
		{http.MethodGet, "/test.txt", "", http.Header{"Range": {"bytes=0-9"}}, "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"},
		{
			http.MethodPut, "/test$file.text", "Welcome to Amazon S3.",
			http.Header{"Date": {"Fri, 24 May 2013 00:00:00 GMT"}, "X-Amz-Storage-Class": {"REDUCED_REDUNDANCY"}},
			"98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
		},
		{http.MethodGet, "/?lifecycle", "", http.Header{}, "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"},
		{http.MethodGet, "/?max-keys=2&prefix=J", "", http.Header{}, "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), c.method, "https://examplebucket.s3.amazonaws.com"+c.url, strings.NewReader(c.body))
		require.NoError(t, err)
		r.Header = c.header
		s3.Sign(r, keys, "us-east-1", sha256.Sum256([]byte(c.body)), at)
		_, got, _ := strings.Cut(r.Header.Get("Authorization"), "Signature=")
		assert.Equal(t, c.want, got, "%s %s", c.method, c.url)
	}
}

func TestALentKeyIsSignedWithItsToken(t *testing.T) {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://b.example/x", http.NoBody)
	require.NoError(t, err)
	s3.Sign(r, s3.Keys{ID: "a", Secret: "b", Token: "lent"}, "eu", sha256.Sum256(nil), time.Unix(0, 0))
	assert.Equal(t, "lent", r.Header.Get("X-Amz-Security-Token"))
	assert.Contains(t, r.Header.Get("Authorization"), "SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,")
}
