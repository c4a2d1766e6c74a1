// Package services creates the services of a shard and connects them with its actor node. It also creates the services
// that commands use on a store while no service runs.
package services

import (
	"context"
	"log/slog"
	"net/netip"

	"github.com/callboard/callboard/actors/node"
	"github.com/callboard/callboard/actors/storecache"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/alert"
	"github.com/callboard/callboard/engines/tools"
	"github.com/callboard/callboard/engines/tracing"
	"github.com/callboard/callboard/service/agentruntime"
	"github.com/callboard/callboard/service/agents"
	"github.com/callboard/callboard/service/alerts"
	"github.com/callboard/callboard/service/analysis"
	"github.com/callboard/callboard/service/appointments"
	"github.com/callboard/callboard/service/bulk"
	"github.com/callboard/callboard/service/calls"
	"github.com/callboard/callboard/service/campaigns"
	"github.com/callboard/callboard/service/contacts"
	"github.com/callboard/callboard/service/datarequests"
	"github.com/callboard/callboard/service/decisions"
	"github.com/callboard/callboard/service/dnc"
	"github.com/callboard/callboard/service/events"
	"github.com/callboard/callboard/service/exports"
	"github.com/callboard/callboard/service/forecast"
	"github.com/callboard/callboard/service/jobs"
	"github.com/callboard/callboard/service/keys"
	"github.com/callboard/callboard/service/knowledge"
	"github.com/callboard/callboard/service/numbers"
	"github.com/callboard/callboard/service/operator"
	"github.com/callboard/callboard/service/pathways"
	"github.com/callboard/callboard/service/phones"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/recordings"
	"github.com/callboard/callboard/service/restorequarantine"
	"github.com/callboard/callboard/service/sms"
	servicetools "github.com/callboard/callboard/service/tools"
	"github.com/callboard/callboard/service/trunks"
	"github.com/callboard/callboard/service/usage"
	"github.com/callboard/callboard/service/webhooks"
	"github.com/callboard/callboard/service/workspaces"
	"github.com/callboard/callboard/sip/testcarrier"
)

// Config configures Services: the node and the dependencies that only services have.
type Config struct {
	Node  node.Config // New sets Store and Keys
	Store storecache.Backend
	Keys  *keys.Keyring
	PDF   PDFReader // nil: PDF files are refused
	// TestCall makes the test carrier call the service. BrowserCall connects a browser as a phone of the test
	// carrier. Both are nil if the test carrier does not run.
	TestCall    func(context.Context, testcarrier.CallRequest) error
	BrowserCall func(ctx context.Context, o testcarrier.CallRequest, audio func(frame []byte), notify func(testcarrier.Event)) (*testcarrier.Handset, error)
	MayReach    func(netip.AddrPort) bool // whether trunks may use an address; nil: any address
	SIPURI      string                    // URI to which carriers send calls
	// ReadOtherShards evaluates alert rules on the other shards. It is nil if there are no other shards.
	ReadOtherShards func(ctx context.Context, rules []*domain.AlertRule) alert.PeerFindings
	Restart         func() // called after the release of a quarantined store
}

// PDFReader extracts the text of a PDF file as Markdown. Its error text may be shown to users.
type PDFReader interface {
	Text(ctx context.Context, file []byte) (string, error)
}

// Services holds the services of a shard and its actor node. The API, the commands and the tests use each of the more
// than 25 services by its field. On an offline store only Audit, Keys, OAuth, Phones, Tokens, Users and Webhooks are set.
type Services struct {
	Node         *node.Node
	Agents       *agents.Service
	AgentRuntime *agentruntime.Service
	Alerts       *alerts.Service
	Analysis     *analysis.Service
	Appointments *appointments.Service
	Bulk         *bulk.Service
	Calls        *calls.Service
	Campaigns    *campaigns.Service
	Contacts     *contacts.Service
	DataRequests *datarequests.Service
	Decisions    *decisions.Service
	DNC          *dnc.Service
	Events       *events.Service
	Exports      *exports.Service
	Idempotency  *record.Idempotency
	Knowledge    *knowledge.Service
	Numbers      *numbers.Service
	Operator     *operator.Service
	Pathways     *pathways.Service
	Phones       *phones.Service
	Quarantine   *restorequarantine.Service
	Recordings   *recordings.Service
	Scripts      *agentruntime.Scripts
	Forecasts    *forecast.Service
	SMS          *sms.Service
	Tools        *servicetools.Service
	Trunks       *trunks.Service
	Usage        *usage.Service
	Webhooks     *webhooks.Service
	Workspaces   *workspaces.Service
	*accounts
	jobs       *jobs.Runner
	toolClient *tools.Client
	media      interface{ Live() int } // nil: no media engine
	log        *slog.Logger
}

// New creates an actor node and its services. Nothing runs before Node.Start.
func New(cfg *Config) *Services {
	store := storecache.New(cfg.Store)
	cfg.Node.Store = store
	if cfg.Keys != nil {
		cfg.Node.Keys = cfg.Keys
		cfg.Keys.UseStore(store) // refuses writes to deleted workspaces
		cfg.Keys.SetLoading(true)
	}
	n := node.New(cfg.Node)
	s := &Services{Node: n, Idempotency: record.NewIdempotency(store), jobs: jobs.New(cfg.Node.Log), log: cfg.Node.Log, toolClient: &tools.Client{HTTP: tracing.WrapClient(n.WebhookClient().HTTPClient())}}
	if cfg.Node.Media != nil {
		s.media = cfg.Node.Media
	}
	s.accounts = newAccounts(accountsConfig{
		store: store, keyring: cfg.Keys, workspaces: n, anyWorkspace: n.AnyWorkspace, cluster: !n.IsOnlyShard(), log: cfg.Node.Log, deleters: s.deleters(),
	})
	s.connect(cfg)
	return s
}

// hasLiveCalls reports whether the node has a live call.
func (s *Services) hasLiveCalls() bool { return s.media != nil && s.media.Live() > 0 }
