package blobstore

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	s3credentials "github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBucketKeysAreReadAgainAfterAChangeOfTheFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "keys")
	changed := time.Now()
	write := func(text string) {
		t.Helper()
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		changed = changed.Add(time.Minute)
		require.NoError(t, os.Chtimes(file, changed, changed))
	}
	keys := s3credentials.New(&bucketKeys{file: file})
	_, err := keys.GetWithContext(nil)
	require.Error(t, err, "the file does not exist")
	for _, c := range []struct{ text, want string }{
		{"aws_access_key_id = a\naws_secret_access_key = x\n", "a"},
		{"aws_access_key_id = b\naws_secret", "a"}, // the file is being written
		{"aws_access_key_id = b\naws_secret_access_key = x\n", "b"},
	} {
		write(c.text)
		got, err := keys.GetWithContext(nil)
		require.NoError(t, err)
		assert.Equal(t, c.want, got.AccessKeyID)
	}
	require.NoError(t, os.Remove(file))
	got, err := keys.GetWithContext(nil)
	require.NoError(t, err)
	assert.Equal(t, "b", got.AccessKeyID)
}
