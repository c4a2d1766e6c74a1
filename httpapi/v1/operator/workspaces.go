package operator

import (
	"context"
	"net/http"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/httpapi/v1/account"
	"github.com/callboard/callboard/httpapi/v1/telephony"
	"github.com/callboard/callboard/service/record"
)

// Trunks are the trunks of the workspaces of an installation.
type Trunks interface {
	ListTrunks(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.Trunk], error)
	UpdateTrunk(ctx context.Context, p domain.Principal, id string, change func(*domain.Trunk) error) (*domain.Trunk, error)
}

// workspaceHandlers serves the operations of all workspaces of an installation.
type workspaceHandlers struct {
	*router.Router

	workspaces Workspaces
	warnings   account.SpendWarnings
	numbers    Numbers
	trunks     Trunks
}

// Workspaces are the workspaces of the installation. The handlers have checked that
// the principal is an operator.
type Workspaces interface {
	// CreateWorkspace keeps a workspace and makes its first key, whose text is
	// never kept.
	CreateWorkspace(ctx context.Context, w *domain.Workspace) (made *domain.Workspace, key *domain.APIKey, text string, err error)
	UpdateWorkspace(ctx context.Context, p domain.Principal, change func(*domain.Workspace) error) (*domain.Workspace, error)
	AnyWorkspace(ctx context.Context, id string) (*domain.Workspace, error)
	ListWorkspaces(ctx context.Context, q record.PageQuery) (record.Page[*domain.Workspace], error)
	// DeleteWorkspace ends a workspace; its credentials are refused from the
	// return on. invalid_state for the one whose key asks.
	DeleteWorkspace(ctx context.Context, p domain.Principal, id string) error
}

// Numbers are the phone numbers of the workspaces of an installation.
type Numbers interface {
	// NumbersOf are the live environment's numbers of a workspace, in a state
	// unless that is "".
	ListNumbersByStatus(ctx context.Context, workspaceID string, status domain.NumberStatus, q record.PageQuery) (record.Page[*domain.PhoneNumber], error)
	// ApproveNumber lets a pending number go live.
	ApproveNumber(ctx context.Context, workspaceID, id string) (*domain.PhoneNumber, error)
}

// WorkspaceCreated is a new workspace with its first key.
type WorkspaceCreated struct {
	domain.Workspace
	KeyID string `json:"key_id" doc:"The first API key."`
	Key   string `json:"key" doc:"Its text: live, may do everything but what takes an operator. Shown this once."`
}

