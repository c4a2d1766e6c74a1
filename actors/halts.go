package actors

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/callboard/callboard/actors/campaign"
	"github.com/callboard/callboard/actors/workspace"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/dialer"
	"github.com/callboard/callboard/domain/load"
	"github.com/callboard/callboard/service/record"
)

// halts are what an operator holds back over all workspaces.
type halts struct {
	quarantined bool                            // the store was restored, and nobody has released it
	changing    sync.Mutex                      // held while a stop is kept, and while one is taken back
	moved       int                             // how often that was done here; under changing
	draining    sync.Mutex                      // held while the user agent is told; never over the store
	stopped     atomic.Pointer[domain.Dialling] // nobody is rung; nil: everybody may be
	drained     *atomic.Pointer[load.DrainNow]  // no call begins on this node, nor on others of the process; nil within: calls may
}

// haltRetry is after how many seconds somebody who is refused may ask again.
const haltRetry = 5

// why is why nobody may be rung, as dialplan.View.Stopped.
func (h *halts) why() string {
	switch {
	case h.quarantined:
		return dialer.ForQuarantine
	case h.stopped.Load() != nil:
		return dialer.ForDialling
	case h.drained.Load() != nil:
		return dialer.ForDrain
	}
	return ""
}

// refusal is the same for whoever orders a call.
func (h *halts) refusal() error {
	why := h.why()
	text := "an operator has stopped all dialling; try again later"
	switch why {
	case "":
		return nil
	case dialer.ForQuarantine:
		text = "the service was restored from a backup: it calls nobody until an operator releases it"
	case dialer.ForDrain:
		text = "an operator has drained this node: it takes no calls; try again later"
	}
	return domain.Errorf(domain.CodeUnavailable, "%s", text).With("reason", why).With("retry_after", haltRetry)
}

// Quarantined reports whether nothing may leave this node: its store was restored
// from a backup and is not released.
func (n *Node) Quarantined() bool { return n.cfg.Quarantined }

// Quarantined reports whether nothing may leave the service.
func (d *Desk) Quarantined() bool { return d.node.Quarantined() }

// QuarantineError returns the error for what would leave the node while it is in
// quarantine; nil: it is not.
func (n *Node) QuarantineError() error {
	if !n.Quarantined() {
		return nil
	}
	return n.halts.refusal()
}

// Dialling returns the operator's dial stop, if there is one.
func (n *Node) Dialling() load.DiallingNow { return diallingOf(n.halts.stopped.Load()) }

// Drained returns the drain of the node, if there is one.
func (n *Node) Drained() load.DrainNow {
	if now := n.halts.drained.Load(); now != nil {
		return *now
	}
	return load.DrainNow{}
}

// drainedSince is why the node is not ready, where it was drained.
func (h *halts) drainedSince() error {
	if d := h.drained.Load(); d != nil && d.Since != nil {
		return fmt.Errorf("an operator has drained the node at %s", d.Since.Format(time.RFC3339))
	}
	return nil
}

// readDialling reads at the start whether nobody may be rung.
func (n *Node) readDialling(ctx context.Context) error {
	row := &domain.Dialling{}
	_, err := n.cfg.Store.Get(ctx, row)
	if errors.Is(err, domain.ErrNotFound) || err == nil && !row.Stopped {
		return nil
	}
	if err != nil {
		return err
	}
	n.halts.stopped.Store(row)
	n.holdCalls(true)
	n.cfg.Log.Warn("nobody is rung: an operator has stopped all dialling", slog.Time("since", row.Since), slog.String("reason", row.Reason))
	return nil
}

// holdCalls has the user agent send no INVITE that begins a call.
func (n *Node) holdCalls(on bool) {
	switch {
	case n.cfg.Board != nil:
		n.cfg.Board.holdCalls(n, on)
	case n.cfg.SIP != nil:
		n.cfg.SIP.HoldCalls(on)
	}
}

