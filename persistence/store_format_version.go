package persistence

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/callboard/callboard/domain"
)

// StoreFormat is the highest store format that this program reads. It is the highest version of a stored value in
// codec.go. If earlier programs must not read a new form of a row, that form gets a new version. An example are new
// fields, which an earlier program would drop when it writes the row.
const StoreFormat = tracedVersion

// Layout identifies how a driver lays rows out in keys. A driver reads no other layout. Stores written before Callboard
// 0.1.0 have lower layouts.
const Layout = "3"

// CheckLayout returns an ErrFormat if have, the layout of the store at place, is not Layout.
func CheckLayout(place, have string) error {
	switch have {
	case Layout:
		return nil
	case "1", "2":
		return fmt.Errorf("%w: %s was written before Callboard 0.1.0, and such stores are not migrated: begin with an empty data folder and, with Redis, an empty database", ErrFormat, place)
	}
	return fmt.Errorf("%w: %s has the layout %q, and this program knows %q: %s", ErrFormat, place, have, Layout, NewerFormatRemedy)
}

// NewerFormatRemedy is the advice in an error message for users whose store a newer program has written.
const NewerFormatRemedy = "install the Callboard that wrote it or a newer one, or restore the backup that was made before the upgrade"

// formatKey is the key of the row that holds the store's Requirement.
var formatKey = Key{Table: table("_meta", ""), ID: "format"}

// Requirement is the program version that a store requires. It is raised in a separate commit before the first
// row of a new format is written.
type Requirement struct {
	Format  int    `json:"format"`  // minimum StoreFormat of the program
	Version string `json:"version"` // version of the program that raised it
}

// Check returns a *FormatError if this program, whose version is passed for the message, must not open the store.
func (r Requirement) Check(version string) error {
	if r.Format <= StoreFormat {
		return nil
	}
	return &FormatError{Required: r, Version: version}
}

// FormatError says that a newer program has written the data. errors.Is matches it with ErrFormat.
type FormatError struct {
	Required Requirement
	Version  string // version of this program
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("the data need Callboard %s (store format %d), and this is Callboard %s (store format %d): install %[1]s or newer, or restore the backup that was made before the upgrade",
		e.Required.Version, e.Required.Format, e.Version, StoreFormat)
}

// Is makes errors.Is match a FormatError with ErrFormat.
func (e *FormatError) Is(target error) bool { return target == ErrFormat }

// RowReader reads a row. Driver.Get is a RowReader.
type RowReader func(ctx context.Context, k Key) (value []byte, version uint64, err error)

// StoreRequirement returns the requirement of a store. It reads one row.
func StoreRequirement(ctx context.Context, get RowReader) (Requirement, error) {
	r, _, err := readRequirement(ctx, get)
	return r, err
}

// readRequirement returns the requirement of a store and the version of the row that holds it.
func readRequirement(ctx context.Context, get RowReader) (r Requirement, row uint64, err error) {
	value, row, err := get(ctx, formatKey)
	if errors.Is(err, domain.ErrNotFound) {
		return Requirement{Format: schemaVersion}, 0, nil
	}
	if err != nil {
		return r, 0, fmt.Errorf("persistence: store format: %w", err)
	}
	if err = json.Unmarshal(value, &r); err != nil {
		return r, 0, fmt.Errorf("%w: the row of the store format holds %q", ErrFormat, value)
	}
	return r, row, nil
}

// checkFormat returns an error if a newer program has written the store. Otherwise it sets s.format to the store's
// format.
func (s *Store) checkFormat(ctx context.Context) error {
	r, err := StoreRequirement(ctx, s.driver.Get)
	if err == nil {
		err = r.Check(s.version)
	}
	if err != nil {
		return err
	}
	s.format.Store(int64(r.Format))
	return nil
}

// raiseFormat raises the store's Requirement to a format before a row of that format is written. Several nodes may
// call it concurrently.
func (s *Store) raiseFormat(ctx context.Context, format byte) error {
	for int64(format) > s.format.Load() {
		have, row, err := readRequirement(ctx, s.driver.Get)
		if err != nil {
			return err
		}
		if have.Format < int(format) {
			have = Requirement{Format: int(format), Version: s.version}
			value, err := json.Marshal(have)
			if err != nil {
				return err
			}
			_, err = s.commit(ctx, Commit{Guards: []Guard{{Key: formatKey, Version: row}}, Puts: []Put{{Key: formatKey, Value: value}}})
			if errors.Is(err, domain.ErrConflict) {
				continue // another node has raised the format: read the row again
			}
			if err != nil {
				return err
			}
		}
		s.format.Store(int64(have.Format))
	}
	return nil
}
