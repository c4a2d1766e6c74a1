package events

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/service/events"
	"github.com/callboard/callboard/service/record"
)

// Events reads the event log in commit order.
type Events interface {
	// ListEvents returns the events of the Principal's environment after an event id. Errors: cursor_expired for an
	// id beyond retention, validation_error for an unknown id.
	ListEvents(ctx context.Context, p domain.Principal, q events.Query) (record.Page[event.Event], error)
	// Event returns one event of the Principal's environment. Error: not_found.
	Event(ctx context.Context, p domain.Principal, id string) (event.Event, error)
}

// eventHandlers serves the operations of events.
type eventHandlers struct {
	*router.Router

	events Events
}

// Event is the envelope of an event in its API form.
type Event struct {
	ID          string          `json:"id"`
	Type        event.Type      `json:"type"`
	CreatedAt   time.Time       `json:"created_at"`
	WorkspaceID string          `json:"workspace_id"`
	SvcID       string          `json:"svc_id"`
	Subject     string          `json:"subject"`
	Sequence    uint64          `json:"sequence"`
	Data        json.RawMessage `json:"data"`
}

// ShowEvent returns the API form of an event.
func ShowEvent(e event.Event) Event {
	return Event{
		ID: e.ID, Type: e.Type, CreatedAt: e.CreatedAt, WorkspaceID: e.WorkspaceID, SvcID: e.SvcID,
		Subject: e.Subject, Sequence: e.Sequence, Data: e.Data,
	}
}

// registerEvents registers the operations of events.
func registerEvents(r *router.Router, events Events) {
	s := &eventHandlers{Router: r, events: events}
	router.Add(s.Router, router.Operation{
		Method: http.MethodGet, Path: "/v1/events", ID: "listEvents", Tag: "Events", Summary: "List events, oldest first",
		Description: "For the next page send the last id as after. The response contains only events of resources that the credential may read.",
		Errors:      []int{http.StatusGone},
	}, func(ctx context.Context, p domain.Principal, in *struct {
		After  string `query:"after" doc:"The id of the last event seen. Default: start with the oldest stored event."`
		Cursor string `query:"cursor" doc:"The same as after, under the name that other lists use."`
		Type   string `query:"type" maxLength:"2000" doc:"Event types, or categories such as call.*, separated by commas."`
		Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"20"`

		CreatedAfter  time.Time `query:"created_after" doc:"Only resources created after this time."`
		CreatedBefore time.Time `query:"created_before" doc:"Only resources created before this time."`
	},
	) (*router.Response[router.List[Event]], error) {
		q, err := EventQuery(p, cmp.Or(in.After, in.Cursor), in.Type)
		if err != nil {
			return nil, err
		}
		q.Limit, q.Created = in.Limit, record.TimeRange{After: in.CreatedAfter, Before: in.CreatedBefore}
		if len(q.Types) == 0 {
			return router.Page(record.Page[event.Event]{}, nil, ShowEvent)
		}
		l, err := s.events.ListEvents(ctx, p, q)
		return router.Page(l, err, ShowEvent)
	})
	router.Add(s.Router, router.Operation{
		Method: http.MethodGet, Path: "/v1/events/{id}", ID: "getEvent", Tag: "Events", Summary: "Read an event",
		Description: "403 if the credential may not read the resource of the event.",
	}, func(ctx context.Context, p domain.Principal, in *router.IDParam) (*router.Response[Event], error) {
		id, err := router.PathID(domain.PrefixEvent, in.ID)
		if err != nil {
			return nil, err
		}
		e, err := s.events.Event(ctx, p, id)
		if err != nil {
			return nil, err
		}
		if !MayReadType(p, e.Type) {
			return nil, domain.Errorf(domain.CodeInsufficientPermissions, "The credential may not read the resource of the event.").
				With("required", ReadersOf(e.Type))
		}
		return router.Respond(ShowEvent(e), nil)
	})
}

// EventQuery builds the event query from the request parameters after and type. Types of the query is empty if the
// credential may read none of the requested types.
func EventQuery(p domain.Principal, after, types string) (events.Query, error) {
	var problems domain.Problems
	if after != "" {
		if _, err := domain.ParseID(domain.PrefixEvent, after); err != nil {
			problems.Add("after", domain.CodeValidation, "is not the id of an event")
		}
	}
	wanted := []string{"*"}
	if types != "" {
		wanted = strings.Split(types, ",")
	}
	for _, w := range wanted {
		if !event.IsValidPattern(w) {
			problems.Add("type", domain.CodeValidation, "%q is neither an event type nor a wildcard", router.Truncate(w, 60))
		}
	}
	return events.Query{After: after, Types: ReadableTypes(p, wanted)}, problems.Err()
}

// ReadableTypes returns the event types that match a pattern in wanted and that the credential may read.
func ReadableTypes(p domain.Principal, wanted []string) []string {
	var names []string
	for _, t := range event.Types() {
		if _, ok := event.MatchSubscription(wanted, t); ok && MayReadType(p, t) {
			names = append(names, string(t))
		}
	}
	return names
}

// MayReadType reports whether a credential may read the kind of resource that an event type is about.
func MayReadType(p domain.Principal, t event.Type) bool {
	return slices.ContainsFunc(ReadersOf(t), func(need domain.Permission) bool { return access.Covers(p.Permissions, need) })
}

// ReadersOf returns the permissions that allow reading events of a type. A credential needs one of them.
func ReadersOf(t event.Type) []domain.Permission {
	if t == event.CampaignCallCompleted { // the event is a row of the campaign results
		return []domain.Permission{domain.CallsRead, domain.AnalyticsRead}
	}
	category, _, _ := strings.Cut(string(t), ".")
	switch category {
	case "call", "sms", "campaign", "contact":
		return []domain.Permission{domain.CallsRead}
	case "agent", "appointment":
		return []domain.Permission{domain.AgentsRead}
	}
	return []domain.Permission{domain.AllRead}
}