// registerWorkspaces registers the operations of the workspaces of the installation.
func registerWorkspaces(r *router.Router, services Services) {
	s := &workspaceHandlers{
		Router: r, workspaces: services.Workspaces, warnings: services.SpendWarnings, numbers: services.Numbers, trunks: services.Trunks,
	}
	const tag, path = "Workspaces", "/v1/workspaces"
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path, ID: "createWorkspace", Credential: router.KeyOrSession, Tag: tag, Status: http.StatusCreated, Summary: "Create a workspace",
		Description: "Operators only, as all of /v1/workspaces. Default plan: starter. The setting default_plan is the plan of the first workspace only, default, which the first start makes.",
	}, s.createWorkspace)
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path, ID: "listWorkspaces", Tag: tag, Summary: "List the workspaces of the install"},
		func(ctx context.Context, p domain.Principal, in *struct{ router.Paging }) (*router.Response[router.List[*domain.Workspace]], error) {
			if err := router.RequireOperator(p); err != nil {
				return nil, err
			}
			l, err := s.workspaces.ListWorkspaces(ctx, in.Query())
			return router.Page(l, err, func(w *domain.Workspace) *domain.Workspace { return account.ShowWorkspace(p, w) })
		})
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path + "/{id}", ID: "getAnyWorkspace", Tag: tag, Summary: "Get a workspace of the install"},
		func(ctx context.Context, p domain.Principal, in *router.IDParam) (*router.Response[*domain.Workspace], error) {
			w, err := s.workspaceByID(ctx, p, in.ID)
			return account.RespondWorkspace(ctx, s.Router, s.warnings, account.ShowWorkspace(p, w), err)
		})
	router.Add(s.Router, router.Operation{
		Method: http.MethodPatch, Path: path + "/{id}", ID: "updateAnyWorkspace", Credential: router.KeyOrSession, Tag: tag, Summary: "Change a workspace of the install",
		Description: "Plan, limits and rules hold from the answer on.",
	}, func(ctx context.Context, p domain.Principal, in *struct {
		router.IDParam
		Body router.Patch[account.NewWorkspace]
	},
	) (*router.Response[*domain.Workspace], error) {
		w, err := s.workspaceByID(ctx, p, in.ID)
		if err != nil {
			return nil, err
		}
		w, err = s.workspaces.UpdateWorkspace(ctx, domain.Principal{WorkspaceID: w.ID, Environment: p.Environment, Operator: true, KeyID: p.KeyID}, router.PatchFunc(s.Registry, &in.Body, (*account.NewWorkspace).Apply))
		return account.RespondWorkspace(ctx, s.Router, s.warnings, account.ShowWorkspace(p, w), err)
	})
	router.Add(s.Router, router.Operation{
		Method: http.MethodDelete, Path: path + "/{id}", ID: "deleteWorkspace", Credential: router.KeyOrSession, Tag: tag, Errors: []int{http.StatusConflict}, Summary: "Delete a workspace with everything in it",
		Description: "Its keys are refused from the answer on and its calls hang up. Rows, events, recordings and exports go in the background, and its data key with them: " +
			"what backups hold of its secrets and recordings does not open any more. 409 invalid_state for the workspace whose key asks.",
	}, func(ctx context.Context, p domain.Principal, in *router.IDParam) (*router.Response[router.Deleted], error) {
		w, err := s.workspaceByID(ctx, p, in.ID)
		if err != nil {
			return nil, err
		}
		return router.RespondDeleted(w.ID, "workspace", s.workspaces.DeleteWorkspace(ctx, p, w.ID))
	})
	s.registerNumbers()
	s.registerTrunks()
}

// registerNumbers are those by which operators let numbers go live.
func (s *workspaceHandlers) registerNumbers() {
	const tag, path = "Workspaces", "/v1/workspaces/{id}/phone-numbers"
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path, ID: "listAnyNumbers", Tag: tag, Summary: "List the numbers of a workspace of the install", Description: "Operators only. Those of the live environment."},
		func(ctx context.Context, p domain.Principal, in *struct {
			router.IDParam
			router.Paging
			Status string `query:"status" enum:"live,pending" doc:"In this state only."`
		},
		) (*router.Response[router.List[*domain.PhoneNumber]], error) {
			w, err := s.workspaceByID(ctx, p, in.ID)
			if err != nil {
				return nil, err
			}
			l, err := s.numbers.ListNumbersByStatus(ctx, w.ID, domain.NumberStatus(in.Status), in.Query())
			return router.Page(l, err, router.Identity)
		})
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path + "/{number_id}/approve", ID: "approveNumber", Credential: router.KeyOrSession, Tag: tag, Summary: "Let a number go live",
		Description: "Operators only. Where several workspaces share the install, a number that no operator created is pending until then: no call and no message reaches it or comes from it.",
	}, func(ctx context.Context, p domain.Principal, in *struct {
		router.IDParam
		NumberID string `path:"number_id" doc:"The number's id."`
	},
	) (*router.Response[*domain.PhoneNumber], error) {
		w, err := s.workspaceByID(ctx, p, in.ID)
		if err != nil {
			return nil, err
		}
		id, err := router.PathID(domain.PrefixNumber, in.NumberID)
		if err != nil {
			return nil, err
		}
		router.SetResourceID(ctx, id)
		return router.Respond(s.numbers.ApproveNumber(ctx, w.ID, id))
	})
}

