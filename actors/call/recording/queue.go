// Package recording stores the recordings of ended calls. A recording lies in the
// spool folder until its blob and its call record are stored; one that a process
// left behind is stored by the next process.
package recording

import (
	"context"
	"errors"
	"io"
	"iter"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/media"
)

const (
	maxRunning   = 8 // jobs at a time, so that they never stall the commits that dial
	stepLimit    = 2 * time.Minute
	firstRetry   = time.Second
	lastRetry    = 30 * time.Second
	maxConflicts = 10
	minUpload    = 64 << 10 // bytes per second: the slowest upload that is waited for
)

var (
	errNotFinal = errors.New("call: the call is not over yet")
	errNoBlobs  = errors.New("call: a recording cannot be kept")
)

// Store reads and changes the records of calls.
type Store interface {
	Apply(ctx context.Context, c commit.Change) ([]event.Event, error)
	Get(ctx context.Context, into domain.Record) (uint64, error)
}

// Blobs stores finished recordings.
type Blobs interface {
	// Put stores a blob under a name and returns its size. Putting the same
	// name again replaces it.
	Put(ctx context.Context, workspace, name string, r io.Reader) (int64, error)
	// Open opens a blob and returns its size in bytes; domain.ErrNotFound if it
	// does not exist. The caller closes it.
	Open(ctx context.Context, workspace, name string) (io.ReadSeekCloser, int64, error)
	// Delete removes a blob. A blob that does not exist is no error.
	Delete(ctx context.Context, workspace, name string) error
}

// Config is what a Queue needs.
type Config struct {
	Workspace string
	SpoolDir  string // holds a folder of recordings per workspace; "": nothing is recovered from it
	PublicURL string // of recording_url, without a slash at its end
	Store     Store
	Blobs     Blobs
	Log       *slog.Logger
	Committed func()                  // called after a commit; nil: nothing is called
	LiveCalls func() iter.Seq[string] // IDs of the calls that still write to their files
	Idle      func(ctx actor.Context) // called whenever a job has ended; nil: nothing is called
}

func (cfg *Config) folder() string { return filepath.Join(cfg.SpoolDir, cfg.Workspace) }

type (
	// JoinParts joins the parts of recordings in the spool with the rest.
	JoinParts struct{}
	// jobDone is the result of one attempt of a job.
	jobDone struct {
		job *job
		err error
	}
	// jobDue tries a job again; nil: one of those that wait for the blob storage.
	jobDue struct{ job *job }
	// spoolRead brings recordings that an earlier process has left.
	spoolRead struct {
		jobs   []*job
		callID string // the one call whose files were read; "": all
		scan   bool   // it ends a scan
	}
)

// Control admits it always.
func (JoinParts) Control() {}

// Control admits it always.
func (jobDone) Control() {}

// Control admits it always.
func (jobDue) Control() {}

// Control admits it always.
func (spoolRead) Control() {}

// Queue stores the recordings of a workspace, a few at a time. It belongs to one
// actor, which passes it the messages that it does not know itself.
type Queue struct {
	cfg        Config
	ready      []*job
	running    map[*job]bool
	waiting    map[*job]bool   // for their next attempt
	held       []*job          // while the blob storage fails; one of them probes it
	blobWait   time.Duration   // before the next probe; 0: the blob storage works
	probing    bool            // a probe is scheduled
	recovering map[string]bool // calls whose files are being read
	scans      int             // of the whole spool, under way
	joinAgain  bool            // JoinParts arrived during a scan: scan again after it
	skipped    map[string]bool // calls that the last scan skipped because their files were in use
}

// NewQueue makes an empty queue.
func NewQueue(cfg Config) *Queue {
	return &Queue{cfg: cfg, running: make(map[*job]bool), waiting: make(map[*job]bool), recovering: make(map[string]bool)}
}

// Receive handles the queue's own messages and ignores all others.
func (q *Queue) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case jobDone:
		q.finishJob(ctx, m)
	case jobDue:
		q.retryJob(ctx, m)
	case spoolRead:
		q.addRecovered(ctx, m)
	case JoinParts:
		q.joinParts(ctx)
	}
}

// ReceiveAgain handles a message whose handling has panicked, where nothing else
// would repeat it.
func (q *Queue) ReceiveAgain(ctx actor.Context) {
	switch ctx.Message().(type) {
	case jobDone, jobDue:
		q.Receive(ctx)
	}
}

