package webhook

import (
	"slices"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
)

// Wants says whether an endpoint is to be sent an event of its workspace, and
// under which name. about is asked at most once, and only if it matters.
func Wants(w *domain.Webhook, e *event.Event, about func() event.About) (name string, ok bool) {
	if w.Environment != e.Environment {
		return "", false
	}
	if name, ok = event.Match(w.Events, e.Type); !ok {
		return "", false
	}
	if w.CampaignID == "" && w.Filters.Empty() {
		return name, true
	}
	return name, Passes(w, about())
}

// Passes says whether an event about something is one for an endpoint: of the
// campaign that owns it, and such as its filters ask for.
func Passes(w *domain.Webhook, about event.About) bool {
	if w.CampaignID != "" && about.CampaignID != w.CampaignID {
		return false
	}
	f := w.Filters
	if f.Empty() {
		return true
	}
	return passes(f.AgentIDs, about.AgentID) && passes(f.CampaignIDs, about.CampaignID) && passes(f.Directions, about.Direction) &&
		passes(f.Numbers, about.From, about.To)
}

func passes[T ~string](wanted []T, named ...T) bool {
	return len(wanted) == 0 || slices.ContainsFunc(named, func(n T) bool { return n != "" && slices.Contains(wanted, n) })
}
