package main

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/persistence"
)

// remoteDesk asks a service by its API, with the rights of a key.
type remoteDesk struct{ c *client.Client }

// errLocal: the API has no such thing.
var errLocal = errors.New("this works only where the data folder lies: leave --url and --profile out there")

// as reads what the API answers as the noun that it is.
func as[Out any](in any, failed error) (out Out, err error) {
	if failed != nil {
		return out, failed
	}
	text, err := json.Marshal(in)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	return out, err
}

func (r remoteDesk) create(ctx context.Context, k newKey) (madeKey, error) {
	if k.Operator || k.Workspace != "" {
		return madeKey{}, errors.New("--operator and --workspace: keys that are made by a key belong to its workspace and are no operator's; " + errLocal.Error())
	}
	n := &client.NewKey{Name: k.Name, AllowedIPs: k.AllowedIPs, ExpiresAt: k.ExpiresAt, Environment: new(string(k.Environment))}
	for _, p := range k.Permissions {
		n.Permissions = append(n.Permissions, string(p))
	}
	made, err := r.c.CreateKey(ctx, n)
	return as[madeKey](made, err)
}

func (r remoteDesk) list(ctx context.Context, workspace string) (out []*domain.APIKey, _ error) {
	for k, failed := range r.c.AllKeys(ctx, client.ListKeysQuery{}) {
		one, err := as[*domain.APIKey](k, failed)
		if err != nil {
			return nil, err
		}
		if workspace == "" || one.WorkspaceID == workspace {
			out = append(out, one)
		}
	}
	return out, nil
}

func (r remoteDesk) revoke(ctx context.Context, o revokeKeyRequest) (revokeKeyResult, error) {
	made, err := r.c.RevokeKey(ctx, o.ID, client.RevokeKeyQuery{Cascade: o.Cascade})
	done, err := as[revokeKeyResult](made, err)
	done.Revoked = err == nil
	return done, err
}

func (r remoteDesk) recount(context.Context, recountOrder) ([]ask.Recount, error) {
	return nil, errLocal
}

func (r remoteDesk) backup(context.Context, backupOrder) (backedUp, error) {
	return backedUp{}, errLocal
}

func (r remoteDesk) quarantine(ctx context.Context) (*ask.Quarantine, error) {
	q, err := r.c.GetQuarantine(ctx)
	return as[*ask.Quarantine](q, err)
}

func (r remoteDesk) release(ctx context.Context) (*ask.Quarantine, error) {
	q, err := r.c.ReleaseQuarantine(ctx)
	return as[*ask.Quarantine](q, err)
}

func (r remoteDesk) requirement(context.Context) (persistence.Requirement, error) {
	return persistence.Requirement{}, errLocal
}

func (r remoteDesk) createTenant(ctx context.Context, n newTenant) (madeTenant, error) {
	made, err := r.c.CreateWorkspace(ctx, &client.NewWorkspace{
		Name: n.Name, Plan: &n.Plan, DefaultCountry: &n.Country, Calling: &client.NewDestinationRules{Countries: []string{n.Country}},
	})
	return as[madeTenant](made, err)
}

func (r remoteDesk) tenants(ctx context.Context) (out []*domain.Workspace, _ error) {
	for w, failed := range r.c.AllWorkspaces(ctx, client.ListWorkspacesQuery{}) {
		one, err := as[*domain.Workspace](w, failed)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

func (r remoteDesk) deleteTenant(ctx context.Context, id string) error {
	_, err := r.c.DeleteWorkspace(ctx, id)
	return err
}

func (r remoteDesk) createPerson(ctx context.Context, n newPerson) (*domain.User, error) {
	if n.Workspace != "" {
		return nil, errors.New("--workspace: users that are made by a key belong to its workspace")
	}
	if n.Environment == domain.Test {
		return nil, errors.New("--environment: users that are made by a key see its environment; use a test key")
	}
	made, err := r.c.CreateUser(ctx, &client.NewUser{Name: n.Name, Role: n.Role, Operator: &n.Operator})
	return as[*domain.User](made, err)
}

func (r remoteDesk) people(ctx context.Context, workspace string) (out []*domain.User, _ error) {
	for u, failed := range r.c.AllUsers(ctx, client.ListUsersQuery{}) {
		one, err := as[*domain.User](u, failed)
		if err != nil {
			return nil, err
		}
		if workspace == "" || one.WorkspaceID == workspace {
			out = append(out, one)
		}
	}
	return out, nil
}

func (r remoteDesk) linkOf(ctx context.Context, userID string) (link, error) {
	l, err := r.c.CreateSignInLink(ctx, userID)
	return as[link](l, err)
}