// Len is the number of recordings that are not stored yet.
func (q *Queue) Len() int { return len(q.ready) + len(q.running) + len(q.waiting) + len(q.held) }

// Active reports whether a job is under way. Recordings that wait for the blob
// storage do not count: they are safe in the spool, and the next process finds them.
func (q *Queue) Active() bool { return len(q.ready)+len(q.running)+len(q.waiting) > 0 }

// Add stores the recording of a call that is over. If the final record says already
// that there is no file, nothing remains to be done.
func (q *Queue) Add(ctx actor.Context, c *domain.Call, pending <-chan media.Recording) {
	if c.AnsweredAt == nil || !c.Record || pending == nil {
		return
	}
	j := &job{callID: c.ID, pending: pending}
	if !c.Processing {
		select {
		case j.recording = <-j.pending:
			j.pending = nil
			if j.recording.Path == "" && j.recording.Err == nil {
				q.joinFetchedPart(ctx, j)
				return
			}
		default:
		}
	}
	q.ready = append(q.ready, j)
	q.startJobs(ctx)
}

func (q *Queue) startJobs(ctx actor.Context) {
	for len(q.running) < maxRunning {
		j := q.nextJob()
		if j == nil {
			return
		}
		q.running[j] = true
		cfg := &q.cfg
		mailbox.RunTask(ctx, 0, func(bound context.Context) any { // each step has a limit of its own
			return jobDone{job: j, err: j.run(bound, cfg)}
		})
	}
}

// nextJob removes the first ready job whose call has no running job; nil: there is
// none.
func (q *Queue) nextJob() *job {
	at := slices.IndexFunc(q.ready, func(j *job) bool {
		for other := range q.running {
			if other.callID == j.callID {
				return false
			}
		}
		return true
	})
	if at < 0 {
		return nil
	}
	j := q.ready[at]
	if at == 0 { // nearly always
		q.ready = q.ready[1:]
	} else {
		q.ready = slices.Delete(q.ready, at, at+1)
	}
	return j
}

func (q *Queue) finishJob(ctx actor.Context, m jobDone) {
	delete(q.running, m.job)
	noBlobs, probe := errors.Is(m.err, errNoBlobs), m.job.probe
	m.job.probe = false
	if !noBlobs && (probe || m.err == nil && m.job.uploaded) {
		q.ready, q.held, q.blobWait = append(q.ready, q.held...), nil, 0
	}
	if m.err == nil {
		q.joinFetchedPart(ctx, m.job)
		if q.skipped[m.job.callID] { // once, also after a recovered job
			delete(q.skipped, m.job.callID)
			q.Recover(ctx, m.job.callID)
		}
		if q.cfg.Committed != nil {
			q.cfg.Committed()
		}
		q.startJobs(ctx)
		if q.cfg.Idle != nil {
			q.cfg.Idle(ctx)
		}
		return
	}
	if noBlobs {
		q.holdJob(ctx, m)
		q.startJobs(ctx)
		return
	}
	m.job.wait = min(max(2*m.job.wait, firstRetry), lastRetry)
	if !errors.Is(m.err, errNotFinal) {
		q.cfg.Log.Warn("what a call left could not be kept; trying again", slog.String("call_id", m.job.callID), slog.Any("error", m.err),
			slog.Duration("after", m.job.wait))
	}
	q.waiting[m.job] = true
	mailbox.SendAfter(ctx, m.job.wait, jobDue{m.job})
	q.startJobs(ctx)
}

// holdJob keeps a job until the blob storage works again. One of the held jobs
// probes it, and one log line tells of all.
func (q *Queue) holdJob(ctx actor.Context, m jobDone) {
	q.held = append(q.held, m.job)
	if q.probing {
		return
	}
	q.probing, q.blobWait = true, min(max(2*q.blobWait, firstRetry), lastRetry)
	q.cfg.Log.Warn("recordings cannot be kept now and wait in the spool", slog.Int("recordings", len(q.held)), slog.Any("error", m.err),
		slog.Duration("after", q.blobWait))
	mailbox.SendAfter(ctx, q.blobWait, jobDue{})
}

func (q *Queue) probeBlobs(ctx actor.Context) {
	q.probing = false
	if len(q.held) == 0 {
		return
	}
	q.held[0].probe = true
	q.ready, q.held = append(q.ready, q.held[0]), q.held[1:]
	q.startJobs(ctx)
}

