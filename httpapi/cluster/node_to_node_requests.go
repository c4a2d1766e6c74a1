// Package cluster sends requests to the other nodes of the installation and answers requests of other nodes.
package cluster

import (
	"context"
	"net/http"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/alert"
	"github.com/callboard/callboard/domain/load"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/service/record"
)

// Shards sends requests to the shards of the installation. If an operator's request concerns a workspace of another
// shard, this node authenticates and counts it. The node that owns the shard runs it.
type Shards interface {
	// IsElsewhere reports whether another shard owns a workspace.
	IsElsewhere(workspaceID string) bool
	// Send sends a request to the shard of a workspace. If workspaceID is "", it sends the request to the shard that
	// creates a new workspace, which seed determines. The request may arrive twice.
	Send(ctx context.Context, workspaceID, seed string, r *http.Request) (*http.Response, error)
	// Own returns the number of this shard, Others the numbers of the other shards. ShardOf returns the shard of a
	// workspace.
	Own() int
	Others() []int
	ShardOf(workspaceID string) int
	// SendToShard sends a request to a shard. The request may arrive twice.
	SendToShard(ctx context.Context, shard int, r *http.Request) (*http.Response, error)
}

const (
	// forwardTimeout is the maximum response time of another node. maxResponse is the maximum size of its response in
	// bytes.
	forwardTimeout = 20 * time.Second
	maxResponse    = 8 << 20
)

// Node is a live node and the shards that it owns.
type Node struct {
	load.NodeNow
	OwnedShards []int
}

// Services are the services that answer the requests of other nodes.
type Services struct {
	Load        NodeLoad
	AlertSearch AlertSearch
	Workspaces  Workspaces
	Idempotency Idempotency
}

// NodeLoad measures the load of this node.
type NodeLoad interface {
	// LocalReport returns the load of this node and its workspaces, at most a second old. The report has no totals. The
	// function requests returns the number of requests of a workspace in the last minute.
	LocalReport(ctx context.Context, requests func(*domain.Workspace) int) (*load.Report, error)
}

// AlertSearch evaluates alert rules on behalf of other shards.
type AlertSearch interface {
	// EvaluateRules evaluates alert rules of another shard for the workspaces of this shard. It returns the findings by
	// rule id.
	EvaluateRules(ctx context.Context, rules []*domain.AlertRule) (map[string]alert.Findings, error)
}

// Workspaces lists the workspaces of the installation.
type Workspaces interface {
	ListWorkspaces(ctx context.Context, q record.PageQuery) (record.Page[*domain.Workspace], error)
}

// Idempotency encodes the idempotency state of a request, so that another node can run the request.
type Idempotency interface {
	// EncodeRequest encodes the idempotency state of a request that this node has admitted. DecodeRequest restores the state on the
	// node that runs the request.
	EncodeRequest(ctx context.Context) string
	DecodeRequest(ctx context.Context, text string) (context.Context, error)
}

// Config configures a Cluster.
type Config struct {
	Shards   Shards        // nil: the installation has this shard only
	Nodes    func() []Node // returns the live nodes; nil: the installation has this node only
	Version  string        // version of Callboard on this node
	Requests func(*domain.Workspace) int
	Services Services
}

// Cluster forwards requests to other nodes, answers requests of other nodes and adds up the load of all nodes.
type Cluster struct {
	*router.Router // set before the first request

	shards      Shards
	nodes       func() []Node
	version     string
	requests    func(*domain.Workspace) int // requests of a workspace in the last minute
	load        NodeLoad
	alerts      AlertSearch
	workspaces  Workspaces
	idempotency Idempotency
	loads       loadCache
}

// New returns a Cluster.
func New(cfg Config) *Cluster {
	return &Cluster{
		shards: cfg.Shards, nodes: cfg.Nodes, version: cfg.Version, requests: cfg.Requests,
		load: cfg.Services.Load, alerts: cfg.Services.AlertSearch, workspaces: cfg.Services.Workspaces, idempotency: cfg.Services.Idempotency,
	}
}

// Register registers the routes that serve requests of other nodes. Requests of clients to these paths get not_found.
func (cl *Cluster) Register(r *router.Router) {
	cl.Router = r
	cl.registerLoad()
	cl.registerAlertSearch()
}
