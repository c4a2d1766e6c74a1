// Package node runs the supervision tree of a shard: one actor per live call, campaign, trunk group and webhook endpoint of each workspace.
// What it needs of services is an interface in Services; SIP, media and the store are handed in.
package node

import (
	"context"
	"crypto/x509"
	"errors"
	"log/slog"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/alerts"
	"github.com/callboard/callboard/actors/call/recording"
	"github.com/callboard/callboard/actors/call/siptrace"
	"github.com/callboard/callboard/actors/campaign"
	"github.com/callboard/callboard/actors/dnc"
	"github.com/callboard/callboard/actors/inbound"
	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/registrar"
	"github.com/callboard/callboard/actors/storecache"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/actors/webhook"
	"github.com/callboard/callboard/actors/workspace"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/domain/calendar"
	numberlists "github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/domain/load"
	"github.com/callboard/callboard/engines/llm"
	"github.com/callboard/callboard/engines/tracing"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/resolve"
)

// Blobs keeps recordings.
type Blobs interface {
	recording.Blobs
	// DeleteAll removes all of a workspace.
	DeleteAll(ctx context.Context, workspace string) error
}

// Config of a node.
type Config struct {
	Store             *storecache.Store
	Keys              Keyring
	Blobs             Blobs
	SIP               *sip.UserAgent
	Media             *media.Engine
	Speaker           speech.Synthesizer
	Recognizer        speech.Recognizer             // nil: words are not recognized
	Realtime          *speech.RealtimeEngines       // speech-to-speech engines; nil: there is none
	Models            llm.Models                    // language models; none: no model takes part in calls
	TestCarrierTarget func() (resolve.Target, bool) // where the built-in carrier listens
	TestCarrierAddr   func() netip.AddrPort         // where the built-in carrier sends from; nil: there is none
	Egress            access.Egress                 // what webhooks may reach
	RootCAs           *x509.CertPool                // of webhook receivers; nil: the system's
	Mail              alerts.Mailer                 // sends mails of alerts; nil: there is no mail server
	// AlertsEvery is how often alerts are looked for; 0: as usual. Tests hurry.
	AlertInterval time.Duration
	// OwnsShard reports whether this node still owns its shard; it sends nothing otherwise. It must not block. nil: always.
	OwnsShard func() bool
	// OwnsWorkspace reports whether a workspace belongs to this node; nil: all do. Otherwise other nodes of the process share SIP,
	// Media and MediaCapacity with it.
	OwnsWorkspace func(workspaceID string) bool
	// Quarantined says that the store was restored from a backup and is not released: the node answers and writes, and nothing
	// leaves it.
	Quarantined bool
	// Survive says that another process resumes live calls when this one ends. ResumptionDone counts the result of each
	// (recovery.Resumed and so on); nil: they are not counted.
	SurviveCalls   bool
	ResumptionDone func(result string)
	MediaCapacity  *lines.PortCapacity // RTP port pairs of the process, shared by its nodes (PlacesOf); nil: those of Media
	// Router gives inbound requests to the nodes of the process; nil: this is the only one.
	Router *Router
	// WebhookSends is how many webhook requests may be under way at once; 0: 2048.
	MaxWebhookRequests int
	// WebhookTimeout is how long a webhook may take to answer, WebhookHurry
	// divides the waits before retries; 0: as documented. Tests hurry.
	WebhookTimeout      time.Duration
	WebhookRetryDivisor int
	PublicURL           string
	SpoolDir            string
	TraceContexts       *tracing.SpanContexts // nil: no collector wants traces
	SIPTraces           *siptrace.Buffer      // what the user agent's dialogs say; nil: not kept
	Log                 *slog.Logger
	BeforeMessage       func(actor string, msg any) // sees each message first; nil in production
}

// Keyring has the secrets of workspaces that the node needs.
type Keyring interface {
	// NumberHash returns the hash under which lists keep a number.
	NumberHash(workspaceID, e164 string) string
	// DecisionLogKey returns the key of the hash chains of a workspace's decision logs.
	DecisionLogKey(workspaceID string) []byte
}

