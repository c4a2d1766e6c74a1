package recording

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

// fetchInfix marks the temporary files in the spool. A temporary file without writes for abandonedAfter is removed.
const (
	fetchInfix     = ".part-"  // in the names of files that are being fetched from another node
	abandonedAfter = time.Hour // since the last write
)

// spoolFile is a file in the spool: a recording, or a part of one.
type spoolFile struct {
	name   string
	callID string
	order  int // position of the part in the call
	info   os.FileInfo
}

// parseName parses a spool file name. "id.wav" is a recording. "id.wav.beginning" is an earlier part of the recording,
// made by another node.
func parseName(name string) (f spoolFile, ok bool) {
	rest, early := strings.CutSuffix(name, partSuffix)
	id, is := strings.CutSuffix(rest, ".wav")
	f = spoolFile{name: name, callID: id}
	if !early {
		f.order = 1
	}
	return f, is && id != ""
}

// SpoolPath returns the file in which a live call is recorded.
func SpoolPath(spoolDir, workspace, callID string) string {
	return filepath.Join(spoolDir, workspace, callID+".wav")
}

// IsSpoolFile reports whether a spool file is a recording or a part of one.
func IsSpoolFile(name string) bool {
	_, is := parseName(name)
	return is
}

// IsAbandoned reports whether a spool file is a temporary file that no process writes any more.
func IsAbandoned(name string, written, now time.Time) bool {
	return (strings.Contains(name, fetchInfix) || strings.HasSuffix(name, joinedSuffix)) && now.Sub(written) > abandonedAfter
}

// RenameToFree renames a file. It fails with fs.ErrExist if the new name exists.
func RenameToFree(from, to string) error {
	if err := os.Link(from, to); err != nil {
		return err
	}
	return os.Remove(from)
}

// FreePartPath returns the path in the spool folder for a recording from another node. It returns "" if another part of
// the same call already has that path.
func FreePartPath(dir, file string) string {
	path := filepath.Join(dir, strings.TrimSuffix(file, partSuffix)+partSuffix)
	if exists(path) {
		return ""
	}
	return path
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// callsWithParts returns the IDs of calls that have an earlier part in the spool.
func callsWithParts(dir string) (ids []string) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil // the folder does not exist
	}
	for _, f := range files {
		if s, is := parseName(f.Name()); is && strings.HasSuffix(f.Name(), partSuffix) && !slices.Contains(ids, s.callID) {
			ids = append(ids, s.callID)
		}
	}
	return ids
}

// combine joins the spool files of one call where possible and returns a job for each remaining file. It returns no job
// if a file was written later than now.
func combine(dir string, files []spoolFile, now time.Time, log *slog.Logger) []*job {
	slices.SortFunc(files, func(a, b spoolFile) int { return cmp.Compare(a.order, b.order) })
	var found []*job
	for _, l := range files {
		if l.info.ModTime().After(now) {
			return nil
		}
		path := filepath.Join(dir, l.name)
		length, err := wav.Repair(path)
		switch {
		case errors.Is(err, wav.ErrFormat):
			log.Warn("recording in the spool is not a WAV file", slog.String("call_id", l.callID), slog.Any("error", err))
			_ = os.Remove(path)
			continue
		case err != nil: // a read error of the disk: the next start tries again
			log.Error("recording in the spool cannot be read", slog.String("call_id", l.callID), slog.Any("error", err))
			continue
		}
		j := &job{callID: l.callID, recovered: true, recording: media.Recording{Path: path, Duration: length}}
		if n := len(found); n > 0 {
			before := found[n-1].recording
			if err = overlayFile(path, before.Path); err == nil {
				_ = os.Remove(before.Path)
				j.recording.Duration = max(length, before.Duration)
				found = found[:n-1]
			} else {
				log.Warn("two parts of a recording cannot be joined", slog.String("call_id", l.callID), slog.Any("error", err))
			}
		}
		found = append(found, j)
	}
	return found
}

// filesOf returns the spool files of one call.
func filesOf(dir, callID string) (out []spoolFile) {
	for _, name := range []string{callID + ".wav" + partSuffix, callID + ".wav"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil {
			l, _ := parseName(name)
			l.info = info
			out = append(out, l)
		}
	}
	return out
}

// readSpool returns jobs for the recordings in a folder, except those of the calls in live.
func readSpool(dir string, now time.Time, live map[string]bool, log *slog.Logger) []*job {
	files, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) { // the workspace was deleted
		return nil
	}
	if err != nil {
		log.Error("spool folder of recordings cannot be read", slog.Any("error", err))
		return nil
	}
	calls := make(map[string][]spoolFile)
	for _, f := range files {
		info, err := f.Info()
		if err != nil || f.IsDir() {
			continue
		}
		if IsAbandoned(f.Name(), info.ModTime(), now) {
			_ = os.Remove(filepath.Join(dir, f.Name()))
			continue
		}
		if l, is := parseName(f.Name()); is && !live[l.callID] {
			l.info = info
			calls[l.callID] = append(calls[l.callID], l)
		}
	}
	var found []*job
	for _, parts := range calls {
		found = append(found, combine(dir, parts, now, log)...)
	}
	return found
}

// overlayFile copies the earlier part of a recording into the later one, where the later one is silent.
func overlayFile(path, before string) (err error) {
	both := path + joinedSuffix
	defer func() { _ = os.Remove(both) }()
	over, err := os.Open(path) //nolint:gosec // a path in the spool folder
	if err != nil {
		return err
	}
	defer func() { _ = over.Close() }()
	under, err := os.Open(before) //nolint:gosec // a path in the spool folder
	if err != nil {
		return err
	}
	defer func() { _ = under.Close() }()
	out, err := os.OpenFile(both, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600) //nolint:gosec // a path in the spool folder
	if err != nil {
		return err
	}
	_, err = wav.Overlay(out, over, under)
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		return err
	}
	return os.Rename(both, path)
}
