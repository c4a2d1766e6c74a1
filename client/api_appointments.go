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

// ListAppointmentsQuery holds the query parameters of ListAppointments. Zero values are not sent.
type ListAppointmentsQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the previous page.
	Cursor string
	// Only resources created after this time.
	CreatedAfter time.Time
	// Only resources created before this time.
	CreatedBefore time.Time
	// Filters by status.
	Status string
	// Filters by provider id or name.
	Provider string
	// Filters by the patient's number.
	PatientPhone string
	// Filters by the call in which the appointment was booked.
	CallID string
	// Only appointments that start at this time or later.
	From time.Time
	// Only appointments that start before this time.
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

// AllAppointments iterates over all pages of ListAppointments. It ends after the first error.
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
// The time must be within the provider's hours and free, otherwise 409 slot_unavailable with a reason (booked or closed) and next_available. Of concurrent bookings of a time, one succeeds.
func (c *Client) BookAppointment(ctx context.Context, body *NewAppointment, options ...Option) (*Appointment, error) {
	return send[Appointment](ctx, c, "POST", "/v1/appointments", nil, asJSON(body), options)
}

// GetAvailabilityQuery holds the query parameters of GetAvailability. Zero values are not sent.
type GetAvailabilityQuery struct {
	// The id or the name of the provider.
	Provider string
	// A time (RFC 3339, or local time in timezone without an offset) or a day (YYYY-MM-DD). Default: now.
	From string
	// Exclusive end in the format of from, at most 62 days later. Default: a week later.
	To string
	// Time zone of from, to and local_start. Default: the provider's.
	Timezone string
	// Duration of the appointment. Default: slot_minutes of the provider.
	DurationMinutes int64
	// Maximum number of times.
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

// GetAvailability: List the free times of a provider.
//
// GET /v1/appointments/availability
//
// Earliest first, from now on. A free time may be booked by another client in the meantime. The booking is then 409 slot_unavailable.
func (c *Client) GetAvailability(ctx context.Context, q GetAvailabilityQuery, options ...Option) (*Availability, error) {
	return send[Availability](ctx, c, "GET", "/v1/appointments/availability", q.values(), nil, options)
}

// DeleteAppointment: Delete an appointment.
//
// DELETE /v1/appointments/{id}
//
// An open appointment is cancelled first. Its events, with name and number, remain in the event log until the workspace is deleted.
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

// GetAppointmentCalendar: Get an appointment as an iCalendar file.
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
// The time becomes free. Repeating it has no effect.
func (c *Client) CancelAppointment(ctx context.Context, id string, body *CancelAppointmentRequest, options ...Option) (*Appointment, error) {
	return send[Appointment](ctx, c, "POST", "/v1/appointments/"+url.PathEscape(id)+"/cancel", nil, asJSON(body), options)
}

// ConfirmAppointment: Confirm an appointment.
//
// POST /v1/appointments/{id}/confirm
//
// Repeating it has no effect. 409 invalid_state for an ended or cancelled appointment.
func (c *Client) ConfirmAppointment(ctx context.Context, id string, options ...Option) (*Appointment, error) {
	return send[Appointment](ctx, c, "POST", "/v1/appointments/"+url.PathEscape(id)+"/confirm", nil, nil, options)
}

// RescheduleAppointment: Move an appointment.
//
// POST /v1/appointments/{id}/reschedule
//
// Moves it within the calendar of its provider or to another provider. 409 slot_unavailable changes nothing. The status becomes booked, because the new time is not confirmed.
func (c *Client) RescheduleAppointment(ctx context.Context, id string, body *RescheduleRequest, options ...Option) (*Appointment, error) {
	return send[Appointment](ctx, c, "POST", "/v1/appointments/"+url.PathEscape(id)+"/reschedule", nil, asJSON(body), options)
}

// ListProvidersQuery holds the query parameters of ListProviders. Zero values are not sent.
type ListProvidersQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the previous page.
	Cursor string
	// Only resources created after this time.
	CreatedAfter time.Time
	// Only resources created before this time.
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

// AllProviders iterates over all pages of ListProviders. It ends after the first error.
func (c *Client) AllProviders(ctx context.Context, q ListProvidersQuery, options ...Option) iter.Seq2[Provider, error] {
	return pages(&q.Cursor, func() ([]Provider, *string, error) {
		l, err := c.ListProviders(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// CreateProvider: Create a provider.
//
// POST /v1/providers
//
// A provider has one appointment at a time. Its hours are local times, also across changes to and from daylight saving time.
func (c *Client) CreateProvider(ctx context.Context, body *NewProvider, options ...Option) (*Provider, error) {
	return send[Provider](ctx, c, "POST", "/v1/providers", nil, asJSON(body), options)
}

// DeleteProvider: Delete a provider.
//
// DELETE /v1/providers/{id}
//
// 409 invalid_state while the provider has a future appointment. Past appointments remain.
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
// Existing appointments do not change.
func (c *Client) UpdateProvider(ctx context.Context, id string, body *ProviderUpdate, options ...Option) (*Provider, error) {
	return send[Provider](ctx, c, "PATCH", "/v1/providers/"+url.PathEscape(id), nil, asJSON(body), options)
}

// Appointment is part of a response.
type Appointment struct {
	// The same as id.
	AppointmentID string `json:"appointment_id"`
	// The id of the call.
	CallID string `json:"call_id,omitzero"`
	// Reason of the cancellation.
	CancelReason string `json:"cancel_reason,omitzero"`
	// When the appointment was cancelled.
	CancelledAt *time.Time `json:"cancelled_at"`
	// When the patient confirmed this time.
	ConfirmedAt *time.Time `json:"confirmed_at"`
	// When the resource was created.
	CreatedAt time.Time `json:"created_at"`
	// Start time.
	Datetime time.Time `json:"datetime"`
	// Duration.
	DurationMinutes int64 `json:"duration_minutes"`
	// End time.
	EndsAt time.Time `json:"ends_at"`
	// live or test. The environments are separate.
	Environment string `json:"environment"`
	// Unique id. It never changes and is never reused.
	ID string `json:"id"`
	// Start time in timezone.
	LocalDatetime string `json:"local_datetime"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// How often the appointment was moved.
	Moves int64 `json:"moves"`
	// Notes for people.
	Notes string `json:"notes,omitzero"`
	// The type of the resource.
	Object string `json:"object"`
	// The patient.
	Patient Patient `json:"patient"`
	// Name of the provider at the time of booking.
	Provider string `json:"provider"`
	// The id of the provider.
	ProviderID string `json:"provider_id"`
	// Reminders of the patient, in order of their due time.
	Reminders []AppointmentReminder `json:"reminders,omitzero"`
	// Number of changes, as in the SEQUENCE of its iCalendar file.
	Sequence int64 `json:"sequence"`
	// booked, confirmed, cancelled, completed or no_show. One of booked, confirmed, cancelled, completed, no_show.
	Status string `json:"status"`
	// Time zone of local_datetime.
	Timezone string `json:"timezone"`
	// Kind of appointment, in your words.
	Type string `json:"type"`
	// When the resource was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// The workspace of the resource.
	WorkspaceID string `json:"workspace_id"`
}

// AppointmentReminder is part of a response.
type AppointmentReminder struct {
	// Agent of a call reminder.
	AgentID string `json:"agent_id,omitzero"`
	// Text with variables; empty: a standard text.
	Body string `json:"body,omitzero"`
	// The call of the reminder.
	CallID string `json:"call_id,omitzero"`
	// sms or call.
	Channel string `json:"channel"`
	// When the reminder is sent.
	DueAt time.Time `json:"due_at"`
	// Caller ID or sender, if it is not the first number of the workspace.
	From string `json:"from,omitzero"`
	// The message of the reminder.
	MessageID string `json:"message_id,omitzero"`
	// Minutes before the appointment.
	MinutesBefore int64 `json:"minutes_before"`
	// Why the reminder was skipped (too_late) or failed (an error code).
	Reason string `json:"reason,omitzero"`
	// When the message was queued or the call was placed.
	SentAt *time.Time `json:"sent_at"`
	// scheduled, sent, skipped (too late), failed, or cancelled with the appointment. One of scheduled, sent, skipped, failed, cancelled.
	Status string `json:"status"`
}

// AppointmentUpdate is part of a request.
type AppointmentUpdate struct {
	// The call in which the appointment was booked.
	CallID Optional[string] `json:"call_id,omitzero"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata Optional[map[string]*string] `json:"metadata,omitzero"`
	// Notes for people, at most 2000 characters.
	Notes Optional[string] `json:"notes,omitzero"`
	// The patient.
	Patient Optional[PatientUpdate] `json:"patient,omitzero"`
	// Replace all reminders, sent or not. null: the reminders of the provider.
	Reminders Optional[[]NewReminder] `json:"reminders,omitzero"`
	// Result of an appointment that has started. Other states have their own routes. One of completed, no_show.
	Status *string `json:"status,omitempty"`
	// Kind of appointment, in your words.
	Type Optional[string] `json:"type,omitzero"`
}

// Availability is part of a response.
type Availability struct {
	// Duration of each slot.
	DurationMinutes int64 `json:"duration_minutes"`
	// Start of the searched period.
	From time.Time `json:"from"`
	// true if the period has more free slots.
	HasMore bool `json:"has_more"`
	// The type of the resource.
	Object string `json:"object"`
	// Name of the provider.
	Provider string `json:"provider"`
	// The id of the provider.
	ProviderID string `json:"provider_id"`
	// Interval between slots.
	SlotMinutes int64 `json:"slot_minutes"`
	// Free slots, earliest first.
	Slots []Slot `json:"slots"`
	// Time zone of local_start.
	Timezone string `json:"timezone"`
	// End of the searched period.
	To time.Time `json:"to"`
}

// CancelAppointmentRequest is part of a request.
type CancelAppointmentRequest struct {
	// Reason, stored as cancel_reason, at most 500 characters.
	Reason *string `json:"reason,omitempty"`
}

// ListAppointment is part of a response.
type ListAppointment struct {
	// The resources of this page.
	Data []Appointment `json:"data"`
	// true if there is another page.
	HasMore bool `json:"has_more"`
	// Cursor of the next page; null on the last page.
	NextCursor *string `json:"next_cursor"`
	// The type of the resource. One of list.
	Object string `json:"object"`
}

// ListProvider is part of a response.
type ListProvider struct {
	// The resources of this page.
	Data []Provider `json:"data"`
	// true if there is another page.
	HasMore bool `json:"has_more"`
	// Cursor of the next page; null on the last page.
	NextCursor *string `json:"next_cursor"`
	// The type of the resource. One of list.
	Object string `json:"object"`
}

// NewAppointment is part of a request.
type NewAppointment struct {
	// The call in which the appointment was booked.
	CallID *string `json:"call_id,omitempty"`
	// RFC 3339 with an offset, or local time in timezone without an offset. A local time that does not exist, or exists twice, is 422.
	Datetime string `json:"datetime"`
	// Default: slot_minutes of the provider (30).
	DurationMinutes *int64 `json:"duration_minutes,omitempty"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Notes for people, at most 2000 characters.
	Notes *string `json:"notes,omitempty"`
	// The patient.
	Patient NewPatient `json:"patient"`
	// The id or the name of a provider.
	Provider string `json:"provider"`
	// Reminders of the patient. Default: the reminders of the provider. []: no reminders.
	Reminders []NewReminder `json:"reminders,omitzero"`
	// confirmed if the patient has already confirmed. One of booked, confirmed.
	Status *string `json:"status,omitempty"`
	// Time zone of the appointment. Default: the provider's.
	Timezone *string `json:"timezone,omitempty"`
	// Kind of appointment, in your words.
	Type *string `json:"type,omitempty"`
}

// NewPatient is part of a request.
type NewPatient struct {
	// Name of the patient.
	Name string `json:"name"`
	// The number, preferably in E.164.
	Phone string `json:"phone"`
}

// NewProvider is part of a request.
type NewProvider struct {
	// Closed days (YYYY-MM-DD in the time zone of the provider).
	ExcludedDates []string `json:"excluded_dates,omitzero"`
	// Opening hours by lowercase weekday. Missing days are closed. Default: Monday to Friday, 09:00 to 17:00.
	Hours map[string][]NewSpan `json:"hours,omitzero"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Name, unique in the workspace.
	Name string `json:"name"`
	// Daily window for reminders. Default: 08:00 to 21:00.
	ReminderHours *NewReminderHours `json:"reminder_hours,omitempty"`
	// Default reminders of appointments, at most 5. Existing appointments keep theirs.
	Reminders []NewReminder `json:"reminders,omitzero"`
	// Interval between free times, and default duration of an appointment. Default: 30.
	SlotMinutes *int64 `json:"slot_minutes,omitempty"`
	// Time zone of hours and of times without an offset. Default: UTC.
	Timezone *string `json:"timezone,omitempty"`
}

// NewReminder is part of a request.
type NewReminder struct {
	// Agent of a call reminder; required for call. It gets the variables of body, and name.
	AgentID *string `json:"agent_id,omitempty"`
	// Text of an sms reminder. Default: a standard text. {{patient_name}}, {{provider}}, {{date}}, {{time}}, {{type}}, {{datetime}} and {{appointment_id}} insert values of the appointment.
	Body *string `json:"body,omitempty"`
	// sms: a text message. call: a call by an agent. One of sms, call.
	Channel string `json:"channel"`
	// Caller ID or sender. Default: a number of the workspace.
	From *string `json:"from,omitempty"`
	// Minutes before the appointment.
	MinutesBefore int64 `json:"minutes_before"`
}

// NewReminderHours is part of a request.
type NewReminderHours struct {
	// HH:MM, up to 24:00.
	End *string `json:"end,omitempty"`
	// HH:MM in the appointment's time zone.
	Start *string `json:"start,omitempty"`
}

// NewSpan is part of a request.
type NewSpan struct {
	// HH:MM, up to 24:00. An interval over midnight needs two entries.
	End string `json:"end"`
	// HH:MM in the provider's time zone.
	Start string `json:"start"`
}

// OpenSpan is part of a response.
type OpenSpan struct {
	// HH:MM, up to 24:00.
	End string `json:"end"`
	// HH:MM.
	Start string `json:"start"`
}

// PatientUpdate is part of a request.
type PatientUpdate struct {
	// Name of the patient.
	Name *string `json:"name,omitempty"`
	// The number, preferably in E.164.
	Phone *string `json:"phone,omitempty"`
}

// Provider is part of a response.
type Provider struct {
	// When the resource was created.
	CreatedAt time.Time `json:"created_at"`
	// live or test. The environments are separate.
	Environment string `json:"environment"`
	// Closed days.
	ExcludedDates []string `json:"excluded_dates"`
	// Opening hours by weekday, in local time.
	Hours map[string][]OpenSpan `json:"hours"`
	// Unique id. It never changes and is never reused.
	ID string `json:"id"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Name for people.
	Name string `json:"name"`
	// The type of the resource.
	Object string `json:"object"`
	// Daily window for reminders in the zone of the appointment. Default: 08:00 to 21:00.
	ReminderHours *ReminderHours `json:"reminder_hours,omitempty"`
	// Default reminders of appointments.
	Reminders []Reminder `json:"reminders,omitzero"`
	// Interval between free times, and default duration of an appointment.
	SlotMinutes int64 `json:"slot_minutes"`
	// Time zone of the hours.
	Timezone string `json:"timezone"`
	// When the resource was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// The workspace of the resource.
	WorkspaceID string `json:"workspace_id"`
}

// ProviderUpdate is part of a request.
type ProviderUpdate struct {
	// Closed days (YYYY-MM-DD in the time zone of the provider).
	ExcludedDates Optional[[]string] `json:"excluded_dates,omitzero"`
	// Opening hours by lowercase weekday. Missing days are closed. Default: Monday to Friday, 09:00 to 17:00.
	Hours Optional[map[string][]NewSpan] `json:"hours,omitzero"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata Optional[map[string]*string] `json:"metadata,omitzero"`
	// Name, unique in the workspace.
	Name *string `json:"name,omitempty"`
	// Daily window for reminders. Default: 08:00 to 21:00.
	ReminderHours Optional[ReminderHoursUpdate] `json:"reminder_hours,omitzero"`
	// Default reminders of appointments, at most 5. Existing appointments keep theirs.
	Reminders Optional[[]NewReminder] `json:"reminders,omitzero"`
	// Interval between free times, and default duration of an appointment. Default: 30.
	SlotMinutes Optional[int64] `json:"slot_minutes,omitzero"`
	// Time zone of hours and of times without an offset. Default: UTC.
	Timezone Optional[string] `json:"timezone,omitzero"`
}

// Reminder is part of a response.
type Reminder struct {
	// Agent of a call reminder.
	AgentID string `json:"agent_id,omitzero"`
	// Text with variables; empty: a standard text.
	Body string `json:"body,omitzero"`
	// sms or call.
	Channel string `json:"channel"`
	// Caller ID or sender, if it is not the first number of the workspace.
	From string `json:"from,omitzero"`
	// Minutes before the appointment.
	MinutesBefore int64 `json:"minutes_before"`
}

// ReminderHours is part of a response.
type ReminderHours struct {
	// HH:MM, up to 24:00.
	End string `json:"end"`
	// HH:MM.
	Start string `json:"start"`
}

// ReminderHoursUpdate is part of a request.
type ReminderHoursUpdate struct {
	// HH:MM, up to 24:00.
	End Optional[string] `json:"end,omitzero"`
	// HH:MM in the appointment's time zone.
	Start Optional[string] `json:"start,omitzero"`
}

// RescheduleRequest is part of a request.
type RescheduleRequest struct {
	// The new time, in the format of a booking.
	Datetime string `json:"datetime"`
	// Default: unchanged.
	DurationMinutes *int64 `json:"duration_minutes,omitempty"`
	// The id or the name of a provider. Default: unchanged.
	Provider *string `json:"provider,omitempty"`
	// Default: unchanged.
	Timezone *string `json:"timezone,omitempty"`
}

// Slot is part of a response.
type Slot struct {
	// End time.
	End time.Time `json:"end"`
	// Start time in timezone.
	LocalStart string `json:"local_start"`
	// Start time.
	Start time.Time `json:"start"`
}
