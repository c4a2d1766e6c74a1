// Package cluster sends requests to the other nodes of the installation.
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

// Shards are the shards of the installation. An operator's request about a workspace of
// another shard is authenticated and counted on this node and runs on the owner's.
type Shards interface {
	// IsElsewhere says whether another shard has a workspace.
	IsElsewhere(workspaceID string) bool
	// Send sends a request to the shard that has a workspace; "": to the shard of the next
	// new workspace, which follows from seed. The request may arrive twice.
	Send(ctx context.Context, workspaceID, seed string, r *http.Request) (*http.Response, error)
	// Own is this shard, Others are the other ones, and ShardOf is the shard of a workspace.
	Own() int
	Others() []int
	ShardOf(workspaceID string) int
	// SendToShard sends a request to a shard. The request may arrive twice.
	SendToShard(ctx context.Context, shard int, r *http.Request) (*http.Response, error)
}

const (
	// forwardTimeout bounds how long another node may take to respond, maxResponse the size
	// of its response in bytes.
	forwardTimeout = 20 * time.Second
	maxResponse    = 8 << 20
)

// Node is a live node and the shards that it owns.
type Node struct {
	load.NodeNow
	OwnedShards []int
}

// Services are the use cases that a node answers other nodes with.
type Services struct {
	Load        NodeLoad
	AlertSearch AlertSearch
	Workspaces  Workspaces
	Idempotency Idempotency
}

// NodeLoad measures the load of this node.
type NodeLoad interface {
	// Part returns the load of the node and of its workspaces, as of up to a second ago,
	// without sums. requests counts the requests of a workspace within the last minute.
	LocalReport(ctx context.Context, requests func(*domain.Workspace) int) (*load.Report, error)
}

// AlertSearch evaluates alert rules of other shards.
type AlertSearch interface {
	// LookFor evaluates rules of another shard over the workspaces of this shard. The
	// result is by rule id.
	LookFor(ctx context.Context, rules []*domain.AlertRule) (map[string]alert.Findings, error)
}

// Workspaces lists the workspaces of the installation.
type Workspaces interface {
	ListWorkspaces(ctx context.Context, q record.PageQuery) (record.Page[*domain.Workspace], error)
}

// Idempotency makes a forwarded request the same request on the node that runs it.
type Idempotency interface {
	// Turn writes down the idempotency of a request that this node has admitted, and InTurn
	// reads it on the node that runs the request.
	EncodeRequest(ctx context.Context) string
	DecodeRequest(ctx context.Context, text string) (context.Context, error)
}

// Config sets a Cluster up.
type Config struct {
	Shards   Shards        // nil: this shard is the only one
	Nodes    func() []Node // the live nodes; nil: this node is the only one
	Version  string        // of the service on this node
	Requests func(*domain.Workspace) int
	Services Services
}

// Cluster forwards requests to the other nodes of the installation, answers theirs, and
// adds up the load of all nodes.
type Cluster struct {
	*router.Router // set before the first request

	shards      Shards
	nodes       func() []Node
	version     string
	requests    func(*domain.Workspace) int // of a workspace within the last minute
	load        NodeLoad
	alerts      AlertSearch
	workspaces  Workspaces
	idempotency Idempotency
	loads       loadCache
}

// New returns the cluster as this node sees it.
func New(cfg Config) *Cluster {
	return &Cluster{
		shards: cfg.Shards, nodes: cfg.Nodes, version: cfg.Version, requests: cfg.Requests,
		load: cfg.Services.Load, alerts: cfg.Services.AlertSearch, workspaces: cfg.Services.Workspaces, idempotency: cfg.Services.Idempotency,
	}
}

// Register registers the routes for other nodes. Requests of clients to them match no
// route.
func (cl *Cluster) Register(r *router.Router) {
	cl.Router = r
	cl.registerLoad()
	cl.registerAlertSearch()
}