// Node is the supervision tree of the workspaces of a shard.
type Node struct {
	*backgroundTasks
	*callAdmission
	*workspaceTable
	*installation
	*workspaceTrunks
	*transferTargets
	*callOpener
	*callEngines
	*campaignActors
	*webhookActors
	*inboundCalls
	*inboundMessages

	cfg           Config
	sys           *actor.ActorSystem
	trunkSources  *trunk.Sources
	phones        *registrar.PhoneDirectory
	rows          actorRows
	lookup        *inbound.Lookup
	dnc           *dnc.Registry
	services      Services
	zones         *calendar.SharedZones
	models        *llm.Client
	routing       routingLimit
	writesRefused atomic.Bool // the API refuses what would begin something
}

// New makes a node; nothing runs before Start.
func New(cfg Config) *Node {
	if cfg.Quarantined {
		cfg.OwnsShard, cfg.SurviveCalls = func() bool { return false }, false
	}
	store := cfg.Store
	if cfg.Blobs != nil {
		cfg.Blobs = workspaceBlobs{cfg.Blobs, store.IsDeleted}
	}
	switch {
	case cfg.MediaCapacity != nil:
		cfg.MediaCapacity = cfg.MediaCapacity.Share()
	case cfg.Media != nil:
		cfg.MediaCapacity = NewMediaCapacity(cfg.Media)
	}
	n := &Node{
		cfg: cfg, sys: mailbox.NewSystem(cfg.Log), trunkSources: trunk.NewSources(), phones: registrar.NewPhoneDirectory(), workspaceTable: &workspaceTable{trees: make(map[string]*workspaceTree)},
		zones: calendar.NewSharedZones(), dnc: dnc.New(store, func(workspace string, n uint64) string {
			return cfg.Keys.NumberHash(workspace, numberlists.UnpackNumber(n))
		}, cfg.Log),
		backgroundTasks: &backgroundTasks{log: cfg.Log},
	}
	n.rows = actorRows{
		store: store, processID: mailbox.NewID("boot"), resume: cfg.SurviveCalls, quarantined: cfg.Quarantined,
		campaign: func(ws, id string) *actor.PID { return workspace.PID(n.sys, ws, workspace.Campaigns, id) },
	}
	n.trunkSources.TestCarrier = cfg.TestCarrierAddr
	if cfg.SIP != nil {
		n.trunkSources.Resolve = cfg.SIP.Resolve
	}
	n.connectCallAdmission()
	n.connectWorkspaceActors()
	n.connectInbound()
	return n
}

// connectWorkspaceActors builds what asks and notifies the actors of workspaces.
func (n *Node) connectWorkspaceActors() {
	cfg := &n.cfg
	children := &childStarter{sys: n.sys, background: n.RunInBackground, stopping: n.IsStopping, log: cfg.Log}
	n.workspaceTrunks = &workspaceTrunks{workspaces: n.workspaceTable, sys: n.sys}
	n.campaignActors = &campaignActors{workspaces: n.workspaceTable, sys: n.sys, store: cfg.Store, children: children}
	n.webhookActors = &webhookActors{
		workspaces: n.workspaceTable, sys: n.sys, children: children, webhookPool: webhook.NewSendPool(cfg.MaxWebhookRequests), webhookLedger: webhook.NewResultCommitter(cfg.Store),
		webhookClient: webhook.NewClient(webhook.ClientConfig{Egress: cfg.Egress, RootCAs: cfg.RootCAs, Timeout: cfg.WebhookTimeout, MaySend: cfg.OwnsShard, Quarantined: cfg.Quarantined}),
	}
	n.models = &llm.Client{Free: llm.NewHTTPClient(cfg.RootCAs), Guarded: n.webhookClient.HTTPClient()}
	n.callEngines = &callEngines{recognizer: cfg.Recognizer, realtime: cfg.Realtime, models: cfg.Models, log: cfg.Log}
}

