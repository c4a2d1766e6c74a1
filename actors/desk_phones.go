package actors

import (
	"context"
	"crypto/rand"
	"errors"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/registrar"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// phonesPerWorkspace bounds what has to stand in memory.
const phonesPerWorkspace = 10_000

// CreatePhone keeps a new phone; it may register from the answer on.
func (d *Desk) CreatePhone(ctx context.Context, p domain.Principal, x *domain.Phone) (*domain.Phone, error) {
	if made, err := record.CreatedBySameRequest[domain.Phone](ctx, d.store, p, domain.PrefixPhone); made != nil || err != nil {
		return made, err
	}
	if d.node.phones.Count(p.WorkspaceID) >= phonesPerWorkspace {
		return nil, domain.Errorf(domain.CodeInvalidState, "a workspace has %d phones at most", phonesPerWorkspace)
	}
	record.SetMeta(&x.Meta, "phone", p, record.NewID(ctx, domain.PrefixPhone), record.Now())
	x.CreatedBy = p.Creator()
	if x.Password == "" {
		x.Password = rand.Text()
	}
	name, ext := usernameClaim(x), record.ExtensionClaim(&x.Meta, x.Extension)
	err := record.Create(ctx, d.store, x, func(c *commit.Change) { record.PutNew(c, name, ext) })
	if errors.Is(err, domain.ErrConflict) {
		if busy := d.checkNames(ctx, p, x); busy != nil {
			return nil, busy
		}
	}
	if err != nil {
		return nil, err
	}
	return x, d.node.ReloadPhones(ctx, p.WorkspaceID)
}

func usernameClaim(x *domain.Phone) *domain.UsernameClaim {
	return &domain.UsernameClaim{Username: x.Username, WorkspaceID: x.WorkspaceID, PhoneID: x.ID}
}

// checkNames returns already_exists if the extension or the user name belongs to
// somebody else.
func (d *Desk) checkNames(ctx context.Context, p domain.Principal, x *domain.Phone) error {
	if err := record.CheckExtension(ctx, d.store, p, x.ID, x.Extension); err != nil {
		return err
	}
	name := &domain.UsernameClaim{Username: x.Username}
	if _, err := d.store.Get(ctx, name); err == nil && name.PhoneID != x.ID {
		return &domain.Error{Code: domain.CodeAlreadyExists, Param: "username", Message: "this user name is taken; choose another one"}
	}
	return nil
}

// Phone reads one phone, with where it is registered.
func (d *Desk) Phone(ctx context.Context, p domain.Principal, id string) (*domain.Phone, error) {
	x, _, err := record.Get[domain.Phone](ctx, d.store, p, domain.PrefixPhone, id)
	if err != nil {
		return nil, err
	}
	return x, d.registered(ctx, p, x)
}

// ListPhones reads a page.
func (d *Desk) ListPhones(ctx context.Context, p domain.Principal, q ask.Page) (ask.List[*domain.Phone], error) {
	l, err := record.List[domain.Phone](ctx, d.store, p.WorkspaceID, record.EnvironmentIndex(p), domain.PrefixPhone, q, nil)
	if err != nil {
		return l, err
	}
	return l, d.registered(ctx, p, l.Data...)
}

// registered fills in where phones are registered.
func (d *Desk) registered(ctx context.Context, p domain.Principal, list ...*domain.Phone) error {
	if len(list) == 0 {
		return nil
	}
	t, err := d.node.workspaceActors(p.WorkspaceID)
	if err != nil {
		return err
	}
	now, err := mailbox.Ask[registrar.Listed](ctx, d.node.sys, t.phones, registrar.List{})
	if err != nil {
		return err
	}
	for _, x := range list {
		x.Contacts, x.Status = now.Contacts[x.ID], domain.PhoneUnregistered
		if len(x.Contacts) > 0 {
			x.Status = domain.PhoneRegistered
		}
	}
	return nil
}

// UpdatePhone changes a phone. Another password or user name ends its
// registrations. A password that the change removes is made anew.
func (d *Desk) UpdatePhone(ctx context.Context, p domain.Principal, id string, change func(*domain.Phone) error) (*domain.Phone, error) {
	for range record.MaxTries {
		x, version, err := record.Get[domain.Phone](ctx, d.store, p, domain.PrefixPhone, id)
		if err != nil {
			return nil, err
		}
		before := *x
		if err = change(x); err != nil {
			return nil, err
		}
		if x.Password == "" {
			x.Password = rand.Text()
		}
		x.UpdatedAt = record.Now()
		c := commit.Change{Workspace: x.WorkspaceID, Guards: []commit.Guard{{Key: x.Key(), Version: version}}, Puts: []domain.Record{x}}
		if x.Username != before.Username {
			record.PutNew(&c, usernameClaim(x))
			c.Deletes = append(c.Deletes, usernameClaim(&before).Key())
		}
		record.MoveExtension(&c, &x.Meta, before.Extension, x.Extension)
		_, err = d.store.Apply(ctx, c)
		if errors.Is(err, domain.ErrConflict) {
			if err = d.checkNames(ctx, p, x); err != nil {
				return nil, err
			}
			continue
		}
		if err != nil {
			return nil, record.StoreError(err)
		}
		if err = d.node.ReloadPhones(ctx, p.WorkspaceID); err != nil {
			return nil, err
		}
		return x, d.registered(ctx, p, x)
	}
	return nil, record.Busy()
}

// DeletePhone removes a phone and its registrations.
func (d *Desk) DeletePhone(ctx context.Context, p domain.Principal, id string) error {
	err := record.Delete(ctx, d.store, p, domain.PrefixPhone, id, func(c *commit.Change, x *domain.Phone) error {
		held := &domain.Registrations{PhoneID: x.ID, WorkspaceID: x.WorkspaceID}
		c.Deletes = append(c.Deletes, usernameClaim(x).Key(), record.ExtensionClaim(&x.Meta, x.Extension).Key(), held.Key())
		return nil
	})
	if err != nil || d.node == nil { // no service runs on the store
		return err
	}
	return d.node.ReloadPhones(ctx, p.WorkspaceID)
}

// ring finds the phone that an order names; ok is false for telephone numbers.
func (d *Desk) ring(ctx context.Context, p domain.Principal, to string) (found registrar.Found, ok bool, err error) {
	if _, ok = domain.PhoneUser(to); !ok {
		return found, false, nil
	}
	t, err := d.node.workspaceActors(p.WorkspaceID)
	if err != nil {
		return found, true, err
	}
	found, err = mailbox.Ask[registrar.Found](ctx, d.node.sys, t.phones, registrar.Find{To: to, Environment: p.Environment})
	switch {
	case domain.CodeOf(err) == domain.CodeNotFound:
		return found, true, record.FieldError("to", domain.CodeValidation, "there is no such phone, and short numbers are never called")
	case err != nil:
		return found, true, err
	case p.Environment == domain.Test:
		return found, true, &domain.Error{Code: domain.CodeInvalidState, Param: "to", Message: "phones of the test environment are never called: a test key reaches the built-in carrier only"}
	case len(found.Contacts) == 0:
		return found, true, &domain.Error{Code: domain.CodeInvalidState, Param: "to", Message: "the phone is not registered now"}
	}
	return found, true, nil
}
