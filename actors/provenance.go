package actors

import (
	"context"
	"slices"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/domain/commit"
)

// dependent is a resource that carries rights, and the credential that created it.
type dependent struct {
	ask.ResourceRef

	environment domain.Environment
	creator     string // its id
}

// creatorOfKey is the credential that a key hangs on: its parent, else the user
// or the client that created it. A key that an operator has adopted hangs on none.
func creatorOfKey(k *domain.APIKey) string {
	if k.ParentID == "" && k.CreatedBy.KeyID() == "" && k.CreatedBy != nil {
		return k.CreatedBy.ID
	}
	return k.ParentID
}

// resourcesWithRights are those of a workspace that name their creator.
func (d *Desk) resourcesWithRights(ctx context.Context, workspace string) (all []dependent, err error) {
	note := func(m *domain.Meta, creator string) {
		if creator != "" {
			all = append(all, dependent{ask.ResourceRef{ID: m.ID, Object: m.Object}, m.Environment, creator})
		}
	}
	created := func(m *domain.Meta, p *domain.Provenance) {
		if p.CreatedBy != nil {
			note(m, p.CreatedBy.ID)
		}
	}
	for _, env := range []domain.Environment{domain.Live, domain.Test} {
		index := "env=" + string(env)
		for _, read := range []func() error{
			func() error {
				return every(ctx, d.store, "api_key", workspace, index, func(k *domain.APIKey) { note(&k.Meta, creatorOfKey(k)) })
			},
			func() error {
				return every(ctx, d.store, "oauth_client", workspace, index, func(c *domain.OAuthClient) { created(&c.Meta, &c.Provenance) })
			},
			func() error {
				return every(ctx, d.store, "user", workspace, index, func(u *domain.User) { created(&u.Meta, &u.Provenance) })
			},
			func() error {
				return every(ctx, d.store, "webhook", workspace, index, func(w *domain.Webhook) { created(&w.Meta, &w.Provenance) })
			},
			func() error {
				return every(ctx, d.store, "phone", workspace, index, func(x *domain.Phone) { created(&x.Meta, &x.Provenance) })
			},
			func() error {
				return every(ctx, d.store, "trunk", workspace, index, func(t *domain.Trunk) { created(&t.Meta, &t.Provenance) })
			},
			func() error {
				return every(ctx, d.store, "sms_gateway", workspace, index, func(g *domain.SMSGateway) { created(&g.Meta, &g.Provenance) })
			},
			func() error {
				return every(ctx, d.store, "tool", workspace, index, func(t *domain.Tool) { created(&t.Meta, &t.Provenance) })
			},
		} {
			if err = read(); err != nil {
				return nil, storeErr(err)
			}
		}
	}
	return all, nil
}

// dependentsOf are the resources that a credential created, directly or through
// other credentials that it created; each stands behind its creator.
func (d *Desk) dependentsOf(ctx context.Context, workspace, credential string) (found []dependent, err error) {
	all, err := d.resourcesWithRights(ctx, workspace)
	if err != nil {
		return nil, err
	}
	by := make(map[string][]dependent)
	for _, x := range all {
		by[x.creator] = append(by[x.creator], x)
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

// RevokeKey refuses a key, its child keys and all that hangs on them from its
// return on. It also works on a key that was revoked before or has expired.
func (d *Desk) RevokeKey(ctx context.Context, p domain.Principal, act ask.Act, id string, o ask.KeyRevocation) (ask.RevokedKey, error) {
	k, err := d.ownKey(p, id)
	if err != nil {
		return ask.RevokedKey{}, err
	}
	return d.revokeKey(ctx, Author{p, act}, k, o)
}

func (d *Desk) revokeKey(ctx context.Context, by Author, k *domain.APIKey, o ask.KeyRevocation) (done ask.RevokedKey, err error) {
	if err = d.keys.Revoke(ctx, by, k.WorkspaceID, k.ID); err != nil {
		return done, err
	}
	all, err := d.dependentsOf(ctx, k.WorkspaceID, k.ID)
	if err != nil {
		return done, err
	}
	done.Remaining, done.Ended = []ask.ResourceRef{}, []ask.ResourceRef{}
	for _, x := range slices.Backward(all) { // a creator goes last: after a crash the way to what it created is still there
		if key := d.keys.known(x.ID); key != nil && d.keys.ended(key, time.Now()) {
			continue
		}
		ended := false
		if o.Cascade {
			if ended, err = d.endDependent(ctx, by, k.WorkspaceID, x, o.MayEnd); err != nil {
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

// endDependent revokes or deletes a resource, with its row in the audit log.
// ended is false for what the caller may not delete, and for trunks, gateways
// and tools: calls may need them.
func (d *Desk) endDependent(ctx context.Context, by Author, workspace string, x dependent, may func(*domain.User) error) (ended bool, err error) {
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
			return false, nil //nolint:nilerr // whoever asks may not end it: it remains
		}
	default:
		return false, nil
	}
	if domain.CodeOf(err) == domain.CodeNotFound { // somebody else was faster
		err = nil
	}
	return err == nil, err
}

// keyBehindEnded says whether the API key behind a sign-in link, a session or a
// consent was revoked or has expired: what it let in ends with it.
func (d *Desk) keyBehindEnded(c *domain.Creator) (bool, error) {
	id := c.KeyID()
	if id == "" {
		return false, nil
	}
	key := d.keys.known(id)
	if key == nil && d.keys.reading.Load() {
		return false, domain.Errorf(domain.CodeUnavailable, "the keys are being read; try again").With("retry_after", 1)
	}
	return key == nil || d.keys.ended(key, time.Now()), nil
}
