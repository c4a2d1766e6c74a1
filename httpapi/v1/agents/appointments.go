package agents

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/booking"
	"github.com/callboard/callboard/domain/validation"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/service/appointments"
	"github.com/callboard/callboard/service/record"
)

// Appointments books and changes appointments with providers.
type Appointments interface {
	// Book books an appointment. Of several concurrent bookings of a time, one succeeds. Error: slot_unavailable with the
	// fields reason (booked or closed) and next_available.
	Book(ctx context.Context, p domain.Principal, o booking.NewAppointment) (*domain.Appointment, error)
	Appointment(ctx context.Context, p domain.Principal, id string) (*domain.Appointment, error)
	ListAppointments(ctx context.Context, p domain.Principal, q appointments.Query) (record.Page[*domain.Appointment], error)
	// UpdateAppointment changes an appointment, but not its time. It also records whether the appointment took place.
	UpdateAppointment(ctx context.Context, p domain.Principal, id string, change func(*domain.Appointment) error) (*domain.Appointment, error)
	// ConfirmAppointment, CancelAppointment and RescheduleAppointment return the appointment, also if it already has the
	// requested status. Error: invalid_state with the fields current_status and allowed_from.
	ConfirmAppointment(ctx context.Context, p domain.Principal, id string) (*domain.Appointment, error)
	CancelAppointment(ctx context.Context, p domain.Principal, id, reason string) (*domain.Appointment, error)
	RescheduleAppointment(ctx context.Context, p domain.Principal, id string, to booking.Reschedule) (*domain.Appointment, error)
	// DeleteAppointment deletes an appointment. The events about the appointment remain.
	DeleteAppointment(ctx context.Context, p domain.Principal, id string) error
}

// appointmentHandlers serves the operations on appointments.
type appointmentHandlers struct {
	*router.Router

	appointments Appointments
	providers    Providers
}

// NewPatient is the patient of an appointment in a request body.
type NewPatient struct {
	Name  string `json:"name" example:"Ada Lovelace"`
	Phone string `json:"phone" doc:"The number, preferably in E.164." example:"+12025550123"`
}

// NewAppointment is an appointment in a request body.
type NewAppointment struct {
	Patient         NewPatient        `json:"patient"`
	Provider        string            `json:"provider" minLength:"1" maxLength:"200" doc:"The id or the name of a provider." example:"Dr. Rivera"`
	Datetime        string            `json:"datetime" maxLength:"40" doc:"RFC 3339 with an offset, or local time in timezone without an offset. A local time that does not exist, or exists twice, is 422." example:"2030-04-01T09:30:00-04:00"`
	Timezone        string            `json:"timezone,omitempty" doc:"Time zone of the appointment. Default: the provider's." example:"America/New_York"`
	DurationMinutes int               `json:"duration_minutes,omitempty" minimum:"5" maximum:"720" doc:"Default: slot_minutes of the provider (30)."`
	Type            string            `json:"type,omitempty" doc:"Kind of appointment, in your words." example:"consultation"`
	CallID          string            `json:"call_id,omitempty" doc:"The call in which the appointment was booked."`
	Notes           string            `json:"notes,omitempty"`
	Status          string            `json:"status,omitempty" enum:"booked,confirmed" default:"booked" doc:"confirmed if the patient has already confirmed."`
	Reminders       []NewReminder     `json:"reminders,omitempty" nullable:"false" doc:"Reminders of the patient. Default: the reminders of the provider. []: no reminders."`
	Metadata        map[string]string `json:"metadata,omitempty"`
}

// AppointmentUpdate holds the members that a PATCH of an appointment can change.
type AppointmentUpdate struct {
	Patient   NewPatient        `json:"patient"`
	Type      string            `json:"type,omitempty"`
	CallID    string            `json:"call_id,omitempty"`
	Notes     string            `json:"notes,omitempty"`
	Status    string            `json:"status" enum:"completed,no_show" doc:"Result of an appointment that has started. Other states have their own routes."`
	Reminders []NewReminder     `json:"reminders,omitempty" nullable:"false" doc:"Replace all reminders, sent or not. null: the reminders of the provider."`
	Metadata  map[string]string `json:"metadata,omitempty"`
}

