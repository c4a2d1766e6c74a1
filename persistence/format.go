package persistence

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/callboard/callboard/domain"
)

// StoreFormat is the highest store format that this program reads: the highest
// version of a stored value, see codec.go. A row that an earlier program must
// not read, for example because that would drop new members when it writes the
// row again, gets a new version there and a new StoreFormat here.
const StoreFormat = tracedVersion

// Layout is the number of the way in which drivers lay a store out; they read no
// other. Layouts below were those of stores written before Callboard 0.1.0.
const Layout = "3"

// CheckLayout is an ErrFormat where what is at a place has another layout.
func CheckLayout(place, have string) error {
	switch have {
	case Layout:
		return nil
	case "1", "2":
		return fmt.Errorf("%w: %s was written before Callboard 0.1.0, and such stores are not migrated: begin with an empty data folder and, with Redis, an empty database", ErrFormat, place)
	}
	return fmt.Errorf("%w: %s has the layout %q, and this program knows %q: %s", ErrFormat, place, have, Layout, TooNew)
}

// TooNew is the remedy where a newer program has written a store.
const TooNew = "install the Callboard that wrote it or a newer one, or restore the backup that was made before the upgrade"

// formatKey is the row that holds the store's Requirement.
var formatKey = Key{Table: table("_meta", ""), ID: "format"}

// Requirement is what a program must be to open a store. It is raised in a
// commit of its own before the first row of a new form is written.
type Requirement struct {
	Format  int    `json:"format"`  // the program's StoreFormat must be this at least
	Version string `json:"version"` // of the program that raised it
}

// Check is a *FormatError where a program of the given version, with this
// StoreFormat, must not open what has the requirement.
func (r Requirement) Check(version string) error {
	if r.Format <= StoreFormat {
		return nil
	}
	return &FormatError{Needs: r, Version: version}
}

// FormatError says that a newer program has written what is to be opened. It is
// an ErrFormat.
type FormatError struct {
	Needs   Requirement
	Version string // of this program
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("the data need Callboard %s (store format %d), and this is Callboard %s (store format %d): install %[1]s or newer, or restore the backup that was made before the upgrade",
		e.Needs.Version, e.Needs.Format, e.Version, StoreFormat)
}

// Is reports ErrFormat.
func (e *FormatError) Is(target error) bool { return target == ErrFormat }

// RowReader reads a row, as Driver.Get.
type RowReader func(ctx context.Context, k Key) (value []byte, version uint64, err error)

// StoreRequirement is the requirement of a store. It is one read.
func StoreRequirement(ctx context.Context, get RowReader) (Requirement, error) {
	r, _, err := readRequirement(ctx, get)
	return r, err
}

// readRequirement returns the requirement and the version of its row.
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

// checkFormat refuses a store that a newer program has written, and remembers
// how far its format was raised.
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

// raiseFormat sees to it that programs that do not know a format are refused
// before a row of it is written. Several nodes may do so at once.
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
				continue // another node has raised it: it is read again
			}
			if err != nil {
				return err
			}
		}
		s.format.Store(int64(have.Format))
	}
	return nil
}
