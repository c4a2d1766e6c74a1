package call

import (
	"cmp"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/wav"
)

// What was being fetched or joined when its process died is done anew.
const (
	fetched  = ".part-" // in the names of files that are being fetched
	unfitFor = time.Hour
)

// leftover is a file of a recording that was not kept yet.
type leftover struct {
	name, id string
	order    int // of its part in the call
	info     os.FileInfo
}

// leftoverOf reads a name: id.wav, or id.wav.beginning for the part of a recording that another node made before.
func leftoverOf(name string) (l leftover, ok bool) {
	rest, before := strings.CutSuffix(name, beginning)
	id, is := strings.CutSuffix(rest, ".wav")
	l = leftover{name: name, id: id}
	if !before {
		l.order = 1
	}
	return l, is && id != ""
}

// IsAbandoned reports whether a file is one that a process which has ended was about to
// make in the spool.
func IsAbandoned(name string, written, now time.Time) bool {
	return (strings.Contains(name, fetched) || strings.HasSuffix(name, whole)) && now.Sub(written) > unfitFor
}

// gather makes one recording of what is left of a call's, as far as that can be.
// Files that somebody has written to since now stay, and all with them.
func gather(dir string, left []leftover, now time.Time, log *slog.Logger) []*job {
	slices.SortFunc(left, func(a, b leftover) int { return cmp.Compare(a.order, b.order) })
	var found []*job
	for _, l := range left {
		if l.info.ModTime().After(now) {
			return nil
		}
		path := filepath.Join(dir, l.name)
		sounds, err := wav.Repair(path)
		switch {
		case errors.Is(err, wav.ErrFormat):
			log.Warn("a spooled recording is beyond repair", slog.String("call_id", l.id), slogErr(err))
			_ = os.Remove(path)
			continue
		case err != nil: // the machine's fault, not the file's: it is there at the next start
			log.Error("a spooled recording cannot be read", slog.String("call_id", l.id), slogErr(err))
			continue
		}
		j := &job{callID: l.id, salvaged: true, recording: media.Recording{Path: path, Duration: sounds}}
		if n := len(found); n > 0 {
			before := found[n-1].recording
			if err = layUnder(path, before.Path); err == nil {
				_ = os.Remove(before.Path)
				j.recording.Duration = max(sounds, before.Duration)
				found = found[:n-1]
			} else {
				log.Warn("two parts of a recording cannot be joined", slog.String("call_id", l.id), slogErr(err))
			}
		}
		found = append(found, j)
	}
	return found
}

// leftOf is what is left of one call's recording.
func leftOf(dir, id string) (out []leftover) {
	for _, name := range []string{id + ".wav" + beginning, id + ".wav"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil {
			l, _ := leftoverOf(name)
			l.info = info
			out = append(out, l)
		}
	}
	return out
}

// spooled is what was left of recordings, but for those of calls that live.
func spooled(dir string, now time.Time, live map[string]bool, log *slog.Logger) []*job {
	files, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) { // the workspace is gone
		return nil
	}
	if err != nil {
		log.Error("the spool of recordings cannot be read", slogErr(err))
		return nil
	}
	calls := make(map[string][]leftover)
	for _, f := range files {
		info, err := f.Info()
		if err != nil || f.IsDir() {
			continue
		}
		if IsAbandoned(f.Name(), info.ModTime(), now) {
			_ = os.Remove(filepath.Join(dir, f.Name()))
			continue
		}
		if l, is := leftoverOf(f.Name()); is && !live[l.id] {
			l.info = info
			calls[l.id] = append(calls[l.id], l)
		}
	}
	var found []*job
	for _, left := range calls {
		found = append(found, gather(dir, left, now, log)...)
	}
	return found
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