// changeAppointment applies a patch to an appointment and validates the result. If the patch does not contain
// reminders, the stored reminders keep their delivery state.
func (s *appointmentHandlers) changeAppointment(ctx context.Context, p domain.Principal, patch *router.Patch[AppointmentUpdate], country string) func(*domain.Appointment) error {
	return router.PatchFunc(s.Registry, patch, func(n *AppointmentUpdate, a *domain.Appointment) error {
		a.Patient, a.Type, a.CallID, a.Notes, a.Metadata = domain.Patient(n.Patient), n.Type, n.CallID, n.Notes, n.Metadata
		a.Status = domain.AppointmentStatus(n.Status)
		var problems domain.Problems
		if patch.Has("reminders") {
			reminders := remindersOf(n.Reminders, &problems)
			if n.Reminders == nil {
				provider, err := s.providers.Provider(ctx, p, a.ProviderID)
				if err != nil {
					return err
				}
				reminders = provider.Reminders
			}
			a.Reminders = nil
			for _, r := range reminders {
				a.Reminders = append(a.Reminders, domain.AppointmentReminder{Channel: r.Channel, MinutesBefore: r.MinutesBefore, Body: r.Body, AgentID: r.AgentID, From: r.From})
			}
		}
		validation.Appointment(&problems, a, country)
		return problems.Err()
	})
}

// CancelAppointmentRequest is the request body with the reason for which an appointment is cancelled.
type CancelAppointmentRequest struct {
	Reason string `json:"reason,omitempty" example:"The patient is away."`
}

// RescheduleRequest is the request body with the new time of an appointment.
type RescheduleRequest struct {
	Datetime        string `json:"datetime" maxLength:"40" doc:"The new time, in the format of a booking." example:"2030-04-02T10:00:00-04:00"`
	Timezone        string `json:"timezone,omitempty" doc:"Default: unchanged."`
	Provider        string `json:"provider,omitempty" maxLength:"200" doc:"The id or the name of a provider. Default: unchanged."`
	DurationMinutes int    `json:"duration_minutes,omitempty" minimum:"5" maximum:"720" doc:"Default: unchanged."`
}

