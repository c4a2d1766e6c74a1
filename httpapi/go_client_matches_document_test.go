package httpapi_test

import (
	"crypto/sha256"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/httpapi"
	"github.com/callboard/callboard/httpapi/openapi"
	"github.com/callboard/callboard/httpapi/openapi/golang"
)

var update = flag.Bool("update", false, "write the Go client anew")

// clientFiles are the generated files of the Go client.
const clientFiles = "../client/api*.go"

func TestGoClientMatchesOpenAPIDocument(t *testing.T) {
	d, err := openapi.Parse(httpapi.New(httpapi.Config{}, newFakeServices().services()).Document())
	require.NoError(t, err)
	files, err := golang.Write(d, golang.Options{
		Package: "client", Rename: map[string]string{"Client": "OAuthClient", "NewClient": "NewOAuthClient", "ListClient": "ListOAuthClient"},
	})
	require.NoError(t, err)
	committed, err := filepath.Glob(clientFiles)
	require.NoError(t, err)
	if *update {
		for _, old := range committed {
			require.NoError(t, os.Remove(old))
		}
		for name, text := range files {
			require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(clientFiles), name), text, 0o644))
		}
		committed, err = filepath.Glob(clientFiles)
		require.NoError(t, err)
	}
	generated, kept := map[string][sha256.Size]byte{}, map[string][sha256.Size]byte{}
	for name, text := range files {
		generated[name] = sha256.Sum256(text)
	}
	for _, path := range committed {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		kept[filepath.Base(path)] = sha256.Sum256(text)
	}
	assert.Equal(t, generated, kept, "the API has changed: make client")
}
