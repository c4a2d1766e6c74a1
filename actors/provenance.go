package actors

import (
	"context"
	"slices"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// dependent is a resource that carries rights, and the credentials that created it.
type dependent struct {
	ask.ResourceRef

	environment domain.Environment
	creators    []string // ids of keys, users and OAuth clients
}

// creatorsOf are the ids of the credential that created a resource and of the
// API key whose sign-in link opened the session of that user.
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

// creatorsOfKey are the ids of the credentials that a key depends on: its parent,
// and the user who created it. A key that an operator has adopted depends on none.
func creatorsOfKey(k *domain.APIKey) []string {
	if k.ParentID == "" && k.CreatedBy.KeyID() != "" { // adopted
		return nil
	}
	ids := creatorsOf(k.CreatedBy)
	if k.ParentID != "" && !slices.Contains(ids, k.ParentID) {
		ids = append(ids, k.ParentID)
	}
	return ids
}

// resourcesWithRights are those of a workspace that name their creator.
func (d *Desk) resourcesWithRights(ctx context.Context, workspace string) (all []dependent, err error) {
	note := func(m *domain.Meta, creators []string) {
		if len(creators) > 0 {
			all = append(all, dependent{ask.ResourceRef{ID: m.ID, Object: m.Object}, m.Environment, creators})
		}
	}
	created := func(m *domain.Meta, p *domain.Provenance) { note(m, creatorsOf(p.CreatedBy)) }
	for _, env := range []domain.Environment{domain.Live, domain.Test} {
		index := "env=" + string(env)
		for _, read := range []func() error{
			func() error {
				return commit.Each(ctx, d.store, "api_key", workspace, index, func(k *domain.APIKey) { note(&k.Meta, creatorsOfKey(k)) })
			},
			func() error {
				return commit.Each(ctx, d.store, "oauth_client", workspace, index, func(c *domain.OAuthClient) { created(&c.Meta, &c.Provenance) })
			},
			func() error {
				return commit.Each(ctx, d.store, "user", workspace, index, func(u *domain.User) { created(&u.Meta, &u.Provenance) })
			},
			func() error {
				return commit.Each(ctx, d.store, "webhook", workspace, index, func(w *domain.Webhook) { created(&w.Meta, &w.Provenance) })
			},
			func() error {
				return commit.Each(ctx, d.store, "phone", workspace, index, func(x *domain.Phone) { created(&x.Meta, &x.Provenance) })
			},
			func() error {
				return commit.Each(ctx, d.store, "trunk", workspace, index, func(t *domain.Trunk) { created(&t.Meta, &t.Provenance) })
			},
			func() error {
				return commit.Each(ctx, d.store, "sms_gateway", workspace, index, func(g *domain.SMSGateway) { created(&g.Meta, &g.Provenance) })
			},
			func() error {
				return commit.Each(ctx, d.store, "tool", workspace, index, func(t *domain.Tool) { created(&t.Meta, &t.Provenance) })
			},
		} {
			if err = read(); err != nil {
				return nil, record.StoreError(err)
			}
		}
	}
	return all, nil
}

// dependentsOf are the resources that a credential created, directly or through
// other credentials that it created. Each stands behind one of its creators.
func (d *Desk) dependentsOf(ctx context.Context, workspace, credential string) (found []dependent, err error) {
	all, err := d.resourcesWithRights(ctx, workspace)
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

// RevokeKey revokes a key. From its return on the key, its child keys, and their
// tokens, sign-in links and sessions are refused. The key may have been revoked
// before or have expired.
func (d *Desk) RevokeKey(ctx context.Context, p domain.Principal, act ask.Act, id string, o ask.RevokeKeyRequest) (ask.RevokeKeyResult, error) {
	k, err := d.ownKey(p, id)
	if err != nil {
		return ask.RevokeKeyResult{}, err
	}
	return d.revokeKey(ctx, Author{p, act}, k, o)
}

func (d *Desk) revokeKey(ctx context.Context, by Author, k *domain.APIKey, o ask.RevokeKeyRequest) (done ask.RevokeKeyResult, err error) {
	if err = d.keys.Revoke(ctx, by, k.WorkspaceID, k.ID); err != nil {
		return done, err
	}
	all, err := d.dependentsOf(ctx, k.WorkspaceID, k.ID)
	if err != nil {
		return done, err
	}
	done.Remaining, done.Ended = []ask.ResourceRef{}, []ask.ResourceRef{}
	for _, x := range slices.Backward(all) { // creators last: after a crash, what they created can still be found through them
		if key := d.keys.known(x.ID); key != nil && d.keys.isInvalid(key, time.Now()) {
			continue
		}
		ended := false
		if o.Cascade {
			if ended, err = d.revokeDependent(ctx, by, k.WorkspaceID, x, o.MayEnd); err != nil {
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

// revokeDependent revokes or deletes a resource and adds a row to the audit log.
// ended is false for users whom the caller may not delete, and for trunks, SMS
// gateways and tools: calls may need them.
func (d *Desk) revokeDependent(ctx context.Context, by Author, workspace string, x dependent, may func(*domain.User) error) (ended bool, err error) {
	p := domain.Principal{WorkspaceID: workspace, Environment: x.environment}
	ctx = commit.WithRider(ctx, commit.NewRider(*by.says(workspace, x.environment, "admin", x.Object+".deleted", domain.Resource{Type: x.Object, ID: x.ID})))
	switch x.Object {
	case "api_key":
		err = d.keys.Revoke(commit.Alone(ctx), by, workspace, x.ID)
	case "oauth_client":
		err = d.DeleteClient(ctx, p, x.ID)
	case "webhook":
		err = d.DeleteWebhook(ctx, p, x.ID)
	case "phone":
		err = d.DeletePhone(ctx, p, x.ID)
	case "user":
		var refused error
		err = d.DeleteUser(ctx, p, x.ID, func(u *domain.User) error {
			if may != nil {
				refused = may(u)
			}
			return refused
		})
		if refused != nil {
			return false, nil //nolint:nilerr // the caller may not delete the user, who remains
		}
	default:
		return false, nil
	}
	if domain.CodeOf(err) == domain.CodeNotFound { // deleted meanwhile
		err = nil
	}
	return err == nil, err
}

// creatorKeyInvalid says whether the API key that created a sign-in link was
// revoked or has expired. The link, its session and the consents that the user
// gave in that session end with the key. Errors: unavailable while the keys are
// being read.
func (d *Desk) creatorKeyInvalid(c *domain.Creator) (bool, error) {
	id := c.KeyID()
	if id == "" {
		return false, nil
	}
	key := d.keys.known(id)
	if key == nil && d.keys.reading.Load() {
		return false, domain.Errorf(domain.CodeUnavailable, "the keys are being read; try again").With("retry_after", 1)
	}
	return key == nil || d.keys.isInvalid(key, time.Now()), nil
}
