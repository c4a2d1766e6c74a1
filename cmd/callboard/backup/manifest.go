// Package backup writes, verifies and restores backups of the embedded store. A backup also contains the recordings and
// exports in the data folder. It never contains the master key.
package backup

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/callboard/callboard/persistence"
)

// Name and format version of the manifest file of a backup.
const (
	manifestFile  = "backup.json"
	formatVersion = 1
)

// Manifest describes the content of a backup.
type Manifest struct {
	Format    int       `json:"format"`
	CreatedAt time.Time `json:"at"` // the backup contains every commit before this time
	Version   string    `json:"version"`
	Blobs     int       `json:"blobs"` // number of recordings and exports
	Bytes     int64     `json:"bytes"` // size of the recordings and exports
	// BlobLocation is the bucket or folder with the recordings and exports that the backup does not contain. It is
	// empty if they are in the data folder, and so in the backup.
	BlobLocation string `json:"blobs_in,omitempty"`
	// Requirement is the program version that is required to restore the backup.
	Requirement persistence.Requirement `json:"needs"`
}

// ReadManifest reads the manifest of a backup and checks that this program version can restore it.
func ReadManifest(backup, version string) (created Manifest, err error) {
	text, err := os.ReadFile(filepath.Join(backup, manifestFile)) //nolint:gosec // the operator chooses the path
	if errors.Is(err, fs.ErrNotExist) {
		return created, fmt.Errorf("%s is not a complete backup: %s is missing", backup, manifestFile)
	}
	if err != nil {
		return created, err
	}
	if err = json.Unmarshal(text, &created); err != nil {
		return created, fmt.Errorf("%s: %w", manifestFile, err)
	}
	if created.Format != formatVersion {
		return created, fmt.Errorf("%s has format %d of Callboard %s, and this Callboard %s reads format %d: restore it with %[3]s or newer", manifestFile, created.Format, created.Version, version, formatVersion)
	}
	return created, created.Requirement.Check(version)
}
