package call

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
	beginning = ".beginning" // ends the names of parts of recordings that could not be joined yet
	whole     = ".joined"    // the same, of recordings that are being joined
)

// errApart: a part of a recording cannot be joined with the rest.
var errApart = errors.New("call: the rest of a recording cannot be read here")

// join puts a part of a recording that another process has left here into the one
// that was kept of the call: where that is silent, because it was not there yet,
// or was elsewhere. A part of which nothing is missing goes.
func (j *job) join(ctx context.Context, cfg *Config) error {
	path := j.recording.Path + whole
	defer func() { _ = os.Remove(path) }()
	taken, err := j.lay(ctx, cfg, path)
	if errors.Is(err, errApart) {
		return j.setAside(cfg, err)
	}
	if err != nil {
		return err
	}
	if taken > 0 {
		if err = upload(ctx, cfg, j.callID, path); err != nil {
			return err
		}
		deleted := false
		sounds := recordedFor(path)
		err = soonChange(ctx, cfg, j.callID, func(c *domain.Call) *commit.Change {
			if deleted = c.RecordingDeletedAt != nil; deleted || sounds <= c.RecordingSeconds {
				return nil
			}
			c.RecordingSeconds = sounds
			return &commit.Change{Puts: []domain.Record{c}}
		})
		if errors.Is(err, domain.ErrNotFound) || err == nil && deleted {
			return j.unwanted(ctx, cfg)
		}
		if err != nil {
			return err
		}
		cfg.Log.Info("a recording has the part back that another process had of it", slog.String("call_id", j.callID), slog.Duration("part", taken))
	}
	if err = os.Remove(j.recording.Path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// recordedFor is how long a recording of ours is, in seconds; 0: that is not known.
func recordedFor(path string) float64 {
	sounds, err := wav.Repair(path)
	if err != nil {
		return 0
	}
	return sounds.Seconds()
}

// lay makes a file of both, and says how much came from the part.
func (j *job) lay(ctx context.Context, cfg *Config, path string) (taken time.Duration, err error) {
	part, err := os.Open(j.recording.Path)
	if err != nil {
		return 0, fmt.Errorf("call: recording of %s: %w", j.callID, err)
	}
	defer func() { _ = part.Close() }()
	bound, cancel := context.WithTimeout(ctx, jobLimit)
	defer cancel()
	kept, size, err := cfg.Blobs.Open(bound, cfg.Workspace, RecordingName(j.callID))
	if errors.Is(err, domain.ErrNotFound) { // the call says that there is one
		return 0, errApart
	}
	if err != nil {
		return 0, fmt.Errorf("%w: %s: %w", errNotKept, j.callID, err)
	}
	defer func() { _ = kept.Close() }()
	late := time.AfterFunc(jobLimit+time.Duration(size/slowest)*time.Second, func() { _ = kept.Close() })
	defer late.Stop()
	out, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600) //nolint:gosec // our own spool
	if err != nil {
		return 0, fmt.Errorf("call: recording of %s: %w", j.callID, err)
	}
	read := &reading{Reader: kept}
	taken, err = wav.Overlay(out, read, part)
	err = errors.Join(err, out.Close())
	switch {
	case read.err != nil:
		return 0, fmt.Errorf("%w: %s: %w", errNotKept, j.callID, read.err)
	case errors.Is(err, wav.ErrFormat):
		return 0, errors.Join(errApart, err)
	}
	return taken, err
}

// reading remembers that what was kept could not be read.
type reading struct {
	io.Reader
	err error
}

// Read is an io.Reader's.
func (r *reading) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}

// setAside keeps a part of a recording out of the way of what was kept of it; JoinRecordingParts
// tries it again. Where another part lies there it stays under its own name.
func (j *job) setAside(cfg *Config, why error) error {
	cfg.Log.Warn("a part of a recording that went on in another process lies in the spool", slog.String("call_id", j.callID), slogErr(why))
	if strings.HasSuffix(j.recording.Path, beginning) {
		return nil
	}
	err := MoveToFree(j.recording.Path, j.recording.Path+beginning)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}
