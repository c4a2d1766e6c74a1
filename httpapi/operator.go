package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
)

// Operators is the node over all workspaces. The front door has checked that an
// operator asks.
type Operators interface {
	// Load and ListLoads tell how the node and its workspaces do, as of up to a
	// second ago. requests counts those of a workspace within the last minute.
	Load(ctx context.Context, requests func(*domain.Workspace) int) (*ask.NodeLoad, error)
	ListLoads(ctx context.Context, q ask.Page, requests func(*domain.Workspace) int) (ask.List[*ask.WorkspaceLoad], error)
	// StopDialling lets nobody be rung from its return on, also across restarts,
	// until ResumeDialling. Both answer the same when they are repeated.
	StopDialling(ctx context.Context, p domain.Principal, reason string) (ask.DiallingNow, error)
	ResumeDialling(ctx context.Context, p domain.Principal) (ask.DiallingNow, error)
	// DrainNode lets no call begin on this node, until UndrainNode or the end of
	// the process.
	DrainNode(ctx context.Context, p domain.Principal) (ask.DrainNow, error)
	UndrainNode(ctx context.Context, p domain.Principal) (ask.DrainNow, error)
}

// DiallingStop is what an operator says who stops all dialling.
type DiallingStop struct {
	Reason string `json:"reason,omitempty" maxLength:"200" doc:"Why, for whoever asks why nobody is rung."`
}

func (s *Server) operatorRoutes() {
	const tag, path = "Operator", "/v1/operator"
	add(s, operation{
		method: http.MethodGet, path: path + "/load", id: "getLoad", tag: tag, summary: "Get how the node does, over all workspaces",
		about: "Operators only, as all of /v1/operator. However many ask, the workspaces are looked at once in a second; what is stored costs nothing.",
	}, func(ctx context.Context, p domain.Principal, _ *struct{}) (*answer[*ask.NodeLoad], error) {
		if err := byOperator(p); err != nil {
			return nil, err
		}
		return ok(s.ports.Operators.Load(ctx, s.requestsOf))
	})
	add(s, operation{
		method: http.MethodGet, path: path + "/workspaces", id: "listLoads", tag: tag, summary: "List how each workspace does",
		about: "Operators only. The newest workspace comes first.",
	}, func(ctx context.Context, p domain.Principal, in *struct {
		Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"Rows per page."`
		Cursor string `query:"cursor" maxLength:"512" doc:"next_cursor of the page before."`
	},
	) (*answer[List[*ask.WorkspaceLoad]], error) {
		if err := byOperator(p); err != nil {
			return nil, err
		}
		l, err := s.ports.Operators.ListLoads(ctx, Paging{Limit: in.Limit, Cursor: in.Cursor}.page(), s.requestsOf)
		return page(l, err, same)
	})
	add(s, operation{
		method: http.MethodPost, path: path + "/dialling/stop", id: "stopDialling", tag: tag, summary: "Stop all dialling, in all workspaces",
		about: "Operators only. From the answer on nobody is rung: no campaign, bulk job, reminder, transfer or call of the API sends an INVITE that begins a call, in both environments. " +
			"Live calls go on, calls still come in. It holds across restarts. Campaigns stay running and wait: waiting.reason is dialling_stopped; whoever orders a call is told 503 with reason dialling_stopped.",
	}, func(ctx context.Context, p domain.Principal, in *struct{ Body *DiallingStop }) (*answer[ask.DiallingNow], error) {
		if err := byOperator(p); err != nil {
			return nil, err
		}
		reason := ""
		if in.Body != nil {
			reason = in.Body.Reason
		}
		return ok(s.ports.Operators.StopDialling(ctx, p, reason))
	})
	add(s, operation{
		method: http.MethodPost, path: path + "/dialling/resume", id: "resumeDialling", tag: tag, summary: "Let people be rung again",
		about: "Operators only. Campaigns go on where they stood, within their hours and pace; what was paused stays so.",
	}, bare(func(ctx context.Context, p domain.Principal) (ask.DiallingNow, error) {
		return s.ports.Operators.ResumeDialling(ctx, p)
	}))
	add(s, operation{
		method: http.MethodPost, path: path + "/drain", id: "drainNode", tag: tag, summary: "Take no calls on this node",
		about: "Operators only. No call begins any more, in or out: SIP answers 503, campaigns wait (waiting.reason is draining), /readyz is 503 and says why. " +
			"Live calls go on, and may be transferred. It ends by undrain, or with the process.",
	}, bare(func(ctx context.Context, p domain.Principal) (ask.DrainNow, error) {
		return s.ports.Operators.DrainNode(ctx, p)
	}))
	add(s, operation{
		method: http.MethodPost, path: path + "/undrain", id: "undrainNode", tag: tag, summary: "Take calls on this node again", about: "Operators only.",
	}, bare(func(ctx context.Context, p domain.Principal) (ask.DrainNow, error) {
		return s.ports.Operators.UndrainNode(ctx, p)
	}))
}

// bare is a route of operators that takes no body.
func bare[T any](do func(context.Context, domain.Principal) (T, error)) func(context.Context, domain.Principal, *struct{}) (*answer[T], error) {
	return func(ctx context.Context, p domain.Principal, _ *struct{}) (*answer[T], error) {
		if err := byOperator(p); err != nil {
			return nil, err
		}
		return ok(do(ctx, p))
	}
}

// requestsOf counts the requests of a workspace within the last minute.
func (s *Server) requestsOf(w *domain.Workspace) int {
	made, _ := s.limits.Used(w.ID, requestRule(w), time.Now())
	return made
}
