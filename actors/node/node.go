// Package node runs the supervision tree of a shard: one actor per live call, campaign, trunk group and webhook
// endpoint of each workspace. The node calls the services through the interfaces in Services. SIP, media and the
// store are fields of Config.
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

// Blobs stores recordings and other files.
type Blobs interface {
	recording.Blobs
	// DeleteAll deletes all blobs of a workspace.
	DeleteAll(ctx context.Context, workspace string) error
}

// Config configures a Node.
type Config struct {
	Store             *storecache.Store
	Keys              Keyring
	Blobs             Blobs
	SIP               *sip.UserAgent
	Media             *media.Engine
	Speaker           speech.Synthesizer
	Recognizer        speech.Recognizer             // speech to text; nil: no speech is recognized
	Realtime          *speech.RealtimeEngines       // speech-to-speech engines; nil: none is configured
	Models            llm.Models                    // language models; empty: none is configured
	TestCarrierTarget func() (resolve.Target, bool) // address at which the test carrier receives calls; false: it does not run
	TestCarrierAddr   func() netip.AddrPort         // address from which the test carrier sends; nil: it does not run
	Egress            access.Egress                 // addresses that webhooks may reach
	RootCAs           *x509.CertPool                // certificate authorities of webhook receivers; nil: the system's
	Mail              alerts.Mailer                 // sends mails of alerts; nil: no mail server is configured
	// AlertInterval is the time between two evaluations of the alert rules. Default: the interval of package alerts.
	AlertInterval time.Duration
	// OwnsShard reports whether this node still owns its shard. A node that lost its shard sends nothing. The
	// function must not block. If it is nil, the node always owns the shard.
	OwnsShard func() bool
	// OwnsWorkspace reports whether a workspace belongs to this node. If it is nil, all workspaces do. If it is set,
	// other nodes of the process share SIP, Media and MediaCapacity with this node.
	OwnsWorkspace func(workspaceID string) bool
	// Quarantined means that the store was restored from a backup and no operator has released it. The node then
	// answers requests and writes to the store, but sends nothing.
	Quarantined bool
	// SurviveCalls means that another process resumes the live calls when this process ends. ResumptionDone is called
	// with the result of each resumed call, such as recovery.Resumed. It may be nil.
	SurviveCalls   bool
	ResumptionDone func(result string)
	MediaCapacity  *lines.PortCapacity // RTP port pairs, shared by the nodes of the process; nil: those of Media
	// Router routes inbound requests to the nodes of the process. It is nil if this node is the only one.
	Router *Router
	// MaxWebhookRequests limits the webhook requests in progress. Default: 2048.
	MaxWebhookRequests int
	// WebhookTimeout limits the response time of a webhook. Tests set WebhookRetryDivisor, which divides the waits
	// before retries. docs/webhooks.md states the defaults.
	WebhookTimeout      time.Duration
	WebhookRetryDivisor int
	PublicURL           string
	SpoolDir            string
	TraceContexts       *tracing.SpanContexts // nil: no traces are exported
	SIPTraces           *siptrace.Buffer      // buffers the SIP messages of calls; nil: they are not recorded
	Log                 *slog.Logger
	BeforeMessage       func(actor string, msg any) // called before each message of an actor; nil in production
}

// Keyring provides the secrets of workspaces that the node needs.
type Keyring interface {
	// NumberHash returns the hash under which do-not-call lists store a number.
	NumberHash(workspaceID, e164 string) string
	// DecisionLogKey returns the key for the hash chains of a workspace's decision logs.
	DecisionLogKey(workspaceID string) []byte
}

// Node runs the actors of all workspaces of a shard.
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
	writesRefused atomic.Bool // the API refuses requests that would start work
}

// New creates a node. Nothing runs before Start.
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

// connectWorkspaceActors creates the components that send requests and notifications to the actors of workspaces.
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

// connectInbound creates the components that open calls and receive INVITEs and MESSAGEs.
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

// connectCallAdmission creates the components that decide whether calls may begin.
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

// Quarantined reports whether the store was restored from a backup and no operator has released it. The node then
// sends nothing.
func (n *Node) Quarantined() bool { return n.cfg.Quarantined }

// OwnsShard reports whether this node still owns its shard.
func (n *Node) OwnsShard() bool { return n.cfg.OwnsShard == nil || n.cfg.OwnsShard() }

