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

// Trunks reads and changes the trunks of all workspaces.
type Trunks interface {
	ListTrunks(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.Trunk], error)
	UpdateTrunk(ctx context.Context, p domain.Principal, id string, change func(*domain.Trunk) error) (*domain.Trunk, error)
}

// workspaceHandlers serves the operations for all workspaces of an installation.
type workspaceHandlers struct {
	*router.Router

	workspaces Workspaces
	warnings   account.SpendWarnings
	numbers    Numbers
	trunks     Trunks
}

// Workspaces manages the workspaces of the installation. The handlers have checked that the principal is an
// operator.
type Workspaces interface {
	// CreateWorkspace stores a workspace and creates its first API key. text is the secret text of the key, which is not
	// stored.
	CreateWorkspace(ctx context.Context, w *domain.Workspace) (made *domain.Workspace, key *domain.APIKey, text string, err error)
	UpdateWorkspace(ctx context.Context, p domain.Principal, change func(*domain.Workspace) error) (*domain.Workspace, error)
	AnyWorkspace(ctx context.Context, id string) (*domain.Workspace, error)
	ListWorkspaces(ctx context.Context, q record.PageQuery) (record.Page[*domain.Workspace], error)
	// DeleteWorkspace deletes a workspace. Credentials of the workspace, such as API keys, are refused as soon as the
	// method returns. Deleting the principal's own workspace is an invalid_state error.
	DeleteWorkspace(ctx context.Context, p domain.Principal, id string) error
}

// Numbers manages the phone numbers of all workspaces.
type Numbers interface {
	// ListNumbersByStatus returns the phone numbers of a workspace's live environment that have the given status. The
	// status "" returns all numbers.
	ListNumbersByStatus(ctx context.Context, workspaceID string, status domain.NumberStatus, q record.PageQuery) (record.Page[*domain.PhoneNumber], error)
	// ApproveNumber activates a pending number.
	ApproveNumber(ctx context.Context, workspaceID, id string) (*domain.PhoneNumber, error)
}

// WorkspaceCreated is the response with a new workspace and its first API key.
type WorkspaceCreated struct {
	domain.Workspace
	KeyID string `json:"key_id" doc:"The first API key."`
	Key   string `json:"key" doc:"The secret of the key, which is live and has all permissions except those of operators. Only in this response."`
}

