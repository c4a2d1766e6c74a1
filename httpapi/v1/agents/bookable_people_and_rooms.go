package agents

import (
	"context"
	"net/http"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/booking"
	"github.com/callboard/callboard/domain/validation"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/service/record"
)

// Providers manages providers, the people and rooms with which appointments are booked.
type Providers interface {
	// CreateProvider creates a provider. Error: already_exists with param name if another provider has the name.
	CreateProvider(ctx context.Context, p domain.Principal, x *domain.Provider) (*domain.Provider, error)
	Provider(ctx context.Context, p domain.Principal, id string) (*domain.Provider, error)
	ListProviders(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.Provider], error)
	// UpdateProvider changes a provider and leaves existing appointments unchanged.
	UpdateProvider(ctx context.Context, p domain.Principal, id string, change func(*domain.Provider) error) (*domain.Provider, error)
	// DeleteProvider deletes a provider. Error: invalid_state while the provider has future appointments.
	DeleteProvider(ctx context.Context, p domain.Principal, id string) error
	Availability(ctx context.Context, p domain.Principal, q booking.AvailabilityQuery) (booking.Availability, error)
}

// providerHandlers serves the operations on providers.
type providerHandlers struct {
	*router.Router

	providers Providers
}

// NewSpan is a time interval within a day in a request body.
type NewSpan struct {
	Start string `json:"start" doc:"HH:MM in the provider's time zone." example:"09:00"`
	End   string `json:"end" doc:"HH:MM, up to 24:00. An interval over midnight needs two entries." example:"17:00"`
}

// NewProvider is a provider in a request body.
type NewProvider struct {
	Name          string               `json:"name" doc:"Name, unique in the workspace." example:"Dr. Rivera"`
	Timezone      string               `json:"timezone,omitempty" doc:"Time zone of hours and of times without an offset. Default: UTC." example:"America/New_York"`
	Hours         map[string][]NewSpan `json:"hours,omitempty" nullable:"false" doc:"Opening hours by lowercase weekday. Missing days are closed. Default: Monday to Friday, 09:00 to 17:00."`
	ExcludedDates []string             `json:"excluded_dates,omitempty" maxItems:"400" nullable:"false" doc:"Closed days (YYYY-MM-DD in the time zone of the provider)."`
	SlotMinutes   int                  `json:"slot_minutes,omitempty" minimum:"5" maximum:"720" doc:"Interval between free times, and default duration of an appointment. Default: 30."`
	Reminders     []NewReminder        `json:"reminders,omitempty" nullable:"false" doc:"Default reminders of appointments, at most 5. Existing appointments keep theirs."`
	ReminderHours *NewReminderHours    `json:"reminder_hours,omitempty" doc:"Daily window for reminders. Default: 08:00 to 21:00."`
	Metadata      map[string]string    `json:"metadata,omitempty"`
}

// NewReminder is an appointment reminder in a request body.
type NewReminder struct {
	Channel       string `json:"channel" enum:"sms,call"`
	MinutesBefore int    `json:"minutes_before" minimum:"5" maximum:"86400" doc:"Minutes before the appointment." example:"1440"`
	Body          string `json:"body,omitempty" maxLength:"1600" doc:"Text of an sms reminder. Default: a standard text. {{patient_name}}, {{provider}}, {{date}}, {{time}}, {{type}}, {{datetime}} and {{appointment_id}} insert values of the appointment." example:"See you on {{date}} at {{time}}, {{provider}}."`
	AgentID       string `json:"agent_id,omitempty" doc:"Agent of a call reminder; required for call. It gets the variables of body, and name."`
	From          string `json:"from,omitempty" doc:"Caller ID or sender. Default: a number of the workspace." example:"+12025550100"`
}

// NewReminderHours is the time of day, in a request body, during which reminders are sent.
type NewReminderHours struct {
	Start string `json:"start,omitempty" doc:"HH:MM in the appointment's time zone." example:"08:00"`
	End   string `json:"end,omitempty" doc:"HH:MM, up to 24:00." example:"21:00"`
}

// remindersOf converts reminders in a request body to the stored form. It adds their problems to p.
func remindersOf(sent []NewReminder, p *domain.Problems) []domain.Reminder {
	out := make([]domain.Reminder, len(sent))
	for i, n := range sent {
		out[i] = domain.Reminder(n)
	}
	validation.Reminders(p, out)
	return out
}

