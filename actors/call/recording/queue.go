// Package recording stores the recordings of ended calls. A recording stays in the spool folder until its blob and its
// call record are stored. If a process ends earlier, the next process stores the recordings left in the spool.
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
	maxRunning    = 8 // simultaneous jobs: few enough to leave the store free for dialling
	stepTimeout   = 2 * time.Minute
	firstRetry    = time.Second
	lastRetry     = 30 * time.Second
	maxConflicts  = 10
	minUploadRate = 64 << 10 // minimum upload rate in bytes per second that a time limit allows for
)

var (
	errNotFinal  = errors.New("call: the call has not ended yet")
	errBlobStore = errors.New("call: the blob storage did not accept the recording")
)

// Store reads and changes the records of calls.
type Store interface {
	Apply(ctx context.Context, c commit.Change) ([]event.Event, error)
	Get(ctx context.Context, into domain.Record) (uint64, error)
}

// Blobs stores finished recordings.
type Blobs interface {
	// Put stores a blob under a name and returns its size in bytes. It replaces a blob with the same name.
	Put(ctx context.Context, workspace, name string, r io.Reader) (int64, error)
	// Open opens a blob and returns its size in bytes. The error is domain.ErrNotFound if the blob does not exist.
	// The caller closes the blob.
	Open(ctx context.Context, workspace, name string) (io.ReadSeekCloser, int64, error)
	// Delete removes a blob. Deleting a missing blob is no error.
	Delete(ctx context.Context, workspace, name string) error
}

// Config configures a Queue.
type Config struct {
	Workspace string
	SpoolDir  string // root folder with one folder of recordings per workspace; "": no recovery
	PublicURL string // base of recording_url, without a trailing slash
	Store     Store
	Blobs     Blobs
	Log       *slog.Logger
	Committed func()                  // called after a commit; nil: not called
	LiveCalls func() iter.Seq[string] // IDs of the calls that still write to their files
	Idle      func(ctx actor.Context) // called after each finished job; nil: not called
}

func (cfg *Config) folder() string { return filepath.Join(cfg.SpoolDir, cfg.Workspace) }

type (
	// JoinParts joins the parts of recordings in the spool with the stored recordings.
	JoinParts struct{}
	// jobDone reports the result of one call of job.run.
	jobDone struct {
		job *job
		err error
	}
	// jobDue runs a waiting job again after its delay. A nil job means that one held job shall test the blob storage.
	jobDue struct{ job *job }
	// spoolRead carries jobs for the recordings that a scan has found in the spool.
	spoolRead struct {
		jobs   []*job
		callID string // the call whose files were read; "": all calls
		scan   bool   // the message ends a scan of the spool
	}
)

// Control implements mailbox.Control: a full mailbox accepts this message.
func (JoinParts) Control() {}

// Control implements mailbox.Control: a full mailbox accepts this message.
func (jobDone) Control() {}

// Control implements mailbox.Control: a full mailbox accepts this message.
func (jobDue) Control() {}

// Control implements mailbox.Control: a full mailbox accepts this message.
func (spoolRead) Control() {}

// Queue stores the recordings of a workspace, maxRunning at a time. The actor that owns the queue passes it the messages
// that the actor does not handle itself.
type Queue struct {
	cfg           Config
	ready         []*job
	running       map[*job]bool
	waiting       map[*job]bool   // waiting for their retry
	held          []*job          // waiting until the blob storage works; one of them probes it
	probeInterval time.Duration   // delay before the next probe; 0: the blob storage works
	probing       bool            // a probe is scheduled
	recovering    map[string]bool // calls whose spool files are being read
	scans         int             // scans of the whole spool in progress
	joinAgain     bool            // JoinParts arrived during a scan: scan again afterwards
	skipped       map[string]bool // calls that the last scan skipped because their files were in use
}

// NewQueue returns an empty queue.
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

// ReceiveAgain handles a message a second time after a panic, if the message would otherwise be lost.
func (q *Queue) ReceiveAgain(ctx actor.Context) {
	switch ctx.Message().(type) {
	case jobDone, jobDue:
		q.Receive(ctx)
	}
}

// Len returns the number of recordings that are not stored yet.
func (q *Queue) Len() int { return len(q.ready) + len(q.running) + len(q.waiting) + len(q.held) }

