package domain

import (
	"strings"

	"github.com/nyaruka/phonenumbers"
)

// Anonymous is the caller ID of a call whose caller number is withheld.
const Anonymous = "anonymous"

// FormatNumber returns an E.164 number in the format that number_format of the trunk prescribes.
func (t *Trunk) FormatNumber(e164 string) string {
	switch t.NumberFormat {
	case FormatDigits:
		return strings.TrimPrefix(e164, "+")
	case FormatNational:
		return national(e164, t.NumberCountry)
	}
	return e164
}

// DialString returns the text that is sent to the trunk to call or message an E.164 number. It is the number in
// number_format, without the prefix number_strip and with number_add in front. Every dialed number comes from this
// function. All number rules check e164, so the dial string must denote the same number. Otherwise the error is a
// *RewriteError. For numbers that must never be dialed the error is destination_not_allowed.
func (t *Trunk) DialString(e164 string) (string, error) {
	if reason, forbidden := DialForbidden(e164, t.NumberCountry); forbidden {
		return "", Errorf(CodeDestinationNotAllowed, "this number cannot be called: it is %s", reason)
	}
	written := t.FormatNumber(e164)
	if t.NumberStrip == "" && t.NumberAdd == "" {
		return written, nil
	}
	rest := strings.TrimPrefix(written, t.NumberStrip)
	dialled := t.NumberAdd + rest
	if t.parseDialString(dialled) == e164 || t.RewriteApproved && t.isAllowedCarrierPrefix(dialled) && t.parseDialString(rest) == e164 {
		return dialled, nil
	}
	return "", &RewriteError{Errorf(CodeDestinationNotAllowed, "this number cannot be called over trunk %s: number_strip and number_add make %q of it, which does not read as the same number", t.Name, dialled)}
}

// RewriteError means that number_strip and number_add of a trunk turn the number into another number. The trunk is
// misconfigured, and the number may be called over another trunk. RewriteError unwraps to an *Error with the code
// destination_not_allowed.
type RewriteError struct{ refusal *Error }

func (e *RewriteError) Error() string { return e.refusal.Error() }

// Unwrap returns the *Error that the API shows.
func (e *RewriteError) Unwrap() error { return e.refusal }

// parseDialString returns the E.164 number that a carrier reads in a dial string, according to number_format and
// number_country. It returns "" if the dial string is no full number.
func (t *Trunk) parseDialString(dialled string) string {
	local := t.NumberFormat == FormatNational
	switch {
	case strings.LastIndexByte(dialled, '+') > 0 || strings.ContainsAny(dialled, "*#"):
		return ""
	case strings.HasPrefix(dialled, internationalPrefix):
		dialled = "+" + dialled[len(internationalPrefix):]
	case !local && strings.HasPrefix(dialled, nanpInternational):
		dialled = "+" + dialled[len(nanpInternational):]
	case !local && !strings.HasPrefix(dialled, "+") && !strings.HasPrefix(dialled, "0"):
		dialled = "+" + dialled
	}
	e164, err := E164(dialled, t.NumberCountry)
	if err != nil {
		return ""
	}
	return e164
}

// internationalPrefix is the international dialing prefix of most countries. nanpInternational is that of the North
// American Numbering Plan.
const (
	internationalPrefix = "00"
	nanpInternational   = "011"
)

// isAllowedCarrierPrefix reports whether number_add may be a prefix that the carrier or a PBX removes. It must not
// be an emergency number, and the dial string must not start with an international prefix.
func (t *Trunk) isAllowedCarrierPrefix(dialled string) bool {
	for _, international := range []string{"+", internationalPrefix, nanpInternational} {
		if strings.HasPrefix(dialled, international) {
			return false
		}
	}
	return t.NumberAdd != "" && !emergency[digitsIn(t.NumberAdd)]
}

// national returns the digits that a phone in the country dials to reach an E.164 number. Numbers of other countries
// have the country's international prefix.
func national(e164, country string) string {
	n, err := phonenumbers.Parse(e164, country)
	if err != nil {
		return strings.TrimPrefix(e164, "+")
	}
	if phonenumbers.GetCountryCodeForRegion(country) == int(n.GetCountryCode()) {
		return digitsIn(phonenumbers.Format(n, phonenumbers.NATIONAL))
	}
	return digitsIn(phonenumbers.FormatOutOfCountryCallingNumber(n, country))
}
