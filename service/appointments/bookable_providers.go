package appointments

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// maxProviders is the maximum number of providers of a workspace and environment.
const maxProviders = 1000

// normalizeName returns the form in which names of providers are compared: lower case, single spaces.
func normalizeName(name string) string {
	return strings.ToLower(strings.Join(strings.Fields(name), " "))
}

// nameClaim returns the database row that reserves the name of a provider in its environment.
func nameClaim(x *domain.Provider) *domain.ProviderName {
	return &domain.ProviderName{WorkspaceID: x.WorkspaceID, Environment: x.Environment, Name: normalizeName(x.Name), ProviderID: x.ID}
}

func nameTaken() error {
	return &domain.Error{Code: domain.CodeAlreadyExists, Param: "name", Message: "another provider has this name"}
}

// CreateProvider creates a provider. Errors: already_exists, validation_failed.
func (s *Service) CreateProvider(ctx context.Context, p domain.Principal, x *domain.Provider) (*domain.Provider, error) {
	if created, err := record.CreatedBySameRequest[domain.Provider](ctx, s.store, p, domain.PrefixProvider); created != nil || err != nil {
		return created, err
	}
	if err := s.validateReminders(ctx, p, x.Reminders); err != nil {
		return nil, err
	}
	unlock, err := s.locks.Lock(ctx, p.WorkspaceID)
	if err != nil {
		return nil, err
	}
	defer unlock()
	n := 0
	if err = commit.ForEachRow(ctx, s.store, "provider", p.WorkspaceID, record.EnvironmentIndex(p), func(*domain.Provider) { n++ }); err != nil {
		return nil, commit.StoreError(err)
	}
	if n >= maxProviders {
		return nil, domain.Errorf(domain.CodeInvalidState, "the workspace has %d providers, which is the maximum; delete one first", maxProviders)
	}
	x.Init("provider", p, record.RequestResourceID(ctx, domain.PrefixProvider), record.Now())
	err = record.Create(ctx, s.store, x, func(c *commit.Change) { record.PutNew(c, nameClaim(x)) })
	if errors.Is(err, domain.ErrConflict) {
		return nil, nameTaken()
	}
	return x, err
}

// Provider returns one provider. Errors: not_found.
func (s *Service) Provider(ctx context.Context, p domain.Principal, id string) (*domain.Provider, error) {
	x, _, err := record.Get[domain.Provider](ctx, s.store, p, domain.PrefixProvider, id)
	return x, err
}

// ListProviders returns a page of providers.
func (s *Service) ListProviders(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.Provider], error) {
	return record.List[domain.Provider](ctx, s.store, p.WorkspaceID, record.EnvironmentIndex(p), domain.PrefixProvider, q, nil)
}

// UpdateProvider changes a provider. Existing appointments are not changed.
func (s *Service) UpdateProvider(ctx context.Context, p domain.Principal, id string, change func(*domain.Provider) error) (*domain.Provider, error) {
	for range record.MaxTries {
		x, version, err := record.Get[domain.Provider](ctx, s.store, p, domain.PrefixProvider, id)
		if err != nil {
			return nil, err
		}
		before := *x
		if err = change(x); err != nil {
			return nil, err
		}
		if err = s.validateReminders(ctx, p, x.Reminders); err != nil {
			return nil, err
		}
		x.UpdatedAt = record.Now()
		c := commit.Change{Workspace: x.WorkspaceID, Guards: []commit.Guard{{Key: x.Key(), Version: version}}, Puts: []domain.Record{x}}
		if was, is := nameClaim(&before), nameClaim(x); was.Name != is.Name {
			if _, err = s.store.Get(ctx, nameClaim(x)); err == nil {
				return nil, nameTaken()
			}
			record.PutNew(&c, is)
			c.Deletes = append(c.Deletes, was.Key())
		}
		if _, err = s.store.Apply(ctx, c); errors.Is(err, domain.ErrConflict) {
			continue
		}
		return x, commit.StoreError(err)
	}
	return nil, record.ConflictError()
}

// DeleteProvider deletes a provider that has no future appointments. Past appointments stay. Errors: not_found,
// invalid_state.
func (s *Service) DeleteProvider(ctx context.Context, p domain.Principal, id string) error {
	x, err := s.Provider(ctx, p, id)
	if err != nil {
		return err
	}
	unlock, err := s.locks.Lock(ctx, x.ID) // no appointment is booked during the deletion
	if err != nil {
		return err
	}
	defer unlock()
	now := time.Now()
	prefix := domain.Key{Kind: "booking", Workspace: x.WorkspaceID, ID: x.ID + "/"}
	futureID, change := "", commit.Change{Workspace: x.WorkspaceID}
	for after, n := "", record.BatchRows; n == record.BatchRows; {
		n = 0
		err = s.store.Under(ctx, prefix, after, record.BatchRows, func() domain.Record { return &domain.BookingDay{} }, func(r domain.Record) error {
			n++
			after = r.Key().ID
			change.Deletes = append(change.Deletes, r.Key())
			if day, ok := r.(*domain.BookingDay); ok {
				for _, b := range day.Booked {
					if b.End.After(now) {
						futureID = b.AppointmentID
					}
				}
			}
			return nil
		})
		if err != nil {
			return commit.StoreError(err)
		}
	}
	if futureID != "" {
		return domain.Errorf(domain.CodeInvalidState, "the provider has future appointments; cancel or move them first").With("appointment_id", futureID)
	}
	err = record.Delete(ctx, s.store, p, domain.PrefixProvider, x.ID, func(c *commit.Change, x *domain.Provider) error {
		c.Deletes = append(c.Deletes, nameClaim(x).Key())
		return nil
	})
	if err != nil || len(change.Deletes) == 0 {
		return err
	}
	_, err = s.store.Apply(ctx, change)
	return commit.StoreError(err)
}

// findProvider returns the provider with this id or name. Errors: validation_failed.
func (s *Service) findProvider(ctx context.Context, p domain.Principal, text string) (*domain.Provider, error) {
	id := text
	if _, err := domain.ParseID(domain.PrefixProvider, text); err != nil {
		known := &domain.ProviderName{WorkspaceID: p.WorkspaceID, Environment: p.Environment, Name: normalizeName(text)}
		if _, err = s.store.Get(ctx, known); err != nil && !errors.Is(err, domain.ErrNotFound) {
			return nil, commit.StoreError(err)
		}
		id = known.ProviderID
	}
	x, _, err := record.Get[domain.Provider](ctx, s.store, p, domain.PrefixProvider, id)
	if domain.CodeOf(err) == domain.CodeNotFound {
		return nil, domain.FieldError("provider", domain.CodeValidation, "there is no such provider; use the id or the name of a provider, or create one with POST /v1/providers")
	}
	return x, err
}
