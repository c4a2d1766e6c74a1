package outbox

import (
	"slices"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/webhook"
)

// routeKey is what decides about the recipients of an event before its payload is read.
type kind struct {
	env domain.Environment
	typ event.Type
}

// route is an endpoint that subscribes to an event type, and the name under which it subscribes.
type route struct {
	to   *subscriber
	name string
}

// routes are the endpoints that subscribe to one event type. Endpoints with a filter by campaign or agent are found
// by that ID, so they add no cost to other events.
type routes struct {
	open       []route // without a filter by campaign or agent
	byCampaign map[string][]route
	byAgent    map[string][]route
	narrow     bool // some endpoints filter by what the event is about
}

// routesOf returns the routes of an event type. They are computed once after each change of an endpoint.
func (o *outbox) routesOf(k kind) *routes {
	r := o.routes[k]
	if r != nil {
		return r
	}
	r = &routes{byCampaign: make(map[string][]route), byAgent: make(map[string][]route)}
	for _, s := range o.hooks {
		w := s.hook
		if w.Environment != k.env {
			continue
		}
		name, ok := event.Match(w.Events, k.typ)
		if !ok {
			continue
		}
		r.add(route{s, name})
	}
	byID := func(a, b route) int { return strings.Compare(a.to.hook.ID, b.to.hook.ID) }
	slices.SortFunc(r.open, byID)
	for _, m := range []map[string][]route{r.byCampaign, r.byAgent} {
		for _, list := range m {
			slices.SortFunc(list, byID)
		}
	}
	if o.routes == nil {
		o.routes = make(map[kind]*routes)
	}
	o.routes[k] = r
	return r
}

func (r *routes) add(to route) {
	w := to.to.hook
	f := w.Filters
	r.narrow = r.narrow || w.CampaignID != "" || !f.Empty()
	switch {
	case w.CampaignID != "":
		r.byCampaign[w.CampaignID] = append(r.byCampaign[w.CampaignID], to)
	case f != nil && len(f.CampaignIDs) > 0:
		each(r.byCampaign, f.CampaignIDs, to)
	case f != nil && len(f.AgentIDs) > 0:
		each(r.byAgent, f.AgentIDs, to)
	default:
		r.open = append(r.open, to)
	}
}

// addToEach adds a route under each ID. Duplicate IDs count once.
func each(m map[string][]route, ids []string, to route) {
	for i, id := range ids {
		if !slices.Contains(ids[:i], id) {
			m[id] = append(m[id], to)
		}
	}
}

// forEachRecipient calls f for every endpoint that receives an event.
func (o *outbox) recipients(e *event.Event, f func(id, name string)) {
	r := o.routesOf(kind{e.Environment, e.Type})
	var about event.About
	if r.narrow {
		about = event.Of(e)
	}
	for _, list := range [][]route{r.open, r.byCampaign[about.CampaignID], r.byAgent[about.AgentID]} {
		for _, to := range list {
			if to.to.since(e) && (!r.narrow || webhook.Passes(to.to.hook, about)) {
				f(to.to.hook.ID, to.name)
			}
		}
	}
}

// accepts reports whether an event was created after the endpoint.
func (s *subscriber) since(e *event.Event) bool {
	if e.Offset < s.first {
		return false
	}
	if s.first == 0 && !s.reached {
		if e.CreatedAt.Before(s.hook.CreatedAt.Truncate(time.Millisecond)) {
			return false
		}
		s.reached = true
	}
	return true
}
