package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/cmd/callboard/blobstore"
	"github.com/callboard/callboard/cmd/callboard/datafolder"
	"github.com/callboard/callboard/cmd/callboard/membership"
	"github.com/callboard/callboard/cmd/callboard/metrics"
	"github.com/callboard/callboard/cmd/callboard/server/spool"
	"github.com/callboard/callboard/cmd/callboard/store"
	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi"
	"github.com/callboard/callboard/httpapi/forward"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/lease"
)

// Timing of the health check by which a node watches the actors of its shards.
const (
	heartbeatInterval = 250 * time.Millisecond // interval of the heartbeat requests to the actors of a shard
	heartbeatTimeout  = 3 * time.Second        // after this time without an answer the shard counts as failed
)

// node is one of several processes of a cluster. It accepts requests for all shards, forwards them to the nodes
// that own the shards, and runs its own shards.
type node struct {
	cfg           *configs.Config
	version       string
	log           *slog.Logger
	self          lease.Node
	masterKey     []byte
	http          nodeHTTP
	driver        persistence.Driver // store with several shards; nil: each shard opens its own
	leases        lease.Engine
	holder        *lease.Holder
	ended         chan error
	startedAt     time.Time
	backoff       startBackoff
	unlock        func()
	metrics       *metrics.Registry // of the process, with or without shards
	adminListener *adminListener
	storeRoot     []byte // root key of the store
	spool         *spool.Transfer
	shards        *runningShards
	cluster       *clusterView
}

// runNode runs one node of a cluster until ctx is done.
func (p *Process) runNode(ctx context.Context) error {
	m, err := newNode(ctx, p)
	if err != nil {
		return p.startError(ctx, err)
	}
	defer m.close()
	err = p.wait.untilJoined(ctx, func() error { return membership.Join(ctx, p.Settings, p.Log, m.holder.Join) })
	if err != nil {
		return p.startError(ctx, err)
	}
	p.Log.LogAttrs(ctx, slog.LevelInfo, "joined", append(p.Settings.LogAttrs(), slog.String("node", m.self.ID), slog.String("version", p.Version))...)
	defer p.startWatchdog(func(context.Context) error { return m.shards.checkHeartbeats(time.Since(m.startedAt)) })()
	transferring, stopTransfer := context.WithCancel(ctx)
	defer stopTransfer()
	go m.spool.Run(transferring)
	stopStandby := m.startStandby(ctx)
	select {
	case <-ctx.Done():
	case err = <-m.ended:
	}
	stopStandby()
	m.drainSIP()
	p.announceStop()
	bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.Settings.DrainTimeout+2*closeTimeout)
	defer cancel()
	if leaveErr := m.holder.Leave(bound); leaveErr != nil {
		p.Log.Warn("the lease could not be released: other nodes take over when it expires", slog.Any("error", leaveErr))
	}
	stopTransfer()
	m.spool.PushRemaining()
	p.Log.Info("stopped")
	return err
}

// closeTimeout limits the shutdown after the calls have ended.
const closeTimeout = 15 * time.Second

