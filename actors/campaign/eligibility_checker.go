package campaign

import (
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/calendar"
)

// EligibilityChecker assesses the numbers of contacts as a campaign would, before the campaign starts. One goroutine at a time
// may use it.
type EligibilityChecker struct{ rules eligibilityRules }

// EligibilityReport is the result for contacts, in their order.
type EligibilityReport struct {
	Zones   []string                   // keys of Windows; "" where the zone is unknown or does not matter
	Invalid []bool                     // may never be called
	Windows map[string]calendar.Window // calling hours by zone
}

// NewEligibilityChecker makes an assessor by the rules of a campaign and its workspace.
func NewEligibilityChecker(c *domain.Campaign, rules calendar.Rules, calling domain.DestinationRules) *EligibilityChecker {
	return &EligibilityChecker{eligibilityRules{rules: rules, zones: calendar.NewZones(), destinations: calling, country: c.DefaultCountry, env: c.Environment}}
}

// Check assesses contacts.
func (a *EligibilityChecker) Check(contacts []domain.Contact) EligibilityReport {
	c := a.rules.assess(contacts)
	return EligibilityReport{Zones: c.zones, Invalid: c.invalid, Windows: c.windows}
}
