package domain

import (
	"strings"

	"github.com/nyaruka/phonenumbers"
)

// Anonymous stands for a number that its caller withholds.
const Anonymous = "anonymous"

// FormatNumber is a number in E.164 as the trunk wants it written.
func (t *Trunk) FormatNumber(e164 string) string {
	switch t.NumberFormat {
	case FormatDigits:
		return strings.TrimPrefix(e164, "+")
	case FormatNational:
		return national(e164, t.NumberCountry)
	}
	return e164
}

// DialString is what is sent to the trunk to call or write to a number in E.164: the
// number as number_format writes it, without number_strip, behind number_add. It
// is the only source of a dialled number. The rules for numbers judge e164, so
// what is dialled must read as the same number: otherwise the error is a
// *RewriteError. For what must never be dialled it is destination_not_allowed.
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

// RewriteError says that number_strip and number_add of a trunk make another
// number of the one to call. The trunk is at fault: the number itself may be
// called, for example over another trunk. It unwraps to an *Error with the code
// destination_not_allowed.
type RewriteError struct{ refusal *Error }

func (e *RewriteError) Error() string { return e.refusal.Error() }

// Unwrap returns the *Error that the API shows.
func (e *RewriteError) Unwrap() error { return e.refusal }

// parseDialString is the E.164 number that a switch reads in a dial string, by
// number_format and number_country; "": it is not a full number.
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

// The digits before an international number: of most countries, and of the
// North American Numbering Plan.
const (
	internationalPrefix = "00"
	nanpInternational   = "011"
)

// isAllowedCarrierPrefix says whether number_add may be a prefix that the carrier or
// a private exchange removes: it is no emergency number, and the dial string does not
// begin with an international prefix.
func (t *Trunk) isAllowedCarrierPrefix(dialled string) bool {
	for _, international := range []string{"+", internationalPrefix, nanpInternational} {
		if strings.HasPrefix(dialled, international) {
			return false
		}
	}
	return t.NumberAdd != "" && !emergency[digitsIn(t.NumberAdd)]
}

// national writes a number as it is dialled within a country: without its
// country code there, with the international prefix for elsewhere.
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
