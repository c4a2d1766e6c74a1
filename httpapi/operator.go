package httpapi

import (
	"context"
	"net/http"

	operatorservice "github.com/callboard/callboard/service/operator"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/load"
	"github.com/callboard/callboard/httpapi/router"
)

// Operators is the node over all of its workspaces. The front door has checked
// that an operator asks.
type Operators interface {
	// Part tells how the node and its workspaces do, as of up to a second ago,
	// without sums. requests counts those of a workspace within the last minute.
	Part(ctx context.Context, requests func(*domain.Workspace) int) (*load.Report, error)
	// StopDialling lets nobody be rung from its return on, also across restarts,
	// until ResumeDialling. Both answer the same when they are repeated.
	StopDialling(ctx context.Context, p domain.Principal, reason string) (load.DiallingNow, error)
	ResumeDialling(ctx context.Context, p domain.Principal) (load.DiallingNow, error)
	// DrainNode lets no call begin on this node, until UndrainNode or the end of
	// the process.
	DrainNode(ctx context.Context, p domain.Principal) (load.DrainNow, error)
	UndrainNode(ctx context.Context, p domain.Principal) (load.DrainNow, error)
}

// DiallingStop is what an operator says who stops all dialling.
type DiallingStop struct {
	Reason string `json:"reason,omitempty" maxLength:"200" doc:"Why, for whoever asks why nobody is rung."`
}

// NodeChoice names a node.
type NodeChoice struct {
	NodeID string `json:"node_id,omitempty" maxLength:"64" doc:"As /v1/operator/nodes tells; the one that has the operator's own workspace unless it is said."`
}

func (o *otherNodes) registerControls() {
	const tag, path = "Operator", "/v1/operator"
	o.registerLoad()
	o.registerAlertSearch()
	router.Add(o.Router, router.Operation{
		Method: http.MethodGet, Path: path + "/load", ID: "getLoad", Tag: tag, Summary: "Get how the service does, over all workspaces",
		Description: "Operators only, as all of /v1/operator. However many ask, the workspaces are looked at once in a second; what is stored costs nothing. " +
			"ready and drain are those of the node that has the operator's own workspace; /v1/operator/nodes tells of all.",
	}, router.HandleByOperator(func(ctx context.Context, _ domain.Principal) (*load.NodeLoad, error) {
		whole, _, err := o.load(ctx)
		if err != nil {
			return nil, err
		}
		return whole.Node, nil
	}))
	router.Add(o.Router, router.Operation{
		Method: http.MethodGet, Path: path + "/nodes", ID: "listNodes", Tag: tag, Summary: "List the nodes that live, and how each does",
		Description: "Operators only. All of them, on one page. One without a part of the work stands by, or has just joined.",
	}, router.HandleByOperator(func(ctx context.Context, _ domain.Principal) (router.List[*load.NodeNow], error) {
		_, nodes, err := o.load(ctx)
		return router.List[*load.NodeNow]{Object: "list", Data: nodes}, err
	}))
	router.Add(o.Router, router.Operation{
		Method: http.MethodGet, Path: path + "/workspaces", ID: "listLoads", Tag: tag, Summary: "List how each workspace does",
		Description: "Operators only. The newest workspace comes first.",
	}, func(ctx context.Context, p domain.Principal, in *struct {
		Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"Rows per page."`
		Cursor string `query:"cursor" maxLength:"512" doc:"next_cursor of the page before."`
	},
	) (*router.Response[router.List[*load.WorkspaceLoad]], error) {
		if err := router.RequireOperator(p); err != nil {
			return nil, err
		}
		whole, _, err := o.load(ctx)
		if err != nil {
			return nil, err
		}
		return router.Page(operatorservice.WorkspacesPage(whole, router.Paging{Limit: in.Limit, Cursor: in.Cursor}.Query()), nil, router.Same)
	})
	router.Add(o.Router, router.Operation{
		Method: http.MethodPost, Path: path + "/dialling/stop", ID: "stopDialling", Tag: tag, Summary: "Stop all dialling, in all workspaces",
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
		defer o.loads.forget()
		return router.Respond(o.operators.StopDialling(ctx, p, reason))
	})
	router.Add(o.Router, router.Operation{
		Method: http.MethodPost, Path: path + "/dialling/resume", ID: "resumeDialling", Tag: tag, Summary: "Let people be rung again",
		Description: "Operators only. Campaigns go on where they stood, within their hours and pace; what was paused stays so.",
	}, router.HandleByOperator(func(ctx context.Context, p domain.Principal) (load.DiallingNow, error) {
		defer o.loads.forget()
		return o.operators.ResumeDialling(ctx, p)
	}))
	router.Add(o.Router, router.Operation{
		Method: http.MethodPost, Path: path + "/drain", ID: "drainNode", Tag: tag, Summary: "Take no calls on a node", Errors: []int{http.StatusNotFound, http.StatusConflict},
		Description: "Operators only. No call begins any more, in or out: SIP answers 503, campaigns wait (waiting.reason is draining), /readyz is 503 and says why. " +
			"Live calls go on, and may be transferred. It ends by undrain, or with the process. 409 invalid_state for a node that has no part of the work.",
	}, o.onNode(Operators.DrainNode))
	router.Add(o.Router, router.Operation{
		Method: http.MethodPost, Path: path + "/undrain", ID: "undrainNode", Tag: tag, Summary: "Take calls on a node again", Errors: []int{http.StatusNotFound, http.StatusConflict},
		Description: "Operators only.",
	}, o.onNode(Operators.UndrainNode))
}

// onNode is a route of operators that is about a node: this one, or away has
// sent it there.
func (o *otherNodes) onNode(do func(Operators, context.Context, domain.Principal) (load.DrainNow, error)) func(context.Context, domain.Principal, *struct{ Body *NodeChoice }) (*router.Response[load.DrainNow], error) {
	return func(ctx context.Context, p domain.Principal, in *struct{ Body *NodeChoice }) (*router.Response[load.DrainNow], error) {
		if err := router.RequireOperator(p); err != nil {
			return nil, err
		}
		if in.Body != nil && in.Body.NodeID != "" {
			if _, here, err := o.shardsOfNode(in.Body.NodeID); err != nil {
				return nil, err
			} else if !here {
				return nil, domain.Errorf(domain.CodeUnavailable, "What the node had is moving; try again.").With("retry_after", 1)
			}
		}
		defer o.loads.forget()
		return router.Respond(do(o.operators, ctx, p))
	}
}
