package webhook

import (
	"slices"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
)

// MatchEvent reports whether an endpoint receives an event of its workspace. name is the name under which the event is
// sent. about returns the attributes of the event and is called at most once, only if needed.
func MatchEvent(w *domain.Webhook, e *event.Event, about func() event.Attributes) (name string, ok bool) {
	if w.Environment != e.Environment {
		return "", false
	}
	if name, ok = event.MatchSubscription(w.Events, e.Type); !ok {
		return "", false
	}
	if w.CampaignID == "" && w.Filters.IsEmpty() {
		return name, true
	}
	return name, PassesFilters(w, about())
}

// PassesFilters reports whether an event with these attributes passes the filters of an endpoint. If a campaign owns
// the endpoint, the event must belong to the campaign.
func PassesFilters(w *domain.Webhook, about event.Attributes) bool {
	if w.CampaignID != "" && about.CampaignID != w.CampaignID {
		return false
	}
	f := w.Filters
	if f.IsEmpty() {
		return true
	}
	return passesFilter(f.AgentIDs, about.AgentID) && passesFilter(f.CampaignIDs, about.CampaignID) && passesFilter(f.Directions, about.Direction) &&
		passesFilter(f.Numbers, about.From, about.To)
}

func passesFilter[T ~string](wanted []T, named ...T) bool {
	return len(wanted) == 0 || slices.ContainsFunc(named, func(n T) bool { return n != "" && slices.Contains(wanted, n) })
}
