package domain

import (
	"strings"

	"github.com/nyaruka/phonenumbers"
)

// maxCachedExchanges limits the number of exchanges in a NumberCache.
const maxCachedExchanges = 1 << 16

// NumberCache parses E.164 numbers and caches the country and kind of North American exchanges, which the first six
// digits determine. The cache pays off because contact lists contain many numbers of the same exchange. A NumberCache
// must not be used concurrently.
type NumberCache struct{ exchanges map[string]exchange }

// exchange holds the values that all numbers of an exchange share.
type exchange struct {
	country string
	kind    phonenumbers.PhoneNumberType
}

// FromE164 returns the same result as NumberFromE164, from the cache if possible.
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

// ParseNumber returns the same result as the function ParseNumber, from the cache if possible.
func (m *NumberCache) ParseNumber(text, defaultCountry string) (Number, error) {
	if text = strings.TrimSpace(text); isCleanNANP(text) {
		return m.FromE164(text)
	}
	return ParseNumber(text, defaultCountry)
}

// isSubdividedArea reports whether seven digits instead of six determine the country and kind of an area's numbers.
// These are areas of Barbados and Jamaica.
func isSubdividedArea(area string) bool { return area == "246" || area == "658" || area == "876" }
