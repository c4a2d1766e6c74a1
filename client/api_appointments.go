// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// ListAppointmentsQuery is what ListAppointments can be asked; what is zero is left out.
type ListAppointmentsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
	// Only those in this state.
	Status string
	// Only those of this provider, by its id or its name.
	Provider string
	// Only those of this patient.
	PatientPhone string
	// Only those made in this call.
	CallID string
	// Only those that begin at this time or later.
	From time.Time
	// Only those that begin before this time.
	To time.Time
}

func (q *ListAppointmentsQuery) values() url.Values {
	v := make(url.Values)
	if q.Limit != 0 {
		v.Set("limit", strconv.FormatInt(q.Limit, 10))
	}
	if q.Cursor != "" {
		v.Set("cursor", q.Cursor)
	}
	if !q.CreatedAfter.IsZero() {
		v.Set("created_after", q.CreatedAfter.UTC().Format(time.RFC3339Nano))
	}
	if !q.CreatedBefore.IsZero() {
		v.Set("created_before", q.CreatedBefore.UTC().Format(time.RFC3339Nano))
	}
	if q.Status != "" {
		v.Set("status", q.Status)
	}
	if q.Provider != "" {
		v.Set("provider", q.Provider)
	}
	if q.PatientPhone != "" {
		v.Set("patient_phone", q.PatientPhone)
	}
	if q.CallID != "" {
		v.Set("call_id", q.CallID)
	}
	if !q.From.IsZero() {
		v.Set("from", q.From.UTC().Format(time.RFC3339Nano))
	}
	if !q.To.IsZero() {
		v.Set("to", q.To.UTC().Format(time.RFC3339Nano))
	}
	return v
}

// ListAppointments: List appointments.
//
// GET /v1/appointments
func (c *Client) ListAppointments(ctx context.Context, q ListAppointmentsQuery, options ...Option) (*ListAppointment, error) {
	return send[ListAppointment](ctx, c, "GET", "/v1/appointments", q.values(), nil, options)
}

