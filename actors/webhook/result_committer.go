package webhook

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// ResultCommitter stores the delivery results of all endpoints of a store. All endpoints of a workspace share commits,
// and only one commit of a workspace runs at a time. A commit starts at most every gatherTime, or as soon as minBatch
// results wait. It is safe for concurrent use.
type ResultCommitter struct {
	store Store

	mu     sync.Mutex
	queues map[string]*commitQueue // by workspace, while results wait or are being stored
}

// commitQueue holds the waiting results of one workspace.
type commitQueue struct {
	waiting []resultBatch
	rows    int         // number of waiting rows
	timer   *time.Timer // starts the next commit; nil: a commit is running
}

// resultBatch contains results of one endpoint. The rows must not change after enqueue.
type resultBatch struct {
	lifetime func() context.Context // ends with the endpoint's incarnation, whose results are then dropped
	rows     []*domain.Delivery
	report   func(err error)
}

// NewResultCommitter returns a ResultCommitter that commits to a store.
func NewResultCommitter(store Store) *ResultCommitter {
	return &ResultCommitter{store: store, queues: make(map[string]*commitQueue)}
}

// enqueue adds the results of an endpoint to the next commit of a workspace.
func (l *ResultCommitter) enqueue(workspace string, e resultBatch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.queues[workspace]
	begin := p == nil
	if begin {
		p = new(commitQueue)
		l.queues[workspace] = p
	}
	p.waiting = append(p.waiting, e)
	p.rows += len(e.rows)
	if p.rows >= minBatch && p.timer != nil && p.timer.Stop() {
		p.timer, begin = nil, true
	}
	if begin {
		go l.commitBatches(workspace, p)
	}
}

// commitBatches commits the waiting results of a workspace. It returns when no results wait, or when the next commit
// must wait for gatherTime.
func (l *ResultCommitter) commitBatches(workspace string, p *commitQueue) {
	for {
		batch := l.takeBatch(workspace, p)
		if batch == nil {
			return
		}
		began := time.Now()
		l.apply(workspace, batch)
		if !l.scheduleNext(workspace, p, gatherTime-time.Since(began)) {
			return
		}
	}
}

// scheduleNext returns true if the next commit must start now. Otherwise it starts a timer for the next commit.
func (l *ResultCommitter) scheduleNext(workspace string, p *commitQueue, after time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.rows >= minBatch || after <= 0 {
		return true
	}
	p.timer = time.AfterFunc(after, func() {
		l.mu.Lock()
		p.timer = nil
		l.mu.Unlock()
		l.commitBatches(workspace, p)
	})
	return false
}

// takeBatch removes and returns the results of the next commit. It returns nil if no results wait.
func (l *ResultCommitter) takeBatch(workspace string, p *commitQueue) (batch []resultBatch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	rows := 0
	for len(p.waiting) > 0 && (rows == 0 || rows+len(p.waiting[0].rows) <= maxBatch) {
		e := p.waiting[0]
		p.waiting[0] = resultBatch{}
		p.waiting = p.waiting[1:]
		p.rows -= len(e.rows)
		if e.lifetime().Err() == nil {
			batch, rows = append(batch, e), rows+len(e.rows)
		}
	}
	if batch == nil {
		delete(l.queues, workspace)
	}
	return batch
}

// apply commits a batch and reports the outcome to its endpoints.
func (l *ResultCommitter) apply(workspace string, batch []resultBatch) {
	change := commit.Change{Workspace: workspace}
	for _, e := range batch {
		for _, row := range e.rows {
			change.Puts = append(change.Puts, row)
		}
	}
	err := l.commit(change)
	for _, e := range batch {
		e.report(err)
	}
}

func (l *ResultCommitter) commit(change commit.Change) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("the store panicked: %v", v) //nolint:err113 // the error is only reported
		}
	}()
	_, err = l.store.Apply(ctx, change)
	return err //nolint:wrapcheck // the caller knows that it is an error of the store
}
