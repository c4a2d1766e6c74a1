package administration

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/cmd/callboard/backup"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/billing"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/service/restorequarantine"
)

// api implements Administration through the HTTP API of a service, with the permissions of an API key.
type api struct{ client *client.Client }

// NewAPI returns an Administration that uses the HTTP API of a service, with the permissions of the client's API key.
func NewAPI(c *client.Client) Administration { return api{c} }

// errNotInAPI is returned for operations that the API does not offer.
var errNotInAPI = errors.New("this works only on the machine with the data folder: run the command there without --url and --profile")

// convertReply converts an API reply to the type Out by encoding it as JSON. It returns failed if that is not nil.
func convertReply[Out any](in any, failed error) (out Out, err error) {
	if failed != nil {
		return out, failed
	}
	text, err := json.Marshal(in)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	return out, err
}

func (a api) CreateKey(ctx context.Context, k NewKey) (CreatedKey, error) {
	if k.Operator || k.Workspace != "" {
		return CreatedKey{}, errors.New("--operator and --workspace: a key that another key creates belongs to its workspace and is not an operator key; " + errNotInAPI.Error())
	}
	n := &client.NewKey{Name: k.Name, AllowedIPs: k.AllowedIPs, ExpiresAt: k.ExpiresAt, Environment: new(string(k.Environment))}
	for _, p := range k.Permissions {
		n.Permissions = append(n.Permissions, string(p))
	}
	created, err := a.client.CreateKey(ctx, n)
	return convertReply[CreatedKey](created, err)
}

func (a api) ListKeys(ctx context.Context, workspace string) (out []*domain.APIKey, _ error) {
	for k, failed := range a.client.AllKeys(ctx, client.ListKeysQuery{}) {
		one, err := convertReply[*domain.APIKey](k, failed)
		if err != nil {
			return nil, err
		}
		if workspace == "" || one.WorkspaceID == workspace {
			out = append(out, one)
		}
	}
	return out, nil
}

func (a api) RevokeKey(ctx context.Context, o KeyRevocation) (RevokedKey, error) {
	created, err := a.client.RevokeKey(ctx, o.ID, client.RevokeKeyQuery{Cascade: o.Cascade})
	done, err := convertReply[RevokedKey](created, err)
	done.Revoked = err == nil
	return done, err
}

func (a api) Recount(context.Context, RecountRequest) ([]billing.LedgerCheck, error) {
	return nil, errNotInAPI
}

func (a api) Backup(context.Context, BackupRequest) (backup.Manifest, error) {
	return backup.Manifest{}, errNotInAPI
}

func (a api) Quarantine(ctx context.Context) (*restorequarantine.Quarantine, error) {
	q, err := a.client.GetQuarantine(ctx)
	return convertReply[*restorequarantine.Quarantine](q, err)
}

func (a api) ReleaseQuarantine(ctx context.Context) (*restorequarantine.Quarantine, error) {
	q, err := a.client.ReleaseQuarantine(ctx)
	return convertReply[*restorequarantine.Quarantine](q, err)
}

func (a api) StoreRequirement(context.Context) (persistence.Requirement, error) {
	return persistence.Requirement{}, errNotInAPI
}

func (a api) CreateWorkspace(ctx context.Context, n NewWorkspace) (CreatedWorkspace, error) {
	created, err := a.client.CreateWorkspace(ctx, &client.NewWorkspace{
		Name: n.Name, Plan: &n.Plan, DefaultCountry: &n.Country, Calling: &client.NewDestinationRules{Countries: []string{n.Country}},
	})
	return convertReply[CreatedWorkspace](created, err)
}

func (a api) ListWorkspaces(ctx context.Context) (out []*domain.Workspace, _ error) {
	for w, failed := range a.client.AllWorkspaces(ctx, client.ListWorkspacesQuery{}) {
		one, err := convertReply[*domain.Workspace](w, failed)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

func (a api) DeleteWorkspace(ctx context.Context, id string) error {
	_, err := a.client.DeleteWorkspace(ctx, id)
	return err
}

func (a api) CreateUser(ctx context.Context, n NewUser) (*domain.User, error) {
	if n.Workspace != "" {
		return nil, errors.New("--workspace: a user that a key creates belongs to the workspace of the key")
	}
	if n.Environment == domain.Test {
		return nil, errors.New("--environment: a user that a key creates sees the environment of the key; use a test key")
	}
	created, err := a.client.CreateUser(ctx, &client.NewUser{Name: n.Name, Role: n.Role, Operator: &n.Operator})
	return convertReply[*domain.User](created, err)
}

func (a api) ListUsers(ctx context.Context, workspace string) (out []*domain.User, _ error) {
	for u, failed := range a.client.AllUsers(ctx, client.ListUsersQuery{}) {
		one, err := convertReply[*domain.User](u, failed)
		if err != nil {
			return nil, err
		}
		if workspace == "" || one.WorkspaceID == workspace {
			out = append(out, one)
		}
	}
	return out, nil
}

func (a api) CreateSignInLink(ctx context.Context, userID string) (SignInLink, error) {
	l, err := a.client.CreateSignInLink(ctx, userID)
	return convertReply[SignInLink](l, err)
}
