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
type routeKey struct {
	environment domain.Environment
	eventType   event.Type
}

// route is an endpoint that subscribes to an event type, and the name under which it subscribes.
type route struct {
	subscriber *subscriber
	name       string
}

// routes are the endpoints that subscribe to one event type. Endpoints with a filter by campaign or agent are found
// by that ID, so they add no cost to other events.
type routes struct {
	unfiltered []route // without a filter by campaign or agent
	byCampaign map[string][]route
	byAgent    map[string][]route
	isFiltered bool // some endpoints filter by what the event is about
}

// routesOf returns the routes of an event type. They are computed once after each change of an endpoint.
func (o *outbox) routesOf(k routeKey) *routes {
	r := o.routes[k]
	if r != nil {
		return r
	}
	r = &routes{byCampaign: make(map[string][]route), byAgent: make(map[string][]route)}
	for _, s := range o.subscribers {
		w := s.endpoint
		if w.Environment != k.environment {
			continue
		}
		name, ok := event.MatchSubscription(w.Events, k.eventType)
		if !ok {
			continue
		}
		r.addRoute(route{s, name})
	}
	byID := func(a, b route) int { return strings.Compare(a.subscriber.endpoint.ID, b.subscriber.endpoint.ID) }
	slices.SortFunc(r.unfiltered, byID)
	for _, m := range []map[string][]route{r.byCampaign, r.byAgent} {
		for _, list := range m {
			slices.SortFunc(list, byID)
		}
	}
	if o.routes == nil {
		o.routes = make(map[routeKey]*routes)
	}
	o.routes[k] = r
	return r
}

func (r *routes) addRoute(to route) {
	w := to.subscriber.endpoint
	f := w.Filters
	r.isFiltered = r.isFiltered || w.CampaignID != "" || !f.IsEmpty()
	switch {
	case w.CampaignID != "":
		r.byCampaign[w.CampaignID] = append(r.byCampaign[w.CampaignID], to)
	case f != nil && len(f.CampaignIDs) > 0:
		addToEach(r.byCampaign, f.CampaignIDs, to)
	case f != nil && len(f.AgentIDs) > 0:
		addToEach(r.byAgent, f.AgentIDs, to)
	default:
		r.unfiltered = append(r.unfiltered, to)
	}
}

// addToEach adds a route under each ID. Duplicate IDs count once.
func addToEach(m map[string][]route, ids []string, to route) {
	for i, id := range ids {
		if !slices.Contains(ids[:i], id) {
			m[id] = append(m[id], to)
		}
	}
}

// forEachRecipient calls f for every endpoint that receives an event.
func (o *outbox) forEachRecipient(e *event.Event, f func(id, name string)) {
	r := o.routesOf(routeKey{e.Environment, e.Type})
	var about event.Attributes
	if r.isFiltered {
		about = event.AttributesOf(e)
	}
	for _, list := range [][]route{r.unfiltered, r.byCampaign[about.CampaignID], r.byAgent[about.AgentID]} {
		for _, to := range list {
			if to.subscriber.accepts(e) && (!r.isFiltered || webhook.PassesFilters(to.subscriber.endpoint, about)) {
				f(to.subscriber.endpoint.ID, to.name)
			}
		}
	}
}

// accepts reports whether an event was created after the endpoint.
func (s *subscriber) accepts(e *event.Event) bool {
	if e.Offset < s.firstOffset {
		return false
	}
	if s.firstOffset == 0 && !s.reached {
		if e.CreatedAt.Before(s.endpoint.CreatedAt.Truncate(time.Millisecond)) {
			return false
		}
		s.reached = true
	}
	return true
}
