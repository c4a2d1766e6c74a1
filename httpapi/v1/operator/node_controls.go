package operator

import (
	"context"
	"net/http"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/load"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/service/operator"
)

// Routes of operations on one node. The cluster forwards a request to the node that the request names.
const (
	DrainRoute   = "POST " + operatorPath + "/drain"
	UndrainRoute = "POST " + operatorPath + "/undrain"
)

const operatorPath = "/v1/operator"

// Node executes operators' commands on this node. The handlers have checked that the principal is an operator.
type Node interface {
	// StopDialling prevents new outbound calls from the moment it returns, also after restarts, until ResumeDialling.
	// Repeated calls of StopDialling and of ResumeDialling are allowed.
	StopDialling(ctx context.Context, p domain.Principal, reason string) (load.DiallingNow, error)
	ResumeDialling(ctx context.Context, p domain.Principal) (load.DiallingNow, error)
	// DrainNode makes this node refuse new calls until UndrainNode or the end of the process.
	DrainNode(ctx context.Context, p domain.Principal) (load.DrainNow, error)
	UndrainNode(ctx context.Context, p domain.Principal) (load.DrainNow, error)
}

// Cluster returns the load of the installation.
type Cluster interface {
	// Load returns the load of all shards and of all nodes. The figures are at most a second old.
	Load(ctx context.Context) (*load.Report, []*load.NodeNow, error)
	// ResetLoad drops the cached load. Handlers call it after a change that the load report must show at once.
	ResetLoad()
	// OwnsNode reports whether id is the id of this node. Errors: not_found for an unknown id, and invalid_state if the
	// named node owns no shard.
	OwnsNode(id string) (bool, error)
}

// DiallingStop is the request to stop all outbound calls.
type DiallingStop struct {
	Reason string `json:"reason,omitempty" maxLength:"200" doc:"Reason, which is shown while dialing is stopped."`
}

// NodeChoice is the request body that names the node for an operation.
type NodeChoice struct {
	NodeID string `json:"node_id,omitempty" maxLength:"64" doc:"The id of a node, see /v1/operator/nodes. Default: the node that owns the operator's own workspace."`
}

// nodeHandlers serves the operations of nodes.
type nodeHandlers struct {
	node    Node
	cluster Cluster
}

