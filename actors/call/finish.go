package call

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/media"
)

// Bounds of the work after a call.
const (
	workers      = 8
	jobLimit     = 2 * time.Minute
	jobWait      = time.Second
	jobWaitMost  = 30 * time.Second
	conflictsMax = 10
	slowest      = 64 << 10 // bytes a second, at which a recording is still kept
)

var (
	errNotFinal = errors.New("call: the call is not over yet")
	errNotKept  = errors.New("call: a recording cannot be kept")
)

type (
	// jobDone answers one try of a job.
	jobDone struct {
		job *job
		err error
	}
	// jobDue tries a job again; nil: one of those that blobs keep waiting.
	jobDue struct{ job *job }
	// salvaged are the recordings that an earlier process left.
	salvaged struct {
		jobs  []*job
		of    string // the one call that was looked at; "": all
		round bool   // of c.rounds
	}
)

// Control admits it always.
func (jobDone) Control() {}

// Control admits it always.
func (jobDue) Control() {}

// Control admits it always.
func (salvaged) Control() {}

// job keeps the recording of one call that is over. It is handed from the
// actor to its work and back, never used by both.
type job struct {
	callID    string
	salvaged  bool // left by an earlier process, perhaps of no call
	beside    bool // the call has another recording, which is longer: this is a part of it
	coming    <-chan media.Recording
	recording media.Recording
	uploaded  bool // in this process
	probe     bool // it tries for all that are held
	wait      time.Duration
}

// jobs are done a few at a time, so that they never stall the commits that
// dial.
type jobs struct {
	ready   []*job
	running map[*job]bool
	waiting map[*job]bool
	held    []*job        // while blobs cannot be kept anywhere: one of them tries for all
	rest    time.Duration // before that; 0: they can
	asleep  bool          // until one is due
}

func (j *jobs) count() int { return len(j.ready) + len(j.running) + len(j.waiting) + len(j.held) }

// next is the first job of a call of which no other one runs; nil: there is none.
func (j *jobs) next() *job {
	at := slices.IndexFunc(j.ready, func(one *job) bool {
		for other := range j.running {
			if other.callID == one.callID {
				return false
			}
		}
		return true
	})
	if at < 0 {
		return nil
	}
	one := j.ready[at]
	if at == 0 { // as nearly always
		j.ready = j.ready[1:]
	} else {
		j.ready = slices.Delete(j.ready, at, at+1)
	}
	return one
}

// open says whether anything is being done. What waits for somewhere to be kept
// is safe where it is, and is found by the next start.
func (j *jobs) open() bool { return len(j.ready)+len(j.running)+len(j.waiting) > 0 }

// finishing begins what remains to be done for a call that is over. Where it is
// known already that there is no file, which the last record says as well, that
// is nothing.
func (c *Calls) finishing(ctx actor.Context, b *berth, e *Ended) {
	if e.Call.AnsweredAt == nil || !e.Call.Record || b.recording == nil {
		return
	}
	j := &job{callID: e.CallID, coming: b.recording}
	if !e.Call.Processing {
		select {
		case j.recording = <-j.coming:
			j.coming = nil
			if j.recording.Path == "" && j.recording.Err == nil {
				c.besides(ctx, j)
				return
			}
		default:
		}
	}
	c.jobs.ready = append(c.jobs.ready, j)
	c.work(ctx)
}

func (c *Calls) work(ctx actor.Context) {
	for len(c.jobs.running) < workers {
		j := c.jobs.next()
		if j == nil {
			return
		}
		c.jobs.running[j] = true
		cfg := &c.cfg
		mailbox.Work(ctx, 0, func(bound context.Context) any { // each step has its own bound
			return jobDone{job: j, err: j.do(bound, cfg)}
		})
	}
}

