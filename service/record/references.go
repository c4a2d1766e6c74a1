package record

import (
	"context"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// maxReferrersShown bounds the referrers that an error lists.
const maxReferrersShown = 20

// References keeps references between agents, pathways, tools and knowledge bases
// valid: a resource that another one names cannot be deleted.
type References struct {
	store commit.Store
	locks KeyedMutex // by workspace
}

// NewReferences returns the references of all workspaces of a store.
func NewReferences(store commit.Store) *References { return &References{store: store} }

// Lock holds back other changes of references in a workspace until unlock is
// called.
func (r *References) Lock(ctx context.Context, workspaceID string) (unlock func(), err error) {
	return r.locks.Lock(ctx, workspaceID)
}

// referrer is a resource that names another one.
type referrer struct {
	Object string `json:"object"`
	ID     string `json:"id"`
	Name   string `json:"name"`
}

// CheckUnused returns an error if an agent or a pathway names the resource with
// this id. object is the resource's type for the message, such as "tool". Errors:
// invalid_state with used_by.
func (r *References) CheckUnused(ctx context.Context, p domain.Principal, object, id string) error {
	q := PageQuery{Limit: maxReferrersShown}
	agents, err := List[domain.Agent](ctx, r.store, p.WorkspaceID, "names="+id, domain.PrefixAgent, q, nil)
	if err != nil {
		return err
	}
	pathways, err := List[domain.Pathway](ctx, r.store, p.WorkspaceID, "names="+id, domain.PrefixPathway, q, nil)
	if err != nil {
		return err
	}
	var by []referrer
	for _, a := range agents.Data {
		by = append(by, referrer{"agent", a.ID, a.Name})
	}
	for _, w := range pathways.Data {
		by = append(by, referrer{"pathway", w.ID, w.Name})
	}
	if len(by) == 0 {
		return nil
	}
	by = by[:min(len(by), maxReferrersShown)]
	return domain.Errorf(domain.CodeInvalidState, "%s %s uses this %s; take it out there first", by[0].Object, by[0].ID, object).With("used_by", by)
}

// CheckAgent returns a validation error for agent_id if there is no such agent.
// An empty id is valid.
func CheckAgent(ctx context.Context, store commit.Store, p domain.Principal, id string) error {
	return checkReference[domain.Agent](ctx, store, p, domain.PrefixAgent, "agent", id)
}

// CheckPathway returns a validation error for pathway_id if there is no such
// pathway. An empty id is valid.
func CheckPathway(ctx context.Context, store commit.Store, p domain.Principal, id string) error {
	return checkReference[domain.Pathway](ctx, store, p, domain.PrefixPathway, "pathway", id)
}

// ScriptNotFound returns the validation error for an order whose agent or pathway
// does not exist.
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

// RefuseTestNumber adds a problem if a number of the test environment stands where
// a real one is required.
func RefuseTestNumber(problems *domain.Problems, param, number string) {
	if domain.IsMagic(number) {
		problems.Add(param, domain.CodeCallerIDNotAllowed, "%s is a number of the test environment, which no trunk shows", number)
	}
}
