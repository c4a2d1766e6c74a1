package actors

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/domain/booking"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

const (
	maxProviders  = 1000 // of a workspace and environment
	maxAhead      = 2 * 366 * 24 * time.Hour
	availableFor  = 7 * 24 * time.Hour
	mostAvailable = 62 * 24 * time.Hour
)

// foldName is a provider's name as it is compared.
func foldName(name string) string { return strings.ToLower(strings.Join(strings.Fields(name), " ")) }

func nameClaim(x *domain.Provider) *domain.ProviderName {
	return &domain.ProviderName{WorkspaceID: x.WorkspaceID, Environment: x.Environment, Name: foldName(x.Name), ProviderID: x.ID}
}

func nameTaken() error {
	return &domain.Error{Code: domain.CodeAlreadyExists, Param: "name", Message: "another provider has this name already"}
}

// CreateProvider keeps a new provider; it can be booked from the answer on.
func (d *Desk) CreateProvider(ctx context.Context, p domain.Principal, x *domain.Provider) (*domain.Provider, error) {
	if made, err := record.CreatedBySameRequest[domain.Provider](ctx, d.store, p, domain.PrefixProvider); made != nil || err != nil {
		return made, err
	}
	if err := d.remindersFit(ctx, p, x.Reminders); err != nil {
		return nil, err
	}
	end, err := d.booking.Lock(ctx, p.WorkspaceID)
	if err != nil {
		return nil, err
	}
	defer end()
	n := 0
	if err = commit.Each(ctx, d.store, "provider", p.WorkspaceID, record.EnvironmentIndex(p), func(*domain.Provider) { n++ }); err != nil {
		return nil, record.StoreError(err)
	}
	if n >= maxProviders {
		return nil, domain.Errorf(domain.CodeInvalidState, "a workspace has %d providers at most", maxProviders)
	}
	record.SetMeta(&x.Meta, "provider", p, record.NewID(ctx, domain.PrefixProvider), record.Now())
	err = record.Create(ctx, d.store, x, func(c *commit.Change) { record.PutNew(c, nameClaim(x)) })
	if errors.Is(err, domain.ErrConflict) {
		return nil, nameTaken()
	}
	return x, err
}

// Provider reads one.
func (d *Desk) Provider(ctx context.Context, p domain.Principal, id string) (*domain.Provider, error) {
	x, _, err := record.Get[domain.Provider](ctx, d.store, p, domain.PrefixProvider, id)
	return x, err
}

// ListProviders reads a page.
func (d *Desk) ListProviders(ctx context.Context, p domain.Principal, q ask.Page) (ask.List[*domain.Provider], error) {
	return record.List[domain.Provider](ctx, d.store, p.WorkspaceID, record.EnvironmentIndex(p), domain.PrefixProvider, q, nil)
}

// UpdateProvider changes one; appointments that there are stay.
func (d *Desk) UpdateProvider(ctx context.Context, p domain.Principal, id string, change func(*domain.Provider) error) (*domain.Provider, error) {
	for range record.MaxTries {
		x, version, err := record.Get[domain.Provider](ctx, d.store, p, domain.PrefixProvider, id)
		if err != nil {
			return nil, err
		}
		before := *x
		if err = change(x); err != nil {
			return nil, err
		}
		if err = d.remindersFit(ctx, p, x.Reminders); err != nil {
			return nil, err
		}
		x.UpdatedAt = record.Now()
		c := commit.Change{Workspace: x.WorkspaceID, Guards: []commit.Guard{{Key: x.Key(), Version: version}}, Puts: []domain.Record{x}}
		if was, is := nameClaim(&before), nameClaim(x); was.Name != is.Name {
			if _, err = d.store.Get(ctx, nameClaim(x)); err == nil {
				return nil, nameTaken()
			}
			record.PutNew(&c, is)
			c.Deletes = append(c.Deletes, was.Key())
		}
		if _, err = d.store.Apply(ctx, c); errors.Is(err, domain.ErrConflict) {
			continue
		}
		return x, record.StoreError(err)
	}
	return nil, record.Busy()
}

// DeleteProvider removes one of which nobody has an appointment ahead. Past
// appointments stay.
func (d *Desk) DeleteProvider(ctx context.Context, p domain.Principal, id string) error {
	x, err := d.Provider(ctx, p, id)
	if err != nil {
		return err
	}
	end, err := d.booking.Lock(ctx, x.ID) // nobody books meanwhile: who does takes turns here, and a store has one process
	if err != nil {
		return err
	}
	defer end()
	now := time.Now()
	prefix := domain.Key{Kind: "booking", Workspace: x.WorkspaceID, ID: x.ID + "/"}
	ahead, change := "", commit.Change{Workspace: x.WorkspaceID}
	for after, n := "", eraseRows; n == eraseRows; {
		n = 0
		err = d.store.Under(ctx, prefix, after, eraseRows, func() domain.Record { return &domain.BookingDay{} }, func(r domain.Record) error {
			n++
			after = r.Key().ID
			change.Deletes = append(change.Deletes, r.Key())
			if day, ok := r.(*domain.BookingDay); ok {
				for _, b := range day.Booked {
					if b.End.After(now) {
						ahead = b.AppointmentID
					}
				}
			}
			return nil
		})
		if err != nil {
			return record.StoreError(err)
		}
	}
	if ahead != "" {
		return domain.Errorf(domain.CodeInvalidState, "the provider has appointments ahead; cancel or move them first").With("appointment_id", ahead)
	}
	err = record.Delete(ctx, d.store, p, domain.PrefixProvider, x.ID, func(c *commit.Change, x *domain.Provider) error {
		c.Deletes = append(c.Deletes, nameClaim(x).Key())
		return nil
	})
	if err != nil || len(change.Deletes) == 0 {
		return err
	}
	_, err = d.store.Apply(ctx, change)
	return record.StoreError(err)
}