// StopDialling lets nobody be rung any more, in no workspace, until
// ResumeDialling, also across a restart. Live calls go on. What is stopped stays
// so, and as it was said first.
func (d *Desk) StopDialling(ctx context.Context, p domain.Principal, reason string) (load.DiallingNow, error) {
	h := &d.node.halts
	h.changing.Lock()
	defer h.changing.Unlock()
	if row := h.stopped.Load(); row != nil && !row.Since.IsZero() && d.node.stillStopped(ctx) {
		return diallingOf(row), nil
	}
	h.moved++
	h.stopped.Store(&domain.Dialling{Stopped: true, Reason: reason}) // before it is kept: nobody is rung while the store is slow
	d.node.holdCalls(true)
	d.node.WakeCampaigns()
	row := &domain.Dialling{Stopped: true, Reason: reason, Since: record.Now(), By: record.ActorOf(p)}
	if _, err := d.store.Apply(commit.Boarding(ctx), commit.Change{Puts: []domain.Record{row}}); err != nil {
		d.log.Error("nobody is rung, but whether a restart will know it is not: stop all dialling once more", slog.Any("error", err))
		return load.DiallingNow{}, record.StoreError(err)
	}
	h.stopped.Store(row)
	d.log.Warn("an operator has stopped all dialling", slog.String("actor", row.By.ID))
	return diallingOf(row), nil
}

// ResumeDialling lets people be rung again. Campaigns that were paused stay so.
func (d *Desk) ResumeDialling(ctx context.Context, p domain.Principal) (load.DiallingNow, error) {
	h := &d.node.halts
	h.changing.Lock()
	defer h.changing.Unlock()
	if h.stopped.Load() == nil && d.node.alone() {
		return load.DiallingNow{}, nil
	}
	h.moved++
	row := &domain.Dialling{Since: record.Now(), By: record.ActorOf(p)}
	if _, err := d.store.Apply(commit.Boarding(ctx), commit.Change{Puts: []domain.Record{row}}); err != nil {
		return load.DiallingNow{}, record.StoreError(err)
	}
	h.stopped.Store(nil)
	d.node.holdCalls(false)
	d.node.WakeCampaigns()
	d.log.Warn("an operator lets people be rung again", slog.String("actor", row.By.ID))
	return load.DiallingNow{}, nil
}

// DrainNode takes no call any more, in or out, until UndrainNode or the end of
// the process; live ones go on.
func (d *Desk) DrainNode(_ context.Context, p domain.Principal) (load.DrainNow, error) {
	h := &d.node.halts
	h.draining.Lock()
	defer h.draining.Unlock()
	if now := h.drained.Load(); now != nil {
		return *now, nil
	}
	at, by := record.Now(), record.ActorOf(p)
	now := &load.DrainNow{On: true, Since: &at, By: &by}
	h.drained.Store(now)
	if d.node.cfg.SIP != nil {
		d.node.cfg.SIP.Drain(true)
	}
	d.node.WakeAllCampaigns()
	d.log.Warn("an operator has drained the node", slog.String("actor", by.ID))
	return *now, nil
}

// UndrainNode takes DrainNode back. It is refused while the service is being
// stopped.
func (d *Desk) UndrainNode(_ context.Context, p domain.Principal) (load.DrainNow, error) {
	h := &d.node.halts
	h.draining.Lock()
	defer h.draining.Unlock()
	if d.node.Draining() {
		return load.DrainNow{}, domain.Errorf(domain.CodeUnavailable, "the service is being stopped: it takes no calls any more").With("reason", dialer.ForDrain)
	}
	if h.drained.Swap(nil) == nil {
		return load.DrainNow{}, nil
	}
	if d.node.cfg.SIP != nil {
		d.node.cfg.SIP.Drain(false)
	}
	d.node.WakeAllCampaigns()
	by := record.ActorOf(p)
	d.log.Warn("an operator lets the node take calls again", slog.String("actor", by.ID))
	return load.DrainNow{}, nil
}

// stopping lets no call begin any more, for good.
func (n *Node) stopping() {
	n.halts.draining.Lock()
	defer n.halts.draining.Unlock()
	n.drain.Store(true)
	if n.cfg.SIP != nil && n.alone() { // what goes may be one shard of several
		n.cfg.SIP.Drain(true)
	}
}

func diallingOf(row *domain.Dialling) load.DiallingNow {
	if row == nil {
		return load.DiallingNow{}
	}
	now := load.DiallingNow{Stopped: true, Reason: row.Reason}
	if !row.Since.IsZero() {
		since, by := row.Since, row.By
		now.Since, now.By = &since, &by
	}
	return now
}

// WakeAllCampaigns is nudgeCampaigns of all nodes of the process.
func (n *Node) WakeAllCampaigns() {
	if n.cfg.Board != nil {
		n.cfg.Board.wakeCampaigns()
		return
	}
	n.WakeCampaigns()
}

// WakeCampaigns has every campaign look again whether it may ring.
func (n *Node) WakeCampaigns() {
	n.mu.RLock()
	defer n.mu.RUnlock()
	for _, t := range n.spaces {
		n.sys.Root.Send(t.campaigns, workspace.Tell{Message: campaign.Decide{}})
	}
}
