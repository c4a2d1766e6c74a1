package calls

import (
	"context"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/siptrace"
	"github.com/callboard/callboard/domain/validation"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/httpapi/v1/events"
	"github.com/callboard/callboard/service/calls"
	eventsservice "github.com/callboard/callboard/service/events"
	"github.com/callboard/callboard/service/record"
)

// Maximum lengths in the request bodies of actions on a live call.
const (
	maxSaid    = 1000
	maxSummary = 2000
	maxPressed = 64
	maxFormat  = 16
)

// TransferRequest is the request body that transfers the caller to another destination.
type TransferRequest struct {
	To          string              `json:"to,omitempty" example:"+12025550123" doc:"A telephone number. Exactly one of to, phone and destination is required."`
	Phone       string              `json:"phone,omitempty" example:"201" doc:"The extension or the id of a phone."`
	Destination string              `json:"destination,omitempty" example:"billing" doc:"A name of the agent's transfer.destinations."`
	Mode        domain.TransferMode `json:"mode,omitempty" enum:"blind,attended,bridge" doc:"blind: the remote party is asked to call the target (REFER). attended: Callboard calls the target, and the remote party takes over that call (REFER with Replaces). bridge: Callboard calls the target and connects both; the recording continues. Default: the mode of the destination, otherwise bridge."`
	Summary     string              `json:"summary,omitempty" maxLength:"2000" doc:"Announcement to the person who answers, before the caller is connected. Not for mode blind."`
}

// SayRequest is the request body with a text that the agent speaks to the caller.
type SayRequest struct {
	Text string `json:"text" minLength:"1" maxLength:"1000" example:"One moment, please."`
}

// PressRequest is the request body with DTMF digits to send to the remote party.
type PressRequest struct {
	Digits string `json:"digits" minLength:"1" maxLength:"64" pattern:"^[0-9*#A-Da-dw,]+$" example:"1w23#" doc:"0-9, *, # and A-D. w and a comma are pauses of half a second."`
}

// CallMessages is the response with the SIP messages of a call.
type CallMessages struct {
	CallID   string        `json:"call_id"`
	Messages []CallMessage `json:"messages" doc:"SIP messages in the order in which they were sent and received."`
	Dropped  int           `json:"dropped" doc:"Number of messages that were not stored, because they were too many or too large."`
}

// CallMessage is one SIP message of a call.
type CallMessage struct {
	At        time.Time `json:"at"`
	Direction string    `json:"direction" enum:"sent,received"`
	Transport string    `json:"transport" enum:"udp,tcp,tls"`
	Local     string    `json:"local" example:"192.0.2.9:5060"`
	Remote    string    `json:"remote" example:"192.0.2.1:5060"`
	SIPCallID string    `json:"sip_call_id"`
	StartLine string    `json:"start_line" example:"INVITE sip:+12025550123@192.0.2.1 SIP/2.0"`
	Message   string    `json:"message" doc:"The message as on the wire. Secrets are replaced by asterisks."`
	Notes     []string  `json:"notes,omitempty" doc:"SDP lines and body parts that were not used, with the reason."`
}

