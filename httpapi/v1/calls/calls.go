package calls

import (
	"context"
	"net/http"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/validation"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/service/calls"
	"github.com/callboard/callboard/service/record"
)

// Calls places, reads, ends and deletes calls.
type Calls interface {
	// PlaceCall places an outbound call and returns it with the status queued. Errors: dnc_blocked, no_trunk,
	// destination_not_allowed, outside_calling_hours, caller_id_required, and concurrent_limit_exceeded with the fields
	// active_calls and limit.
	PlaceCall(ctx context.Context, p domain.Principal, order domain.NewCall) (*domain.Call, error)
	Call(ctx context.Context, p domain.Principal, id string) (*domain.Call, error)
	ListCalls(ctx context.Context, p domain.Principal, q calls.Query) (record.Page[*domain.Call], error)
	// DeleteCall deletes an ended call with its recording, transcript and SIP messages. Error: invalid_state with the
	// field current_status for a live call.
	DeleteCall(ctx context.Context, p domain.Principal, id string) error
	// HangupCall ends a call and returns it. Error: invalid_state for an ended call.
	HangupCall(ctx context.Context, p domain.Principal, id string) (*domain.Call, error)
	// Transcript returns the transcript of a call. Errors: processing (202) while the transcript is being written,
	// not_found for a call without a transcript.
	Transcript(ctx context.Context, p domain.Principal, callID string) (*domain.Transcript, error)
}

// callHandlers serves the operations on calls.
type callHandlers struct {
	*router.Router

	calls   Calls
	actions CallActions
	events  CallEvents
}

// Default and limits of the ringing time, and limits of the duration, of an outbound call in seconds.
const (
	defaultRing, minRing, maxRing = 30, 5, 120
	minCall, maxCall              = 5, 14400
)

// CallCompliance are the compliance rules of one call in a request body.
type CallCompliance struct {
	CallingHours *NewHours `json:"calling_hours,omitempty"`
}

// NewCallRequest is the request body that places an outbound call.
type NewCallRequest struct {
	To                 string            `json:"to" doc:"A telephone number, or the extension or SIP address of a phone of the workspace." example:"+12025550123"`
	From               string            `json:"from,omitempty" doc:"The caller ID: a number of the workspace, or one in caller_ids of a trunk that can carry the call. Default: a number of the trunk that carries the call."`
	AgentID            string            `json:"agent_id,omitempty" doc:"agent_id or pathway_id is required."`
	PathwayID          string            `json:"pathway_id,omitempty"`
	Context            domain.Context    `json:"context,omitempty"`
	Metadata           map[string]string `json:"metadata,omitempty"`
	RingTimeoutSeconds *int              `json:"ring_timeout_seconds,omitempty" minimum:"5" maximum:"120" default:"30"`
	MaxDurationSeconds *int              `json:"max_duration_seconds,omitempty" minimum:"5" maximum:"14400" doc:"Default: limits.max_minutes of the agent, otherwise 1800."`
	Record             *bool             `json:"record,omitempty" default:"true"`
	Overrides          *NewOverrides     `json:"overrides,omitempty" doc:"Settings in which this call differs from its agent. Missing members keep the agent's settings; an object replaces the agent's object completely. Use context for variables."`
	AMD                *NewCallAMD       `json:"amd,omitempty" doc:"Answering machine detection of this call. Default: the settings of the agent."`
	Voicemail          *NewVoicemail     `json:"voicemail,omitempty" doc:"What this call does when a machine answers. Default: the settings of the agent."`
	Compliance         *CallCompliance   `json:"compliance,omitempty"`
}

