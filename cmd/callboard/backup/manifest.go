// Package backup writes, verifies and restores backups of the embedded store with
// the recordings and exports on disk. A backup never holds the master key.
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

// What a backup is made of: the store, the sealed recordings and exports, and
// what tells what it is. It never holds the master key.
const (
	manifestFile  = "backup.json"
	formatVersion = 1
)

// Manifest is what a backup holds.
type Manifest struct {
	Format    int       `json:"format"`
	CreatedAt time.Time `json:"at"` // all that was committed before is in it
	Version   string    `json:"version"`
	Blobs     int       `json:"blobs"` // recordings and exports
	Bytes     int64     `json:"bytes"` // of these
	// BlobsIn is where recordings and exports lie besides, which no backup of
	// ours holds; empty: nowhere.
	BlobLocation string `json:"blobs_in,omitempty"`
	// Needs is what a program must be to restore it.
	Requirement persistence.Requirement `json:"needs"`
}

// ReadManifest reads what a backup says of itself.
func ReadManifest(backup, version string) (made Manifest, err error) {
	text, err := os.ReadFile(filepath.Join(backup, manifestFile)) //nolint:gosec // the operator names it
	if errors.Is(err, fs.ErrNotExist) {
		return made, fmt.Errorf("%s is no backup, or not a whole one: it has no %s", backup, manifestFile)
	}
	if err != nil {
		return made, err
	}
	if err = json.Unmarshal(text, &made); err != nil {
		return made, fmt.Errorf("%s: %w", manifestFile, err)
	}
	if made.Format != formatVersion {
		return made, fmt.Errorf("%s has format %d, written by Callboard %s, and this is Callboard %s, which reads format %d: restore it with %[3]s or newer", manifestFile, made.Format, made.Version, version, formatVersion)
	}
	return made, made.Requirement.Check(version)
}
