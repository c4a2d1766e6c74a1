package webhook

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// ResultCommitter stores the results of attempts for all endpoints of a store: of one
// workspace in the same commits, one after the other, the next one no sooner
// than gatherFor after the one before began or once it has enough. What comes
// after a pause is stored at once. It is safe for concurrent use.
type ResultCommitter struct {
	store Store

	mu    sync.Mutex
	pages map[string]*ledgerPage // of workspaces of which something is being stored
}

// ledgerPage is what waits in one workspace.
type ledgerPage struct {
	waiting []entry
	rows    int         // of those
	next    *time.Timer // begins the next commit; nil: one is under way
}

// entry is what one endpoint wants stored. Nobody changes its rows any more.
type entry struct {
	life func() context.Context // it ends with the endpoint's incarnation, which then hears nothing
	rows []*domain.Delivery
	told func(err error)
}

// NewResultCommitter makes the ledger of a store.
func NewResultCommitter(store Store) *ResultCommitter {
	return &ResultCommitter{store: store, pages: make(map[string]*ledgerPage)}
}

// enqueue stores the rows of an endpoint with the next commit, and reports the outcome.
func (l *ResultCommitter) enqueue(workspace string, e entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.pages[workspace]
	begin := p == nil
	if begin {
		p = new(ledgerPage)
		l.pages[workspace] = p
	}
	p.waiting = append(p.waiting, e)
	p.rows += len(e.rows)
	if p.rows >= enough && p.next != nil && p.next.Stop() {
		p.next, begin = nil, true
	}
	if begin {
		go l.write(workspace, p)
	}
}

// write stores until there is not enough for the next commit yet.
func (l *ResultCommitter) write(workspace string, p *ledgerPage) {
	for {
		batch := l.takeBatch(workspace, p)
		if batch == nil {
			return
		}
		began := time.Now()
		l.apply(workspace, batch)
		if !l.goesOn(workspace, p, gatherFor-time.Since(began)) {
			return
		}
	}
}

// goesOn says whether the next commit begins now; else it does after so long.
func (l *ResultCommitter) goesOn(workspace string, p *ledgerPage, after time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.rows >= enough || after <= 0 {
		return true
	}
	p.next = time.AfterFunc(after, func() {
		l.mu.Lock()
		p.next = nil
		l.mu.Unlock()
		l.write(workspace, p)
	})
	return false
}

// takeBatch takes out what the next commit stores; nil: nothing waits.
func (l *ResultCommitter) takeBatch(workspace string, p *ledgerPage) (batch []entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	rows := 0
	for len(p.waiting) > 0 && (rows == 0 || rows+len(p.waiting[0].rows) <= maxBatch) {
		e := p.waiting[0]
		p.waiting[0] = entry{}
		p.waiting = p.waiting[1:]
		p.rows -= len(e.rows)
		if e.life().Err() == nil {
			batch, rows = append(batch, e), rows+len(e.rows)
		}
	}
	if batch == nil {
		delete(l.pages, workspace)
	}
	return batch
}

// apply commits rows and reports the outcome to their endpoints.
func (l *ResultCommitter) apply(workspace string, batch []entry) {
	change := commit.Change{Workspace: workspace}
	for _, e := range batch {
		for _, row := range e.rows {
			change.Puts = append(change.Puts, row)
		}
	}
	err := l.commit(change)
	for _, e := range batch {
		e.told(err)
	}
}

func (l *ResultCommitter) commit(change commit.Change) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), workLimit)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("the store panicked: %v", v) //nolint:err113 // it is only told
		}
	}()
	_, err = l.store.Apply(ctx, change)
	return err //nolint:wrapcheck // it is the store's
}
