package agentruntime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"go.opentelemetry.io/otel/trace"

	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/booking"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/domain/validation"
)

// maxSlots is the maximum number of free appointment times in a tool result for a language model.
const maxSlots = 8

// CallTool executes a tool call of a pathway node or of its language model.
func (a *Runtime) CallTool(ctx context.Context, s *domain.Script, act pathway.ActionRequest) conversation.ToolResult {
	var text, name string
	var err error
	switch act.Type { //nolint:exhaustive // other nodes act on nothing outside
	case domain.NodeTool:
		text, name, err = a.callWorkspaceTool(ctx, act)
	case domain.NodeSMS:
		text, err = a.sendSMS(ctx, act)
	case domain.NodeAppointment:
		text, err = a.handleAppointment(ctx, act)
	default:
		err = errors.New("this action is not supported")
	}
	if err == nil && len(text) > pathway.MaxResultBytes {
		err = fmt.Errorf("the result has %d bytes, at most %d are read: request fewer fields or items of the tool", len(text), pathway.MaxResultBytes)
	}
	if err != nil {
		return conversation.ToolResult{Name: name, Text: domain.ErrorText(err)}
	}
	return conversation.ToolResult{OK: true, Name: name, Text: text}
}

// callWorkspaceTool calls an HTTP or MCP tool of the workspace. name is the name of the tool, or "" if it does not exist.
func (a *Runtime) callWorkspaceTool(ctx context.Context, act pathway.ActionRequest) (text, name string, err error) {
	tool, err := a.cfg.tool(ctx, a.p, act.Target)
	if err != nil {
		return "", "", errors.New("the tool was deleted")
	}
	given := validation.TypedArguments(tool.Parameters, act.Arguments)
	if len(act.RawArguments) > 0 {
		if given = nil; domain.DecodeLenient(act.RawArguments, &given) != nil {
			return "", tool.Name, errors.New("the arguments are not a JSON object")
		}
	}
	if a.call.ID != "" {
		ctx = trace.ContextWithSpanContext(ctx, a.cfg.TraceContexts.Call(a.call.ID, a.call.TraceParent))
	}
	text, err = a.cfg.Tools.Call(ctx, tool, given)
	return text, tool.Name, err
}

// sendSMS sends an SMS message to the remote party.
func (a *Runtime) sendSMS(ctx context.Context, act pathway.ActionRequest) (string, error) {
	body := act.Text
	if len(act.RawArguments) > 0 {
		var given struct {
			Body string `json:"body"`
		}
		if err := domain.DecodeLenient(act.RawArguments, &given); err != nil || strings.TrimSpace(given.Body) == "" {
			return "", errors.New("body is required: the text of the message")
		}
		body = given.Body
	}
	sent, err := a.cfg.SendSMS(ctx, a.p, domain.NewMessage{From: a.from, To: a.peer(), Body: body})
	if refused, ok := errors.AsType[*domain.Error](err); ok && refused.Param == "from" && a.from != "" { // the number receives messages but does not send them
		sent, err = a.cfg.SendSMS(ctx, a.p, domain.NewMessage{To: a.peer(), Body: body})
	}
	if err != nil {
		return "", err
	}
	return asJSON(map[string]any{"message_id": sent.ID, "status": sent.Status})
}

// peer returns the number of the remote party.
func (a *Runtime) peer() string {
	if a.call.Direction == domain.Inbound {
		return a.call.From
	}
	return a.call.To
}

// asJSON returns v as JSON text.
func asJSON(v any) (string, error) {
	b, err := json.Marshal(v)
	return string(b), err
}

// appointmentRequest are the arguments of an appointment tool call.
type appointmentRequest struct {
	Action        string `json:"action"`
	Provider      string `json:"provider"`
	Datetime      string `json:"datetime"`
	AppointmentID string `json:"appointment_id"`
	Name          string `json:"name"`
	Type          string `json:"type"`
	Notes         string `json:"notes"`
}

// handleAppointment books, changes or looks up appointments for the remote party.
func (a *Runtime) handleAppointment(ctx context.Context, act pathway.ActionRequest) (string, error) {
	w := appointmentRequest{
		Action: act.Target, Provider: act.Arguments["provider"], Datetime: act.Arguments["datetime"], AppointmentID: act.Arguments["appointment_id"],
		Name: act.Arguments["name"], Type: act.Arguments["type"], Notes: act.Arguments["notes"],
	}
	if len(act.RawArguments) > 0 && domain.DecodeLenient(act.RawArguments, &w) != nil {
		return "", errors.New("the arguments must be strings")
	}
	switch w.Action {
	case "availability":
		return a.freeTimes(ctx, w)
	case "book":
		if strings.TrimSpace(w.Name) == "" {
			w.Name, _ = a.call.Context.Text("name")
		}
		made, err := a.cfg.Appointments.Book(ctx, a.p, booking.NewAppointment{
			Patient: domain.Patient{Name: w.Name, Phone: a.peer()}, Provider: w.Provider, Datetime: w.Datetime, Type: w.Type, Notes: w.Notes, CallID: a.call.ID,
		})
		return appointmentText(w.Action, made, err)
	}
	if w.AppointmentID == "" {
		return "", errors.New("appointment_id is required")
	}
	if err := a.checkOwner(ctx, w.AppointmentID); err != nil {
		return "", err
	}
	var changed *domain.Appointment
	var err error
	switch w.Action {
	case "confirm":
		changed, err = a.cfg.Changes.ConfirmAppointment(ctx, a.p, w.AppointmentID)
	case "cancel":
		changed, err = a.cfg.Changes.CancelAppointment(ctx, a.p, w.AppointmentID, w.Notes)
	case "reschedule":
		changed, err = a.cfg.Changes.RescheduleAppointment(ctx, a.p, w.AppointmentID, booking.Reschedule{Datetime: w.Datetime})
	default:
		return "", errors.New("action must be availability, book, confirm, cancel or reschedule")
	}
	return appointmentText(w.Action, changed, err)
}

// checkOwner returns an error if an appointment does not belong to the remote party of the call, because callers may
// change only their own appointments.
func (a *Runtime) checkOwner(ctx context.Context, id string) error {
	x, err := a.cfg.Appointments.Appointment(ctx, a.p, id)
	if err != nil {
		return err
	}
	if x.Patient.Phone != a.peer() && (x.CallID == "" || x.CallID != a.call.ID) {
		return errors.New("the caller has no appointment with this id")
	}
	return nil
}

// appointmentText returns an appointment as the result of a tool call. It has the fields of booking.AppointmentAction.
func appointmentText(action string, a *domain.Appointment, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return asJSON(map[string]any{
		"action": action, "appointment_id": a.ID, "status": a.Status, "provider": a.Provider, "datetime": a.Datetime,
		"local_datetime": a.LocalDatetime, "timezone": a.Timezone, "minutes": a.DurationMinutes,
	})
}

// freeTimes returns the next free times of a provider.
func (a *Runtime) freeTimes(ctx context.Context, w appointmentRequest) (string, error) {
	q := booking.AvailabilityQuery{Provider: w.Provider, Limit: maxSlots}
	if day, _, ok := strings.Cut(w.Datetime+"T", "T"); ok && day != "" {
		q.From = day
	}
	free, err := a.cfg.Appointments.Availability(ctx, a.p, q)
	if err != nil {
		return "", err
	}
	times := make([]string, 0, maxSlots)
	for _, s := range free.Slots {
		times = append(times, s.LocalStart)
	}
	return asJSON(map[string]any{"free": times})
}
