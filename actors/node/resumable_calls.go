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

// resumableBatch is the maximum number of call attempts in one commit of claimResumableCalls.
const resumableBatch = 100

// claimResumableCalls moves the attempts of calls that this node can resume from l.attempts to l.resumable. It commits
// this process as their owner. The commit fails if another node has taken over the workspace meanwhile.
func (st *actorRows) claimResumableCalls(ctx context.Context, ws string, l *startRows) error {
	if !st.resume {
		return nil
	}
	now := domain.Timestamp(time.Now())
	var remaining []*domain.Attempt
	for _, a := range l.attempts {
		c := &domain.Call{Meta: domain.Meta{ID: a.CallID, WorkspaceID: a.WorkspaceID}}
		if len(a.ResumeState) > 0 {
			if _, err := st.store.Get(ctx, c); err != nil && !errors.Is(err, domain.ErrNotFound) {
				return err
			}
		}
		s, ok := recovery.NewResumable(*c, *a, st.processID, now)
		if !ok {
			remaining = append(remaining, a)
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
	l.attempts = remaining
	for batch := range slices.Chunk(l.resumable, resumableBatch) {
		change := commit.Change{Workspace: ws}
		for _, s := range batch {
			change.Puts = append(change.Puts, &s.Attempt)
		}
		if _, err := st.store.Apply(ctx, change); err != nil {
			return err
		}
	}
	return nil
}

// hasLostShard reports whether another node may own the shard. This node then releases its live calls without a BYE.
func (n *Node) hasLostShard() bool { return !n.OwnsShard() }