func (c *Calls) jobDone(ctx actor.Context, m jobDone) {
	delete(c.jobs.running, m.job)
	unkept, probe := errors.Is(m.err, errNotKept), m.job.probe
	m.job.probe = false
	if !unkept && (probe || m.err == nil && m.job.uploaded) {
		c.jobs.ready, c.jobs.held, c.jobs.rest = append(c.jobs.ready, c.jobs.held...), nil, 0
	}
	if m.err == nil {
		c.besides(ctx, m.job)
		if c.cfg.Committed != nil {
			c.cfg.Committed()
		}
		c.work(ctx)
		c.drained(ctx)
		return
	}
	if unkept {
		c.hold(ctx, m)
		c.work(ctx)
		return
	}
	m.job.wait = min(max(2*m.job.wait, jobWait), jobWaitMost)
	if !errors.Is(m.err, errNotFinal) {
		c.cfg.Log.Warn("what a call left could not be kept; trying again", slog.String("call_id", m.job.callID), slogErr(m.err),
			slog.Duration("after", m.job.wait))
	}
	c.jobs.waiting[m.job] = true
	mailbox.After(ctx, m.job.wait, jobDue{m.job})
	c.work(ctx)
}

// hold keeps a job until blobs can be kept again. However many there are, one
// tries, and one line tells of it.
func (c *Calls) hold(ctx actor.Context, m jobDone) {
	c.jobs.held = append(c.jobs.held, m.job)
	if c.jobs.asleep {
		return
	}
	c.jobs.asleep, c.jobs.rest = true, min(max(2*c.jobs.rest, jobWait), jobWaitMost)
	c.cfg.Log.Warn("recordings cannot be kept now and wait in the spool", slog.Int("recordings", len(c.jobs.held)), slogErr(m.err),
		slog.Duration("after", c.jobs.rest))
	mailbox.After(ctx, c.jobs.rest, jobDue{})
}

func (c *Calls) awake(ctx actor.Context) {
	c.jobs.asleep = false
	if len(c.jobs.held) == 0 {
		return
	}
	c.jobs.held[0].probe = true
	c.jobs.ready, c.jobs.held = append(c.jobs.ready, c.jobs.held[0]), c.jobs.held[1:]
	c.work(ctx)
}

func (c *Calls) jobDue(ctx actor.Context, m jobDue) {
	if m.job == nil {
		c.awake(ctx)
		return
	}
	if !c.jobs.waiting[m.job] {
		return
	}
	delete(c.jobs.waiting, m.job)
	c.jobs.ready = append(c.jobs.ready, m.job)
	c.work(ctx)
}

// do stores what is still to be stored. It may be repeated at any point. Its
// steps are bounded each, a recording by its length.
func (j *job) do(ctx context.Context, cfg *Config) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("call: finishing panicked: %v", v)
		}
	}()
	if j.coming != nil {
		bound, cancel := context.WithTimeout(ctx, jobLimit)
		defer cancel()
		select {
		case j.recording = <-j.coming:
			j.coming = nil
		case <-bound.Done():
			return bound.Err()
		}
	}
	if j.salvaged && !fileIs(j.recording.Path) {
		return nil // it was kept by another job
	}
	return j.keepRecording(ctx, cfg)
}

func (j *job) keepRecording(ctx context.Context, cfg *Config) error {
	r := j.recording
	if r.Err != nil {
		cfg.Log.Error("a recording was lost", slog.String("call_id", j.callID), slogErr(r.Err))
	} else if r.Gap != nil {
		cfg.Log.Error("a recording has gaps: it could not be written all the time", slog.String("call_id", j.callID), slogErr(r.Gap))
	}
	kept := r.Err == nil && r.Path != ""
	if kept {
		wanted, err := j.wanted(ctx, cfg)
		if err != nil || !wanted {
			return err
		}
		if j.beside {
			return j.join(ctx, cfg)
		}
		if err := upload(ctx, cfg, j.callID, r.Path); err != nil {
			return err
		}
		j.uploaded = true
	}
	deleted := false
	err := soonChange(ctx, cfg, j.callID, func(c *domain.Call) *commit.Change {
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
		data := event.RecordingData{CallRef: event.RefOf(c), RecordingURL: c.RecordingURL, DurationSeconds: c.RecordingSeconds}
		return &commit.Change{
			Puts:   []domain.Record{c},
			Events: []event.Draft{draft(c, event.CallRecordingReady, data, time.Now().UTC())},
		}
	})
	if kept && (errors.Is(err, domain.ErrNotFound) || err == nil && deleted) {
		return j.unwanted(ctx, cfg)
	}
	if err != nil {
		return err
	}
	if r.Path != "" {
		if err := os.Remove(r.Path); err != nil && !errors.Is(err, os.ErrNotExist) {
			cfg.Log.Warn("a spooled recording stays behind", slog.String("call_id", j.callID), slogErr(err))
		}
	}
	return nil
}