// registerCalls registers the routes for calls.
func registerCalls(r *router.Router, services Services) {
	s := &callHandlers{Router: r, calls: services.Calls, actions: services.Actions, events: services.Events}
	const tag, path = "Calls", "/v1/calls"
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path + "/outbound", ID: "placeCall", Tag: tag, Status: http.StatusCreated, Summary: "Place a call",
		Description: "The plan limits these requests per minute. At the limit of concurrent calls: 429 concurrent_limit_exceeded with active_calls and limit. " +
			"With a test key the test carrier answers. +15005550000 and any other number presses 1, …0001 is busy, …0002 does not answer, …0003 is a voicemail, " +
			"…0004 presses 2, …0005 does not exist, …0006 fails in the trunk, …0007 says stop, …0008 is a fax, …0009 is silent. For +1500555nnxx the last two digits decide: " +
			"…11 presses 1, …12 presses 2, …13 declines, …14 is busy, …15 does not answer. …16 is a voicemail, …17 presses 7 and 1, …18 hangs up, …19 does not exist, …20 does not answer (480).",
	}, s.placeCall)
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path, ID: "listCalls", Tag: tag, Errors: []int{http.StatusNotFound}, Summary: "List calls"}, s.listCalls)
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path + "/{id}", ID: "getCall", Tag: tag, Summary: "Get a call"},
		router.HandleByID(domain.PrefixCall, s.calls, Calls.Call, s.showCall))
	router.Add(s.Router, router.Operation{
		Method: http.MethodDelete, Path: path + "/{id}", ID: "deleteCall", Tag: tag, Summary: "Delete a call", Errors: []int{http.StatusConflict},
		Description: "Deletes an ended call with its recording, transcript and SIP messages. Its events remain until retention.events_days, and its entry in the ledger, " +
			"which contains no number, until retention.ledger_days. A live call is 409 invalid_state.",
	}, router.HandleDeleteByID(domain.PrefixCall, "call", s.calls, Calls.DeleteCall))
	router.Add(s.Router, router.Operation{Method: http.MethodPost, Path: path + "/{id}/hangup", ID: "hangUpCall", Tag: tag, Summary: "Hang up"},
		router.HandleByID(domain.PrefixCall, s.calls, Calls.HangupCall, s.showCall))
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path + "/{id}/transcript", ID: "getTranscript", Tag: tag, Summary: "Get the transcript of a call", Pending: router.SchemaOf[Transcript](s.API)}, s.transcript)
	s.registerActions()
}

func (s *callHandlers) placeCall(ctx context.Context, p domain.Principal, in *struct{ Body NewCallRequest }) (*router.Response[*domain.Call], error) {
	b := &in.Body
	limits, err := router.ValidationLimits(ctx, s.Router, p)
	if err != nil {
		return nil, err
	}
	var problems domain.Problems
	order := b.Order(limits, &problems)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	return s.respondCall(s.calls.PlaceCall(ctx, p, order))
}

// Order returns the call that the request body describes, with defaults for missing members. It adds validation errors
// to problems.
func (b *NewCallRequest) Order(limits validation.Limits, problems *domain.Problems) domain.NewCall {
	order := domain.NewCall{
		To: b.To, Context: b.Context, Metadata: b.Metadata, Record: b.Record == nil || *b.Record,
		RingTimeout: router.Seconds(router.ValueOrZero(b.RingTimeoutSeconds), defaultRing), MaxDuration: router.Seconds(router.ValueOrZero(b.MaxDurationSeconds), 0),
		Overrides: b.Overrides.overrides(problems), AMD: b.answeringMachine(problems),
	}
	validation.Text(problems, "to", b.To, true, 64)
	validation.Metadata(problems, b.Metadata)
	router.CheckRange(problems, "ring_timeout_seconds", b.RingTimeoutSeconds, minRing, maxRing)
	router.CheckRange(problems, "max_duration_seconds", b.MaxDurationSeconds, minCall, maxCall)
	validation.Context(problems, "context", b.Context)
	if b.AgentID == "" && b.PathwayID == "" {
		problems.Add("agent_id", domain.CodeValidation, "agent_id or pathway_id is required")
	}
	order.AgentID = validation.ID(problems, "agent_id", domain.PrefixAgent, b.AgentID)
	order.PathwayID = validation.ID(problems, "pathway_id", domain.PrefixPathway, b.PathwayID)
	order.From = b.From
	if order.From != "" { // by default the trunk selects the number
		order.From = validation.CallerID(problems, "from", order.From, limits)
	}
	if b.Compliance != nil && b.Compliance.CallingHours != nil {
		h := b.Compliance.CallingHours
		order.CallingHours = &domain.CallingHours{Start: h.Start, End: h.End, Timezone: h.Timezone}
		if order.CallingHours.Timezone == "" {
			order.CallingHours.Timezone = "local"
		}
		validation.Hours(problems, "compliance.calling_hours", *order.CallingHours)
	}
	return order
}

