package node

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/callboard/callboard/actors/call/recovery"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// resumableBatch is how many rows one commit holds.
const resumableBatch = 100

// claimResumableCalls moves the open attempts whose calls may be resumed here from l.attempts to l.resumable. It commits that they
// are this node's; the commit fails if another node has the workspace meanwhile.
func (st *actorRows) claimResumableCalls(ctx context.Context, ws string, l *startRows) error {
	if !st.resume {
		return nil
	}
	now := domain.Timestamp(time.Now())
	var left []*domain.Attempt
	for _, a := range l.attempts {
		c := &domain.Call{Meta: domain.Meta{ID: a.CallID, WorkspaceID: a.WorkspaceID}}
		if len(a.ResumeState) > 0 {
			if _, err := st.store.Get(ctx, c); err != nil && !errors.Is(err, domain.ErrNotFound) {
				return err
			}
		}
		s, ok := recovery.NewResumable(*c, *a, st.processID, now)
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
			s.Owner = st.campaign(ws, a.CampaignID)
		}
		l.resumable = append(l.resumable, s)
	}
	l.attempts = left
	for some := range slices.Chunk(l.resumable, resumableBatch) {
		change := commit.Change{Workspace: ws}
		for _, s := range some {
			change.Puts = append(change.Puts, &s.Attempt)
		}
		if _, err := st.store.Apply(ctx, change); err != nil {
			return err
		}
	}
	return nil
}

// hasLostShard says that another node may have the work: what lives here is not to be
// ended, but let go of.
func (n *Node) hasLostShard() bool { return !n.OwnsShard() }
