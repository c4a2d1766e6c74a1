package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/actors/call/recovery"
	"github.com/callboard/callboard/actors/campaign"
	"github.com/callboard/callboard/actors/ledger"
	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/outbox"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/actors/webhook"
	"github.com/callboard/callboard/actors/workspace"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/registration"
)

// commitLimit bounds the commit that opens a call attempt. The INVITE may be sent up to this time after the opening.
const commitLimit = 10 * time.Second

// startLimit bounds the start of a workspace's actors. startRetry is the pause before a repeated request to start
// an actor.
const (
	startLimit = 10 * time.Second
	startRetry = 250 * time.Millisecond
)

// Start loads all workspaces, ends or resumes the calls that an earlier process left open, and starts the actors.
// Afterwards the node accepts inbound calls.
func (n *Node) Start(ctx context.Context) error {
	run := n.startTasks(ctx)
	if err := n.dialStop.load(ctx); err != nil {
		return err
	}
	all, err := n.rows.workspaces(ctx, n.OwnsWorkspace)
	if err != nil {
		return err
	}
	for _, w := range all {
		if err := n.services.Lifecycle.Load(ctx, w.ID); err != nil {
			return err
		}
		if err := n.StartWorkspace(ctx, w); err != nil {
			return err
		}
		n.RunInBackground(func() { n.dnc.LoadWorkspace(run, w.ID) })
	}
	ids := make([]string, len(all))
	for i, w := range all {
		ids[i] = w.ID
	}
	if err := n.services.Lifecycle.Resume(ctx, run, ids); err != nil {
		return err
	}
	if err := errors.Join(n.startHeartbeat(), n.startAlerts()); err != nil {
		return err
	}
	n.startBackgroundTasks(run)
	n.loaded.Store(true)
	return nil
}

// startBackgroundTasks starts the background tasks. They stop when the context run ends.
func (n *Node) startBackgroundTasks(run context.Context) {
	n.services.Lifecycle.Run(run)
	n.RunInBackground(func() { n.runSweeps(run) })
	if !n.IsOnlyShard() {
		n.RunInBackground(func() { n.dialStop.follow(run) })
	}
}

// startRows are the database rows that the actors of a workspace need at their start.
type startRows struct {
	trunks    []domain.Trunk
	webhooks  []domain.Webhook
	campaigns []string
	attempts  []*domain.Attempt     // open attempts of an earlier process, except resumable
	resumable []*recovery.Resumable // calls of open attempts that this node may resume
	abandoned []*domain.AbandonedCall
}

