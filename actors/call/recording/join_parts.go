package recording

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/media/wav"
)

const (
	partSuffix   = ".beginning" // suffix of a spool file with an earlier part of a recording
	joinedSuffix = ".joined"    // suffix of the temporary file of a join
)

// errStoredUnreadable says that the stored recording cannot be read. A part from the spool cannot be joined with it then.
var errStoredUnreadable = errors.New("call: the stored recording cannot be read")

// joinStored copies a part from the spool into the stored recording of the call, at the times where the stored recording
// is silent. Afterwards it removes the part.
func (j *job) joinStored(ctx context.Context, cfg *Config) error {
	path := j.recording.Path + joinedSuffix
	defer func() { _ = os.Remove(path) }()
	taken, err := j.overlayStored(ctx, cfg, path)
	if errors.Is(err, errStoredUnreadable) {
		return j.renameAsPart(cfg, err)
	}
	if err != nil {
		return err
	}
	if taken > 0 {
		if err = upload(ctx, cfg, j.callID, path); err != nil {
			return err
		}
		deleted := false
		seconds := secondsOf(path)
		err = changeCall(ctx, cfg, j.callID, func(c *domain.Call) *commit.Change {
			if deleted = c.RecordingDeletedAt != nil; deleted || seconds <= c.RecordingSeconds {
				return nil
			}
			c.RecordingSeconds = seconds
			return &commit.Change{Puts: []domain.Record{c}}
		})
		if errors.Is(err, domain.ErrNotFound) || err == nil && deleted {
			return j.remove(ctx, cfg)
		}
		if err != nil {
			return err
		}
		cfg.Log.Info("part of a recording joined with the stored recording", slog.String("call_id", j.callID), slog.Duration("part", taken))
	}
	if err = os.Remove(j.recording.Path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// secondsOf returns the length of a recording in seconds, or 0 if the length is unknown.
func secondsOf(path string) float64 {
	length, err := wav.Repair(path)
	if err != nil {
		return 0
	}
	return length.Seconds()
}

// overlayStored combines the stored recording and the part in the file at path. taken is the duration of the audio that
// comes from the part.
func (j *job) overlayStored(ctx context.Context, cfg *Config, path string) (taken time.Duration, err error) {
	part, err := os.Open(j.recording.Path)
	if err != nil {
		return 0, fmt.Errorf("call: recording of %s: %w", j.callID, err)
	}
	defer func() { _ = part.Close() }()
	bound, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	kept, size, err := cfg.Blobs.Open(bound, cfg.Workspace, BlobName(j.callID))
	if errors.Is(err, domain.ErrNotFound) { // the call record says that a stored recording exists
		return 0, errStoredUnreadable
	}
	if err != nil {
		return 0, fmt.Errorf("%w: %s: %w", errBlobStore, j.callID, err)
	}
	defer func() { _ = kept.Close() }()
	late := time.AfterFunc(stepTimeout+time.Duration(size/minUploadRate)*time.Second, func() { _ = kept.Close() })
	defer late.Stop()
	out, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600) //nolint:gosec // a path in the spool folder
	if err != nil {
		return 0, fmt.Errorf("call: recording of %s: %w", j.callID, err)
	}
	source := &errorReader{Reader: kept}
	taken, err = wav.Overlay(out, source, part)
	err = errors.Join(err, out.Close())
	switch {
	case source.err != nil:
		return 0, fmt.Errorf("%w: %s: %w", errBlobStore, j.callID, source.err)
	case errors.Is(err, wav.ErrFormat):
		return 0, errors.Join(errStoredUnreadable, err)
	}
	return taken, err
}

// errorReader reads the stored recording and remembers a read error.
type errorReader struct {
	io.Reader
	err error
}

// Read implements io.Reader.
func (r *errorReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}

// renameAsPart renames a part that cannot be joined, so that JoinParts tries again later. If a part with the new name exists
// already, the file keeps its name.
func (j *job) renameAsPart(cfg *Config, why error) error {
	cfg.Log.Warn("part of a recording stays in the spool: it cannot be joined now", slog.String("call_id", j.callID), slog.Any("error", why))
	if strings.HasSuffix(j.recording.Path, partSuffix) {
		return nil
	}
	err := RenameToFree(j.recording.Path, j.recording.Path+partSuffix)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}