// registerAppointments registers the routes for appointments.
func registerAppointments(r *router.Router, appointments Appointments, providers Providers) {
	s := &appointmentHandlers{Router: r, appointments: appointments, providers: providers}
	const tag, path = "Appointments", "/v1/appointments"
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path, ID: "bookAppointment", Tag: tag, Status: http.StatusCreated, Summary: "Book an appointment",
		Description: "The time must be within the provider's hours and free, otherwise 409 slot_unavailable with a reason (booked or closed) and next_available. Of concurrent bookings of a time, one succeeds.",
	}, s.book)
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path, ID: "listAppointments", Tag: tag, Summary: "List appointments", Errors: []int{http.StatusUnprocessableEntity}}, s.listAppointments)
	one := func(method, path, id, summary, about string, do func(Appointments, context.Context, domain.Principal, string) (*domain.Appointment, error)) {
		op := router.Operation{Method: method, Path: path, ID: id, Tag: tag, Summary: summary, Description: about}
		router.Add(s.Router, op, router.HandleByID(domain.PrefixAppointment, s.appointments, do, router.Identity))
	}
	one(http.MethodGet, path+"/{id}", "getAppointment", "Get an appointment", "", Appointments.Appointment)
	one(http.MethodPost, path+"/{id}/confirm", "confirmAppointment", "Confirm an appointment", "Repeating it has no effect. 409 invalid_state for an ended or cancelled appointment.", Appointments.ConfirmAppointment)
	router.Add(s.Router, router.Operation{Method: http.MethodPatch, Path: path + "/{id}", ID: "updateAppointment", Tag: tag, Summary: "Change an appointment without moving it"},
		func(ctx context.Context, p domain.Principal, in *struct {
			router.IDParam
			Body router.Patch[AppointmentUpdate]
		},
		) (*router.Response[*domain.Appointment], error) {
			id, err := router.PathID(domain.PrefixAppointment, in.ID)
			if err != nil {
				return nil, err
			}
			w, err := s.Workspace(ctx, p)
			if err != nil {
				return nil, err
			}
			return router.Respond(s.appointments.UpdateAppointment(ctx, p, id, s.changeAppointment(ctx, p, &in.Body, w.DefaultCountry)))
		})
	router.Add(s.Router, router.Operation{Method: http.MethodPost, Path: path + "/{id}/cancel", ID: "cancelAppointment", Tag: tag, Summary: "Cancel an appointment", Description: "The time becomes free. Repeating it has no effect."},
		func(ctx context.Context, p domain.Principal, in *struct {
			router.IDParam
			Body *CancelAppointmentRequest
		},
		) (*router.Response[*domain.Appointment], error) {
			id, err := router.PathID(domain.PrefixAppointment, in.ID)
			if err != nil {
				return nil, err
			}
			reason := ""
			if in.Body != nil {
				reason = in.Body.Reason
			}
			var problems domain.Problems
			validation.Prose(&problems, "reason", reason, validation.MaxReason)
			if err = problems.Err(); err != nil {
				return nil, err
			}
			return router.Respond(s.appointments.CancelAppointment(ctx, p, id, reason))
		})
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path + "/{id}/reschedule", ID: "rescheduleAppointment", Tag: tag, Summary: "Move an appointment",
		Description: "Moves it within the calendar of its provider or to another provider. 409 slot_unavailable changes nothing. The status becomes booked, because the new time is not confirmed.",
	}, s.reschedule)
	router.Add(s.Router, router.Operation{Method: http.MethodDelete, Path: path + "/{id}", ID: "deleteAppointment", Tag: tag, Summary: "Delete an appointment", Description: "An open appointment is cancelled first. Its events, with name and number, remain in the event log until the workspace is deleted.", Errors: []int{http.StatusConflict}},
		router.HandleDeleteByID(domain.PrefixAppointment, "appointment", s.appointments, Appointments.DeleteAppointment))
	s.AddRaw(router.Operation{Method: http.MethodGet, Path: path + "/{id}/calendar.ics", ID: "getAppointmentCalendar", Tag: tag, Summary: "Get an appointment as an iCalendar file"},
		func(h *huma.Operation) {
			h.Responses["200"] = router.DescribeResponse("RFC 5545.", mimeICS, &huma.Schema{Type: huma.TypeString})
		}, s.appointmentICS)
}

const mimeICS = "text/calendar"

func (s *appointmentHandlers) appointmentICS(c *fiber.Ctx) error {
	id, err := router.PathID(domain.PrefixAppointment, c.Params("id"))
	if err != nil {
		return err
	}
	ctx := c.UserContext()
	a, err := s.appointments.Appointment(ctx, router.RequestOf(ctx).Principal, id)
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, mimeICS+"; charset=utf-8")
	c.Set(fiber.HeaderContentDisposition, `attachment; filename="`+a.ID+`.ics"`)
	return c.SendString(booking.FormatICS(a, time.Now()))
}

func (s *appointmentHandlers) book(ctx context.Context, p domain.Principal, in *struct{ Body NewAppointment }) (*router.Response[*domain.Appointment], error) {
	w, err := s.Workspace(ctx, p)
	if err != nil {
		return nil, err
	}
	order, err := in.Body.newAppointment(w.DefaultCountry)
	if err != nil {
		return nil, err
	}
	booked, err := s.appointments.Book(ctx, p, order)
	return router.RespondCreated(ctx, booked, err)
}

