package httpapi_test

import (
	"crypto/sha256"
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/httpapi"
	"github.com/callboard/callboard/httpapi/openapi"
	"github.com/callboard/callboard/httpapi/openapi/golang"
)

var update = flag.Bool("update", false, "write the Go client anew")

// clientFile is the generated part of the Go client.
const clientFile = "../client/api.go"

func TestTheGoClientIsThatOfTheDocument(t *testing.T) {
	d, err := openapi.Read(httpapi.New(httpapi.Config{}, newFake().ports()).Document())
	require.NoError(t, err)
	text, err := golang.Write(d, golang.Options{
		Package: "client", Rename: map[string]string{"Client": "OAuthClient", "NewClient": "NewOAuthClient", "ListClient": "ListOAuthClient"},
	})
	require.NoError(t, err)
	if *update {
		require.NoError(t, os.WriteFile(clientFile, text, 0o644))
	}
	kept, err := os.ReadFile(clientFile)
	require.NoError(t, err)
	assert.Equal(t, sha256.Sum256(text), sha256.Sum256(kept), "the API has changed: make client")
}
