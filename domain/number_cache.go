package domain

import (
	"strings"

	"github.com/nyaruka/phonenumbers"
)

// mostExchanges bounds what Numbers remembers.
const maxCachedExchanges = 1 << 16

// NumberCache reads numbers that stand as E.164 already, as KnownNumber does, and
// remembers what the tables said of those behind +1: the first six digits
// decide country and kind, as the tables of all its countries are written. A
// list of contacts has many of an exchange. One goroutine at a time may use it.
type NumberCache struct{ exchanges map[string]exchange }

// exchange is what all numbers of an exchange have in common.
type exchange struct {
	country string
	kind    phonenumbers.PhoneNumberType
}

// FromE164 is KnownNumber.
func (m *NumberCache) FromE164(e164 string) (Number, error) {
	if !isCleanNANP(e164) || isSubdividedArea(e164[2:5]) {
		return NumberFromE164(e164)
	}
	n := Number{E164: e164, Parsed: newPhoneNumber(1, e164[2:])}
	x, known := m.exchanges[e164[2:8]]
	if !known {
		n = numberOf(e164, n.Parsed)
		if m.exchanges == nil || len(m.exchanges) >= maxCachedExchanges {
			m.exchanges = make(map[string]exchange)
		}
		m.exchanges[string([]byte(e164[2:8]))] = exchange{n.Country, n.Kind} // a copy: the key must not keep the number
		return n, nil
	}
	n.Country, n.Kind = x.country, x.kind
	return n, nil
}

// ParseNumber is ReadNumber.
func (m *NumberCache) ParseNumber(text, defaultCountry string) (Number, error) {
	if text = strings.TrimSpace(text); isCleanNANP(text) {
		return m.FromE164(text)
	}
	return ParseNumber(text, defaultCountry)
}

// isSubdividedArea says whether seven digits decide in an area: in Barbados and
// Jamaica.
func isSubdividedArea(area string) bool { return area == "246" || area == "658" || area == "876" }
