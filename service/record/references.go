package record

import (
	"context"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// maxReferrers is the maximum number of referring resources that one error lists.
const maxReferrers = 20

// References ensures that references between agents, pathways, tools and knowledge bases stay valid. A resource
// cannot be deleted while another resource refers to it.
type References struct {
	store commit.Store
	locks KeyedMutex // by workspace id
}

// NewReferences returns the References for all workspaces of the store.
func NewReferences(store commit.Store) *References { return &References{store: store} }

// Lock locks the references of a workspace, so that no other caller changes them. The caller releases the lock with unlock.
func (r *References) Lock(ctx context.Context, workspaceID string) (unlock func(), err error) {
	return r.locks.Lock(ctx, workspaceID)
}

// referringResource is one entry of used_by: a resource that refers to the resource to be deleted.
type referringResource struct {
	Object string `json:"object"`
	ID     string `json:"id"`
	Name   string `json:"name"`
}

// CheckUnused returns an error if an agent or a pathway refers to the resource with this id. object is the
// resource's type for the error message, such as "tool". Errors: invalid_state with used_by.
func (r *References) CheckUnused(ctx context.Context, p domain.Principal, object, id string) error {
	q := PageQuery{Limit: maxReferrers}
	agents, err := List[domain.Agent](ctx, r.store, p.WorkspaceID, "names="+id, domain.PrefixAgent, q, nil)
	if err != nil {
		return err
	}
	pathways, err := List[domain.Pathway](ctx, r.store, p.WorkspaceID, "names="+id, domain.PrefixPathway, q, nil)
	if err != nil {
		return err
	}
	var by []referringResource
	for _, a := range agents.Data {
		by = append(by, referringResource{"agent", a.ID, a.Name})
	}
	for _, w := range pathways.Data {
		by = append(by, referringResource{"pathway", w.ID, w.Name})
	}
	if len(by) == 0 {
		return nil
	}
	by = by[:min(len(by), maxReferrers)]
	return domain.Errorf(domain.CodeInvalidState, "%s %s uses this %s; remove the reference first", by[0].Object, by[0].ID, object).With("used_by", by)
}

// CheckAgent returns a validation error for agent_id if the agent does not exist. An empty id is valid.
func CheckAgent(ctx context.Context, store commit.Store, p domain.Principal, id string) error {
	return checkReference[domain.Agent](ctx, store, p, domain.PrefixAgent, "agent", id)
}

// CheckPathway returns a validation error for pathway_id if the pathway does not exist. An empty id is valid.
func CheckPathway(ctx context.Context, store commit.Store, p domain.Principal, id string) error {
	return checkReference[domain.Pathway](ctx, store, p, domain.PrefixPathway, "pathway", id)
}

// ScriptNotFound returns the validation error for a call request whose agent or pathway does not exist.
func ScriptNotFound(ctx context.Context, store commit.Store, p domain.Principal, o *domain.NewCall) error {
	if err := CheckAgent(ctx, store, p, o.AgentID); err != nil {
		return err
	}
	if err := CheckPathway(ctx, store, p, o.PathwayID); err != nil {
		return err
	}
	return domain.FieldError("agent_id", domain.CodeValidation, "there is no such agent or pathway")
}

func checkReference[T any, R Resource[T]](ctx context.Context, store commit.Store, p domain.Principal, prefix domain.Prefix, object, id string) error {
	if id == "" {
		return nil
	}
	_, _, err := Get[T, R](ctx, store, p, prefix, id)
	if domain.CodeOf(err) == domain.CodeNotFound {
		return domain.FieldError(object+"_id", domain.CodeValidation, "there is no such "+object)
	}
	return err
}

// RefuseTestNumber adds a validation problem for the request field param if number is a phone number of the test carrier.
func RefuseTestNumber(problems *domain.Problems, param, number string) {
	if domain.IsTestCarrierNumber(number) {
		problems.Add(param, domain.CodeCallerIDNotAllowed, "%s is a number of the test environment, which no trunk shows", number)
	}
}
