package validation

import (
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
)

// Limits of the fields of webhooks.
const (
	MaxEvents = 100
	MaxFilter = 100
	minSecret = 8
	MaxSecret = 256
)

// Webhook returns all problems with a webhook endpoint. An empty secret is valid, because the service then generates
// the secret.
func Webhook(w *domain.Webhook) domain.Problems {
	var p domain.Problems
	HTTPS(&p, "url", w.URL)
	Metadata(&p, w.Metadata)
	if len(w.Events) == 0 {
		p.Add("events", domain.CodeValidation, "at least one event name is required")
	}
	for i, e := range atMost(&p, "events", w.Events, MaxEvents) {
		if !event.IsValidPattern(e) {
			p.Add(indexedParam("events", i), domain.CodeValidation, "%q is neither an event type nor a wildcard", shorten(e))
		}
	}
	checkFilters(&p, w.Filters)
	if w.RetryTimeFactor != 0 {
		checkBetween(&p, "retry_time_factor", w.RetryTimeFactor, 1, domain.MaxTimeFactor)
		if w.Environment != domain.Test {
			p.Add("retry_time_factor", domain.CodeValidation, "is for the test environment: use a test key")
		}
	}
	if w.Secret != "" {
		Text(&p, "secret", w.Secret, true, MaxSecret)
		if len(w.Secret) < minSecret {
			p.Add("secret", domain.CodeValidation, "must have at least %d characters", minSecret)
		}
	}
	return p
}

// checkFilters validates the event filters of an endpoint and converts IDs and numbers to canonical form.
func checkFilters(p *domain.Problems, f *domain.EventFilters) {
	if f == nil {
		return
	}
	ids := func(param string, prefix domain.Prefix, list []string) {
		for i, id := range atMost(p, param, list, MaxFilter) {
			good, err := domain.ParseID(prefix, id)
			if err != nil {
				p.Add(indexedParam(param, i), domain.CodeValidation, "%q is no id of this kind (%s_…)", shorten(id), prefix)
				continue
			}
			list[i] = good
		}
	}
	ids("filters.agent_ids", domain.PrefixAgent, f.AgentIDs)
	ids("filters.campaign_ids", domain.PrefixCampaign, f.CampaignIDs)
	for i, d := range atMost(p, "filters.directions", f.Directions, 2) { //nolint:mnd // there are two
		checkOneOf(p, indexedParam("filters.directions", i), string(d), string(domain.Inbound), string(domain.Outbound))
	}
	for i, n := range atMost(p, "filters.numbers", f.Numbers, MaxFilter) {
		f.Numbers[i] = Phone(p, indexedParam("filters.numbers", i), n, "")
	}
}