func (s *callHandlers) registerActions() {
	const tag, path = "Calls", "/v1/calls/{id}"
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path + "/transfer", ID: "transferCall", Tag: tag, Summary: "Transfer the caller",
		Description: "Returns the call at once with the status transferring; call.transferred reports the result. If the target does not answer, or hangs up after a bridge, the caller returns to the agent.",
	}, s.transferCall)
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path + "/say", ID: "sayInCall", Tag: tag, Summary: "Let the agent speak a text",
		Description: "The agent speaks the text outside the pathway, after its current speech.",
	}, func(ctx context.Context, p domain.Principal, in *struct {
		router.IDParam
		Body SayRequest
	},
	) (*router.Response[*domain.Call], error) {
		id, err := router.PathID(domain.PrefixCall, in.ID)
		if err != nil {
			return nil, err
		}
		var problems domain.Problems
		text := strings.TrimSpace(in.Body.Text)
		if text == "" || utf8.RuneCountInString(text) > maxSaid {
			problems.Add("text", domain.CodeValidation, "must have 1 to %d characters", maxSaid)
		}
		validation.Prose(&problems, "text", text, maxSaid)
		if err := problems.Err(); err != nil {
			return nil, err
		}
		return s.respondCall(s.actions.SayInCall(ctx, p, id, text))
	})
	router.Add(s.Router, router.Operation{Method: http.MethodPost, Path: path + "/dtmf", ID: "pressInCall", Tag: tag, Summary: "Send DTMF digits to the remote party"},
		func(ctx context.Context, p domain.Principal, in *struct {
			router.IDParam
			Body PressRequest
		},
		) (*router.Response[*domain.Call], error) {
			id, err := router.PathID(domain.PrefixCall, in.ID)
			if err != nil {
				return nil, err
			}
			var problems domain.Problems
			digits := strings.ToUpper(strings.ReplaceAll(in.Body.Digits, "W", "w"))
			if digits == "" || len(digits) > maxPressed || strings.Trim(digits, "0123456789*#ABCDW,") != "" {
				problems.Add("digits", domain.CodeValidation, "must be 1 to %d of 0-9, *, #, A-D, w and the comma", maxPressed)
			}
			if err := problems.Err(); err != nil {
				return nil, err
			}
			return s.respondCall(s.actions.PressInCall(ctx, p, id, strings.ReplaceAll(digits, "W", "w")))
		})
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path + "/events", ID: "listCallEvents", Tag: tag, Summary: "List the events of a call, oldest first"},
		func(ctx context.Context, p domain.Principal, in *struct {
			router.IDParam
			router.Paging
		},
		) (*router.Response[router.List[events.Event]], error) {
			id, err := router.PathID(domain.PrefixCall, in.ID)
			if err != nil {
				return nil, err
			}
			l, err := s.events.CallEvents(ctx, p, id, eventsservice.Query{After: in.Cursor, Limit: in.Limit, Created: in.CreatedBetween()})
			return router.Page(l, err, events.ShowEvent)
		})
	s.registerTrace()
}

func (s *callHandlers) transferCall(ctx context.Context, p domain.Principal, in *struct {
	router.IDParam
	Body TransferRequest
},
) (*router.Response[*domain.Call], error) {
	id, err := router.PathID(domain.PrefixCall, in.ID)
	if err != nil {
		return nil, err
	}
	b := &in.Body
	var problems domain.Problems
	given := 0
	for _, f := range []struct{ param, text string }{{"to", b.To}, {"phone", b.Phone}, {"destination", b.Destination}} {
		if f.text != "" {
			given++
		}
		validation.Text(&problems, f.param, f.text, false, validation.MaxName)
	}
	if given != 1 {
		problems.Add("to", domain.CodeValidation, "exactly one of to, phone and destination is required")
	}
	validation.Prose(&problems, "summary", b.Summary, maxSummary)
	if b.Mode == domain.TransferBlind && b.Summary != "" {
		problems.Add("summary", domain.CodeValidation, "is not possible in mode blind, because Callboard does not speak with the target")
	}
	if b.Phone != "" && b.Mode != "" && b.Mode != domain.TransferBridge {
		problems.Add("mode", domain.CodeValidation, "must be bridge for a phone")
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	return s.respondCall(s.actions.TransferCall(ctx, p, id, calls.Transfer{
		To: b.To, Phone: b.Phone, Destination: b.Destination, Mode: b.Mode, Summary: b.Summary,
	}))
}

const mimePcap = "application/vnd.tcpdump.pcap"

func (s *callHandlers) registerTrace() {
	formats := []any{"json", "ladder", "pcap"}
	s.AddRaw(router.Operation{
		Method: http.MethodGet, Path: "/v1/calls/{id}/sip", ID: "getCallMessages", Tag: "Calls", Summary: "Get the SIP messages of a call",
		Description: "For a live call: the messages so far. For a call that a crash interrupted: the messages up to the last stored step. Credentials, SRTP keys and DTMF digits in INFO are replaced by asterisks. " +
			"In a pcap file every message is one UDP packet, whatever its transport was.",
		Errors: []int{http.StatusUnprocessableEntity},
	}, func(h *huma.Operation) {
		h.Parameters = append(h.Parameters, &huma.Param{Name: "format", In: "query", Schema: &huma.Schema{Type: huma.TypeString, Enum: formats, Default: "json"}})
		h.Responses["200"] = &huma.Response{Description: "The messages.", Content: map[string]*huma.MediaType{
			fiber.MIMEApplicationJSON: {Schema: router.SchemaOf[CallMessages](s.API)},
			fiber.MIMETextPlain:       {Schema: &huma.Schema{Type: huma.TypeString}},
			mimePcap:                  {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}},
		}}
	}, s.callTrace)
}

