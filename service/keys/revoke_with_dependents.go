package keys

import (
	"context"
	"slices"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// RevokeRequest are the options for revoking a key.
type RevokeRequest struct {
	Cascade bool                     // also delete the resources that the key created
	MayEnd  func(*domain.User) error // returns an error for a user whom the caller may not delete; nil: the caller may delete all users
}

// RevokeResult lists the resources that a revoked key created, directly or through other credentials.
type RevokeResult struct {
	Remaining []domain.ResourceRef // still valid
	Ended     []domain.ResourceRef // deleted because of Cascade
}

// dependent is a resource with permissions of its own, and the ids of the credentials that created it.
type dependent struct {
	domain.ResourceRef

	environment domain.Environment
	creators    []string // ids of keys, users and OAuth clients
}

// creatorsOf returns the id of the credential that created a resource. If that credential is a user whose session was
// opened by a sign-in link of an API key, it also returns the id of the key.
func creatorsOf(c *domain.Creator) (ids []string) {
	if c == nil { // a version without created_by created the resource
		return nil
	}
	for _, id := range []string{c.ID, c.SignInKeyID} {
		if id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

// creatorsOfKey returns the ids of the credentials on which a key depends: its parent key and the user who created
// it. A key that an operator has detached from its parent depends on no credential.
func creatorsOfKey(k *domain.APIKey) []string {
	if k.ParentID == "" && k.CreatedBy.KeyID() != "" { // an operator has detached the key from its parent
		return nil
	}
	ids := creatorsOf(k.CreatedBy)
	if k.ParentID != "" && !slices.Contains(ids, k.ParentID) {
		ids = append(ids, k.ParentID)
	}
	return ids
}

// resourcesWithRights returns the resources of a workspace that have permissions of their own and record their creator.
func (s *Service) resourcesWithRights(ctx context.Context, workspace string) (all []dependent, err error) {
	note := func(m *domain.Meta, creators []string) {
		if len(creators) > 0 {
			all = append(all, dependent{domain.ResourceRef{ID: m.ID, Object: m.Object}, m.Environment, creators})
		}
	}
	created := func(m *domain.Meta, p *domain.Provenance) { note(m, creatorsOf(p.CreatedBy)) }
	for _, env := range []domain.Environment{domain.Live, domain.Test} {
		index := "env=" + string(env)
		for _, read := range []func() error{
			func() error {
				return commit.ForEachRow(ctx, s.store, "api_key", workspace, index, func(k *domain.APIKey) { note(&k.Meta, creatorsOfKey(k)) })
			},
			func() error {
				return commit.ForEachRow(ctx, s.store, "oauth_client", workspace, index, func(c *domain.OAuthClient) { created(&c.Meta, &c.Provenance) })
			},
			func() error {
				return commit.ForEachRow(ctx, s.store, "user", workspace, index, func(u *domain.User) { created(&u.Meta, &u.Provenance) })
			},
			func() error {
				return commit.ForEachRow(ctx, s.store, "webhook", workspace, index, func(w *domain.Webhook) { created(&w.Meta, &w.Provenance) })
			},
			func() error {
				return commit.ForEachRow(ctx, s.store, "phone", workspace, index, func(x *domain.Phone) { created(&x.Meta, &x.Provenance) })
			},
			func() error {
				return commit.ForEachRow(ctx, s.store, "trunk", workspace, index, func(t *domain.Trunk) { created(&t.Meta, &t.Provenance) })
			},
			func() error {
				return commit.ForEachRow(ctx, s.store, "sms_gateway", workspace, index, func(g *domain.SMSGateway) { created(&g.Meta, &g.Provenance) })
			},
			func() error {
				return commit.ForEachRow(ctx, s.store, "tool", workspace, index, func(t *domain.Tool) { created(&t.Meta, &t.Provenance) })
			},
		} {
			if err = read(); err != nil {
				return nil, commit.StoreError(err)
			}
		}
	}
	return all, nil
}

// dependentsOf returns the resources that a credential created, directly or through other credentials. In the result,
// each credential comes before the resources that it created.
func (s *Service) dependentsOf(ctx context.Context, workspace, credential string) (found []dependent, err error) {
	all, err := s.resourcesWithRights(ctx, workspace)
	if err != nil {
		return nil, err
	}
	by := make(map[string][]dependent)
	for _, x := range all {
		for _, creator := range x.creators {
			by[creator] = append(by[creator], x)
		}
	}
	seen := map[string]bool{credential: true}
	for queue := []string{credential}; len(queue) > 0; queue = queue[1:] {
		for _, x := range by[queue[0]] {
			if !seen[x.ID] {
				seen[x.ID] = true
				found, queue = append(found, x), append(queue, x.ID)
			}
		}
	}
	return found, nil
}

// RevokeKey revokes a key. When RevokeKey returns, the key, its child keys, and their tokens, sign-in links and
// sessions are invalid. RevokeKey also accepts a key that is already revoked or expired.
func (s *Service) RevokeKey(ctx context.Context, p domain.Principal, action record.AuditAction, id string, o RevokeRequest) (RevokeResult, error) {
	k, err := s.ownKey(p, id)
	if err != nil {
		return RevokeResult{}, err
	}
	return s.revokeKey(ctx, record.Author{Principal: p, Action: action}, k, o)
}

// RevokeAnyKey revokes a key of any workspace. It is for the command line on the machine itself, not for the API. If
// cascade is set, it also deletes the resources that the key created. Errors: not_found.
func (s *Service) RevokeAnyKey(ctx context.Context, id string, cascade bool) (RevokeResult, error) {
	key := s.keyring.Key(id)
	if key == nil {
		return RevokeResult{}, domain.NotFound("API key")
	}
	return s.revokeKey(ctx, record.Author{}, key, RevokeRequest{Cascade: cascade})
}

func (s *Service) revokeKey(ctx context.Context, by record.Author, k *domain.APIKey, o RevokeRequest) (done RevokeResult, err error) {
	if err = s.keyring.Revoke(ctx, by, k.WorkspaceID, k.ID); err != nil {
		return done, err
	}
	all, err := s.dependentsOf(ctx, k.WorkspaceID, k.ID)
	if err != nil {
		return done, err
	}
	done.Remaining, done.Ended = []domain.ResourceRef{}, []domain.ResourceRef{}
	for _, x := range slices.Backward(all) { // creators last: after a crash, what they created can still be found through them
		if key := s.keyring.Key(x.ID); key != nil && s.keyring.IsInvalid(key, time.Now()) {
			continue
		}
		ended := false
		if o.Cascade {
			if ended, err = s.revokeDependent(ctx, by, k.WorkspaceID, x, o.MayEnd); err != nil {
				return done, err
			}
		}
		if ended {
			done.Ended = append(done.Ended, x.ResourceRef)
		} else {
			done.Remaining = append(done.Remaining, x.ResourceRef)
		}
	}
	slices.Reverse(done.Remaining)
	slices.Reverse(done.Ended)
	return done, nil
}

// revokeDependent revokes or deletes a resource and adds an entry to the audit log. It keeps users whom the caller
// may not delete. It also keeps trunks, SMS gateways and tools, because calls may need them. ended is false if it keeps
// the resource.
func (s *Service) revokeDependent(ctx context.Context, by record.Author, workspace string, x dependent, may func(*domain.User) error) (ended bool, err error) {
	p := domain.Principal{WorkspaceID: workspace, Environment: x.environment}
	ctx = commit.WithAudit(ctx, commit.NewPendingAudit(*by.AuditEntry(workspace, x.environment, "admin", x.Object+".deleted", domain.Resource{Type: x.Object, ID: x.ID})))
	switch x.Object {
	case "api_key":
		err = s.keyring.Revoke(commit.WithoutAudit(ctx), by, workspace, x.ID)
	case "user":
		var refused error
		err = s.deleteUser(ctx, p, x.ID, func(u *domain.User) error {
			if may != nil {
				refused = may(u)
			}
			return refused
		})
		if refused != nil {
			return false, nil //nolint:nilerr // the caller may not delete the user, who remains
		}
	default:
		remove := s.deleters[x.Object]
		if remove == nil {
			return false, nil
		}
		err = remove(ctx, p, x.ID)
	}
	if domain.CodeOf(err) == domain.CodeNotFound { // the resource was deleted since
		err = nil
	}
	return err == nil, err
}
