package campaign

import (
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/calendar"
)

// Assessor assesses the numbers of contacts as a campaign would, before the campaign starts. One goroutine at a time
// may use it.
type Assessor struct{ rules eligibility }

// Assessment is the result for contacts, in their order.
type Assessment struct {
	Zones   []string                   // keys of Windows; "" where the zone is unknown or does not matter
	Invalid []bool                     // may never be called
	Windows map[string]calendar.Window // calling hours by zone
}

// NewAssessor makes an assessor by the rules of a campaign and its workspace.
func NewAssessor(c *domain.Campaign, rules calendar.Rules, calling domain.DestinationRules) *Assessor {
	return &Assessor{eligibility{rules: rules, zones: calendar.NewZones(), calling: calling, country: c.DefaultCountry, env: c.Environment}}
}

// Assess assesses contacts.
func (a *Assessor) Assess(contacts []domain.Contact) Assessment {
	c := a.rules.assess(contacts)
	return Assessment{Zones: c.zones, Invalid: c.invalid, Windows: c.windows}
}
