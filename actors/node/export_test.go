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

// LinesUsage returns how many call permits are in use in one direction.
func (n *Node) LinesUsage(ctx context.Context, workspaceID string, d domain.Direction) (lines.Usage, error) {
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

// MayCall asks the numbers actor, as a campaign does, whether a number may be called. It returns the reply of the
// numbers actor: numbers.NumberGranted or numbers.NumberDenied.
func (n *Node) MayCall(ctx context.Context, workspaceID, number string) (any, error) {
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

// Sweep does the periodic work of the node once: it resolves trunks, joins recordings and deletes expired rows.
func (n *Node) Sweep(ctx context.Context) { n.sweep(ctx) }

// HasCampaignActor reports whether a campaign has a running actor.
func (n *Node) HasCampaignActor(workspaceID, id string) bool {
	return n.IsRunning(n.CampaignPID(workspaceID, id))
}

// EndCampaign stops the actor of a campaign as its supervisor does after repeated failures.
func (n *Node) EndCampaign(workspaceID, id string) error {
	return n.sys.Root.StopFuture(n.CampaignPID(workspaceID, id)).Wait()
}

// AbandonedLegs returns the number of SIP legs that an earlier process left open for a call and that have not ended.
func (n *Node) AbandonedLegs(workspaceID, callID string) int {
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

// ReadAlerts returns the current readings of alert rules.
func (n *Node) ReadAlerts(ctx context.Context, rules ...*domain.AlertRule) map[string]alerts.RuleReadings {
	return n.services.Alerts.Read(ctx, rules)
}

func personalKinds() []datarequests.RowKind {
	return append(append(datarequests.SettingKinds(), datarequests.MaskedKinds()...), datarequests.PersonKinds()...)
}

// PersonalKinds returns the kinds of database rows that an erasure of personal data reads row by row.
func PersonalKinds() (names []string) {
	for _, k := range personalKinds() {
		names = append(names, k.Kind)
	}
	return names
}

// PersonalRows returns the decrypted rows of all PersonalKinds and the rows of the data requests.
func PersonalRows(ctx context.Context, store commit.Store, workspaceID string) (all []domain.Record) {
	for _, k := range append(personalKinds(), datarequests.NewRowKind[domain.DataRequest]()) {
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

// TrunkSources returns the lookup of trunks by the addresses from which they send SIP.
func (n *Node) TrunkSources() *trunk.Sources { return n.trunkSources }

// Registrar returns the SIP registrar configuration with which the phones of all workspaces may register.
func (n *Node) Registrar() sipregistrar.Config {
	return sipregistrar.Config{HasPhones: n.phones.HasPhones, Account: n.phones.Account, Presence: n.phones.PresenceAt, Update: n.registerPhone}
}
