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

// openTimeout bounds the commit of a call's opening. If its outcome is unknown, the
// opener tries for endUnknownFor, every endUnknownEvery, to end what it may have stored.
const (
	openTimeout     = 5 * time.Second
	endUnknownFor   = 30 * time.Second
	endUnknownEvery = 250 * time.Millisecond
)

// callOpener commits the opening of calls.
type callOpener struct {
	store      commit.Store
	workspaces *workspaceTable
	processID  string // the process, in attempts
	committed  func(workspaceID string)
	background func(func()) // runs what the stop of the node waits for
	stopping   func() bool  // the node is stopping
}

// OpenCall commits the rows of a call before its INVITE, and sets process and tariff
// of its attempt. The end of ctx does not stop the commit. If the outcome of the
// commit is unknown, OpenCall returns an error, and the opener ends in the background
// what may have been stored.
func (o *callOpener) OpenCall(ctx context.Context, opening call.OpeningCommit) error {
	c, a := opening.Call, opening.Attempt
	a.Boot, a.Tariff = o.processID, o.tariff(c.WorkspaceID)
	bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), openTimeout)
	defer cancel()
	started := outbox.NewEvent(&c.Meta, event.CallStarted, c.ID, domain.Unit(cmp.Or(c.AgentID, c.WorkspaceID)), event.CallOf(c))
	if c.TraceParent != "" {
		started.About = &event.About{TraceParent: c.TraceParent}
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

// endUnknownCall ends a call whose opening may have been stored. What it does not
// reach before the process ends is interrupted at the next start.
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

// endStoredCall ends a call if its attempt is stored. A commit may still arrive later.
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

// tariff returns the number of the tariff under which a workspace opens attempts.
func (o *callOpener) tariff(workspaceID string) int {
	if w := o.workspaces.Workspace(workspaceID); w != nil {
		return w.Tariff
	}
	return 0
}