// newNode opens the listeners, the store and the leases of a node. After an error nothing stays open.
func newNode(ctx context.Context, p *Process) (m *node, err error) {
	cfg, log := p.Settings, p.Log
	m = &node{version: p.Version, cfg: cfg, log: log, ended: make(chan error, 1), startedAt: time.Now()}
	m.shards = newRunningShards(cfg.Node.Shards, m.newService)
	created := m // newNode returns nil after an error
	defer func() {
		if err != nil {
			created.close()
		}
	}()
	if m.unlock, err = datafolder.Lock(cfg.Data); err != nil {
		return nil, err
	}
	if err = blobstore.CheckConfig(cfg); err != nil {
		return nil, err
	}
	if m.masterKey, err = datafolder.ReadMasterKey(cfg, log); err != nil {
		return nil, err
	}
	if m.http.credential, err = forward.NewCredential(datafolder.DeriveKey(m.masterKey, "callboard nodes")); err != nil {
		return nil, err
	}
	listen := new(net.ListenConfig)
	if m.http.nodeListener, err = listen.Listen(ctx, "tcp", cfg.Node.Addr.String()); err != nil {
		return nil, fmt.Errorf("node_addr: %w", err)
	}
	m.self = membership.DescribeNode(lease.Node{ID: mailbox.NewID("node"), Addr: m.http.nodeListener.Addr().String(), SIP: strings.TrimPrefix(sipURI(cfg), "sip:")}, cfg, p.Version)
	if err = p.wait.untilOpen(ctx, func() error { return m.openStore(ctx) }); err != nil {
		return nil, err
	}
	if err = m.openTransfer(); err != nil {
		return nil, err
	}
	if m.http.clientListener, err = listen.Listen(ctx, "tcp", cfg.HTTP.Addr.String()); err != nil {
		return nil, fmt.Errorf("http_addr: %w", err)
	}
	httpapi.Prepare() // once, so that the start of a shard is fast
	m.http.connRouter = forward.NewConnRouter(m.http.credential, log)
	m.http.forwarder = forward.New(m.routes())
	engine, err := membership.OpenLeases(cfg, lease.Options{Lease: cfg.Node.LeaseDuration, Healthy: m.healthError, OnMismatch: m.endProcess, Logger: log})
	if err != nil {
		return nil, err
	}
	m.leases = engine
	m.cluster = &clusterView{self: m.self, shards: cfg.Node.Shards, leases: engine, peers: m.http.forwarder, running: m.shards}
	m.http.connRouter.HandleNodeRequests(http.HandlerFunc(m.cluster.handleClaimQuery))
	m.holder = lease.NewHolder(m.leases, lease.Config{
		Self: m.self, Shards: cfg.Node.Shards, Concurrency: max(16, cfg.Node.Shards), LeaseDuration: cfg.Node.LeaseDuration, KeepShard: m.keepsShard, Start: m.startShard, Stop: m.stopShard, Logger: log,
		PingNode: func(ctx context.Context, n lease.Node) error {
			if partitioned := partitionError(); partitioned != nil {
				return partitioned
			}
			if !isReachabilityChecked() || m.cfg.Node.Shards == 1 && m.ownsShard(0) { // the node of the only shard keeps it without the others, because releasing it would end its calls
				return nil
			}
			return m.http.forwarder.ProbeNode(ctx, n.Addr)
		},
	})
	m.metrics = metrics.New(p.Version)
	m.metrics.AddReader(m.readMetrics)
	if m.adminListener, err = openAdminListener(ctx, cfg.HTTP.AdminAddr, adminPages(m.readCounters, m.metrics.Handler()), log); err != nil {
		return nil, err
	}
	clients, err := listenTLS(cfg, forward.LimitClients(m.http.clientListener), log)
	if err != nil {
		return nil, err
	}
	m.http.server = forward.NewServer(m.http.forwarder, log)
	go m.serveUntilClosed(func() error { return m.http.server.Serve(clients) })
	go m.serveUntilClosed(func() error { return m.http.connRouter.Serve(m.http.nodeListener) })
	return m, nil
}

// openStore opens the store and ensures that it has the configured number of shards. In a cluster with several shards
// the store stays open, because the node looks up the workspaces of credentials in it.
func (m *node) openStore(ctx context.Context) (err error) {
	driver := m.driver
	if driver == nil {
		if driver, err = store.OpenDriver(ctx, store.Options{Config: m.cfg, Version: m.version, Log: m.log}); err != nil {
			return err
		}
	}
	if m.cfg.Node.Shards > 1 {
		m.driver = driver
	} else {
		defer func() { err = errors.Join(err, driver.Close()) }()
	}
	if err = store.EnsureShardCount(ctx, m.cfg, m.log, driver); err != nil {
		return err
	}
	reader, err := persistence.NewReader(ctx, driver, m.masterKey)
	if errors.Is(err, domain.ErrNotFound) { // the store is empty: the master key will be its root key
		m.storeRoot = m.masterKey
		return nil
	}
	if err == nil {
		m.storeRoot = reader.RootKey()
	}
	return err
}

// endProcess ends the process with an error.
func (m *node) endProcess(err error) {
	select {
	case m.ended <- err:
	default:
	}
}

// close closes the listeners, the shared service, the forwarder and the store of the node.
func (m *node) close() {
	m.adminListener.close()
	m.http.close()
	m.shards.close()
	if m.holder == nil && m.leases != nil {
		bound, cancel := context.WithTimeout(context.Background(), membership.LeaveTimeout)
		defer cancel()
		_ = m.leases.Leave(bound)
	}
	if m.http.forwarder != nil {
		m.http.forwarder.Close()
	}
	if m.driver != nil {
		_ = m.driver.Close()
	}
	if m.unlock != nil {
		m.unlock()
	}
}