// registerNodes registers the operations of nodes.
func registerNodes(r *router.Router, node Node, cluster Cluster) {
	s := &nodeHandlers{node: node, cluster: cluster}
	const tag = "Operator"
	router.Add(r, router.Operation{
		Method: http.MethodGet, Path: operatorPath + "/load", ID: "getLoad", Tag: tag, Summary: "Get the load of the service over all workspaces",
		Description: "Operators only, like all of /v1/operator. The load is measured at most once per second, whatever the number of requests. " +
			"ready and drain describe the node that owns the operator's own workspace; /v1/operator/nodes lists all nodes.",
	}, router.HandleByOperator(func(ctx context.Context, _ domain.Principal) (*load.NodeLoad, error) {
		report, _, err := s.cluster.Load(ctx)
		if err != nil {
			return nil, err
		}
		return report.Node, nil
	}))
	router.Add(r, router.Operation{
		Method: http.MethodGet, Path: operatorPath + "/nodes", ID: "listNodes", Tag: tag, Summary: "List the live nodes with their load",
		Description: "Operators only. All nodes on one page. A node without a shard is on standby, or has just joined.",
	}, router.HandleByOperator(func(ctx context.Context, _ domain.Principal) (router.List[*load.NodeNow], error) {
		_, nodes, err := s.cluster.Load(ctx)
		return router.List[*load.NodeNow]{Object: "list", Data: nodes}, err
	}))
	router.Add(r, router.Operation{
		Method: http.MethodGet, Path: operatorPath + "/workspaces", ID: "listLoads", Tag: tag, Summary: "List the load of each workspace",
		Description: "Operators only. Newest workspace first.",
	}, func(ctx context.Context, p domain.Principal, in *struct {
		Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"Rows per page."`
		Cursor string `query:"cursor" maxLength:"512" doc:"next_cursor of the previous page."`
	},
	) (*router.Response[router.List[*load.WorkspaceLoad]], error) {
		if err := router.RequireOperator(p); err != nil {
			return nil, err
		}
		report, _, err := s.cluster.Load(ctx)
		if err != nil {
			return nil, err
		}
		return router.Page(operator.PageWorkspaceLoads(report, router.Paging{Limit: in.Limit, Cursor: in.Cursor}.Query()), nil, router.Identity)
	})
	router.Add(r, router.Operation{
		Method: http.MethodPost, Path: operatorPath + "/dialling/stop", ID: "stopDialling", Tag: tag, Summary: "Stop all dialing in all workspaces",
		Description: "Operators only. As of the response, no campaign, bulk job, reminder, transfer or API request places a call, in both environments. " +
			"Live and inbound calls are not affected. The stop survives restarts. Campaigns stay running and wait with waiting.reason dialling_stopped. Requests for a call get 503 with reason dialling_stopped.",
	}, func(ctx context.Context, p domain.Principal, in *struct{ Body *DiallingStop }) (*router.Response[load.DiallingNow], error) {
		if err := router.RequireOperator(p); err != nil {
			return nil, err
		}
		reason := ""
		if in.Body != nil {
			reason = in.Body.Reason
		}
		defer s.cluster.ResetLoad()
		return router.Respond(s.node.StopDialling(ctx, p, reason))
	})
	router.Add(r, router.Operation{
		Method: http.MethodPost, Path: operatorPath + "/dialling/resume", ID: "resumeDialling", Tag: tag, Summary: "Resume dialing",
		Description: "Operators only. Campaigns continue within their hours and pace. Paused campaigns stay paused.",
	}, router.HandleByOperator(func(ctx context.Context, p domain.Principal) (load.DiallingNow, error) {
		defer s.cluster.ResetLoad()
		return s.node.ResumeDialling(ctx, p)
	}))
	router.Add(r, router.Operation{
		Method: http.MethodPost, Path: operatorPath + "/drain", ID: "drainNode", Tag: tag, Summary: "Stop new calls on a node", Errors: []int{http.StatusNotFound, http.StatusConflict},
		Description: "Operators only. No inbound or outbound call starts: SIP responds with 503, campaigns wait (waiting.reason is draining), and /readyz is 503 with the reason. " +
			"Live calls continue and can be transferred. Draining ends by undrain, or with the process. 409 invalid_state for a node that owns no shard.",
	}, s.handleNode(Node.DrainNode))
	router.Add(r, router.Operation{
		Method: http.MethodPost, Path: operatorPath + "/undrain", ID: "undrainNode", Tag: tag, Summary: "Allow new calls on a node", Errors: []int{http.StatusNotFound, http.StatusConflict},
		Description: "Operators only.",
	}, s.handleNode(Node.UndrainNode))
}

// handleNode returns a handler that executes do on this node. The cluster has already forwarded requests that name
// another node.
func (s *nodeHandlers) handleNode(do func(Node, context.Context, domain.Principal) (load.DrainNow, error)) func(context.Context, domain.Principal, *struct{ Body *NodeChoice }) (*router.Response[load.DrainNow], error) {
	return func(ctx context.Context, p domain.Principal, in *struct{ Body *NodeChoice }) (*router.Response[load.DrainNow], error) {
		if err := router.RequireOperator(p); err != nil {
			return nil, err
		}
		if in.Body != nil && in.Body.NodeID != "" {
			if here, err := s.cluster.OwnsNode(in.Body.NodeID); err != nil {
				return nil, err
			} else if !here {
				return nil, domain.Errorf(domain.CodeUnavailable, "The shards of the node are moving; try again.").With("retry_after", 1)
			}
		}
		defer s.cluster.ResetLoad()
		return router.Respond(do(s.node, ctx, p))
	}
}
