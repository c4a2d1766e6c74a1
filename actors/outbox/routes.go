package outbox

import (
	"slices"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/webhook"
)

// kind is what the routes of an event depend on before its payload is read.
type kind struct {
	env domain.Environment
	typ event.Type
}

// route is an endpoint that wants a type of events, and the name by which it
// knows it.
type route struct {
	to   *subscriber
	name string
}

// routes are the endpoints that want a type of events. Those of one campaign,
// or of certain campaigns or agents, are found by these: a thousand of them
// cost an event of another campaign nothing.
type routes struct {
	open       []route // not bound to any
	byCampaign map[string][]route
	byAgent    map[string][]route
	narrow     bool // some look at what the event is about
}

// routesOf are those of a type; they are put together once after each change of
// an endpoint.
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

// each adds a route under each id, once.
func each(m map[string][]route, ids []string, to route) {
	for i, id := range ids {
		if !slices.Contains(ids[:i], id) {
			m[id] = append(m[id], to)
		}
	}
}

// recipients calls f for every endpoint that is to be sent an event.
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

// since says whether an event is none of before the endpoint's time.
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