// Active reports whether a job is ready, running or waiting for its retry. Jobs held during an outage of the blob storage
// do not count, because their files are safe in the spool for the next process.
func (q *Queue) Active() bool { return len(q.ready)+len(q.running)+len(q.waiting) > 0 }

// Add queues the recording of an ended call. It does nothing if the call was not answered or not recorded.
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
		mailbox.RunTask(ctx, 0, func(bound context.Context) any { // each step has its own time limit
			return jobDone{job: j, err: j.run(bound, cfg)}
		})
	}
}

// nextJob removes and returns the first ready job whose call has no running job. It returns nil if there is none.
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
	if at == 0 { // the usual case
		q.ready = q.ready[1:]
	} else {
		q.ready = slices.Delete(q.ready, at, at+1)
	}
	return j
}

func (q *Queue) finishJob(ctx actor.Context, m jobDone) {
	delete(q.running, m.job)
	noBlobs, probe := errors.Is(m.err, errBlobStore), m.job.probe
	m.job.probe = false
	if !noBlobs && (probe || m.err == nil && m.job.uploaded) {
		q.ready, q.held, q.probeInterval = append(q.ready, q.held...), nil, 0
	}
	if m.err == nil {
		q.joinFetchedPart(ctx, m.job)
		if q.skipped[m.job.callID] { // once per skipped call
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
		q.cfg.Log.Warn("recording could not be stored; trying again", slog.String("call_id", m.job.callID), slog.Any("error", m.err),
			slog.Duration("after", m.job.wait))
	}
	q.waiting[m.job] = true
	mailbox.SendAfter(ctx, m.job.wait, jobDue{m.job})
	q.startJobs(ctx)
}

// holdJob keeps a job until the blob storage works again. Only one of the held jobs tests the storage, and a single log
// line covers all of them.
func (q *Queue) holdJob(ctx actor.Context, m jobDone) {
	q.held = append(q.held, m.job)
	if q.probing {
		return
	}
	q.probing, q.probeInterval = true, min(max(2*q.probeInterval, firstRetry), lastRetry)
	q.cfg.Log.Warn("recordings wait in the spool: the blob storage fails", slog.Int("recordings", len(q.held)), slog.Any("error", m.err),
		slog.Duration("after", q.probeInterval))
	mailbox.SendAfter(ctx, q.probeInterval, jobDue{})
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

// RecoverSpool queues the recordings that a crashed process has left in the spool. It skips the calls in resumable, whose
// files are still being written.
func (q *Queue) RecoverSpool(ctx actor.Context, resumable map[string]bool) {
	if q.cfg.SpoolDir == "" {
		return
	}
	dir, log, now := q.cfg.folder(), q.cfg.Log, time.Now()
	if err := os.MkdirAll(dir, 0o700); err != nil { // not during the scan: the workspace may be deleted by then
		log.Error("spool folder of recordings cannot be created", slog.Any("error", err))
		return
	}
	q.scan(ctx, func() []*job { return readSpool(dir, now, resumable, log) })
}

// Recover queues the recording of one call that another process has left in the spool.
func (q *Queue) Recover(ctx actor.Context, callID string) {
	if q.cfg.SpoolDir == "" || q.recovering[callID] {
		return
	}
	q.recovering[callID] = true
	dir, log := q.cfg.folder(), q.cfg.Log
	mailbox.RunTask(ctx, stepTimeout, func(context.Context) any {
		return spoolRead{callID: callID, jobs: combine(dir, filesOf(dir, callID), time.Now(), log)}
	})
}

// addRecovered queues the jobs found in the spool, except jobs for calls that are still live.
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

// joinParts searches the spool for parts of recordings. Only one scan runs at a time.
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

// scan runs find outside the actor and delivers the jobs that find returns. It reports the end of the scan even after a
// panic, because joinParts waits for it.
func (q *Queue) scan(ctx actor.Context, find func() []*job) {
	q.scans++
	log := q.cfg.Log
	mailbox.RunTask(ctx, stepTimeout, func(context.Context) (m any) {
		defer func() {
			if v := recover(); v != nil {
				log.Error("scan of the recording spool panicked", slog.Any("panic", v), slog.String("stack", string(debug.Stack())))
				m = spoolRead{scan: true}
			}
		}()
		return spoolRead{scan: true, jobs: find()}
	})
}

// joinFetchedPart joins a part of the recording that arrived from another node during the call. It runs once the
// recording of the call is stored or known to be missing.
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

// busyCalls returns the calls whose spool files are in use.
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
