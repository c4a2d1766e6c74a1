package events

import (
	"context"
	"strconv"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/service/webhooks"
)

const maxReplayed = 100

// ReplayRequest selects the events to deliver again.
type ReplayRequest struct {
	EventIDs []string   `json:"event_ids,omitempty" nullable:"false" maxItems:"100" doc:"Ids of events. Set either event_ids or from."`
	From     *time.Time `json:"from,omitempty" doc:"Events created at this time or later."`
	To       *time.Time `json:"to,omitempty" doc:"Events created before this time. Default: now."`
	Types    []string   `json:"types,omitempty" nullable:"false" maxItems:"50" doc:"Event types, or categories such as call.*. Only with from."`
	DryRun   bool       `json:"dry_run,omitempty" doc:"true: only list the events that would be delivered."`
}

func (s *webhookHandlers) replayWebhook(ctx context.Context, p domain.Principal, in *struct {
	router.IDParam
	Body ReplayRequest
},
) (*router.Response[webhooks.Replay], error) {
	id, err := router.PathID(domain.PrefixWebhook, in.ID)
	if err != nil {
		return nil, err
	}
	b := &in.Body
	o := webhooks.ReplayOrder{EventIDs: b.EventIDs, Types: b.Types, DryRun: b.DryRun}
	var problems domain.Problems
	switch {
	case len(b.EventIDs) == 0 && b.From == nil:
		problems.Add("event_ids", domain.CodeValidation, "event_ids or from is required")
	case len(b.EventIDs) > 0 && (b.From != nil || b.To != nil || len(b.Types) > 0):
		problems.Add("event_ids", domain.CodeValidation, "must not be combined with from, to and types")
	case len(b.EventIDs) > maxReplayed:
		problems.Add("event_ids", domain.CodeValidation, "has more than %d entries", maxReplayed)
	}
	for i, t := range b.Types {
		if !event.IsValidPattern(t) {
			problems.Add("types["+strconv.Itoa(i)+"]", domain.CodeValidation, "is neither an event type nor a wildcard")
		}
	}
	if b.From != nil {
		o.From, o.To = *b.From, time.Now()
		if b.To != nil {
			o.To = *b.To
		}
		if !o.To.After(o.From) {
			problems.Add("to", domain.CodeValidation, "must be after from")
		}
	}
	if err = problems.Err(); err != nil {
		return nil, err
	}
	return router.Respond(s.deliveries.ReplayWebhook(ctx, p, id, o))
}
