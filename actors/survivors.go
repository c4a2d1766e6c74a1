package actors

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/callboard/callboard/actors/call/recovery"
	"github.com/callboard/callboard/actors/workspace"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// survivorsAtOnce is how many rows one commit holds.
const survivorsAtOnce = 100

// survivorsOf takes those of the open attempts out whose calls may go on here.
// They are ours, durably, when it returns: the commit is refused where another
// node has the workspace meanwhile, and nobody else then asks their far ends.
func (n *Node) survivorsOf(ctx context.Context, ws string, l *loaded) error {
	if !n.cfg.Survive {
		return nil
	}
	now := domain.Timestamp(time.Now())
	var left []*domain.Attempt
	for _, a := range l.attempts {
		c := &domain.Call{Meta: domain.Meta{ID: a.CallID, WorkspaceID: a.WorkspaceID}}
		if len(a.Kept) > 0 {
			if _, err := n.cfg.Store.Get(ctx, c); err != nil && !errors.Is(err, domain.ErrNotFound) {
				return err
			}
		}
		s, ok := recovery.NewResumable(*c, *a, n.boot, now)
		if !ok {
			left = append(left, a)
			continue
		}
		for i := range l.trunks {
			if l.trunks[i].ID == s.TrunkID() {
				s.Trunk = &l.trunks[i]
			}
		}
		if a.CampaignID != "" {
			s.Owner = workspace.PID(n.sys, ws, workspace.Campaigns, a.CampaignID)
		}
		l.survivors = append(l.survivors, s)
	}
	l.attempts = left
	for some := range slices.Chunk(l.survivors, survivorsAtOnce) {
		change := commit.Change{Workspace: ws}
		for _, s := range some {
			change.Puts = append(change.Puts, &s.Attempt)
		}
		if _, err := n.cfg.Store.Apply(ctx, change); err != nil {
			return err
		}
	}
	return nil
}

// cutOff says that another node may have the work: what lives here is not to be
// ended, but let go of.
func (n *Node) cutOff() bool { return !n.may() }
