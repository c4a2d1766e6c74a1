package server

import (
	"context"
	"crypto/x509"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/callboard/callboard/actors/alerts"
	actornode "github.com/callboard/callboard/actors/node"
	"github.com/callboard/callboard/cmd/callboard/administration"
	"github.com/callboard/callboard/cmd/callboard/egress"
	"github.com/callboard/callboard/cmd/callboard/metrics"
	"github.com/callboard/callboard/cmd/callboard/server/engines"
	"github.com/callboard/callboard/cmd/callboard/spans"
	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/persistence"
)

// Options are the inputs of a service that do not come from its settings.
type Options struct {
	Version string              // version of this program
	RootCA  []byte              // additional certificate authorities in PEM, for the demo
	Allow   []access.EgressRule // additional addresses that tenants may reach, for the demo
	wait    *startWait          // nil: the start fails at once if the store is not reachable
}

// Service holds the shards of a process and the components that they share, such as telephony and engines.
type Service struct {
	cfg           *configs.Config
	log           *slog.Logger
	options       Options
	node          *node              // nil: the process is not part of a cluster
	driver        persistence.Driver // shared by the shards of a node
	HTTPAddr      netip.AddrPort     // address of the HTTP listener for clients
	telephony     *telephony         // nil: not open yet
	spans         *spans.Recorder    // nil: no collector is configured
	metrics       *metrics.Registry
	engines       *engines.Set   // nil: not read yet
	roots         *x509.CertPool // of outgoing connections; nil: the system's
	mail          alerts.Mailer
	router        actornode.Router
	resumptions   resumptionCounts
	adminSocket   *administration.Socket
	adminListener *adminListener
	// quarantined is true if the store was restored from a backup and no operator has released it. released receives
	// when an operator releases the store.
	quarantined   bool
	released      chan struct{}
	isOpen        atomic.Bool
	ended         chan error
	processCtx    context.Context //nolint:containedctx // ends with the process
	cancelProcess context.CancelFunc

	sharedMu sync.Mutex // held while the first shard builds the shared parts
	shards   shardList
}

// minShutdownTime is the minimum time that HTTP requests in progress get to finish when a shard stops.
const minShutdownTime = 5 * time.Second

// Start builds and starts a process that is not part of a cluster. After an error nothing stays open.
func Start(ctx context.Context, cfg *configs.Config, log *slog.Logger, options Options) (*Service, error) {
	s := newService(ctx, cfg, log, options)
	if err := s.startShard(ctx, &shard{}); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// newService returns a service without shards. Nothing is open yet.
func newService(ctx context.Context, cfg *configs.Config, log *slog.Logger, options Options) *Service {
	s := &Service{cfg: cfg, log: log, options: options, ended: make(chan error, 8), released: make(chan struct{}, 1), metrics: metrics.New(options.Version)}
	s.processCtx, s.cancelProcess = context.WithCancel(context.WithoutCancel(ctx))
	return s
}

// fail makes the process end with err, unless it already ends.
func (s *Service) fail(err error) {
	select {
	case s.ended <- err:
	default: // the process already ends
	}
}

// openShared opens the components that the shards share: telephony, engines, mail and tracing. root is the root key of
// the store, from which the SIP user agent derives its secret. After an error the next shard may call it again.
func (s *Service) openShared(root []byte) (err error) {
	if s.telephony != nil {
		return nil
	}
	defer func() {
		if err != nil {
			s.closeTracing()
		}
	}()
	if s.roots, err = egress.Roots(s.cfg, s.options.RootCA); err != nil {
		return err
	}
	s.engines, err = engines.Open(engines.Config{
		File: s.cfg.EnginesFile, PromptDir: s.folder("prompts"), TurnDir: s.folder("turns"), Roots: s.roots, MayConnect: s.egress().CheckAddress, Log: s.log,
	})
	if err != nil {
		return err
	}
	if s.mail, err = s.mailer(); err != nil {
		return err
	}
	if s.spans, err = s.openTracing(context.Background()); err != nil {
		return err
	}
	s.telephony, err = s.openTelephony(root)
	return err
}

// closeTracing stops the export of spans.
func (s *Service) closeTracing() {
	s.spans.Close()
	s.spans = nil
}

// openSIP opens the SIP listeners, the administration socket and the metrics, unless another shard of the process has
// already opened them.
func (s *Service) openSIP() (err error) {
	if s.adminSocket != nil {
		return nil
	}
	if err = s.telephony.listen(s.processCtx, s.ended); err != nil {
		return err
	}
	if s.node == nil { // a cluster node reads its metrics itself
		s.metrics.AddReader(s.readMetrics)
	}
	pages := adminPages(s.readCounters, s.metrics.Handler())
	if s.adminSocket, err = administration.OpenSocket(s.cfg.Data, s.administration(), pages, s.log); err != nil {
		return err
	}
	if s.isOpen.Store(true); s.node != nil {
		return nil
	}
	s.adminListener, err = openAdminListener(s.processCtx, s.cfg.HTTP.AdminAddr, pages, s.log)
	return err
}

// egress returns the rules for addresses that tenants configure.
func (s *Service) egress() access.Egress { return egress.Rules(s.cfg, s.options.Allow, s.HTTPAddr) }

// openTracing starts the export of OpenTelemetry spans. It returns nil if no collector is configured.
func (s *Service) openTracing(ctx context.Context) (*spans.Recorder, error) {
	if s.cfg.OTLP.URL == "" {
		return nil, nil
	}
	header, err := spans.ReadHeaderFile(s.cfg.OTLP.HeadersFile)
	if err != nil {
		return nil, err //nolint:wrapcheck // names the setting
	}
	node, _ := os.Hostname()            // distinguishes processes; may be empty
	return spans.New(ctx, spans.Config{ //nolint:wrapcheck // says what failed
		URL: s.cfg.OTLP.URL, Header: header, Share: s.cfg.OTLP.Share, Version: s.options.Version, Node: node, Log: s.log,
	})
}

// folder creates a folder in the data folder and returns its path.
func (s *Service) folder(name string) string {
	path := filepath.Join(s.cfg.Data, name)
	_ = os.MkdirAll(path, 0o700) // a failure shows when the folder is used
	return path
}

// Close stops the shards and then closes what they share.
func (s *Service) Close() {
	s.adminListener.close()
	if s.adminSocket != nil {
		s.adminSocket.Close()
	}
	for _, one := range s.shards.all() {
		one.stop()
	}
	s.spans.Close()
	s.cancelProcess()
	s.telephony.close()
	if s.driver != nil && s.node.driver == nil { // otherwise the node closes it
		_ = s.driver.Close()
	}
}