// registerTrunks are those by which operators set what a workspace may not set
// on its own trunks: costs, number_strip, number_add and national formats of other
// countries.
func (s *workspaceHandlers) registerTrunks() {
	const tag, path = "Workspaces", "/v1/workspaces/{id}/trunks"
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path, ID: "listAnyTrunks", Tag: tag, Summary: "List the trunks of a workspace of the install", Description: "Operators only. Those of the live environment."},
		func(ctx context.Context, p domain.Principal, in *struct {
			router.IDParam
			router.Paging
		},
		) (*router.Response[router.List[*domain.Trunk]], error) {
			tenant, err := s.asWorkspace(ctx, p, in.ID)
			if err != nil {
				return nil, err
			}
			l, err := s.trunks.ListTrunks(ctx, tenant, in.Query())
			return router.Page(l, err, (*domain.Trunk).Public)
		})
	router.Add(s.Router, router.Operation{
		Method: http.MethodPatch, Path: path + "/{trunk_id}", ID: "updateAnyTrunk", Credential: router.KeyOrSession, Tag: tag, Summary: "Change a trunk of a workspace of the install",
		Description: "Operators only. Sets what the workspace itself may not set on its trunks: costs, by which daily_spend_cap counts, number_strip, number_add and number_format national with any number_country; every other member too. A patch that names number_strip or number_add approves both, also with the same values. Trunks of the live environment.",
	}, func(ctx context.Context, p domain.Principal, in *struct {
		router.IDParam
		TrunkID string `path:"trunk_id" doc:"The trunk's id."`
		Body    router.Patch[telephony.NewTrunk]
	},
	) (*router.Response[*domain.Trunk], error) {
		tenant, err := s.asWorkspace(ctx, p, in.ID)
		if err != nil {
			return nil, err
		}
		id, err := router.PathID(domain.PrefixTrunk, in.TrunkID)
		if err != nil {
			return nil, err
		}
		router.SetResourceID(ctx, id)
		return router.RespondPublic(s.trunks.UpdateTrunk(ctx, tenant, id, telephony.ChangeTrunk(s.Registry, &in.Body)))
	})
}

// asWorkspace is the operator who acts on the live environment of another workspace.
func (s *workspaceHandlers) asWorkspace(ctx context.Context, p domain.Principal, workspaceID string) (domain.Principal, error) {
	w, err := s.workspaceByID(ctx, p, workspaceID)
	if err != nil {
		return domain.Principal{}, err
	}
	return domain.Principal{WorkspaceID: w.ID, Environment: domain.Live, Operator: true, KeyID: p.KeyID}, nil
}

// workspaceByID returns the workspace that an operator names.
func (s *workspaceHandlers) workspaceByID(ctx context.Context, p domain.Principal, text string) (*domain.Workspace, error) {
	if err := router.RequireOperator(p); err != nil {
		return nil, err
	}
	id, err := router.PathID(domain.PrefixWorkspace, text)
	if err != nil {
		return nil, err
	}
	return s.workspaces.AnyWorkspace(ctx, id)
}

func (s *workspaceHandlers) createWorkspace(ctx context.Context, p domain.Principal, in *struct{ Body account.NewWorkspace }) (*router.Response[*WorkspaceCreated], error) {
	if err := router.RequireOperator(p); err != nil {
		return nil, err
	}
	w := &domain.Workspace{}
	if err := in.Body.Apply(w); err != nil {
		return nil, err
	}
	made, key, text, err := s.workspaces.CreateWorkspace(ctx, w)
	if err != nil {
		return nil, err
	}
	router.SetResourceID(ctx, made.ID)
	return router.Respond(&WorkspaceCreated{Workspace: *account.ShowWorkspace(p, made), KeyID: key.ID, Key: text}, nil)
}