func (s *callHandlers) listCalls(ctx context.Context, p domain.Principal, in *struct {
	router.Paging
	Status     string `query:"status" enum:"active,queued,initiated,ringing,in_progress,transferring,completed,busy,no_answer,failed,cancelled" doc:"Filters by status. active: every status that is not final."`
	CampaignID string `query:"campaign_id"`
	ContactID  string `query:"contact_id"`
	AgentID    string `query:"agent_id"`
	Direction  string `query:"direction" enum:"inbound,outbound"`
	Transcript string `query:"transcript" maxLength:"200" doc:"Only calls whose transcript contains all of these words; quote a phrase. A page searches a bounded number of calls, so it may have fewer than limit calls, or none, although next_cursor leads to more." example:"cancel appointment"`
},
) (*router.Response[router.List[*domain.Call]], error) {
	q := calls.Query{PageQuery: in.Query(), Status: in.Status, Direction: domain.Direction(in.Direction)}
	for _, f := range []struct {
		into  *string
		param string
		kind  domain.Prefix
		id    string
	}{
		{&q.CampaignID, "campaign_id", domain.PrefixCampaign, in.CampaignID},
		{&q.ContactID, "contact_id", domain.PrefixContact, in.ContactID},
		{&q.AgentID, "agent_id", domain.PrefixAgent, in.AgentID},
	} {
		id, err := router.OptionalID(f.param, f.kind, f.id)
		if err != nil {
			return nil, err
		}
		*f.into = id
	}
	if in.Transcript != "" {
		transcript, err := domain.ParseTranscriptQuery(in.Transcript)
		if err != nil {
			return nil, err
		}
		q.Said = transcript
	}
	l, err := s.calls.ListCalls(ctx, p, q)
	return router.Page(l, err, func(c *domain.Call) *domain.Call {
		shown := s.showCall(c)
		if c.Quality != nil { // quality data would dominate a list of calls
			whole := *c.Quality
			whole.Stretches, shown.Quality = nil, &whole
		}
		return shown
	})
}

// showCall returns the API form of a call.
func (s *callHandlers) showCall(c *domain.Call) *domain.Call { return showCall(s.Router, c) }

// showCall returns a copy of a call with the URLs of its transcript and recording, if these exist.
func showCall(r *router.Router, c *domain.Call) *domain.Call {
	shown := *c
	base := r.PublicURL + "/v1/calls/" + c.ID
	shown.TranscriptURL, shown.RecordingURL = "", ""
	if c.TranscriptAvailable {
		shown.TranscriptURL = base + "/transcript"
	}
	if c.RecordingAvailable {
		shown.RecordingURL = base + "/recording"
	}
	return &shown
}

func (s *callHandlers) respondCall(c *domain.Call, err error) (*router.Response[*domain.Call], error) {
	return RespondCall(s.Router, c, err)
}

// RespondCall returns the response with a call in its API form, or err.
func RespondCall(r *router.Router, c *domain.Call, err error) (*router.Response[*domain.Call], error) {
	if err != nil {
		return nil, err
	}
	return router.Respond(showCall(r, c), nil)
}

// Transcript is the response with the transcript of a call.
type Transcript struct {
	CallID   string           `json:"call_id"`
	Status   string           `json:"status" enum:"ready,processing"`
	Language string           `json:"language"`
	Segments []domain.Segment `json:"segments"`
	Text     string           `json:"text"`
}

type transcriptAnswer struct {
	Status     int
	RetryAfter string `header:"Retry-After"`
	Body       Transcript
}

func (s *callHandlers) transcript(ctx context.Context, p domain.Principal, in *router.IDParam) (*transcriptAnswer, error) {
	id, err := router.PathID(domain.PrefixCall, in.ID)
	if err != nil {
		return nil, err
	}
	t, err := s.calls.Transcript(ctx, p, id)
	switch {
	case domain.CodeOf(err) == domain.CodeProcessing:
		return &transcriptAnswer{Status: http.StatusAccepted, RetryAfter: router.RetryAfterProcessing, Body: Transcript{CallID: id, Status: string(domain.CodeProcessing)}}, nil
	case err != nil:
		return nil, err
	}
	return &transcriptAnswer{Status: http.StatusOK, Body: Transcript{
		CallID: id, Status: "ready", Language: t.Language, Segments: t.Segments, Text: t.Text,
	}}, nil
}

// CheckRules returns the violations of the rules for an outbound call that the JSON schema cannot express.
func (b *NewCallRequest) CheckRules(ctx context.Context, s router.Workspaces, p domain.Principal) error {
	limits, err := router.ValidationLimits(ctx, s, p)
	if err != nil {
		return err
	}
	var problems domain.Problems
	b.Order(limits, &problems)
	return problems.Err()
}
