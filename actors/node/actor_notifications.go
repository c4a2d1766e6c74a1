package node

import (
	"context"

	"github.com/callboard/callboard/actors/call/recording"
	"github.com/callboard/callboard/actors/campaign"
	"github.com/callboard/callboard/actors/outbox"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/actors/workspace"
	"github.com/callboard/callboard/domain/commit"
)

// Committed notifies the outbox actor of a workspace that events were committed.
func (n *Node) Committed(workspaceID string) {
	if t := n.tree(workspaceID); t != nil {
		n.sys.Root.Send(t.outbox, outbox.EventsCommitted{})
	}
}

// holdCalls sets whether this node allows no new calls. The user agent then sends no INVITEs that begin a call.
func (n *Node) holdCalls(on bool) {
	switch {
	case n.cfg.Router != nil:
		n.cfg.Router.holdCalls(n, on)
	case n.cfg.SIP != nil:
		n.cfg.SIP.SuspendCalls(on)
	}
}

// wakeAllCampaigns makes the campaigns of all nodes of the process check again whether they may dial.
func (n *Node) wakeAllCampaigns() {
	if n.cfg.Router != nil {
		n.cfg.Router.wakeCampaigns()
		return
	}
	n.WakeCampaigns()
}

// ReloadTrunks reads the trunks of a workspace from the store and updates the trunk actor and the inbound sources.
func (n *Node) ReloadTrunks(ctx context.Context, workspaceID string) error {
	t, err := n.workspaceActors(workspaceID)
	if err != nil {
		return err
	}
	t.settingsMu.Lock()
	defer t.settingsMu.Unlock()
	turn := n.trunkSources.NextUpdate()
	trunks, err := n.rows.trunks(ctx, workspaceID)
	if err != nil {
		return commit.StoreError(err)
	}
	n.sys.Root.Send(t.trunks, trunk.SetTrunks{Trunks: trunks})
	n.sys.Root.Send(t.campaigns, workspace.Broadcast{Message: campaign.RulesChanged{}})
	n.trunkSources.Set(ctx, turn, workspaceID, trunks)
	return nil
}

// JoinRecordingParts makes the calls actor of a workspace join the parts of recordings in the local spool directory.
func (n *Node) JoinRecordingParts(workspaceID string) {
	if t := n.tree(workspaceID); t != nil {
		n.sys.Root.Send(t.calls, recording.JoinParts{})
	}
}
