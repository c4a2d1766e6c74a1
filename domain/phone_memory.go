package domain

import (
	"strings"

	"github.com/nyaruka/phonenumbers"
)

// mostExchanges bounds what Numbers remembers.
const mostExchanges = 1 << 16

// Numbers reads numbers that stand as E.164 already, as KnownNumber does, and
// remembers what the tables said of those behind +1: the first six digits
// decide country and kind, as the tables of all its countries are written. A
// list of contacts has many of an exchange. One goroutine at a time may use it.
type Numbers struct{ exchanges map[string]exchange }

// exchange is what all numbers of an exchange have in common.
type exchange struct {
	country string
	kind    phonenumbers.PhoneNumberType
}

// Known is KnownNumber.
func (m *Numbers) Known(e164 string) (Number, error) {
	if !cleanNANP(e164) || subdivided(e164[2:5]) {
		return KnownNumber(e164)
	}
	n := Number{E164: e164, Parsed: parsed(1, e164[2:])}
	x, known := m.exchanges[e164[2:8]]
	if !known {
		n = numberOf(e164, n.Parsed)
		if m.exchanges == nil || len(m.exchanges) >= mostExchanges {
			m.exchanges = make(map[string]exchange)
		}
		m.exchanges[string([]byte(e164[2:8]))] = exchange{n.Country, n.Kind} // a copy: the key must not keep the number
		return n, nil
	}
	n.Country, n.Kind = x.country, x.kind
	return n, nil
}

// Read is ReadNumber.
func (m *Numbers) Read(text, defaultCountry string) (Number, error) {
	if text = strings.TrimSpace(text); cleanNANP(text) {
		return m.Known(text)
	}
	return ReadNumber(text, defaultCountry)
}

// subdivided says whether seven digits decide in an area: in Barbados and
// Jamaica.
func subdivided(area string) bool { return area == "246" || area == "658" || area == "876" }
