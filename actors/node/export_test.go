package node

import (
	"context"
	"time"

	"github.com/callboard/callboard/actors/alerts"
	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/numbers"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	lists "github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/service/datarequests"
	sipregistrar "github.com/callboard/callboard/sip/registrar"
)

// Usage is how the lines of one direction are used.
func (n *Node) Usage(ctx context.Context, workspaceID string, d domain.Direction) (lines.Usage, error) {
	t := n.tree(workspaceID)
	if d == domain.Inbound {
		return mailbox.Ask[lines.Usage](ctx, n.sys, t.inbound, lines.GetUsage{})
	}
	live, err := mailbox.Ask[lines.Usage](ctx, n.sys, t.outbound, lines.GetUsage{})
	if err != nil {
		return live, err
	}
	tests, err := mailbox.Ask[lines.Usage](ctx, n.sys, t.tests, lines.GetUsage{})
	return lines.Usage{Active: live.Active + tests.Active, Waiting: live.Waiting + tests.Waiting, Limit: live.Limit}, err
}

// MayRing is what the owner of the numbers says to a campaign.
func (n *Node) MayRing(ctx context.Context, workspaceID, number string) (any, error) {
	id := mailbox.NewID(domain.PrefixCall)
	t := n.tree(workspaceID)
	defer n.sys.Root.Send(t.numbers, numbers.ReleaseNumber{CallID: id})
	ctx, cancel := context.WithTimeout(ctx, 8*time.Second)
	defer cancel()
	return numbers.RequestPermission(ctx, n.sys, t.numbers, numbers.RequestNumber{
		CallID: id, Number: number, Environment: domain.Live, Scrub: lists.DefaultScrub(workspaceID, domain.Live),
		Exclusive: true, Until: time.Now().Add(time.Minute),
	})
}

// Sweep is what housekeeping does from time to time.
func (n *Node) Sweep(ctx context.Context) { n.sweep(ctx) }

// CampaignLives says whether a campaign has an actor.
func (n *Node) CampaignLives(workspaceID, id string) bool {
	return n.IsRunning(n.CampaignPID(workspaceID, id))
}

// EndCampaign ends the actor of a campaign as its parent does once it failed too
// often.
func (n *Node) EndCampaign(workspaceID, id string) error {
	return n.sys.Root.StopFuture(n.CampaignPID(workspaceID, id)).Wait()
}

// OrphanedLegs are the legs of a call of an earlier process that have not ended.
func (n *Node) OrphanedLegs(workspaceID, callID string) int {
	o := &n.tree(workspaceID).dialogs
	o.mu.Lock()
	defer o.mu.Unlock()
	if h := o.live[callID]; h != nil {
		return h.legs
	}
	return 0
}

// SweepRetention deletes the expired rows of a workspace.
func (n *Node) SweepRetention(ctx context.Context, workspaceID string, now time.Time) error {
	return n.services.Retention.Sweep(ctx, workspaceID, now)
}

// ReadAlerts reads what rules watch.
func (n *Node) ReadAlerts(ctx context.Context, rules ...*domain.AlertRule) map[string]alerts.RuleReadings {
	return n.services.Alerts.Read(ctx, rules)
}

func personalKinds() []datarequests.RowKind {
	return append(append(datarequests.SettingKinds(), datarequests.BlankedKinds()...), datarequests.PersonKinds()...)
}

// PersonalKinds are the kinds that an erasure looks through row by row.
func PersonalKinds() (names []string) {
	for _, k := range personalKinds() {
		names = append(names, k.Kind)
	}
	return names
}

// PersonalRows are the rows of these kinds, and data requests, decrypted.
func PersonalRows(ctx context.Context, store commit.Store, workspaceID string) (all []domain.Record) {
	for _, k := range append(personalKinds(), datarequests.RowsOf[domain.DataRequest]()) {
		err := store.Under(ctx, domain.Key{Kind: k.Kind, Workspace: workspaceID}, "", 10_000, k.Fresh, func(r domain.Record) error {
			all = append(all, r)
			return nil
		})
		if err != nil {
			panic(err)
		}
	}
	return all
}

// TrunkSources returns the trunks by the addresses from which they send SIP.
func (n *Node) TrunkSources() *trunk.Sources { return n.trunkSources }

// Registrar opens the user agent to the phones of all workspaces.
func (n *Node) Registrar() sipregistrar.Config {
	return sipregistrar.Config{HasPhones: n.phones.HasPhones, Account: n.phones.Account, Presence: n.phones.PresenceAt, Update: n.registerPhone}
}