// Store returns the store of the node.
func (n *Node) Store() *storecache.Store { return n.cfg.Store }

// Blobs returns the blob store of the node's workspaces. It refuses blobs of deleted workspaces.
func (n *Node) Blobs() Blobs { return n.cfg.Blobs }

// System returns the actor system of the node.
func (n *Node) System() *actor.ActorSystem { return n.sys }

// DNC returns the do-not-call lists of the node's workspaces.
func (n *Node) DNC() *dnc.Registry { return n.dnc }

// Zones returns the time zone database, which the services of the node share.
func (n *Node) Zones() *calendar.SharedZones { return n.zones }

// WebhookClient returns the HTTP client for addresses that workspaces configure.
func (n *Node) WebhookClient() *webhook.Client { return n.webhookClient }

// ModelClient returns the client of language models.
func (n *Node) ModelClient() *llm.Client { return n.models }

// PhoneCount returns the number of phones of a workspace.
func (n *Node) PhoneCount(workspaceID string) int { return n.phones.CountPhones(workspaceID) }

// DeleteOldNumberDays deletes old rows that count the calls to a number per day. Frequency caps need only the counts
// of the last days.
func (n *Node) DeleteOldNumberDays(ctx context.Context, workspaceID string) error {
	return n.rows.deleteOldNumberDays(ctx, workspaceID)
}

// sweep does the periodic work of all workspaces: it resolves the host names of trunks again, joins the parts of
// recordings and deletes expired rows.
func (n *Node) sweep(ctx context.Context) {
	for _, id := range n.WorkspaceIDs() {
		turn := n.trunkSources.NextUpdate()
		if trunks, err := n.rows.trunks(ctx, id); err == nil {
			n.trunkSources.Set(ctx, turn, id, trunks)
		}
		n.JoinRecordingParts(id)
		_ = n.services.Retention.Sweep(ctx, id, time.Now()) // the service logs its errors
	}
}

// runSweeps calls sweep every five minutes until ctx ends.
func (n *Node) runSweeps(ctx context.Context) {
	t := time.NewTicker(5 * time.Minute)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			if !n.Quarantined() { // after a restore, recordings may be in a bucket that another service uses
				n.sweep(ctx)
			}
		}
	}
}

// Ready returns nil if the node can serve calls, and otherwise an error with the reason.
func (n *Node) Ready(context.Context) error {
	if n.drain.isStopping() {
		return errors.New("draining: the process is stopping")
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
		return errors.New("the SIP listeners are not open yet")
	}
}

// IsStopping reports whether the node is stopping. A stopping node starts no calls.
func (n *Node) IsStopping() bool { return n.drain.isStopping() }

// RefuseWrites makes the API refuse requests that would start work, because the node is about to stop.
func (n *Node) RefuseWrites() { n.writesRefused.Store(true) }

// RefusesWrites reports whether the API refuses requests that would start work.
func (n *Node) RefusesWrites() bool { return n.writesRefused.Load() }

// SetWorkspace stores new settings of a workspace in memory and notifies the workspace's actors of them.
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

// Stop stops all actors and background tasks. The caller calls Drain first.
func (n *Node) Stop() {
	n.drain.stopping.Store(true)
	n.RefuseWrites()
	n.services.Lifecycle.Finish()
	n.stopActor(alertsActor) // the alerts actor reads the workspaces, so it stops first
	n.stopActor(heartbeatName)
	trees := n.removeAll()
	var wait sync.WaitGroup
	slots := make(chan struct{}, stopAtOnce)
	for id, t := range trees {
		slots <- struct{}{}
		wait.Go(func() {
			if err := n.flush(t); err != nil {
				n.cfg.Log.Warn("the health of the trunks could not be stored", slog.Any("error", err))
			}
			n.stopActor(id)
			<-slots
		})
	}
	wait.Wait()
	n.stopTasks()
	n.webhookClient.Close()
	n.sys.Shutdown()
	n.cfg.MediaCapacity.Release()
}

// stopAtOnce limits how many workspaces stop at the same time. The stop of a workspace may wait for the store, and
// calls that are handed over to another node are silent until it completes.
const stopAtOnce = 16

// stopActor stops an actor and its children. It waits at most five seconds.
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
		n.cfg.Log.Warn("an actor did not stop in time", slog.String("actor", id))
	}
	n.sys.Root.Poison(watcher)
}
