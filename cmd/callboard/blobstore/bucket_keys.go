package blobstore

import (
	"os"
	"time"

	s3credentials "github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/callboard/callboard/configs"
)

// bucketKeys is a credentials.Provider, which has one caller at a time. It reads
// the key again where its file has changed; a file that cannot be read is taken
// for half-written.
type bucketKeys struct {
	file    string
	changed time.Time
	keys    s3credentials.Value
}

// IsExpired is credentials.Provider's.
func (k *bucketKeys) IsExpired() bool {
	info, err := os.Stat(k.file)
	return err == nil && !info.ModTime().Equal(k.changed)
}

// Retrieve is credentials.Provider's.
func (k *bucketKeys) Retrieve() (s3credentials.Value, error) {
	var changed time.Time
	if info, err := os.Stat(k.file); err == nil {
		changed = info.ModTime()
	}
	read, err := configs.ReadBlobKeys(k.file, os.Environ())
	switch {
	case err == nil:
		k.changed, k.keys = changed, s3credentials.Value{AccessKeyID: read.AccessKeyID, SecretAccessKey: read.SecretAccessKey.Reveal(), SessionToken: read.SessionToken.Reveal()}
	case k.keys.AccessKeyID == "":
		return k.keys, err
	}
	return k.keys, nil
}

// RetrieveWithCredContext is credentials.Provider's.
func (k *bucketKeys) RetrieveWithCredContext(*s3credentials.CredContext) (s3credentials.Value, error) {
	return k.Retrieve()
}