func (q *Queue) retryJob(ctx actor.Context, m jobDue) {
	if m.job == nil {
		q.probeBlobs(ctx)
		return
	}
	if !q.waiting[m.job] {
		return
	}
	delete(q.waiting, m.job)
	q.ready = append(q.ready, m.job)
	q.startJobs(ctx)
}

// RecoverSpool stores the recordings that a crash has left in the spool, except
// those of resumable calls, which still write to their files.
func (q *Queue) RecoverSpool(ctx actor.Context, resumable map[string]bool) {
	if q.cfg.SpoolDir == "" {
		return
	}
	dir, log, now := q.cfg.folder(), q.cfg.Log, time.Now()
	if err := os.MkdirAll(dir, 0o700); err != nil { // here: the workspace may be gone when the scan runs
		log.Error("the spool of recordings cannot be made", slog.Any("error", err))
		return
	}
	q.scan(ctx, func() []*job { return readSpool(dir, now, resumable, log) })
}

// Recover stores what another process has recorded of one call.
func (q *Queue) Recover(ctx actor.Context, callID string) {
	if q.cfg.SpoolDir == "" || q.recovering[callID] {
		return
	}
	q.recovering[callID] = true
	dir, log := q.cfg.folder(), q.cfg.Log
	mailbox.RunTask(ctx, stepLimit, func(context.Context) any {
		return spoolRead{callID: callID, jobs: combine(dir, filesOf(dir, callID), time.Now(), log)}
	})
}

// addRecovered queues the jobs, except those of live calls.
func (q *Queue) addRecovered(ctx actor.Context, m spoolRead) {
	delete(q.recovering, m.callID)
	if m.scan {
		q.scans--
	}
	if len(m.jobs) > 0 {
		live := q.liveCalls()
		for _, j := range m.jobs {
			if !live[j.callID] {
				q.ready = append(q.ready, j)
			}
		}
	}
	q.startJobs(ctx)
	if q.joinAgain {
		q.joinParts(ctx)
	}
}

// joinParts looks for parts in the spool, one scan at a time.
func (q *Queue) joinParts(ctx actor.Context) {
	if q.joinAgain = q.scans > 0; q.joinAgain || q.cfg.SpoolDir == "" {
		return
	}
	dir, busy, log := q.cfg.folder(), q.busyCalls(), q.cfg.Log
	q.skipped = maps.Clone(busy)
	q.scan(ctx, func() (jobs []*job) {
		for _, id := range callsWithParts(dir) {
			if !busy[id] {
				jobs = append(jobs, combine(dir, filesOf(dir, id), time.Now(), log)...)
			}
		}
		return jobs
	})
}

// scan looks for unfinished recordings. It reports its end also after a panic,
// because joinParts waits for it.
func (q *Queue) scan(ctx actor.Context, find func() []*job) {
	q.scans++
	log := q.cfg.Log
	mailbox.RunTask(ctx, stepLimit, func(context.Context) (m any) {
		defer func() {
			if v := recover(); v != nil {
				log.Error("what is left of recordings could not be looked at", slog.Any("panic", v), slog.String("stack", string(debug.Stack())))
				m = spoolRead{scan: true}
			}
		}()
		return spoolRead{scan: true, jobs: find()}
	})
}

// joinFetchedPart joins a part that was fetched while its call lived, once the
// recording of the call is stored or does not exist.
func (q *Queue) joinFetchedPart(ctx actor.Context, j *job) {
	if j.recovered || q.cfg.SpoolDir == "" {
		return
	}
	if exists(filepath.Join(q.cfg.folder(), j.callID+".wav"+partSuffix)) {
		q.Recover(ctx, j.callID)
	}
}

func (q *Queue) liveCalls() map[string]bool {
	live := make(map[string]bool)
	for id := range q.cfg.LiveCalls() {
		live[id] = true
	}
	return live
}

// busyCalls are the calls whose files are in use.
func (q *Queue) busyCalls() map[string]bool {
	busy := q.liveCalls()
	maps.Copy(busy, q.recovering)
	for _, list := range [][]*job{q.ready, q.held} {
		for _, j := range list {
			busy[j.callID] = true
		}
	}
	for _, set := range []map[*job]bool{q.running, q.waiting} {
		for j := range set {
			busy[j.callID] = true
		}
	}
	return busy
}
