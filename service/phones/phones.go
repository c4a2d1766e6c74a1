// Package phones is the service for the phones that register with this service over SIP.
package phones

import (
	"context"
	"crypto/rand"
	"errors"

	"github.com/callboard/callboard/actors/registrar"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// phonesPerWorkspace is the maximum number of phones of a workspace. The number is limited because the registrar holds
// all phones in memory.
const phonesPerWorkspace = 10_000

// registrarActors gives access to the registrar actors of workspaces.
type registrarActors interface {
	// ReloadPhones makes the registrar of a workspace use the stored phones.
	ReloadPhones(ctx context.Context, workspaceID string) error
	// ListContacts returns the registered SIP contacts of all phones.
	ListContacts(ctx context.Context, workspaceID string) (registrar.ContactList, error)
	// FindPhone returns a phone by its extension or user name. Errors: not_found.
	FindPhone(ctx context.Context, workspaceID string, f registrar.FindPhone) (registrar.PhoneFound, error)
}

// Config holds the dependencies of a Service. If no registrar is running, the service can only delete phones.
type Config struct {
	Store     commit.Store
	Count     func(workspaceID string) int // number of phones of a workspace
	Registrar registrarActors
}

// Service creates, changes and deletes phones.
type Service struct {
	store     commit.Store
	count     func(workspaceID string) int
	registrar registrarActors
}

// New returns a Service.
func New(cfg Config) *Service {
	return &Service{store: cfg.Store, count: cfg.Count, registrar: cfg.Registrar}
}

// CreatePhone creates a phone. A phone without a password gets a random one. Errors: already_exists, invalid_state.
func (s *Service) CreatePhone(ctx context.Context, p domain.Principal, x *domain.Phone) (*domain.Phone, error) {
	if created, err := record.CreatedBySameRequest[domain.Phone](ctx, s.store, p, domain.PrefixPhone); created != nil || err != nil {
		return created, err
	}
	if s.count(p.WorkspaceID) >= phonesPerWorkspace {
		return nil, domain.Errorf(domain.CodeInvalidState, "the workspace has %d phones, which is the maximum; delete one first", phonesPerWorkspace)
	}
	x.Init("phone", p, record.RequestResourceID(ctx, domain.PrefixPhone), record.Now())
	x.CreatedBy = p.Creator()
	if x.Password == "" {
		x.Password = rand.Text()
	}
	name, ext := x.UsernameClaim(), record.ExtensionClaim(&x.Meta, x.Extension)
	err := record.Create(ctx, s.store, x, func(c *commit.Change) { record.PutNew(c, name, ext) })
	if errors.Is(err, domain.ErrConflict) {
		if taken := s.checkNames(ctx, p, x); taken != nil {
			return nil, taken
		}
	}
	if err != nil {
		return nil, err
	}
	return x, s.registrar.ReloadPhones(ctx, p.WorkspaceID)
}

// checkNames returns already_exists if the extension or the user name belongs to another phone or agent.
func (s *Service) checkNames(ctx context.Context, p domain.Principal, x *domain.Phone) error {
	if err := record.CheckExtension(ctx, s.store, p, x.ID, x.Extension); err != nil {
		return err
	}
	name := &domain.UsernameClaim{Username: x.Username}
	if _, err := s.store.Get(ctx, name); err == nil && name.PhoneID != x.ID {
		return &domain.Error{Code: domain.CodeAlreadyExists, Param: "username", Message: "another phone has this user name; choose another one"}
	}
	return nil
}

// Phone returns one phone with its registered SIP contacts. Errors: not_found.
func (s *Service) Phone(ctx context.Context, p domain.Principal, id string) (*domain.Phone, error) {
	x, _, err := record.Get[domain.Phone](ctx, s.store, p, domain.PrefixPhone, id)
	if err != nil {
		return nil, err
	}
	return x, s.addContacts(ctx, p, x)
}

// ListPhones returns a page of phones.
func (s *Service) ListPhones(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.Phone], error) {
	l, err := record.List[domain.Phone](ctx, s.store, p.WorkspaceID, record.EnvironmentIndex(p), domain.PrefixPhone, q, nil)
	if err != nil {
		return l, err
	}
	return l, s.addContacts(ctx, p, l.Data...)
}

// addContacts sets the registered SIP contacts and the status of phones.
func (s *Service) addContacts(ctx context.Context, p domain.Principal, list ...*domain.Phone) error {
	if len(list) == 0 {
		return nil
	}
	now, err := s.registrar.ListContacts(ctx, p.WorkspaceID)
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

// UpdatePhone changes a phone. A new password or user name ends the phone's registrations. If the new password is empty,
// the phone gets a random one.
func (s *Service) UpdatePhone(ctx context.Context, p domain.Principal, id string, change func(*domain.Phone) error) (*domain.Phone, error) {
	for range record.MaxTries {
		x, version, err := record.Get[domain.Phone](ctx, s.store, p, domain.PrefixPhone, id)
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
			record.PutNew(&c, x.UsernameClaim())
			c.Deletes = append(c.Deletes, before.UsernameClaim().Key())
		}
		record.SetExtension(&c, &x.Meta, before.Extension, x.Extension)
		_, err = s.store.Apply(ctx, c)
		if errors.Is(err, domain.ErrConflict) {
			if err = s.checkNames(ctx, p, x); err != nil {
				return nil, err
			}
			continue
		}
		if err != nil {
			return nil, commit.StoreError(err)
		}
		if err = s.registrar.ReloadPhones(ctx, p.WorkspaceID); err != nil {
			return nil, err
		}
		return x, s.addContacts(ctx, p, x)
	}
	return nil, record.ConflictError()
}

// DeletePhone deletes a phone and its registrations.
func (s *Service) DeletePhone(ctx context.Context, p domain.Principal, id string) error {
	err := record.Delete(ctx, s.store, p, domain.PrefixPhone, id, func(c *commit.Change, x *domain.Phone) error {
		held := &domain.Registrations{PhoneID: x.ID, WorkspaceID: x.WorkspaceID}
		c.Deletes = append(c.Deletes, x.UsernameClaim().Key(), record.ExtensionClaim(&x.Meta, x.Extension).Key(), held.Key())
		return nil
	})
	if err != nil || s.registrar == nil {
		return err
	}
	return s.registrar.ReloadPhones(ctx, p.WorkspaceID)
}

// FindRegistered returns the registered phone whose extension or user name is to. If to is a telephone number instead,
// isPhone is false.
func (s *Service) FindRegistered(ctx context.Context, p domain.Principal, to string) (found registrar.PhoneFound, isPhone bool, err error) {
	if _, isPhone = domain.ParsePhoneUser(to); !isPhone {
		return found, false, nil
	}
	found, err = s.registrar.FindPhone(ctx, p.WorkspaceID, registrar.FindPhone{To: to, Environment: p.Environment})
	switch {
	case domain.CodeOf(err) == domain.CodeNotFound:
		return found, true, domain.FieldError("to", domain.CodeValidation, "there is no such phone, and short numbers are never called")
	case err != nil:
		return found, true, err
	case p.Environment == domain.Test:
		return found, true, &domain.Error{Code: domain.CodeInvalidState, Param: "to", Message: "phones of the test environment are never called: a test key reaches the built-in carrier only"}
	case len(found.Contacts) == 0:
		return found, true, &domain.Error{Code: domain.CodeInvalidState, Param: "to", Message: "the phone is not registered now"}
	}
	return found, true, nil
}
