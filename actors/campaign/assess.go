package campaign

import (
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/calendar"
)

// Assessor says of contacts what a campaign would make of their numbers, for
// those who ask before it starts. One goroutine at a time may use it.
type Assessor struct{ judge judge }

// Assessment is what an Assessor says of contacts, in their order.
type Assessment struct {
	Zones   []string                   // keys of Windows; "" where the zone is unknown, or of no importance
	Invalid []bool                     // may not be rung at all
	Windows map[string]calendar.Window // the hours by zone
}

// NewAssessor makes one by the rules of a campaign and its workspace.
func NewAssessor(c *domain.Campaign, rules calendar.Rules, calling domain.DestinationRules) *Assessor {
	return &Assessor{judge{rules: rules, zones: calendar.NewZones(), calling: calling, country: c.DefaultCountry, env: c.Environment}}
}

// Assess looks at contacts.
func (a *Assessor) Assess(contacts []domain.Contact) Assessment {
	c := a.judge.chunk(contacts)
	return Assessment{Zones: c.zones, Invalid: c.invalid, Windows: c.windows}
}
