package operator

import (
	"context"
	"net/http"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/load"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/service/operator"
)

// Routes that concern a node: the cluster forwards them to that node.
const (
	DrainRoute   = "POST " + operatorPath + "/drain"
	UndrainRoute = "POST " + operatorPath + "/undrain"
)

const operatorPath = "/v1/operator"

// Node controls this node. The handlers have checked that the principal is an operator.
type Node interface {
	// StopDialling stops all outbound calls from its return on, also across restarts, until
	// ResumeDialling. Repeated, both return the same.
	StopDialling(ctx context.Context, p domain.Principal, reason string) (load.DiallingNow, error)
	ResumeDialling(ctx context.Context, p domain.Principal) (load.DiallingNow, error)
	// DrainNode refuses new calls on this node until UndrainNode or the end of the process.
	DrainNode(ctx context.Context, p domain.Principal) (load.DrainNow, error)
	UndrainNode(ctx context.Context, p domain.Principal) (load.DrainNow, error)
}

// Cluster is the installation as this node sees it.
type Cluster interface {
	// Load returns the load of all shards and of the nodes, at most a second old.
	Load(ctx context.Context) (*load.Report, []*load.NodeNow, error)
	// ResetLoad drops the last load after a change that the load shows.
	ResetLoad()
	// OwnsNode says whether a node is this node. Errors: not_found, invalid_state where
	// the node owns no shard.
	OwnsNode(id string) (bool, error)
}

// DiallingStop is the request to stop all dialling.
type DiallingStop struct {
	Reason string `json:"reason,omitempty" maxLength:"200" doc:"Why, for whoever asks why nobody is rung."`
}

// NodeChoice names a node.
type NodeChoice struct {
	NodeID string `json:"node_id,omitempty" maxLength:"64" doc:"As /v1/operator/nodes tells; the one that has the operator's own workspace unless it is said."`
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
		Method: http.MethodGet, Path: operatorPath + "/load", ID: "getLoad", Tag: tag, Summary: "Get how the service does, over all workspaces",
		Description: "Operators only, as all of /v1/operator. However many ask, the workspaces are looked at once in a second; what is stored costs nothing. " +
			"ready and drain are those of the node that has the operator's own workspace; /v1/operator/nodes tells of all.",
	}, router.HandleByOperator(func(ctx context.Context, _ domain.Principal) (*load.NodeLoad, error) {
		report, _, err := s.cluster.Load(ctx)
		if err != nil {
			return nil, err
		}
		return report.Node, nil
	}))
	router.Add(r, router.Operation{
		Method: http.MethodGet, Path: operatorPath + "/nodes", ID: "listNodes", Tag: tag, Summary: "List the nodes that live, and how each does",
		Description: "Operators only. All of them, on one page. One without a part of the work stands by, or has just joined.",
	}, router.HandleByOperator(func(ctx context.Context, _ domain.Principal) (router.List[*load.NodeNow], error) {
		_, nodes, err := s.cluster.Load(ctx)
		return router.List[*load.NodeNow]{Object: "list", Data: nodes}, err
	}))
	router.Add(r, router.Operation{
		Method: http.MethodGet, Path: operatorPath + "/workspaces", ID: "listLoads", Tag: tag, Summary: "List how each workspace does",
		Description: "Operators only. The newest workspace comes first.",
	}, func(ctx context.Context, p domain.Principal, in *struct {
		Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"Rows per page."`
		Cursor string `query:"cursor" maxLength:"512" doc:"next_cursor of the page before."`
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
		Method: http.MethodPost, Path: operatorPath + "/dialling/stop", ID: "stopDialling", Tag: tag, Summary: "Stop all dialling, in all workspaces",
		Description: "Operators only. From the answer on nobody is rung: no campaign, bulk job, reminder, transfer or call of the API sends an INVITE that begins a call, in both environments. " +
			"Live calls go on, calls still come in. It holds across restarts. Campaigns stay running and wait: waiting.reason is dialling_stopped; whoever orders a call is told 503 with reason dialling_stopped.",
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
		Method: http.MethodPost, Path: operatorPath + "/dialling/resume", ID: "resumeDialling", Tag: tag, Summary: "Let people be rung again",
		Description: "Operators only. Campaigns go on where they stood, within their hours and pace; what was paused stays so.",
	}, router.HandleByOperator(func(ctx context.Context, p domain.Principal) (load.DiallingNow, error) {
		defer s.cluster.ResetLoad()
		return s.node.ResumeDialling(ctx, p)
	}))
	router.Add(r, router.Operation{
		Method: http.MethodPost, Path: operatorPath + "/drain", ID: "drainNode", Tag: tag, Summary: "Take no calls on a node", Errors: []int{http.StatusNotFound, http.StatusConflict},
		Description: "Operators only. No call begins any more, in or out: SIP answers 503, campaigns wait (waiting.reason is draining), /readyz is 503 and says why. " +
			"Live calls go on, and may be transferred. It ends by undrain, or with the process. 409 invalid_state for a node that has no part of the work.",
	}, s.handleNode(Node.DrainNode))
	router.Add(r, router.Operation{
		Method: http.MethodPost, Path: operatorPath + "/undrain", ID: "undrainNode", Tag: tag, Summary: "Take calls on a node again", Errors: []int{http.StatusNotFound, http.StatusConflict},
		Description: "Operators only.",
	}, s.handleNode(Node.UndrainNode))
}

// handleNode returns the handler of an operation of a node. The cluster has forwarded
// requests for other nodes.
func (s *nodeHandlers) handleNode(do func(Node, context.Context, domain.Principal) (load.DrainNow, error)) func(context.Context, domain.Principal, *struct{ Body *NodeChoice }) (*router.Response[load.DrainNow], error) {
	return func(ctx context.Context, p domain.Principal, in *struct{ Body *NodeChoice }) (*router.Response[load.DrainNow], error) {
		if err := router.RequireOperator(p); err != nil {
			return nil, err
		}
		if in.Body != nil && in.Body.NodeID != "" {
			if here, err := s.cluster.OwnsNode(in.Body.NodeID); err != nil {
				return nil, err
			} else if !here {
				return nil, domain.Errorf(domain.CodeUnavailable, "What the node had is moving; try again.").With("retry_after", 1)
			}
		}
		defer s.cluster.ResetLoad()
		return router.Respond(do(s.node, ctx, p))
	}
}
