package campaign

import (
	"time"

	"github.com/callboard/callboard/actors/dnc"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/calendar"
	lists "github.com/callboard/callboard/domain/dnc"
)

// eligibilityRules are the rules that depend on the contact alone: destination, calling hours and do-not-call
// lists.
type eligibilityRules struct {
	rules          calendar.Rules
	zones          *calendar.Zones
	destinations   domain.DestinationRules
	country        string
	env            domain.Environment
	anyDestination bool // only the general destination rules apply
	lists          *dnc.Registry
	scrub          lists.ScrubRules
}

// assess checks contacts by the rules. It returns a chunk that contains them and the results.
func (e eligibilityRules) assess(contacts []domain.Contact) *chunk {
	c := &chunk{
		contacts: contacts, zones: make([]string, len(contacts)), invalid: make([]bool, len(contacts)), countries: make([]string, len(contacts)),
		windows: map[string]calendar.Window{"": e.rules.WindowForZones(nil)},
	}
	for i, contact := range contacts {
		number, err := e.zones.NumberFromE164(contact.Phone)
		c.countries[i] = number.Country
		_, forbidden := domain.DialForbidden(contact.Phone, e.country)
		c.invalid[i] = err != nil || forbidden || !e.anyDestination && number.CheckDestination(e.destinations, e.country, e.env) != nil
		if !e.rules.HasLocalHours() {
			continue
		}
		key, zones := e.zonesOf(contact, number, err == nil)
		if _, known := c.windows[key]; !known {
			c.windows[key] = e.rules.WindowForZones(zones)
		}
		c.zones[i] = key
	}
	return c
}

// zonesOf returns the time zones of a contact and their key. They are the contact's own zone or the zones of its number.
func (e eligibilityRules) zonesOf(contact domain.Contact, number domain.Number, known bool) (string, []*time.Location) {
	if contact.Timezone != "" || !known {
		return e.zones.ContactZones(contact)
	}
	return e.zones.NumberZones(number)
}
