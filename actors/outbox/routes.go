package outbox

import (
	"slices"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/webhook"
)

// routeKey contains the properties of an event that select endpoints without reading the payload of the event.
type routeKey struct {
	environment domain.Environment
	eventType   event.Type
}

// route is an endpoint that subscribes to an event type. name is the event type as the endpoint's subscription
// writes it.
type route struct {
	subscriber *subscriber
	name       string
}

// routes are the endpoints that subscribe to one event type. Endpoints with a campaign or agent filter are indexed by
// the campaign or agent ID, so they add no cost to other events.
type routes struct {
	unfiltered []route // without a filter by campaign or agent
	byCampaign map[string][]route
	byAgent    map[string][]route
	isFiltered bool // some endpoints have filters, for example by campaign
}

// routesOf returns the routes of an event type in an environment. It caches them until an endpoint changes.
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

// addToEach appends a route to the list of each ID in m. It ignores duplicate IDs.
func addToEach(m map[string][]route, ids []string, to route) {
	for i, id := range ids {
		if !slices.Contains(ids[:i], id) {
			m[id] = append(m[id], to)
		}
	}
}

// forEachRecipient calls f for every endpoint that receives an event. name is the event type as the endpoint's
// subscription writes it.
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

// accepts reports whether the endpoint receives an event, because the event was created after the endpoint.
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