// apply copies the settings in the request body to a provider and validates the provider.
func (n *NewProvider) apply(x *domain.Provider) error {
	x.Name, x.Timezone, x.SlotMinutes, x.ExcludedDates, x.Metadata = n.Name, n.Timezone, n.SlotMinutes, n.ExcludedDates, n.Metadata
	x.Hours, x.ReminderHours = nil, nil
	if n.Hours != nil {
		x.Hours = make(map[string][]domain.OpenSpan, len(n.Hours))
	}
	for day, spans := range n.Hours {
		for _, s := range spans {
			x.Hours[day] = append(x.Hours[day], domain.OpenSpan(s))
		}
	}
	var p domain.Problems
	x.Reminders = remindersOf(n.Reminders, &p)
	if h := n.ReminderHours; h != nil {
		full := booking.WithDefaultHours((*domain.ReminderHours)(h))
		x.ReminderHours = &full
	}
	booking.SetProviderDefaults(x)
	validation.Provider(&p, x)
	booking.ValidateProvider(x, &p)
	return p.Err()
}

// registerProviders registers the routes for providers.
func registerProviders(r *router.Router, providers Providers) {
	s := &providerHandlers{Router: r, providers: providers}
	const tag, path = "Appointments", "/v1/providers"
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path, ID: "createProvider", Tag: tag, Status: http.StatusCreated, Summary: "Create a provider",
		Description: "A provider has one appointment at a time. Its hours are local times, also across changes to and from daylight saving time.",
	}, func(ctx context.Context, p domain.Principal, in *struct{ Body NewProvider }) (*router.Response[*domain.Provider], error) {
		x := &domain.Provider{}
		if err := in.Body.apply(x); err != nil {
			return nil, err
		}
		created, err := s.providers.CreateProvider(ctx, p, x)
		return router.RespondCreated(ctx, created, err)
	})
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path, ID: "listProviders", Tag: tag, Summary: "List providers"},
		router.HandleList(s.providers, Providers.ListProviders, router.Identity))
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path + "/{id}", ID: "getProvider", Tag: tag, Summary: "Get a provider"},
		router.HandleByID(domain.PrefixProvider, s.providers, Providers.Provider, router.Identity))
	router.Add(s.Router, router.Operation{Method: http.MethodPatch, Path: path + "/{id}", ID: "updateProvider", Tag: tag, Summary: "Change a provider", Description: "Existing appointments do not change."},
		router.HandlePatchByID(s.Registry, domain.PrefixProvider, s.providers, Providers.UpdateProvider, (*NewProvider).apply))
	router.Add(s.Router, router.Operation{
		Method: http.MethodDelete, Path: path + "/{id}", ID: "deleteProvider", Tag: tag, Summary: "Delete a provider",
		Description: "409 invalid_state while the provider has a future appointment. Past appointments remain.", Errors: []int{http.StatusConflict},
	}, router.HandleDeleteByID(domain.PrefixProvider, "provider", s.providers, Providers.DeleteProvider))
	router.Add(s.Router, router.Operation{
		Method: http.MethodGet, Path: "/v1/appointments/availability", ID: "getAvailability", Tag: tag, Summary: "List the free times of a provider",
		Description: "Earliest first, from now on. A free time may be booked by another client in the meantime. The booking is then 409 slot_unavailable.", Errors: []int{http.StatusUnprocessableEntity},
	}, s.availability)
}

func (s *providerHandlers) availability(ctx context.Context, p domain.Principal, in *struct {
	Provider string `query:"provider" required:"true" minLength:"1" maxLength:"200" doc:"The id or the name of the provider."`
	From     string `query:"from" maxLength:"40" doc:"A time (RFC 3339, or local time in timezone without an offset) or a day (YYYY-MM-DD). Default: now."`
	To       string `query:"to" maxLength:"40" doc:"Exclusive end in the format of from, at most 62 days later. Default: a week later."`
	Timezone string `query:"timezone" maxLength:"64" doc:"Time zone of from, to and local_start. Default: the provider's."`
	Minutes  int    `query:"duration_minutes" minimum:"5" maximum:"720" doc:"Duration of the appointment. Default: slot_minutes of the provider."`
	Limit    int    `query:"limit" minimum:"1" maximum:"500" default:"100" doc:"Maximum number of times."`
},
) (*router.Response[booking.Availability], error) {
	if in.Timezone != "" {
		var problems domain.Problems
		validation.Zone(&problems, "timezone", in.Timezone)
		if err := problems.Err(); err != nil {
			return nil, err
		}
	}
	return router.Respond(s.providers.Availability(ctx, p, booking.AvailabilityQuery{
		Provider: in.Provider, From: in.From, To: in.To, Timezone: in.Timezone, Minutes: in.Minutes, Limit: max(1, in.Limit),
	}))
}

// CheckRules returns the violations of the rules for a provider that the JSON schema cannot express.
func (n *NewProvider) CheckRules(context.Context, router.Workspaces, domain.Principal) error {
	return n.apply(&domain.Provider{})
}
