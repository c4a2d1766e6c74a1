package recording

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/media"
)

// job stores the recording of one ended call. Either the actor of the queue or the background goroutine uses the job,
// never both at once.
type job struct {
	callID    string
	recovered bool                   // from spool files of an earlier process; its call may not exist
	isPart    bool                   // the stored recording of the call is longer; this one is a part of it
	pending   <-chan media.Recording // delivers recording; nil: recording is set
	recording media.Recording
	uploaded  bool // this process has uploaded the blob
	probe     bool // this job tests for all held jobs whether the blob storage works
	wait      time.Duration
}

// run performs the remaining steps of the job. It may be called again after any failure. Each step has a time limit, and
// the limit of an upload grows with the file size.
func (j *job) run(ctx context.Context, cfg *Config) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("call: storing a recording panicked: %v", v)
		}
	}()
	if j.pending != nil {
		bound, cancel := context.WithTimeout(ctx, stepTimeout)
		defer cancel()
		select {
		case j.recording = <-j.pending:
			j.pending = nil
		case <-bound.Done():
			return bound.Err()
		}
	}
	if j.recovered && !exists(j.recording.Path) {
		return nil // another job has stored the recording
	}
	return j.store(ctx, cfg)
}

func (j *job) store(ctx context.Context, cfg *Config) error {
	r := j.recording
	if r.Err != nil {
		cfg.Log.Error("recording lost", slog.String("call_id", j.callID), slog.Any("error", r.Err))
	} else if r.Gap != nil {
		cfg.Log.Error("recording has gaps: writing failed for a time", slog.String("call_id", j.callID), slog.Any("error", r.Gap))
	}
	kept := r.Err == nil && r.Path != ""
	if kept {
		wanted, err := j.checkOrRemove(ctx, cfg)
		if err != nil || !wanted {
			return err
		}
		if j.isPart {
			return j.joinStored(ctx, cfg)
		}
		if err := upload(ctx, cfg, j.callID, r.Path); err != nil {
			return err
		}
		j.uploaded = true
	}
	deleted := false
	err := changeCall(ctx, cfg, j.callID, func(c *domain.Call) *commit.Change {
		if deleted = c.RecordingDeletedAt != nil; c.RecordingAvailable || deleted {
			return nil
		}
		c.Processing = false
		if !kept {
			c.RecordingURL = ""
			return &commit.Change{Puts: []domain.Record{c}}
		}
		c.RecordingAvailable, c.RecordingSeconds = true, r.Duration.Seconds()
		c.RecordingURL = cfg.PublicURL + "/v1/calls/" + c.ID + "/recording"
		data := event.RecordingData{CallRef: event.NewCallRef(c), RecordingURL: c.RecordingURL, DurationSeconds: c.RecordingSeconds}
		return &commit.Change{
			Puts:   []domain.Record{c},
			Events: []event.Draft{event.CallDraft(mailbox.NewID(domain.PrefixEvent), c, event.CallRecordingReady, data, time.Now().UTC())},
		}
	})
	if kept && (errors.Is(err, domain.ErrNotFound) || err == nil && deleted) {
		return j.remove(ctx, cfg)
	}
	if err != nil {
		return err
	}
	if r.Path != "" {
		if err := os.Remove(r.Path); err != nil && !errors.Is(err, os.ErrNotExist) {
			cfg.Log.Warn("spool file of a stored recording could not be removed", slog.String("call_id", j.callID), slog.Any("error", err))
		}
	}
	return nil
}

// checkOrRemove reports whether the call and its recording still exist, because either may be deleted while the job waits. If
// not, checkOrRemove removes the spool file. It also sets isPart.
func (j *job) checkOrRemove(ctx context.Context, cfg *Config) (bool, error) {
	deleted := false
	err := changeCall(ctx, cfg, j.callID, func(c *domain.Call) *commit.Change {
		deleted = c.RecordingDeletedAt != nil
		j.isPart = j.recovered && c.RecordingAvailable
		return nil
	})
	if errors.Is(err, domain.ErrNotFound) || err == nil && deleted {
		return false, j.remove(ctx, cfg)
	}
	return err == nil, err
}

// remove deletes the blob and the spool file if the call or its recording was deleted.
func (j *job) remove(ctx context.Context, cfg *Config) error {
	cfg.Log.Warn("recording of a deleted call removed", slog.String("call_id", j.callID))
	if err := cfg.Blobs.Delete(ctx, cfg.Workspace, BlobName(j.callID)); err != nil {
		return fmt.Errorf("%w: %s: %w", errBlobStore, j.callID, err)
	}
	_ = os.Remove(j.recording.Path + joinedSuffix) // temporary file of a process that has ended
	if err := os.Remove(j.recording.Path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// BlobName returns the name of the blob with a call's recording.
func BlobName(callID string) string { return callID + ".wav" }

func upload(ctx context.Context, cfg *Config, callID, path string) error {
	f, err := os.Open(path) //nolint:gosec // a path in the spool folder
	if err != nil {
		return fmt.Errorf("call: recording of %s: %w", callID, err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("call: recording of %s: %w", callID, err)
	}
	ctx, cancel := context.WithTimeout(ctx, stepTimeout+time.Duration(info.Size()/minUploadRate)*time.Second)
	defer cancel()
	if _, err = cfg.Blobs.Put(ctx, cfg.Workspace, BlobName(callID), f); err != nil {
		return fmt.Errorf("%w: %s: %w", errBlobStore, callID, err)
	}
	return nil
}

// changeCall reads an ended call and commits the change that f returns, or nothing if f returns nil. After a version
// conflict it repeats both steps. The time limit is stepTimeout.
func changeCall(ctx context.Context, cfg *Config, callID string, f func(*domain.Call) *commit.Change) error {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	var last error
	for range maxConflicts {
		c := &domain.Call{Meta: domain.Meta{ID: callID, WorkspaceID: cfg.Workspace}}
		version, err := cfg.Store.Get(ctx, c)
		if err != nil {
			return fmt.Errorf("call: read %s: %w", callID, err)
		}
		if !c.Final() {
			return errNotFinal
		}
		c.UpdatedAt = time.Now().UTC()
		ch := f(c)
		if ch == nil {
			return nil
		}
		ch.Workspace = cfg.Workspace
		ch.Guards = append(ch.Guards, commit.Guard{Key: c.Key(), Version: version})
		_, last = cfg.Store.Apply(ctx, *ch)
		if !errors.Is(last, domain.ErrConflict) {
			return last
		}
	}
	return last
}