// wanted says whether the recording is to be kept still: it may have waited long.
func (j *job) wanted(ctx context.Context, cfg *Config) (bool, error) {
	deleted := false
	err := soonChange(ctx, cfg, j.callID, func(c *domain.Call) *commit.Change {
		deleted = c.RecordingDeletedAt != nil
		j.beside = j.salvaged && c.RecordingAvailable
		return nil
	})
	if errors.Is(err, domain.ErrNotFound) || err == nil && deleted {
		return false, j.unwanted(ctx, cfg)
	}
	return err == nil, err
}

// unwanted removes the recording of a call that is not there any more, or whose
// recording was deleted, wherever it lies.
func (j *job) unwanted(ctx context.Context, cfg *Config) error {
	cfg.Log.Warn("a recording that nobody wants any more is removed", slog.String("call_id", j.callID))
	if err := cfg.Blobs.Delete(ctx, cfg.Workspace, RecordingName(j.callID)); err != nil {
		return fmt.Errorf("%w: %s: %w", errNotKept, j.callID, err)
	}
	_ = os.Remove(j.recording.Path + whole) // of a process that has died
	if err := os.Remove(j.recording.Path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// RecordingName is the blob's name of a call's recording.
func RecordingName(callID string) string { return callID + ".wav" }

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
	ctx, cancel := context.WithTimeout(ctx, jobLimit+time.Duration(info.Size()/slowest)*time.Second)
	defer cancel()
	if _, err = cfg.Blobs.Put(ctx, cfg.Workspace, RecordingName(callID), f); err != nil {
		return fmt.Errorf("%w: %s: %w", errNotKept, callID, err)
	}
	return nil
}

// soonChange is change with a bound.
func soonChange(ctx context.Context, cfg *Config, callID string, f func(*domain.Call) *commit.Change) error {
	ctx, cancel := context.WithTimeout(ctx, jobLimit)
	defer cancel()
	return change(ctx, cfg, callID, f)
}

// change reads a call that is over, changes it and commits that, again where
// somebody else was faster. A nil change is none.
func change(ctx context.Context, cfg *Config, callID string, f func(*domain.Call) *commit.Change) error {
	var last error
	for range conflictsMax {
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

// salvage looks for recordings that a crash left in the spool.
func (c *Calls) salvage(ctx actor.Context) {
	if c.cfg.SpoolDir == "" {
		return
	}
	dir, log, now, live := filepath.Join(c.cfg.SpoolDir, c.cfg.Workspace), c.cfg.Log, time.Now(), c.living()
	if err := os.MkdirAll(dir, 0o700); err != nil { // here, as work may be late: the workspace may be gone by then
		log.Error("the spool of recordings cannot be made", slogErr(err))
		return
	}
	c.round(ctx, jobLimit, func(context.Context) []*job { return spooled(dir, now, live, log) })
}

// living are the calls of a process that is gone which go on with their files.
func (c *Calls) living() map[string]bool {
	live := make(map[string]bool, len(c.cfg.Survivors))
	for _, s := range c.cfg.Survivors {
		live[s.Call.ID] = true
	}
	return live
}

// salvaged takes them in, but for those of calls that live.
func (c *Calls) salvaged(ctx actor.Context, m salvaged) {
	delete(c.salvages, m.of)
	if m.round {
		c.rounds--
	}
	for _, j := range m.jobs {
		if c.berths[j.callID] == nil {
			c.jobs.ready = append(c.jobs.ready, j)
		}
	}
	c.work(ctx)
	if c.joinAgain {
		c.joinRecordingParts(ctx)
	}
}