func (s *callHandlers) callTrace(c *fiber.Ctx) error {
	id, err := router.PathID(domain.PrefixCall, c.Params("id"))
	if err != nil {
		return err
	}
	format := c.Query("format", "json")
	if format != "json" && format != "ladder" && format != "pcap" {
		var problems domain.Problems
		problems.Add("format", domain.CodeValidation, "is %q; it must be json, ladder or pcap", router.Truncate(format, maxFormat))
		return problems.Err()
	}
	t, err := s.actions.CallTrace(c.UserContext(), router.RequestOf(c.UserContext()).Principal, id)
	if err != nil {
		return err
	}
	switch format {
	case "ladder":
		c.Set(fiber.HeaderContentType, fiber.MIMETextPlainCharsetUTF8)
		return c.SendString(siptrace.FormatLadder(t))
	case "pcap":
		c.Set(fiber.HeaderContentType, mimePcap)
		c.Set(fiber.HeaderContentDisposition, `attachment; filename="`+id+`.pcap"`)
		return c.Send(siptrace.EncodePcap(t))
	}
	return c.JSON(showTrace(t))
}

func showTrace(t *domain.CallTrace) CallMessages {
	out := CallMessages{CallID: t.CallID, Messages: make([]CallMessage, len(t.Messages)), Dropped: t.Dropped}
	for i := range t.Messages {
		m := &t.Messages[i]
		out.Messages[i] = CallMessage{
			At: m.At.UTC(), Direction: "received", Transport: m.Network, Local: m.Local, Remote: m.Remote, SIPCallID: m.SIPCallID,
			StartLine: siptrace.StartLine(m.Data), Message: strings.ToValidUTF8(string(m.Data), "\ufffd"), Notes: m.Notes,
		}
		if m.Out {
			out.Messages[i].Direction = "sent"
		}
	}
	return out
}

// CallActions transfers live calls, speaks and presses keys in them, and returns their SIP messages.
type CallActions interface {
	// TransferCall starts a transfer and returns the call with the status transferring. Errors: invalid_state for a
	// call that is not answered or is being transferred, destination_not_allowed, validation_error (422) for an invalid
	// destination.
	TransferCall(ctx context.Context, p domain.Principal, id string, o calls.Transfer) (*domain.Call, error)
	// SayInCall lets the agent speak a text, and PressInCall sends DTMF digits. Error: invalid_state unless the agent is in
	// the call.
	SayInCall(ctx context.Context, p domain.Principal, id, text string) (*domain.Call, error)
	PressInCall(ctx context.Context, p domain.Principal, id, digits string) (*domain.Call, error)
	// CallTrace returns the stored SIP messages of a call. The result is empty if none were stored.
	CallTrace(ctx context.Context, p domain.Principal, id string) (*domain.CallTrace, error)
}

// CallEvents reads the events of calls.
type CallEvents interface {
	// CallEvents returns the events of a call, oldest first. q.After is the pagination cursor.
	CallEvents(ctx context.Context, p domain.Principal, id string, q eventsservice.Query) (record.Page[event.Event], error)
}
