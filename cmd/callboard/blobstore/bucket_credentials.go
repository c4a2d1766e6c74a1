package blobstore

import (
	"os"
	"time"

	s3credentials "github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/callboard/callboard/configs"
)

// bucketKeys is a credentials.Provider that reads the bucket's access keys from a file. It reads the file again after a
// change. If the file cannot be read, because it is being written, the previous keys stay valid. It is not safe for
// concurrent use.
type bucketKeys struct {
	file    string
	changed time.Time
	keys    s3credentials.Value
}

// IsExpired implements credentials.Provider.
func (k *bucketKeys) IsExpired() bool {
	info, err := os.Stat(k.file)
	return err == nil && !info.ModTime().Equal(k.changed)
}

// Retrieve implements credentials.Provider.
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

// RetrieveWithCredContext implements credentials.Provider.
func (k *bucketKeys) RetrieveWithCredContext(*s3credentials.CredContext) (s3credentials.Value, error) {
	return k.Retrieve()
}
