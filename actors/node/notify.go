package node

import (
	"context"

	"github.com/callboard/callboard/actors/call/recording"
	"github.com/callboard/callboard/actors/campaign"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/actors/workspace"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// holdCalls has the user agent send no INVITE that begins a call.
func (n *Node) holdCalls(on bool) {
	switch {
	case n.cfg.Router != nil:
		n.cfg.Router.holdCalls(n, on)
	case n.cfg.SIP != nil:
		n.cfg.SIP.HoldCalls(on)
	}
}

// wakeAllCampaigns wakes the campaigns of all nodes of the process.
func (n *Node) wakeAllCampaigns() {
	if n.cfg.Router != nil {
		n.cfg.Router.wakeCampaigns()
		return
	}
	n.WakeCampaigns()
}

// ReloadTrunks tells the trunks and the book what is stored now.
func (n *Node) ReloadTrunks(ctx context.Context, workspaceID string) error {
	t, err := n.workspaceActors(workspaceID)
	if err != nil {
		return err
	}
	t.changing.Lock()
	defer t.changing.Unlock()
	turn := n.trunkSources.Turn()
	trunks, err := n.stored.trunks(ctx, workspaceID)
	if err != nil {
		return commit.StoreError(err)
	}
	n.sys.Root.Send(t.trunks, trunk.Set{Trunks: trunks})
	n.sys.Root.Send(t.campaigns, workspace.Tell{Message: campaign.Decide{}})
	n.trunkSources.Set(ctx, turn, workspaceID, trunks)
	return nil
}

// JoinRecordingParts has the calls of a workspace join the parts of recordings in the spool.
func (n *Node) JoinRecordingParts(workspaceID string) {
	if t := n.tree(workspaceID); t != nil {
		n.sys.Root.Send(t.calls, recording.JoinParts{})
	}
}

// trunks returns the trunks of a workspace, each with the numbers that it may show as caller IDs.
func (st *actorRows) trunks(ctx context.Context, workspaceID string) ([]domain.Trunk, error) {
	var out []domain.Trunk
	for _, env := range []domain.Environment{domain.Live, domain.Test} {
		numbers, err := trunk.LiveNumbers(ctx, st.rows, workspaceID, env)
		if err != nil {
			return nil, err
		}
		err = commit.Each(ctx, st.rows, "trunk", workspaceID, "env="+string(env), func(t *domain.Trunk) {
			t.CallerIDs = trunk.CallerIDs(t, numbers)
			out = append(out, *t)
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
