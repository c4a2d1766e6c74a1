package campaign

import (
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/calendar"
)

// EligibilityChecker checks contacts by a campaign's rules before the campaign starts. It is not safe for
// concurrent use.
type EligibilityChecker struct{ rules eligibilityRules }

// EligibilityReport is the result of a check. Its slices have the order of the checked contacts.
type EligibilityReport struct {
	Zones   []string                   // keys of Windows; "" if the zone is unknown or irrelevant
	Invalid []bool                     // true: the contact may never be called
	Windows map[string]calendar.Window // calling hours by zone
}

// NewEligibilityChecker returns a checker with the rules of a campaign and its workspace.
func NewEligibilityChecker(c *domain.Campaign, rules calendar.Rules, calling domain.DestinationRules) *EligibilityChecker {
	return &EligibilityChecker{eligibilityRules{rules: rules, zones: calendar.NewZones(), destinations: calling, country: c.DefaultCountry, env: c.Environment}}
}

// Check returns the eligibility of each contact.
func (a *EligibilityChecker) Check(contacts []domain.Contact) EligibilityReport {
	c := a.rules.assess(contacts)
	return EligibilityReport{Zones: c.zones, Invalid: c.invalid, Windows: c.windows}
}
