package domain

import (
	"strings"

	"github.com/nyaruka/phonenumbers"
)

// Anonymous stands for a number that its caller withholds.
const Anonymous = "anonymous"

// Written is a number in E.164 as the trunk wants it written.
func (t *Trunk) Written(e164 string) string {
	switch t.NumberFormat {
	case FormatDigits:
		return strings.TrimPrefix(e164, "+")
	case FormatNational:
		return national(e164, t.NumberCountry)
	}
	return e164
}

// Dialled is what is sent to the trunk to call a number in E.164: as it wants
// it written, then without the prefix that it does not want, then with the one
// that it does.
func (t *Trunk) Dialled(e164 string) string {
	return t.NumberAdd + strings.TrimPrefix(t.Written(e164), t.NumberStrip)
}

// national writes a number as it is dialled within a country: without its
// country code there, with the international prefix for elsewhere.
func national(e164, country string) string {
	n, err := phonenumbers.Parse(e164, country)
	if err != nil {
		return strings.TrimPrefix(e164, "+")
	}
	if phonenumbers.GetCountryCodeForRegion(country) == int(n.GetCountryCode()) {
		return digitsOf(phonenumbers.Format(n, phonenumbers.NATIONAL))
	}
	return digitsOf(phonenumbers.FormatOutOfCountryCallingNumber(n, country))
}
