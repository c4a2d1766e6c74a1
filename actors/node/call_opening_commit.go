package node

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/outbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
)

// openTimeout bounds the commit that opens a call. If the outcome of the commit is unknown, the call may be stored. The
// opener then tries for endUnknownFor, every endUnknownEvery, to end the stored call.
const (
	openTimeout     = 5 * time.Second
	endUnknownFor   = 30 * time.Second
	endUnknownEvery = 250 * time.Millisecond
)

// callOpener commits the database rows of a new call before its INVITE is sent.
type callOpener struct {
	store      commit.Store
	workspaces *workspaceTable
	processID  string // of this process, stored in attempts
	committed  func(workspaceID string)
	background func(func()) // runs a goroutine that the stop of the node waits for
	stopping   func() bool  // reports whether the node is stopping
}

// OpenCall commits the rows of a call before its INVITE and sets the process and the tariff of its call attempt. A
// cancelled ctx does not stop the commit. If the outcome of the commit is unknown, OpenCall returns an error, and a
// background goroutine ends the call in case it was stored.
func (o *callOpener) OpenCall(ctx context.Context, opening call.OpeningCommit) error {
	c, a := opening.Call, opening.Attempt
	a.Boot, a.Tariff = o.processID, o.tariff(c.WorkspaceID)
	bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), openTimeout)
	defer cancel()
	started := outbox.NewEvent(&c.Meta, event.CallStarted, c.ID, domain.UnitID(cmp.Or(c.AgentID, c.WorkspaceID)), event.NewCallData(c))
	if c.TraceParent != "" {
		started.Attributes = &event.Attributes{TraceParent: c.TraceParent}
	}
	change := commit.Change{
		Workspace: c.WorkspaceID, Guards: append(opening.Grant.Guards, commit.Absent(a.Key())), Puts: append(opening.Grant.Puts, c, a), Events: []event.Draft{started},
	}
	if opening.AddTo != nil {
		opening.AddTo(&change, c)
	}
	_, err := o.store.Apply(bound, change)
	o.committed(c.WorkspaceID)
	if err != nil && !errors.Is(err, domain.ErrConflict) && !errors.Is(err, domain.ErrFenced) {
		o.background(func() { o.endUnknownCall(*c, *a) })
	}
	return commit.StoreError(err)
}

// endUnknownCall repeatedly tries to end a call whose commit has an unknown outcome. If the process ends before
// that, the next start of the node ends the call as interrupted.
func (o *callOpener) endUnknownCall(c domain.Call, a domain.Attempt) {
	wait := time.NewTicker(endUnknownEvery)
	defer wait.Stop()
	for end := time.Now().Add(endUnknownFor); time.Now().Before(end) && !o.stopping(); <-wait.C {
		if o.endStoredCall(&c, &a) {
			o.committed(c.WorkspaceID)
			return
		}
	}
}

// endStoredCall ends a call if its call attempt is stored. It returns false if the attempt is missing, because the
// commit of the call may still arrive, and also after a store error.
func (o *callOpener) endStoredCall(c *domain.Call, a *domain.Attempt) (ended bool) {
	ctx, cancel := context.WithTimeout(context.Background(), openTimeout)
	defer cancel()
	row := &domain.Attempt{ID: a.ID, WorkspaceID: a.WorkspaceID}
	version, err := o.store.Get(ctx, row)
	if err != nil {
		return false
	}
	change := call.EndChange(call.EndAsNotStarted(*c, *a, domain.Timestamp(time.Now())), domain.Timestamp(time.Now()))
	change.Guards = append(change.Guards, commit.Guard{Key: row.Key(), Version: version})
	_, err = o.store.Apply(ctx, change)
	return err == nil
}

// tariff returns the number of the tariff by which new call attempts of a workspace are billed.
func (o *callOpener) tariff(workspaceID string) int {
	if w := o.workspaces.Workspace(workspaceID); w != nil {
		return w.Tariff
	}
	return 0
}