// AllAppointments walks the pages of ListAppointments to their end; an error is the last that comes.
func (c *Client) AllAppointments(ctx context.Context, q ListAppointmentsQuery, options ...Option) iter.Seq2[Appointment, error] {
	return pages(&q.Cursor, func() ([]Appointment, *string, error) {
		l, err := c.ListAppointments(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// BookAppointment: Book an appointment.
//
// POST /v1/appointments
//
// The time must lie within the provider's hours and touch no other appointment: else 409 slot_unavailable, with a reason (booked or closed) and next_available. However many ask at once, one gets it.
func (c *Client) BookAppointment(ctx context.Context, body *NewAppointment, options ...Option) (*Appointment, error) {
	return send[Appointment](ctx, c, "POST", "/v1/appointments", nil, asJSON(body), options)
}

// GetAvailabilityQuery is what GetAvailability can be asked; what is zero is left out.
type GetAvailabilityQuery struct {
	// Its id or its name.
	Provider string
	// A time (RFC 3339, or without an offset as clocks in timezone show it) or a day (YYYY-MM-DD); now unless said.
	From string
	// As from, exclusive, at most 62 days later; a week later unless said.
	To string
	// In which from, to and local_start are meant; the provider's unless said.
	Timezone string
	// How long the appointment shall take; the provider's slot_minutes unless said.
	DurationMinutes int64
	// The most times that are wanted.
	Limit int64
}

func (q *GetAvailabilityQuery) values() url.Values {
	v := make(url.Values)
	if q.Provider != "" {
		v.Set("provider", q.Provider)
	}
	if q.From != "" {
		v.Set("from", q.From)
	}
	if q.To != "" {
		v.Set("to", q.To)
	}
	if q.Timezone != "" {
		v.Set("timezone", q.Timezone)
	}
	if q.DurationMinutes != 0 {
		v.Set("duration_minutes", strconv.FormatInt(q.DurationMinutes, 10))
	}
	if q.Limit != 0 {
		v.Set("limit", strconv.FormatInt(q.Limit, 10))
	}
	return v
}

// GetAvailability: Ask when a provider is free.
//
// GET /v1/appointments/availability
//
// Oldest first, from now on. What is free may be taken before it is booked: then the booking is 409 slot_unavailable.
func (c *Client) GetAvailability(ctx context.Context, q GetAvailabilityQuery, options ...Option) (*Availability, error) {
	return send[Availability](ctx, c, "GET", "/v1/appointments/availability", q.values(), nil, options)
}

// DeleteAppointment: Delete an appointment.
//
// DELETE /v1/appointments/{id}
//
// One that is open is cancelled first. Events that told of it, with name and number, stay in the event log until the workspace is deleted.
func (c *Client) DeleteAppointment(ctx context.Context, id string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/appointments/"+url.PathEscape(id), nil, nil, options)
}

// GetAppointment: Get an appointment.
//
// GET /v1/appointments/{id}
func (c *Client) GetAppointment(ctx context.Context, id string, options ...Option) (*Appointment, error) {
	return send[Appointment](ctx, c, "GET", "/v1/appointments/"+url.PathEscape(id), nil, nil, options)
}

// UpdateAppointment: Change an appointment without moving it.
//
// PATCH /v1/appointments/{id}
func (c *Client) UpdateAppointment(ctx context.Context, id string, body *AppointmentUpdate, options ...Option) (*Appointment, error) {
	return send[Appointment](ctx, c, "PATCH", "/v1/appointments/"+url.PathEscape(id), nil, asJSON(body), options)
}

// GetAppointmentCalendar: Get an appointment as a calendar file.
//
// GET /v1/appointments/{id}/calendar.ics
//
// The caller reads the body and closes it.
func (c *Client) GetAppointmentCalendar(ctx context.Context, id string, options ...Option) (*http.Response, error) {
	return c.open(ctx, "GET", "/v1/appointments/"+url.PathEscape(id)+"/calendar.ics", nil, nil, options)
}

// CancelAppointment: Cancel an appointment.
//
// POST /v1/appointments/{id}/cancel
//
// Its time is free again. Repeated, it has no effect.
func (c *Client) CancelAppointment(ctx context.Context, id string, body *CancelAppointmentRequest, options ...Option) (*Appointment, error) {
	return send[Appointment](ctx, c, "POST", "/v1/appointments/"+url.PathEscape(id)+"/cancel", nil, asJSON(body), options)
}

// ConfirmAppointment: Confirm an appointment.
//
// POST /v1/appointments/{id}/confirm
//
// Repeated, it has no effect. 409 invalid_state where the appointment is over or cancelled.
func (c *Client) ConfirmAppointment(ctx context.Context, id string, options ...Option) (*Appointment, error) {
	return send[Appointment](ctx, c, "POST", "/v1/appointments/"+url.PathEscape(id)+"/confirm", nil, nil, options)
}

// RescheduleAppointment: Move an appointment.
//
// POST /v1/appointments/{id}/reschedule
//
// Within its provider's calendar or to another one's; 409 slot_unavailable leaves it where it was. Nobody has confirmed the new time: its status is booked.
func (c *Client) RescheduleAppointment(ctx context.Context, id string, body *RescheduleRequest, options ...Option) (*Appointment, error) {
	return send[Appointment](ctx, c, "POST", "/v1/appointments/"+url.PathEscape(id)+"/reschedule", nil, asJSON(body), options)
}

// ListProvidersQuery is what ListProviders can be asked; what is zero is left out.
type ListProvidersQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
}

func (q *ListProvidersQuery) values() url.Values {
	v := make(url.Values)
	if q.Limit != 0 {
		v.Set("limit", strconv.FormatInt(q.Limit, 10))
	}
	if q.Cursor != "" {
		v.Set("cursor", q.Cursor)
	}
	if !q.CreatedAfter.IsZero() {
		v.Set("created_after", q.CreatedAfter.UTC().Format(time.RFC3339Nano))
	}
	if !q.CreatedBefore.IsZero() {
		v.Set("created_before", q.CreatedBefore.UTC().Format(time.RFC3339Nano))
	}
	return v
}

// ListProviders: List providers.
//
// GET /v1/providers
func (c *Client) ListProviders(ctx context.Context, q ListProvidersQuery, options ...Option) (*ListProvider, error) {
	return send[ListProvider](ctx, c, "GET", "/v1/providers", q.values(), nil, options)
}

// AllProviders walks the pages of ListProviders to their end; an error is the last that comes.
func (c *Client) AllProviders(ctx context.Context, q ListProvidersQuery, options ...Option) iter.Seq2[Provider, error] {
	return pages(&q.Cursor, func() ([]Provider, *string, error) {
		l, err := c.ListProviders(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// CreateProvider: Make a provider that can be booked.
//
// POST /v1/providers
//
// A provider has one appointment at a time. Where clocks are changed, its hours are what they show.
func (c *Client) CreateProvider(ctx context.Context, body *NewProvider, options ...Option) (*Provider, error) {
	return send[Provider](ctx, c, "POST", "/v1/providers", nil, asJSON(body), options)
}

// DeleteProvider: Delete a provider.
//
// DELETE /v1/providers/{id}
//
// 409 invalid_state while an appointment lies ahead. Past ones stay.
func (c *Client) DeleteProvider(ctx context.Context, id string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/providers/"+url.PathEscape(id), nil, nil, options)
}

// GetProvider: Get a provider.
//
// GET /v1/providers/{id}
func (c *Client) GetProvider(ctx context.Context, id string, options ...Option) (*Provider, error) {
	return send[Provider](ctx, c, "GET", "/v1/providers/"+url.PathEscape(id), nil, nil, options)
}

// UpdateProvider: Change a provider.
//
// PATCH /v1/providers/{id}
//
// Appointments that there are stay where they are.
func (c *Client) UpdateProvider(ctx context.Context, id string, body *ProviderUpdate, options ...Option) (*Provider, error) {
	return send[Provider](ctx, c, "PATCH", "/v1/providers/"+url.PathEscape(id), nil, asJSON(body), options)
}

// Appointment is an answer of the service, or a part of one.
type Appointment struct {
	// As id.
	AppointmentID string `json:"appointment_id"`
	// The call.
	CallID string `json:"call_id,omitzero"`
	// Why it was cancelled.
	CancelReason string `json:"cancel_reason,omitzero"`
	// When it was cancelled.
	CancelledAt *time.Time `json:"cancelled_at"`
	// When the patient said yes to this time.
	ConfirmedAt *time.Time `json:"confirmed_at"`
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// When it begins.
	Datetime time.Time `json:"datetime"`
	// How long it takes.
	DurationMinutes int64 `json:"duration_minutes"`
	// When it ends.
	EndsAt time.Time `json:"ends_at"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// When it begins, as clocks in timezone show it.
	LocalDatetime string `json:"local_datetime"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// How often it was moved.
	Moves int64 `json:"moves"`
	// Yours.
	Notes string `json:"notes,omitzero"`
	// What kind of resource this is.
	Object string `json:"object"`
	// For whom it is.
	Patient Patient `json:"patient"`
	// Whose time it is: its name when it was booked.
	Provider string `json:"provider"`
	// Whose time it is.
	ProviderID string `json:"provider_id"`
	// How the patient is reminded, the first due one first.
	Reminders []AppointmentReminder `json:"reminders,omitzero"`
	// How often it was changed, as its calendar file says it.
	Sequence int64 `json:"sequence"`
	// booked, confirmed, cancelled, completed or no_show. One of booked, confirmed, cancelled, completed, no_show.
	Status string `json:"status"`
	// In which local_datetime is told.
	Timezone string `json:"timezone"`
	// What it is about, in your words.
	Type string `json:"type"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// AppointmentReminder is an answer of the service, or a part of one.
type AppointmentReminder struct {
	// Who calls.
	AgentID string `json:"agent_id,omitzero"`
	// The text, before it is filled in; empty: one of ours.
	Body string `json:"body,omitzero"`
	// The call that it became.
	CallID string `json:"call_id,omitzero"`
	// sms or call.
	Channel string `json:"channel"`
	// When it goes out.
	DueAt time.Time `json:"due_at"`
	// The number shown, where it is not the workspace's first.
	From string `json:"from,omitzero"`
	// The message that it became.
	MessageID string `json:"message_id,omitzero"`
	// How long before the appointment it was wanted.
	MinutesBefore int64 `json:"minutes_before"`
	// Why it was skipped (too_late) or failed (an error's code).
	Reason string `json:"reason,omitzero"`
	// When its message was queued or its call placed.
	SentAt *time.Time `json:"sent_at"`
	// scheduled, sent, skipped (there was no time left), failed, or cancelled with the appointment. One of scheduled, sent, skipped, failed, cancelled.
	Status string `json:"status"`
}

// AppointmentUpdate is sent to the service.
type AppointmentUpdate struct {
	// The call in which it was made.
	CallID Optional[string] `json:"call_id,omitzero"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata Optional[map[string]*string] `json:"metadata,omitzero"`
	// Yours, for people; 2000 characters at most.
	Notes Optional[string] `json:"notes,omitzero"`
	// For whom it is.
	Patient Optional[PatientUpdate] `json:"patient,omitzero"`
	// Take the place of those that there are, sent or not. null: those of the provider.
	Reminders Optional[[]NewReminder] `json:"reminders,omitzero"`
	// What became of it, once it has begun. The other states have routes of their own. One of completed, no_show.
	Status *string `json:"status,omitempty"`
	// What it is about, in your words.
	Type Optional[string] `json:"type,omitzero"`
}

// Availability is an answer of the service, or a part of one.
type Availability struct {
	// How long each slot is.
	DurationMinutes int64 `json:"duration_minutes"`
	// From when on it was looked.
	From time.Time `json:"from"`
	// Whether more are free before to.
	HasMore bool `json:"has_more"`
	// What kind of resource this is.
	Object string `json:"object"`
	// The provider's name.
	Provider string `json:"provider"`
	// Whose time it is.
	ProviderID string `json:"provider_id"`
	// How far they lie apart.
	SlotMinutes int64 `json:"slot_minutes"`
	// What is free, oldest first.
	Slots []Slot `json:"slots"`
	// In which local_start is told.
	Timezone string `json:"timezone"`
	// Until when.
	To time.Time `json:"to"`
}

// CancelAppointmentRequest is sent to the service.
type CancelAppointmentRequest struct {
	// Kept as cancel_reason; 500 characters at most.
	Reason *string `json:"reason,omitempty"`
}

// ListAppointment is an answer of the service, or a part of one.
type ListAppointment struct {
	// The rows of this page.
	Data []Appointment `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// ListProvider is an answer of the service, or a part of one.
type ListProvider struct {
	// The rows of this page.
	Data []Provider `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// NewAppointment is sent to the service.
type NewAppointment struct {
	// The call in which it was made.
	CallID *string `json:"call_id,omitempty"`
	// RFC 3339 with an offset; without one, as clocks in timezone show it. A time that these never show, or twice, is 422.
	Datetime string `json:"datetime"`
	// The provider's slot_minutes (30) unless said.
	DurationMinutes *int64 `json:"duration_minutes,omitempty"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Yours, for people; 2000 characters at most.
	Notes *string `json:"notes,omitempty"`
	// For whom it is.
	Patient NewPatient `json:"patient"`
	// The id or the name of a provider.
	Provider string `json:"provider"`
	// How the patient is reminded; as the provider says unless said. An empty list: not at all.
	Reminders []NewReminder `json:"reminders,omitzero"`
	// confirmed: the patient has said so already. One of booked, confirmed.
	Status *string `json:"status,omitempty"`
	// In which the time is meant and told; the provider's unless said.
	Timezone *string `json:"timezone,omitempty"`
	// What it is about, in your words.
	Type *string `json:"type,omitempty"`
}

// NewPatient is sent to the service.
type NewPatient struct {
	// For people.
	Name string `json:"name"`
	// Best in E.164.
	Phone string `json:"phone"`
}

// NewProvider is sent to the service.
type NewProvider struct {
	// Days (YYYY-MM-DD, in the zone) without any hours.
	ExcludedDates []string `json:"excluded_dates,omitzero"`
	// Opening hours by lowercase weekday; days that are not named are closed. Monday to Friday, 09:00 to 17:00, unless said.
	Hours map[string][]NewSpan `json:"hours,omitzero"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Unique among the providers.
	Name string `json:"name"`
	// Within which patients are reminded; 08:00 to 21:00 unless said.
	ReminderHours *NewReminderHours `json:"reminder_hours,omitempty"`
	// How patients are reminded whose appointment says nothing else; 5 at most. Appointments that there are keep theirs.
	Reminders []NewReminder `json:"reminders,omitzero"`
	// How far free times lie apart, and how long an appointment takes unless it says otherwise; 30 unless said.
	SlotMinutes *int64 `json:"slot_minutes,omitempty"`
	// In which hours and times without an offset are meant; UTC unless said.
	Timezone *string `json:"timezone,omitempty"`
}

// NewReminder is sent to the service.
type NewReminder struct {
	// call: who calls; required. Its variables are those of body, and name.
	AgentID *string `json:"agent_id,omitempty"`
	// sms: its text; one of ours unless said. {{patient_name}}, {{provider}}, {{date}}, {{time}}, {{type}}, {{datetime}} and {{appointment_id}} stand for what the appointment says.
	Body *string `json:"body,omitempty"`
	// sms: a text message; call: an agent calls. One of sms, call.
	Channel string `json:"channel"`
	// The number shown; the workspace's unless said.
	From *string `json:"from,omitempty"`
	// The appointment.
	MinutesBefore int64 `json:"minutes_before"`
}

// NewReminderHours is sent to the service.
type NewReminderHours struct {
	// HH:MM, up to 24:00.
	End *string `json:"end,omitempty"`
	// HH:MM, as clocks in the appointment's zone show it.
	Start *string `json:"start,omitempty"`
}

// NewSpan is sent to the service.
type NewSpan struct {
	// HH:MM, up to 24:00. What runs over midnight takes two days.
	End string `json:"end"`
	// HH:MM, as clocks in the provider's zone show it.
	Start string `json:"start"`
}

// OpenSpan is an answer of the service, or a part of one.
type OpenSpan struct {
	// HH:MM, up to 24:00.
	End string `json:"end"`
	// HH:MM.
	Start string `json:"start"`
}

// PatientUpdate is sent to the service.
type PatientUpdate struct {
	// For people.
	Name *string `json:"name,omitempty"`
	// Best in E.164.
	Phone *string `json:"phone,omitempty"`
}

// Provider is an answer of the service, or a part of one.
type Provider struct {
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// Days without any hours.
	ExcludedDates []string `json:"excluded_dates"`
	// Opening hours by weekday, as clocks in its zone show them.
	Hours map[string][]OpenSpan `json:"hours"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name string `json:"name"`
	// What kind of resource this is.
	Object string `json:"object"`
	// Within which patients are reminded, in the appointment's zone; 08:00 to 21:00 without.
	ReminderHours *ReminderHours `json:"reminder_hours,omitempty"`
	// How patients are reminded whose appointment says nothing else.
	Reminders []Reminder `json:"reminders,omitzero"`
	// How far free times lie apart, and how long an appointment takes unless it says otherwise.
	SlotMinutes int64 `json:"slot_minutes"`
	// In which its hours are meant.
	Timezone string `json:"timezone"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// ProviderUpdate is sent to the service.
type ProviderUpdate struct {
	// Days (YYYY-MM-DD, in the zone) without any hours.
	ExcludedDates Optional[[]string] `json:"excluded_dates,omitzero"`
	// Opening hours by lowercase weekday; days that are not named are closed. Monday to Friday, 09:00 to 17:00, unless said.
	Hours Optional[map[string][]NewSpan] `json:"hours,omitzero"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata Optional[map[string]*string] `json:"metadata,omitzero"`
	// Unique among the providers.
	Name *string `json:"name,omitempty"`
	// Within which patients are reminded; 08:00 to 21:00 unless said.
	ReminderHours Optional[ReminderHoursUpdate] `json:"reminder_hours,omitzero"`
	// How patients are reminded whose appointment says nothing else; 5 at most. Appointments that there are keep theirs.
	Reminders Optional[[]NewReminder] `json:"reminders,omitzero"`
	// How far free times lie apart, and how long an appointment takes unless it says otherwise; 30 unless said.
	SlotMinutes Optional[int64] `json:"slot_minutes,omitzero"`
	// In which hours and times without an offset are meant; UTC unless said.
	Timezone Optional[string] `json:"timezone,omitzero"`
}

// Reminder is an answer of the service, or a part of one.
type Reminder struct {
	// Who calls.
	AgentID string `json:"agent_id,omitzero"`
	// The text, before it is filled in; empty: one of ours.
	Body string `json:"body,omitzero"`
	// sms or call.
	Channel string `json:"channel"`
	// The number shown, where it is not the workspace's first.
	From string `json:"from,omitzero"`
	// How long before the appointment.
	MinutesBefore int64 `json:"minutes_before"`
}

// ReminderHours is an answer of the service, or a part of one.
type ReminderHours struct {
	// HH:MM, up to 24:00.
	End string `json:"end"`
	// HH:MM.
	Start string `json:"start"`
}

// ReminderHoursUpdate is sent to the service.
type ReminderHoursUpdate struct {
	// HH:MM, up to 24:00.
	End Optional[string] `json:"end,omitzero"`
	// HH:MM, as clocks in the appointment's zone show it.
	Start Optional[string] `json:"start,omitzero"`
}

// RescheduleRequest is sent to the service.
type RescheduleRequest struct {
	// As when it is made.
	Datetime string `json:"datetime"`
	// As it was unless said.
	DurationMinutes *int64 `json:"duration_minutes,omitempty"`
	// As it was unless said.
	Provider *string `json:"provider,omitempty"`
	// As it was unless said.
	Timezone *string `json:"timezone,omitempty"`
}

// Slot is an answer of the service, or a part of one.
type Slot struct {
	// When it ends.
	End time.Time `json:"end"`
	// When it begins, as clocks in timezone show it.
	LocalStart string `json:"local_start"`
	// When it begins.
	Start time.Time `json:"start"`
}