// newAppointment returns the appointment that the request body describes, or its validation errors. country is assumed
// for telephone numbers without a country code.
func (n *NewAppointment) newAppointment(country string) (booking.NewAppointment, error) {
	a := &domain.Appointment{Patient: domain.Patient(n.Patient), Type: n.Type, CallID: n.CallID, Notes: n.Notes}
	a.Metadata = n.Metadata
	var problems domain.Problems
	validation.Appointment(&problems, a, country)
	validation.Text(&problems, "provider", n.Provider, true, validation.MaxName)
	validation.Text(&problems, "datetime", n.Datetime, true, 40)
	if n.Timezone != "" {
		validation.Zone(&problems, "timezone", n.Timezone)
	}
	var reminders *[]domain.Reminder
	if n.Reminders != nil {
		all := remindersOf(n.Reminders, &problems)
		reminders = &all
	}
	return booking.NewAppointment{
		Patient: a.Patient, Provider: n.Provider, Datetime: n.Datetime, Timezone: n.Timezone, Minutes: n.DurationMinutes,
		Type: a.Type, CallID: a.CallID, Notes: a.Notes, Confirmed: n.Status == string(domain.AppointmentConfirmed), Metadata: n.Metadata, Reminders: reminders,
	}, problems.Err()
}

func (s *appointmentHandlers) reschedule(ctx context.Context, p domain.Principal, in *struct {
	router.IDParam
	Body RescheduleRequest
},
) (*router.Response[*domain.Appointment], error) {
	id, err := router.PathID(domain.PrefixAppointment, in.ID)
	if err != nil {
		return nil, err
	}
	b := &in.Body
	var problems domain.Problems
	validation.Text(&problems, "datetime", b.Datetime, true, 40)
	if b.Timezone != "" {
		validation.Zone(&problems, "timezone", b.Timezone)
	}
	if err = problems.Err(); err != nil {
		return nil, err
	}
	return router.Respond(s.appointments.RescheduleAppointment(ctx, p, id, booking.Reschedule{
		Datetime: b.Datetime, Timezone: b.Timezone, Provider: b.Provider, Minutes: b.DurationMinutes,
	}))
}

func (s *appointmentHandlers) listAppointments(ctx context.Context, p domain.Principal, in *struct {
	router.Paging
	Status   string    `query:"status" enum:"booked,confirmed,cancelled,completed,no_show" doc:"Filters by status."`
	Provider string    `query:"provider" maxLength:"200" doc:"Filters by provider id or name."`
	Phone    string    `query:"patient_phone" maxLength:"40" doc:"Filters by the patient's number."`
	CallID   string    `query:"call_id" doc:"Filters by the call in which the appointment was booked."`
	From     time.Time `query:"from" doc:"Only appointments that start at this time or later."`
	To       time.Time `query:"to" doc:"Only appointments that start before this time."`
},
) (*router.Response[router.List[*domain.Appointment]], error) {
	w, err := s.Workspace(ctx, p)
	if err != nil {
		return nil, err
	}
	q := appointments.Query{PageQuery: in.Query(), Status: domain.AppointmentStatus(in.Status), Provider: in.Provider, From: in.From, To: in.To}
	if q.CallID, err = router.OptionalID("call_id", domain.PrefixCall, in.CallID); err != nil {
		return nil, err
	}
	if q.Phone, err = router.OptionalPhone("patient_phone", in.Phone, w.DefaultCountry); err != nil {
		return nil, err
	}
	l, err := s.appointments.ListAppointments(ctx, p, q)
	return router.Page(l, err, router.Identity)
}

// CheckRules returns the violations of the rules for an appointment that the JSON schema cannot express.
func (n *NewAppointment) CheckRules(ctx context.Context, s router.Workspaces, p domain.Principal) error {
	w, err := s.Workspace(ctx, p)
	if err != nil {
		return err
	}
	_, err = n.newAppointment(w.DefaultCountry)
	return err
}
