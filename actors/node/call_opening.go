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
// node tries for endUnknownFor, every endUnknownEvery, to end what it may have stored.
const (
	openTimeout     = 5 * time.Second
	endUnknownFor   = 30 * time.Second
	endUnknownEvery = 250 * time.Millisecond
)

// OpenCall commits the rows of a call before its INVITE, and sets process and tariff
// of its attempt. The end of ctx does not stop the commit. If the outcome of the
// commit is unknown, OpenCall returns an error, and the node ends in the background
// what may have been stored.
func (n *Node) OpenCall(ctx context.Context, o call.Opening) error {
	c, a := o.Call, o.Attempt
	a.Boot, a.Tariff = n.boot, n.tariff(c.WorkspaceID)
	bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), openTimeout)
	defer cancel()
	started := outbox.NewEvent(&c.Meta, event.CallStarted, c.ID, domain.Unit(cmp.Or(c.AgentID, c.WorkspaceID)), event.CallOf(c))
	if c.TraceParent != "" {
		started.About = &event.About{TraceParent: c.TraceParent}
	}
	change := commit.Change{
		Workspace: c.WorkspaceID, Guards: append(o.Grant.Guards, commit.Absent(a.Key())), Puts: append(o.Grant.Puts, c, a), Events: []event.Draft{started},
	}
	if o.More != nil {
		o.More(&change, c)
	}
	_, err := n.cfg.Store.Apply(bound, change)
	n.Committed(c.WorkspaceID)
	if err != nil && !errors.Is(err, domain.ErrConflict) && !errors.Is(err, domain.ErrFenced) {
		n.RunInBackground(func() { n.endUnknownCall(*c, *a) })
	}
	return commit.StoreError(err)
}

// endUnknownCall ends a call whose opening may have been stored. What it does not
// reach before the process ends is interrupted at the next start.
func (n *Node) endUnknownCall(c domain.Call, a domain.Attempt) {
	wait := time.NewTicker(endUnknownEvery)
	defer wait.Stop()
	for end := time.Now().Add(endUnknownFor); time.Now().Before(end) && !n.Draining(); <-wait.C {
		if n.endStoredCall(&c, &a) {
			n.Committed(c.WorkspaceID)
			return
		}
	}
}

// endStoredCall ends a call if its attempt is stored. A commit may still arrive later.
func (n *Node) endStoredCall(c *domain.Call, a *domain.Attempt) (ended bool) {
	ctx, cancel := context.WithTimeout(context.Background(), openTimeout)
	defer cancel()
	row := &domain.Attempt{ID: a.ID, WorkspaceID: a.WorkspaceID}
	version, err := n.cfg.Store.Get(ctx, row)
	if err != nil {
		return false
	}
	change := call.EndChange(call.NotStarted(*c, *a, domain.Timestamp(time.Now())), domain.Timestamp(time.Now()))
	change.Guards = append(change.Guards, commit.Guard{Key: row.Key(), Version: version})
	_, err = n.cfg.Store.Apply(ctx, change)
	return err == nil
}