// connectInbound builds what opens calls and receives INVITEs and MESSAGEs.
func (n *Node) connectInbound() {
	cfg := &n.cfg
	n.lookup = inbound.New(inbound.Config{Store: cfg.Store, Trunks: n.trunkSources, Phones: n.phones, Workspace: n.Workspace})
	n.callOpener = &callOpener{
		store: cfg.Store, workspaces: n.workspaceTable, processID: n.rows.processID, committed: n.Committed, background: n.RunInBackground, stopping: n.IsStopping,
	}
	n.inboundCalls = &inboundCalls{
		workspaces: n.workspaceTable, sys: n.sys, store: cfg.Store, trunkSources: n.trunkSources, lookup: n.lookup, routing: &n.routing, opener: n.callOpener,
		services: &n.services, traces: cfg.SIPTraces, committed: n.Committed, background: n.RunInBackground, log: cfg.Log,
		accepts: func() bool { return !n.drain.isStopping() && !n.drain.isDrained() && n.loaded.Load() && n.OwnsShard() },
	}
	n.inboundMessages = &inboundMessages{
		workspaces: n.workspaceTable, trunkSources: n.trunkSources, lookup: n.lookup, routing: &n.routing, services: &n.services, background: n.RunInBackground, log: cfg.Log,
		accepts: func() bool { return !n.drain.isStopping() && n.loaded.Load() },
	}
}

// connectCallAdmission builds what decides whether calls may begin.
func (n *Node) connectCallAdmission() {
	cfg := &n.cfg
	n.installation = &installation{store: cfg.Store, owned: cfg.OwnsWorkspace, own: n.workspaceTable, log: cfg.Log}
	stop := &DialStop{store: cfg.Store, shared: !n.IsOnlyShard(), log: cfg.Log, onChange: func(stopped bool) {
		n.holdCalls(stopped)
		n.WakeCampaigns()
	}}
	drain := &Drain{shared: !n.IsOnlyShard(), onChange: n.wakeAllCampaigns, current: new(atomic.Pointer[load.DrainNow]), log: cfg.Log}
	if cfg.SIP != nil {
		drain.sip = cfg.SIP
	}
	if cfg.Router != nil {
		drain.current = &cfg.Router.drained
	}
	n.callAdmission = &callAdmission{quarantined: cfg.Quarantined, dialStop: stop, drain: drain}
}

// Quarantined reports whether nothing may leave this node: its store was restored
// from a backup and is not released.
func (n *Node) Quarantined() bool { return n.cfg.Quarantined }

// OwnsShard reports whether this node still owns its shard.
func (n *Node) OwnsShard() bool { return n.cfg.OwnsShard == nil || n.cfg.OwnsShard() }

// Store returns the store of the node.
func (n *Node) Store() *storecache.Store { return n.cfg.Store }

// Blobs returns the recordings and other files of the node's workspaces; a deleted workspace gets no more.
func (n *Node) Blobs() Blobs { return n.cfg.Blobs }

// System returns the system of the node's actors.
func (n *Node) System() *actor.ActorSystem { return n.sys }

// DNC returns the do-not-call lists of the node's workspaces.
func (n *Node) DNC() *dnc.Registry { return n.dnc }

// Zones returns the time zones that the node's services share.
func (n *Node) Zones() *calendar.SharedZones { return n.zones }

// WebhookClient returns the HTTP client for addresses that workspaces name.
func (n *Node) WebhookClient() *webhook.Client { return n.webhookClient }

// ModelClient returns the client of language models.
func (n *Node) ModelClient() *llm.Client { return n.models }

// PhoneCount returns the number of phones of a workspace.
func (n *Node) PhoneCount(workspaceID string) int { return n.phones.CountPhones(workspaceID) }

// DeleteOldNumberDays deletes the rows of a workspace's numbers that were last called days ago.
func (n *Node) DeleteOldNumberDays(ctx context.Context, workspaceID string) error {
	return n.rows.deleteOldNumberDays(ctx, workspaceID)
}