// registerWorkspaces registers the operations of the workspaces of the installation.
func registerWorkspaces(r *router.Router, services Services) {
	s := &workspaceHandlers{
		Router: r, workspaces: services.Workspaces, warnings: services.SpendWarnings, numbers: services.Numbers, trunks: services.Trunks,
	}
	const tag, path = "Workspaces", "/v1/workspaces"
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path, ID: "createWorkspace", Credential: router.KeyOrSession, Tag: tag, Status: http.StatusCreated, Summary: "Create a workspace",
		Description: "Operators only, like all of /v1/workspaces. Default plan: starter. The setting default_plan applies only to the workspace default, which the first start creates.",
	}, s.createWorkspace)
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path, ID: "listWorkspaces", Tag: tag, Summary: "List the workspaces of the installation"},
		func(ctx context.Context, p domain.Principal, in *struct{ router.Paging }) (*router.Response[router.List[*domain.Workspace]], error) {
			if err := router.RequireOperator(p); err != nil {
				return nil, err
			}
			l, err := s.workspaces.ListWorkspaces(ctx, in.Query())
			return router.Page(l, err, func(w *domain.Workspace) *domain.Workspace { return account.ShowWorkspace(p, w) })
		})
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path + "/{id}", ID: "getAnyWorkspace", Tag: tag, Summary: "Get a workspace of the installation"},
		func(ctx context.Context, p domain.Principal, in *router.IDParam) (*router.Response[*domain.Workspace], error) {
			w, err := s.workspaceByID(ctx, p, in.ID)
			return account.RespondWorkspace(ctx, s.Router, s.warnings, account.ShowWorkspace(p, w), err)
		})
	router.Add(s.Router, router.Operation{
		Method: http.MethodPatch, Path: path + "/{id}", ID: "updateAnyWorkspace", Credential: router.KeyOrSession, Tag: tag, Summary: "Change a workspace of the installation",
		Description: "Plan, limits and rules apply as of the response.",
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
		Method: http.MethodDelete, Path: path + "/{id}", ID: "deleteWorkspace", Credential: router.KeyOrSession, Tag: tag, Errors: []int{http.StatusConflict}, Summary: "Delete a workspace with all its data",
		Description: "As of the response its keys are refused and its calls hang up. Records, events, recordings and exports are deleted in the background, and so is its encryption key: " +
			"its secrets and recordings in backups can no longer be decrypted. 409 invalid_state for the workspace of the requesting key.",
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

// registerNumbers registers the HTTP operations with which operators list and approve phone numbers.
func (s *workspaceHandlers) registerNumbers() {
	const tag, path = "Workspaces", "/v1/workspaces/{id}/phone-numbers"
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path, ID: "listAnyNumbers", Tag: tag, Summary: "List the numbers of a workspace of the installation", Description: "Operators only. Numbers of the live environment."},
		func(ctx context.Context, p domain.Principal, in *struct {
			router.IDParam
			router.Paging
			Status string `query:"status" enum:"live,pending" doc:"Filters by status."`
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
		Method: http.MethodPost, Path: path + "/{number_id}/approve", ID: "approveNumber", Credential: router.KeyOrSession, Tag: tag, Summary: "Approve a number",
		Description: "Operators only. In an installation with several workspaces, a number that no operator created is pending until its approval: it cannot receive or place calls and messages.",
	}, func(ctx context.Context, p domain.Principal, in *struct {
		router.IDParam
		NumberID string `path:"number_id" doc:"The id of the number."`
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

// registerTrunks registers the operations with which operators change trunks. Only operators may set costs,
// number_strip, number_add and national number formats of other countries.
func (s *workspaceHandlers) registerTrunks() {
	const tag, path = "Workspaces", "/v1/workspaces/{id}/trunks"
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path, ID: "listAnyTrunks", Tag: tag, Summary: "List the trunks of a workspace of the installation", Description: "Operators only. Trunks of the live environment."},
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
		Method: http.MethodPatch, Path: path + "/{trunk_id}", ID: "updateAnyTrunk", Credential: router.KeyOrSession, Tag: tag, Summary: "Change a trunk of a workspace of the installation",
		Description: "Operators only, for trunks of the live environment. Sets every member, including those that the workspace cannot set: costs, by which daily_spend_cap counts, number_strip, number_add, and number_format national with any number_country. A patch that contains number_strip or number_add approves both, also with unchanged values.",
	}, func(ctx context.Context, p domain.Principal, in *struct {
		router.IDParam
		TrunkID string `path:"trunk_id" doc:"The id of the trunk."`
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

// asWorkspace returns a principal with which an operator acts in the live environment of another workspace.
func (s *workspaceHandlers) asWorkspace(ctx context.Context, p domain.Principal, workspaceID string) (domain.Principal, error) {
	w, err := s.workspaceByID(ctx, p, workspaceID)
	if err != nil {
		return domain.Principal{}, err
	}
	return domain.Principal{WorkspaceID: w.ID, Environment: domain.Live, Operator: true, KeyID: p.KeyID}, nil
}

// workspaceByID checks that the principal is an operator and returns the workspace with the given id.
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
	created, key, text, err := s.workspaces.CreateWorkspace(ctx, w)
	if err != nil {
		return nil, err
	}
	router.SetResourceID(ctx, created.ID)
	return router.Respond(&WorkspaceCreated{Workspace: *account.ShowWorkspace(p, created), KeyID: key.ID, Key: text}, nil)
}
