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

// Providers are the people and rooms that appointments are booked with.
type Providers interface {
	// CreateProvider: already_exists with param name where another one has it.
	CreateProvider(ctx context.Context, p domain.Principal, x *domain.Provider) (*domain.Provider, error)
	Provider(ctx context.Context, p domain.Principal, id string) (*domain.Provider, error)
	ListProviders(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.Provider], error)
	// UpdateProvider leaves the appointments that there are where they are.
	UpdateProvider(ctx context.Context, p domain.Principal, id string, change func(*domain.Provider) error) (*domain.Provider, error)
	// DeleteProvider: invalid_state while an open appointment lies ahead.
	DeleteProvider(ctx context.Context, p domain.Principal, id string) error
	Availability(ctx context.Context, p domain.Principal, q booking.AvailabilityQuery) (booking.Availability, error)
}

// providerHandlers serves the operations of providers.
type providerHandlers struct {
	*router.Router

	providers Providers
}

// NewSpan is a stretch of a day as it is sent.
type NewSpan struct {
	Start string `json:"start" doc:"HH:MM, as clocks in the provider's zone show it." example:"09:00"`
	End   string `json:"end" doc:"HH:MM, up to 24:00. What runs over midnight takes two days." example:"17:00"`
}

// NewProvider is a provider as it is sent.
type NewProvider struct {
	Name          string               `json:"name" doc:"Unique among the providers." example:"Dr. Rivera"`
	Timezone      string               `json:"timezone,omitempty" doc:"In which hours and times without an offset are meant; UTC unless said." example:"America/New_York"`
	Hours         map[string][]NewSpan `json:"hours,omitempty" nullable:"false" doc:"Opening hours by lowercase weekday; days that are not named are closed. Monday to Friday, 09:00 to 17:00, unless said."`
	ExcludedDates []string             `json:"excluded_dates,omitempty" maxItems:"400" nullable:"false" doc:"Days (YYYY-MM-DD, in the zone) without any hours."`
	SlotMinutes   int                  `json:"slot_minutes,omitempty" minimum:"5" maximum:"720" doc:"How far free times lie apart, and how long an appointment takes unless it says otherwise; 30 unless said."`
	Reminders     []NewReminder        `json:"reminders,omitempty" nullable:"false" doc:"How patients are reminded whose appointment says nothing else; 5 at most. Appointments that there are keep theirs."`
	ReminderHours *NewReminderHours    `json:"reminder_hours,omitempty" doc:"Within which patients are reminded; 08:00 to 21:00 unless said."`
	Metadata      map[string]string    `json:"metadata,omitempty"`
}

// NewReminder is a reminder as it is sent.
type NewReminder struct {
	Channel       string `json:"channel" enum:"sms,call"`
	MinutesBefore int    `json:"minutes_before" minimum:"5" maximum:"86400" doc:"The appointment." example:"1440"`
	Body          string `json:"body,omitempty" maxLength:"1600" doc:"sms: its text; one of ours unless said. {{patient_name}}, {{provider}}, {{date}}, {{time}}, {{type}}, {{datetime}} and {{appointment_id}} stand for what the appointment says." example:"See you on {{date}} at {{time}}, {{provider}}."`
	AgentID       string `json:"agent_id,omitempty" doc:"call: who calls; required. Its variables are those of body, and name."`
	From          string `json:"from,omitempty" doc:"The number shown; the workspace's unless said." example:"+12025550100"`
}

// NewReminderHours are hours as they are sent.
type NewReminderHours struct {
	Start string `json:"start,omitempty" doc:"HH:MM, as clocks in the appointment's zone show it." example:"08:00"`
	End   string `json:"end,omitempty" doc:"HH:MM, up to 24:00." example:"21:00"`
}

// remindersOf are reminders as they were sent.
func remindersOf(sent []NewReminder, p *domain.Problems) []domain.Reminder {
	out := make([]domain.Reminder, len(sent))
	for i, n := range sent {
		out[i] = domain.Reminder(n)
	}
	validation.Reminders(p, out)
	return out
}

// apply writes the settings to a provider, and checks the provider.
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

// registerProviders registers the operations of providers.
func registerProviders(r *router.Router, providers Providers) {
	s := &providerHandlers{Router: r, providers: providers}
	const tag, path = "Appointments", "/v1/providers"
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path, ID: "createProvider", Tag: tag, Status: http.StatusCreated, Summary: "Make a provider that can be booked",
		Description: "A provider has one appointment at a time. Where clocks are changed, its hours are what they show.",
	}, func(ctx context.Context, p domain.Principal, in *struct{ Body NewProvider }) (*router.Response[*domain.Provider], error) {
		x := &domain.Provider{}
		if err := in.Body.apply(x); err != nil {
			return nil, err
		}
		made, err := s.providers.CreateProvider(ctx, p, x)
		return router.RespondCreated(ctx, made, err)
	})
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path, ID: "listProviders", Tag: tag, Summary: "List providers"},
		router.HandleList(s.providers, Providers.ListProviders, router.Identity))
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path + "/{id}", ID: "getProvider", Tag: tag, Summary: "Get a provider"},
		router.HandleByID(domain.PrefixProvider, s.providers, Providers.Provider, router.Identity))
	router.Add(s.Router, router.Operation{Method: http.MethodPatch, Path: path + "/{id}", ID: "updateProvider", Tag: tag, Summary: "Change a provider", Description: "Appointments that there are stay where they are."},
		router.HandlePatchByID(s.Registry, domain.PrefixProvider, s.providers, Providers.UpdateProvider, (*NewProvider).apply))
	router.Add(s.Router, router.Operation{
		Method: http.MethodDelete, Path: path + "/{id}", ID: "deleteProvider", Tag: tag, Summary: "Delete a provider",
		Description: "409 invalid_state while an appointment lies ahead. Past ones stay.", Errors: []int{http.StatusConflict},
	}, router.HandleDeleteByID(domain.PrefixProvider, "provider", s.providers, Providers.DeleteProvider))
	router.Add(s.Router, router.Operation{
		Method: http.MethodGet, Path: "/v1/appointments/availability", ID: "getAvailability", Tag: tag, Summary: "Ask when a provider is free",
		Description: "Oldest first, from now on. What is free may be taken before it is booked: then the booking is 409 slot_unavailable.", Errors: []int{http.StatusUnprocessableEntity},
	}, s.availability)
}

func (s *providerHandlers) availability(ctx context.Context, p domain.Principal, in *struct {
	Provider string `query:"provider" required:"true" minLength:"1" maxLength:"200" doc:"Its id or its name."`
	From     string `query:"from" maxLength:"40" doc:"A time (RFC 3339, or without an offset as clocks in timezone show it) or a day (YYYY-MM-DD); now unless said."`
	To       string `query:"to" maxLength:"40" doc:"As from, exclusive, at most 62 days later; a week later unless said."`
	Timezone string `query:"timezone" maxLength:"64" doc:"In which from, to and local_start are meant; the provider's unless said."`
	Minutes  int    `query:"duration_minutes" minimum:"5" maximum:"720" doc:"How long the appointment shall take; the provider's slot_minutes unless said."`
	Limit    int    `query:"limit" minimum:"1" maximum:"500" default:"100" doc:"The most times that are wanted."`
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

// CheckRules checks what the schema cannot express.
func (n *NewProvider) CheckRules(context.Context, router.Workspaces, domain.Principal) error {
	return n.apply(&domain.Provider{})
}
