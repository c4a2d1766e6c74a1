package call

import (
	"errors"
	"os"
	"strconv"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/wav"
)

// partName is the file of the n-th session that records a call, of one that is
// recorded by several: the last one has the whole time, and is silent where the
// others had the sound.
func partName(path string, n int) string { return path + "." + strconv.Itoa(n) }

// joined makes one recording of those of several sessions, which follow each
// other, at path.
func joined(path string, parts []<-chan media.Recording) <-chan media.Recording {
	done := make(chan media.Recording, 1)
	go func() {
		defer close(done)
		var all media.Recording
		for _, part := range parts {
			all = follow(all, <-part)
		}
		if all.Path != "" && all.Path != path {
			if err := os.Rename(all.Path, path); err != nil {
				all.Err = errors.Join(all.Err, err)
			} else {
				all.Path = path
			}
		}
		done <- all
	}()
	return done
}

// follow puts what was recorded before into a part that goes on after it. What is
// lost of one is a gap of the whole.
func follow(before, part media.Recording) media.Recording {
	lost := errors.Join(before.Gap, before.Err)
	switch {
	case part.Path == "" || part.Err != nil:
		if before.Path != "" {
			before.Gap = errors.Join(lost, part.Gap, part.Err)
			return before
		}
		part.Err = errors.Join(before.Err, part.Err)
	case before.Path != "":
		if err := layUnder(part.Path, before.Path); err != nil {
			lost = errors.Join(lost, err)
		} else {
			_ = os.Remove(before.Path)
		}
		part.Gap = errors.Join(lost, part.Gap)
	default:
		part.Gap = errors.Join(lost, part.Gap)
	}
	part.Human = append(before.Human, part.Human...)
	return part
}

// layUnder puts a part into another one, where that is silent.
func layUnder(path, before string) (err error) {
	both := path + whole
	defer func() { _ = os.Remove(both) }()
	over, err := os.Open(path) //nolint:gosec // our own spool
	if err != nil {
		return err
	}
	defer func() { _ = over.Close() }()
	under, err := os.Open(before) //nolint:gosec // as above
	if err != nil {
		return err
	}
	defer func() { _ = under.Close() }()
	out, err := os.OpenFile(both, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600) //nolint:gosec // as above
	if err != nil {
		return err
	}
	_, err = wav.Overlay(out, over, under)
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		return err
	}
	return os.Rename(both, path)
}