// StartWorkspace loads a workspace, ends the calls outside of campaigns that an earlier process left open, and
// starts the actors.
func (n *Node) StartWorkspace(ctx context.Context, w *domain.Workspace) error {
	rows, err := n.rows.loadStartRows(ctx, w.ID)
	if err != nil {
		return err
	}
	for _, a := range rows.attempts {
		if a.CampaignID == "" {
			if err = n.rows.endInterruptedCall(ctx, a); err != nil {
				return err
			}
		}
	}
	if err = n.rows.createDefaultLists(ctx, w); err != nil {
		return err
	}
	n.trunkSources.Set(ctx, n.trunkSources.NextUpdate(), w.ID, rows.trunks)
	phones, err := n.rows.phones(ctx, w.ID)
	if err != nil {
		return err
	}
	n.phones.Set(w.ID, phones)
	pid := func(path ...string) *actor.PID { return workspace.PID(n.sys, w.ID, path...) }
	t := &workspaceTree{
		outbound: pid(workspace.OutboundLines), tests: pid(workspace.TestLines), inbound: pid(workspace.InboundLines), trunks: pid(workspace.Trunks),
		calls: pid(workspace.Calls), campaigns: pid(workspace.Campaigns), webhooks: pid(workspace.Webhooks), outbox: pid(workspace.Outbox),
		phones: pid(workspace.Registrar), numbers: pid(workspace.Numbers),
	}
	t.record.Store(w)
	t.dialogs.set(rows.abandoned, time.Now().Add(abandonedDialogLimit))
	n.add(w.ID, t)
	root := n.sys.Root.Copy().WithGuardian(mailbox.ResumeStrategy(n.cfg.Log, nil))
	children := n.workspaceChildren(w, t, rows)
	started, startFirst := make(chan struct{}), children.AfterSpawn
	children.AfterSpawn = func(actx actor.Context) {
		startFirst(actx)
		close(started)
	}
	if _, err = root.SpawnNamed(workspace.Props(children), w.ID); err != nil {
		return err
	}
	if len(rows.abandoned) > 0 {
		run := n.Context()
		n.RunInBackground(func() { n.deleteEndedDialogRows(run, w.ID, &t.dialogs) })
	}
	late := time.NewTimer(3 * startLimit)
	defer late.Stop()
	select { // StartWorkspace returns when every actor of the workspace can be reached
	case <-started:
		if len(rows.resumable) > 0 {
			n.sys.Root.Send(t.calls, call.ResumeCalls{})
		}
		return nil
	case <-late.C:
		return fmt.Errorf("the actors of workspace %s did not start within %s", w.ID, 3*startLimit)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// DetachWorkspace removes a workspace from the node's table. The returned function hangs up the calls of the
// workspace and stops its actors. It is nil if the workspace does not run on this node.
func (n *Node) DetachWorkspace(id string) (stop func(ctx context.Context)) {
	t := n.remove(id)
	if t == nil {
		return nil
	}
	return func(ctx context.Context) {
		n.sys.Root.Send(t.campaigns, workspace.Broadcast{Message: campaign.Drain{}})
		over, cancel := context.WithCancel(ctx) // already cancelled, so that no call continues
		cancel()
		n.liveCalls().drain(over, t)
		n.stopActor(id)
	}
}

// RemoveInboundSources removes the trunks and phones of a deleted workspace from the inbound routing.
func (n *Node) RemoveInboundSources(ctx context.Context, id string) {
	n.trunkSources.Set(ctx, n.trunkSources.NextUpdate(), id, nil)
	n.phones.Set(id, nil)
}

// loadStartRows reads the rows that the actors of a workspace need. It takes ownership of the calls that this node
// can resume, and stores the dialogs that an earlier process left open.
func (st *actorRows) loadStartRows(ctx context.Context, ws string) (*startRows, error) {
	l := &startRows{}
	var err error
	if l.trunks, err = st.trunks(ctx, ws); err != nil {
		return nil, err
	}
	for _, env := range []domain.Environment{domain.Live, domain.Test} {
		err = commit.ForEachRow(ctx, st.store, "webhook", ws, "env="+string(env), func(w *domain.Webhook) { l.webhooks = append(l.webhooks, *w) })
		if err != nil {
			return nil, err
		}
	}
	added := make(map[string]bool)
	addCampaign := func(id string) {
		if !added[id] {
			added[id] = true
			l.campaigns = append(l.campaigns, id)
		}
	}
	if err = commit.ForEachRow(ctx, st.store, "campaign", ws, "open", func(c *domain.Campaign) {
		if c.Status != domain.CampaignDraft { // the actor of a draft starts on demand
			addCampaign(c.ID)
		}
	}); err != nil {
		return nil, err
	}
	if l.attempts, err = recovery.OpenAttempts(ctx, st.store, ws); err != nil {
		return nil, err
	}
	if err = st.claimResumableCalls(ctx, ws, l); err != nil {
		return nil, err
	}
	if l.abandoned, err = st.storeAbandonedDialogs(ctx, ws, l.attempts); err != nil {
		return nil, err
	}
	if st.quarantined {
		l.trunks = nil // without trunks no actor registers or sends OPTIONS
	}
	for _, s := range l.resumable {
		if s.Call.CampaignID != "" {
			addCampaign(s.Call.CampaignID)
		}
	}
	for _, a := range l.attempts {
		if a.CampaignID != "" {
			addCampaign(a.CampaignID) // a cancelled campaign may have had live calls
		}
	}
	return l, nil
}

// recentlyOpenedCalls returns, for each outbound call of the last minute, the latest time at which its INVITE may
// have been sent. The store contains only the time at which the call was opened.
func (st *actorRows) recentlyOpenedCalls(ctx context.Context, ws string, env domain.Environment) ([]time.Time, error) {
	var out []time.Time
	now := time.Now()
	since := now.Add(-61*time.Second - commitLimit)
	q := commit.Query{Kind: "call", Workspace: ws, Index: "env=" + string(env), Oldest: true, Limit: 1000, From: domain.FirstIDAt(domain.PrefixCall, since)}
	for {
		next, err := st.store.List(ctx, q, func() domain.Record { return &domain.Call{} }, func(r domain.Record) error {
			if c, ok := r.(*domain.Call); ok && c.Direction == domain.Outbound && c.StartedAt != nil {
				if at := c.StartedAt.Add(commitLimit); at.Before(now) {
					out = append(out, at)
				} else {
					out = append(out, now)
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if next == "" {
			break
		}
		q.Cursor = next
	}
	return out, nil
}

// endInterruptedCall ends a call outside of campaigns that an earlier process left open. One commit stores the call
// and its event.
func (st *actorRows) endInterruptedCall(ctx context.Context, a *domain.Attempt) error {
	c := &domain.Call{Meta: domain.Meta{ID: a.CallID, WorkspaceID: a.WorkspaceID}}
	_, err := st.store.Get(ctx, c)
	change := commit.Change{Workspace: a.WorkspaceID, Deletes: []domain.Key{a.Key()}}
	switch {
	case errors.Is(err, domain.ErrNotFound):
	case err != nil:
		return err
	case !c.Final():
		change = call.EndChange(call.EndAsInterrupted(*c, *a, domain.Timestamp(time.Now())), domain.Timestamp(time.Now()))
	}
	_, err = st.store.Apply(ctx, change)
	return err
}

// workspaceChildren returns the child actors of a workspace in the order of their start. A child sends requests only
// to children that start before it.
func (n *Node) workspaceChildren(w *domain.Workspace, t *workspaceTree, l *startRows) workspace.Config {
	log := n.cfg.Log
	onGiveUp := func(pid *actor.PID, reason any) {
		log.Error("an actor failed too often and is not restarted", slog.String("actor", pid.Id), slog.Any("reason", reason))
	}
	key := n.cfg.Keys.DecisionLogKey(w.ID)
	campaignProps := func(id string) *actor.Props { return n.campaignProps(w.ID, id, t, key) }
	webhookProps := func(id string) *actor.Props { return n.webhookProps(w.ID, id) }
	hooks := make([]string, len(l.webhooks))
	for i := range l.webhooks {
		hooks[i] = l.webhooks[i].ID
	}
	return workspace.Config{
		Log: log, OnGiveUp: onGiveUp,
		Children: []workspace.Child{
			{Name: workspace.Calls, Props: n.callProps(w.ID, t, l.resumable)}, // starts before the lines actors, which request the live calls from it
			{Name: workspace.Numbers, Props: n.numbersProps(w.ID, t)},
			{Name: workspace.OutboundLines, Props: n.linesProps(t, domain.Outbound, domain.Live)},
			{Name: workspace.TestLines, Props: n.linesProps(t, domain.Outbound, domain.Test)},
			{Name: workspace.InboundLines, Props: n.linesProps(t, domain.Inbound, "")},
			{Name: workspace.Trunks, Props: n.trunkProps(t, l.trunks)},
			{Name: workspace.Webhooks, Props: workspace.SupervisorProps(hooks, webhookProps, log, onGiveUp)},
			{Name: workspace.Outbox, Props: n.outboxProps(w.ID)},
			{Name: workspace.Registrar, Props: n.phoneProps(w.ID)},
			{Name: workspace.Campaigns, Props: workspace.SupervisorProps(l.campaigns, campaignProps, log, onGiveUp)},
		},
		AfterSpawn: func(actor.Context) { n.endAbandonedDialogs(t, l.abandoned) },
	}
}

// NewMediaCapacity returns the limit on concurrent calls that follows from the RTP port pairs of a media engine.
func NewMediaCapacity(e *media.Engine) *lines.PortCapacity {
	return lines.NewPortCapacity(func() lines.PortUsage {
		ports := e.Ports()
		return lines.PortUsage{Pairs: ports.Pairs, InUse: ports.Taken, CoolingDown: ports.Resting}
	})
}

// linesProps returns the props of the actor that grants call permits in one direction. Outbound calls of the test
// environment have permits of their own, so that test calls take none from live calls. An empty env means both
// environments.
func (n *Node) linesProps(t *workspaceTree, d domain.Direction, env domain.Environment) *actor.Props {
	return mailbox.Props(n.observeMessages("lines", func() actor.Actor {
		limits := t.record.Load().Limits // read at each start: the limits may have changed
		cfg := lines.Config{
			Concurrent: limits.ConcurrentInbound, Capacity: n.cfg.MediaCapacity, Log: n.cfg.Log,
			ListLiveCalls: func(ctx context.Context) ([]lines.LiveCall, error) { return n.listLiveCalls(ctx, t, d, env) },
		}
		if d == domain.Outbound {
			cfg.Concurrent, cfg.PerMinute, cfg.ReserveTenth = limits.ConcurrentOutbound, limits.CallsPerMinute, true
			cfg.ListRecentStarts = func(ctx context.Context) ([]time.Time, error) {
				return n.rows.recentlyOpenedCalls(ctx, t.record.Load().ID, env)
			}
			cfg.HasInboundBacklog = n.cfg.SIP.IsBehind
		}
		return lines.New(cfg)
	}), 10_000)
}

// listLiveCalls returns the live calls and transfer legs in one direction. After a restart the lines actor rebuilds
// its permits from them.
func (n *Node) listLiveCalls(ctx context.Context, t *workspaceTree, d domain.Direction, env domain.Environment) ([]lines.LiveCall, error) {
	live, err := mailbox.Ask[call.LiveCalls](ctx, n.sys, t.calls, call.GetLiveCalls{})
	if err != nil {
		return nil, err
	}
	var out []lines.LiveCall
	for _, c := range live.Calls {
		if c.Direction == d && (env == "" || c.Environment == env) {
			out = append(out, lines.LiveCall{CallID: c.CallID, Call: c.PID, Campaign: c.CampaignID != ""})
		}
	}
	for _, c := range live.TransferLegs {
		if c.Direction == d && (env == "" || c.Environment == env) {
			out = append(out, lines.LiveCall{CallID: c.CallID, Call: c.PID})
		}
	}
	return out, nil
}

// trunkProps returns the props of the actor that owns the trunks of a workspace.
func (n *Node) trunkProps(t *workspaceTree, trunks []domain.Trunk) *actor.Props {
	ws := t.record.Load().ID
	return mailbox.Props(n.observeMessages("trunks", func() actor.Actor {
		return trunk.New(trunk.Config{
			Trunks: trunks, TestCarrier: n.cfg.TestCarrierTarget, Workspace: t.record.Load, Resolve: n.cfg.SIP.Resolve, Ping: n.cfg.SIP.Ping,
			Register: func(c registration.Config) (*registration.Registration, error) {
				return registration.Start(n.cfg.SIP, c)
			},
			Log: n.cfg.Log, SendAlarm: (&trunkAlarms{store: n.cfg.Store, committed: n.Committed, log: n.cfg.Log}).commit,
			ReadLedgerSpend: func(ctx context.Context, since time.Time) (domain.Amount, error) {
				return ledger.SpentSince(ctx, n.cfg.Store, t.record.Load(), since)
			},
			LoadSpending: func(ctx context.Context) (domain.Spending, error) { return n.rows.spending(ctx, ws) },
			LoadStates:   func(ctx context.Context) ([]domain.TrunkState, error) { return n.rows.trunkStates(ctx, ws) },
			SaveStates: func(ctx context.Context, states []domain.TrunkState, deleted []string, s *domain.Spending) error {
				return n.rows.saveTrunkStates(ctx, ws, states, deleted, s)
			},
		})
	}), 10_000)
}

// callProps returns the props of the actor that owns the live calls of a workspace.
func (n *Node) callProps(ws string, t *workspaceTree, resumable []*recovery.Resumable) *actor.Props {
	return call.Props(call.Config{
		Workspace: ws, Store: n.cfg.Store, UserAgent: leg.NewUserAgent(n.cfg.SIP, n.cfg.OwnsShard), Media: leg.NewMedia(n.cfg.Media),
		Speaker: n.cfg.Speaker, Recognizer: n.cfg.Recognizer, Blobs: n.cfg.Blobs, LinesOut: t.outbound, LinesTest: t.tests, LinesIn: t.inbound, Trunks: t.trunks, Numbers: t.numbers, FindTarget: n.FindTransferTarget, Traces: n.cfg.SIPTraces,
		IsListed: func(ctx context.Context, s dnc.ScrubRules, e164 string) (bool, error) {
			hit, err := n.dnc.MatchPhone(ctx, ws, s, e164)
			return hit != nil, err
		},
		TrunkInWorkspace: func(env domain.Environment, in *sip.Incoming) (string, bool) {
			return n.lookup.TrunkInWorkspace(ws, env, in)
		},
		SpoolDir: n.cfg.SpoolDir, PublicURL: n.cfg.PublicURL, Log: n.cfg.Log,
		Committed: func() { n.Committed(ws) }, BeforeMessage: n.beforeCallMessage(), OnOptOut: n.services.OptOuts.OptOut, Redactor: t.redactor, AgentRuntime: n.services.Agents.ForCall, OnAnalysisDue: func() { n.services.Analysis.Wake(ws) },
		StoreCheckpoints: n.cfg.SurviveCalls, Resumable: resumable, OwnershipUncertain: n.hasLostShard, ResumptionDone: n.cfg.ResumptionDone,
	})
}

// campaignProps returns the props of a campaign's actor.
func (n *Node) campaignProps(ws, id string, t *workspaceTree, key []byte) *actor.Props {
	return mailbox.Props(func() actor.Actor {
		return campaign.New(campaign.Config{
			Workspace: ws, CampaignID: id, Store: n.cfg.Store, Lines: t.outboundLines, Trunks: t.trunks, Calls: t.calls, Boot: n.rows.processID,
			Numbers: t.numbers, DNCRegistry: n.dnc, AbandonedDialogs: func() map[string]time.Time { return t.dialogs.campaignCalls(id) },
			NewLeg: n.newAttemptLeg, Log: n.cfg.Log, DecisionLogKey: key, OnCommitted: func() { n.Committed(ws) },
			Script: func(ctx context.Context, c *domain.Campaign) (domain.Script, error) {
				p := domain.Principal{WorkspaceID: c.WorkspaceID, Environment: c.Environment}
				s, err := n.services.Scripts.Script(ctx, p, c.AgentID, c.PathwayID)
				if err == nil {
					n.services.Agents.PrefetchPrompts(ctx, &s)
					n.warnOptOutNotTranscribed(c, &s)
				}
				return s, err
			},
			ProbeEngines:     n.services.Engines.ProbeEngines,
			DestinationRules: func() domain.DestinationRules { return t.record.Load().Calling },
			DialStop:         n.holdReason, Draining: n.IsStopping,
			Tariff:    func() int { return t.record.Load().Tariff },
			OnMessage: n.beforeMessage("campaign"),
		})
	}, 1000)
}

// webhookProps returns the props of a webhook endpoint's actor.
func (n *Node) webhookProps(ws, id string) *actor.Props {
	cfg := webhook.Config{
		Workspace: ws, ID: id, Store: n.cfg.Store, Sender: n.webhookClient, Pool: n.webhookPool, Results: n.webhookLedger, TimeFactor: n.cfg.WebhookRetryDivisor, TraceContexts: n.cfg.TraceContexts, Log: n.cfg.Log,
		OnCommitted: func() { n.Committed(ws) },
	}
	return mailbox.Props(n.observeMessages("webhook", webhook.New(cfg)), 1000)
}

// outboxProps returns the props of a workspace's outbox actor.
func (n *Node) outboxProps(ws string) *actor.Props {
	cfg := outbox.Config{
		Workspace: ws, Store: n.cfg.Store, Log: n.cfg.Log,
		EndpointPID: func(id string) *actor.PID { return workspace.PID(n.sys, ws, workspace.Webhooks, id) },
	}
	return mailbox.Props(n.observeMessages("outbox", outbox.New(cfg)), 1000)
}

// observeMessages returns a producer whose actors call Config.BeforeMessage before each message. If BeforeMessage is
// nil, it returns producer unchanged.
func (n *Node) observeMessages(name string, producer actor.Producer) actor.Producer {
	before := n.beforeMessage(name)
	if before == nil {
		return producer
	}
	return func() actor.Actor { return &observedActor{Actor: producer(), beforeMessage: before} }
}

// observedActor wraps an actor and calls Config.BeforeMessage before each message.
type observedActor struct {
	actor.Actor
	beforeMessage func(msg any)
}

// Receive implements actor.Actor.
func (w *observedActor) Receive(ctx actor.Context) {
	w.beforeMessage(ctx.Message())
	w.Actor.Receive(ctx)
}

// beforeMessage returns Config.BeforeMessage bound to one actor name. It returns nil if BeforeMessage is nil.
func (n *Node) beforeMessage(name string) func(any) {
	if n.cfg.BeforeMessage == nil {
		return nil
	}
	return func(msg any) { n.cfg.BeforeMessage(name, msg) }
}

// beforeCallMessage returns Config.BeforeMessage in the form that the call actors use. It returns nil if
// BeforeMessage is nil.
func (n *Node) beforeCallMessage() func(actor, callID string, msg any) {
	if n.cfg.BeforeMessage == nil {
		return nil
	}
	return func(name, _ string, msg any) { n.cfg.BeforeMessage(name, msg) }
}