// providerNamed finds a provider by its id or its name.
func (d *Desk) providerNamed(ctx context.Context, p domain.Principal, text string) (*domain.Provider, error) {
	id := text
	if _, err := domain.ParseID(domain.PrefixProvider, text); err != nil {
		known := &domain.ProviderName{WorkspaceID: p.WorkspaceID, Environment: p.Environment, Name: foldName(text)}
		if _, err = d.store.Get(ctx, known); err != nil && !errors.Is(err, domain.ErrNotFound) {
			return nil, record.StoreError(err)
		}
		id = known.ProviderID
	}
	x, _, err := record.Get[domain.Provider](ctx, d.store, p, domain.PrefixProvider, id)
	if domain.CodeOf(err) == domain.CodeNotFound {
		return nil, record.FieldError("provider", domain.CodeValidation, "there is no such provider; name one by its id or its name, and make them with POST /v1/providers")
	}
	return x, err
}

// Availability says when a provider is free.
func (d *Desk) Availability(ctx context.Context, p domain.Principal, q ask.AvailabilityQuery) (ask.Availability, error) {
	var none ask.Availability
	x, err := d.providerNamed(ctx, p, q.Provider)
	if err != nil {
		return none, err
	}
	hours, err := booking.Of(x)
	if err != nil {
		return none, err
	}
	zone := hours.Zone()
	if q.Timezone != "" {
		if zone, err = time.LoadLocation(q.Timezone); err != nil {
			return none, record.FieldError("timezone", domain.CodeValidation, "must be a time zone like Europe/Berlin")
		}
	}
	now := time.Now().UTC()
	from, to, err := rangeOf(q, zone, now)
	if err != nil {
		return none, err
	}
	minutes := q.Minutes
	if minutes == 0 {
		minutes = x.SlotMinutes
	}
	length := time.Duration(minutes) * time.Minute
	days, err := d.bookedWithin(ctx, x, booking.Span{Start: from, End: to.Add(length)})
	if err != nil {
		return none, err
	}
	var booked []domain.Booked
	for _, day := range days {
		booked = append(booked, day.Booked...)
	}
	slots, more := hours.Slots(from, bookable(to, now), length, booked, q.Limit)
	out := ask.Availability{
		Object: "availability", ProviderID: x.ID, Provider: x.Name, Timezone: zone.String(), DurationMinutes: minutes, SlotMinutes: x.SlotMinutes,
		From: from, To: to, Slots: make([]ask.Slot, 0, len(slots)), HasMore: more,
	}
	for _, s := range slots {
		out.Slots = append(out.Slots, ask.Slot{Start: s.Start.UTC(), End: s.End.UTC(), LocalStart: s.Start.In(zone).Format(domain.LocalTimeFormat)})
	}
	return out, nil
}

// bookable is the end of a range, as far as something may be booked in it.
func bookable(to, now time.Time) time.Time {
	if last := now.Add(maxAhead); to.After(last) {
		return last
	}
	return to
}

// rangeOf is the range that is asked for: nothing of it lies behind now.
func rangeOf(q ask.AvailabilityQuery, zone *time.Location, now time.Time) (from, to time.Time, err error) {
	var problems domain.Problems
	read := func(param, text string, otherwise time.Time) time.Time {
		if text == "" {
			return otherwise
		}
		t, err := booking.Bound(text, zone)
		if err != nil {
			problems.Add(param, domain.CodeValidation, "%s", record.Message(err))
		}
		return t
	}
	from = read("from", q.From, now)
	begin := from
	if from.Before(now) {
		from = now.Truncate(time.Second).Add(time.Second)
	}
	to = read("to", q.To, begin.Add(availableFor))
	switch {
	case len(problems) > 0:
	case !to.After(begin):
		problems.Add("to", domain.CodeValidation, "must be after from")
	case to.Sub(begin) > mostAvailable:
		problems.Add("to", domain.CodeValidation, "must be at most %d days after from", int(mostAvailable/(24*time.Hour)))
	}
	return from, later(from, to), problems.Err()
}

// bookedWithin reads the days, in UTC, that a stretch touches.
func (d *Desk) bookedWithin(ctx context.Context, x *domain.Provider, s booking.Span) ([]*domain.BookingDay, error) {
	var out []*domain.BookingDay
	last := s.End.UTC().Format(time.DateOnly)
	prefix := domain.Key{Kind: "booking", Workspace: x.WorkspaceID, ID: x.ID + "/"}
	after := x.ID + "/" + s.Start.UTC().AddDate(0, 0, -1).Format(time.DateOnly) // the day before is over when the stretch begins, in UTC
	err := d.store.Under(ctx, prefix, after, int(mostAvailable/(24*time.Hour))+3, func() domain.Record { return &domain.BookingDay{} }, func(r domain.Record) error {
		day, ok := r.(*domain.BookingDay)
		if !ok || day.Day > last {
			return errYoung
		}
		out = append(out, day)
		return nil
	})
	if err != nil && !errors.Is(err, errYoung) {
		return nil, record.StoreError(err)
	}
	return out, nil
}
