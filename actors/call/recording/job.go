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

// job stores the recording of one ended call. It is passed from the actor to its
// work and back, never used by both.
type job struct {
	callID    string
	recovered bool                   // from the files of an earlier process, perhaps of a call that does not exist
	isPart    bool                   // the call has a longer recording already: this is a part of it
	pending   <-chan media.Recording // brings recording; nil: it is there
	recording media.Recording
	uploaded  bool // by this process
	probe     bool // it tries for all held jobs whether the blob storage works
	wait      time.Duration
}

// run stores what is not stored yet. It may be repeated at any point. Each step has
// a time limit, an upload one that grows with its size.
func (j *job) run(ctx context.Context, cfg *Config) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("call: finishing panicked: %v", v)
		}
	}()
	if j.pending != nil {
		bound, cancel := context.WithTimeout(ctx, stepLimit)
		defer cancel()
		select {
		case j.recording = <-j.pending:
			j.pending = nil
		case <-bound.Done():
			return bound.Err()
		}
	}
	if j.recovered && !exists(j.recording.Path) {
		return nil // another job has stored it
	}
	return j.store(ctx, cfg)
}

func (j *job) store(ctx context.Context, cfg *Config) error {
	r := j.recording
	if r.Err != nil {
		cfg.Log.Error("a recording was lost", slog.String("call_id", j.callID), slog.Any("error", r.Err))
	} else if r.Gap != nil {
		cfg.Log.Error("a recording has gaps: it could not be written all the time", slog.String("call_id", j.callID), slog.Any("error", r.Gap))
	}
	kept := r.Err == nil && r.Path != ""
	if kept {
		wanted, err := j.isWanted(ctx, cfg)
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
			cfg.Log.Warn("a spooled recording stays behind", slog.String("call_id", j.callID), slog.Any("error", err))
		}
	}
	return nil
}

// isWanted reports whether the call and its recording still exist, and removes the
// file if not: it may have waited long. It sets isPart.
func (j *job) isWanted(ctx context.Context, cfg *Config) (bool, error) {
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

// remove deletes blob and file of a call that does not exist any more, or whose
// recording was deleted.
func (j *job) remove(ctx context.Context, cfg *Config) error {
	cfg.Log.Warn("a recording that nobody wants any more is removed", slog.String("call_id", j.callID))
	if err := cfg.Blobs.Delete(ctx, cfg.Workspace, BlobName(j.callID)); err != nil {
		return fmt.Errorf("%w: %s: %w", errNoBlobs, j.callID, err)
	}
	_ = os.Remove(j.recording.Path + joinedSuffix) // of a process that has died
	if err := os.Remove(j.recording.Path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// BlobName is the name of the blob with a call's recording.
func BlobName(callID string) string { return callID + ".wav" }

func upload(ctx context.Context, cfg *Config, callID, path string) error {
	f, err := os.Open(path) //nolint:gosec // our own spool
	if err != nil {
		return fmt.Errorf("call: recording of %s: %w", callID, err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("call: recording of %s: %w", callID, err)
	}
	ctx, cancel := context.WithTimeout(ctx, stepLimit+time.Duration(info.Size()/minUpload)*time.Second)
	defer cancel()
	if _, err = cfg.Blobs.Put(ctx, cfg.Workspace, BlobName(callID), f); err != nil {
		return fmt.Errorf("%w: %s: %w", errNoBlobs, callID, err)
	}
	return nil
}

// changeCall reads a call that is over and commits the change that f makes of it,
// again after a conflict. A nil change is not committed. It takes at most stepLimit.
func changeCall(ctx context.Context, cfg *Config, callID string, f func(*domain.Call) *commit.Change) error {
	ctx, cancel := context.WithTimeout(ctx, stepLimit)
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