// sweep resolves the proxies of trunks again, joins parts of recordings and deletes expired rows, for all workspaces.
func (n *Node) sweep(ctx context.Context) {
	for _, id := range n.WorkspaceIDs() {
		turn := n.trunkSources.NextUpdate()
		if trunks, err := n.rows.trunks(ctx, id); err == nil {
			n.trunkSources.Set(ctx, turn, id, trunks)
		}
		n.JoinRecordingParts(id)
		_ = n.services.Retention.Sweep(ctx, id, time.Now()) // the service has logged it
	}
}

// runSweeps runs sweep every five minutes.
func (n *Node) runSweeps(ctx context.Context) {
	t := time.NewTicker(5 * time.Minute)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			if !n.Quarantined() { // recordings may lie in a bucket that another service uses
				n.sweep(ctx)
			}
		}
	}
}

// Ready is nil when the node can serve; otherwise its text says why not.
func (n *Node) Ready(context.Context) error {
	if n.drain.isStopping() {
		return errors.New("draining: the process is being stopped")
	}
	if err := n.drain.reason(); err != nil {
		return err
	}
	if !n.loaded.Load() {
		return errors.New("campaigns are being loaded")
	}
	if err := n.cfg.Store.Healthy(); err != nil {
		return err
	}
	select {
	case <-n.cfg.SIP.Ready():
		return nil
	default:
		return errors.New("SIP does not listen yet")
	}
}

// IsStopping says whether the node is stopping: no call begins any more.
func (n *Node) IsStopping() bool { return n.drain.isStopping() }

// RefuseWrites lets the API refuse what would begin something, because the node is
// about to stop.
func (n *Node) RefuseWrites() { n.writesRefused.Store(true) }

// RefusesWrites says whether the API refuses what would begin something.
func (n *Node) RefusesWrites() bool { return n.writesRefused.Load() }

// SetWorkspace tells the actors of a workspace its new settings and limits.
func (n *Node) SetWorkspace(w *domain.Workspace) {
	t := n.tree(w.ID)
	if t == nil {
		return
	}
	t.record.Store(w)
	for _, pid := range []*actor.PID{t.outbound, t.tests} {
		n.sys.Root.Send(pid, lines.SetLimits{Concurrent: w.Limits.ConcurrentOutbound, PerMinute: w.Limits.CallsPerMinute})
	}
	n.sys.Root.Send(t.inbound, lines.SetLimits{Concurrent: w.Limits.ConcurrentInbound})
	n.sys.Root.Send(t.campaigns, workspace.Broadcast{Message: campaign.RulesChanged{}})
}

// Stop stops all actors and background tasks. Call Drain before.
func (n *Node) Stop() {
	n.drain.stopping.Store(true)
	n.RefuseWrites()
	n.services.Lifecycle.Finish()
	n.stopActor(alertsActor) // before what it looks at
	n.stopActor(heartbeatName)
	trees := n.removeAll()
	var wait sync.WaitGroup
	room := make(chan struct{}, stopAtOnce)
	for id, t := range trees {
		room <- struct{}{}
		wait.Go(func() {
			if err := n.flush(t); err != nil {
				n.cfg.Log.Warn("how the trunks do was not kept", slog.Any("error", err))
			}
			n.stopActor(id)
			<-room
		})
	}
	wait.Wait()
	n.stopTasks()
	n.webhookClient.Close()
	n.sys.Shutdown()
	n.cfg.MediaCapacity.Release()
}

// stopAtOnce bounds how many workspaces are ended at a time: each may wait for the
// store, while calls that were handed over are silent.
const stopAtOnce = 16

// stopActor stops an actor and its children, and waits at most five seconds for their end.
func (n *Node) stopActor(id string) {
	ended := make(chan struct{})
	watcher := n.sys.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		switch ctx.Message().(type) {
		case *actor.Started:
			pid := ctx.ActorSystem().NewLocalPID(id)
			ctx.Watch(pid)
			ctx.Poison(pid)
		case *actor.Terminated:
			close(ended)
		}
	}))
	select {
	case <-ended:
	case <-time.After(5 * time.Second):
		n.cfg.Log.Warn("a workspace did not end in time", slog.String("workspace_id", id))
	}
	n.sys.Root.Poison(watcher)
}
