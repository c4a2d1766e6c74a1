package domain

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/nyaruka/phonenumbers"
)

// The errors of ParsePhone and ParseNumber.
var (
	// ErrInvalidPhone means that the text is not a full telephone number.
	ErrInvalidPhone = errors.New("not a full telephone number")
	// ErrPhoneForbidden means that the text is an emergency number or a short code.
	ErrPhoneForbidden = errors.New("an emergency number or a short code")
)

// maxPhoneText is the maximum length in bytes of the text of a number: 15 digits of E.164 with separators.
const maxPhoneText = 40

// maxShortCode is the length of the longest short code. A text without "+" that has at most this many digits is not a
// full number in any country.
const maxShortCode = 6

// maxShortNumber is the length of the longest number that can be an emergency or short number within a country.
const maxShortNumber = 8

// isPossibleNumber reports whether a number has a possible length for its country, including the area code.
func isPossibleNumber(n *phonenumbers.PhoneNumber) bool {
	return phonenumbers.IsPossibleNumberWithReason(n) == phonenumbers.IS_POSSIBLE &&
		(n.GetCountryCode() != 1 || hasPossibleAreaCode(strconv.FormatUint(n.GetNationalNumber(), 10)))
}

// emergency lists the emergency numbers of all countries as they are dialed. They are forbidden in every country,
// because the country of the trunk decides which number reaches an emergency service.
var emergency = map[string]bool{
	"000": true, "100": true, "101": true, "102": true, "103": true, "104": true, "105": true, "106": true,
	"108": true, "110": true, "111": true, "112": true, "113": true, "115": true, "117": true, "118": true,
	"119": true, "120": true, "122": true, "123": true, "128": true, "133": true, "144": true, "150": true,
	"155": true, "158": true, "166": true, "190": true, "191": true, "192": true, "193": true, "194": true,
	"199": true, "911": true, "988": true, "991": true, "992": true, "993": true, "995": true, "997": true,
	"998": true, "999": true,
}

// Number is a parsed telephone number. It keeps the country and kind, because looking them up searches the numbering
// plans of all countries.
type Number struct {
	E164    string
	Country string // ISO 3166 alpha-2; empty for satellite and other global ranges
	Kind    phonenumbers.PhoneNumberType
	Parsed  *phonenumbers.PhoneNumber // must not be changed
}

// ParseNumber parses a number with common separators. Numbers without "+" are national numbers of defaultCountry.
// Letters and extensions are rejected. The error is ErrInvalidPhone or ErrPhoneForbidden.
func ParseNumber(text, defaultCountry string) (Number, error) {
	e164, n, err := readPhone(text, defaultCountry)
	if err != nil {
		return Number{}, err
	}
	return numberOf(e164, n), nil
}

// NumberFromE164 parses a number that is already in E.164. It also accepts numbers that must not be dialed.
func NumberFromE164(e164 string) (Number, error) {
	if code, national, ok := splitCleanE164(e164); ok {
		return numberOf(e164, newPhoneNumber(code, national)), nil
	}
	n, err := phonenumbers.Parse(e164, "")
	if err != nil {
		return Number{}, ErrInvalidPhone
	}
	return numberOf(e164, n), nil
}

func numberOf(e164 string, n *phonenumbers.PhoneNumber) Number {
	return Number{E164: e164, Country: countryOf(n), Kind: phonenumbers.GetNumberType(n), Parsed: n}
}

// ParsePhone parses a number like ParseNumber and returns only its E.164 form and country.
func ParsePhone(text, defaultCountry string) (e164, country string, err error) {
	e164, n, err := readPhone(text, defaultCountry)
	if err != nil {
		return "", "", err
	}
	return e164, countryOf(n), nil
}

func readPhone(text, defaultCountry string) (string, *phonenumbers.PhoneNumber, error) {
	text = strings.TrimSpace(text)
	if code, national, ok := splitCleanE164(text); ok {
		return text, newPhoneNumber(code, national), nil
	}
	if len(text) > maxPhoneText || strings.IndexFunc(text, isNotPhoneCharacter) >= 0 {
		return "", nil, ErrInvalidPhone
	}
	digits := digitsIn(text)
	if n := len(digits); n > 0 && n <= maxShortCode && !strings.HasPrefix(text, "+") || emergency[digits] {
		return "", nil, ErrPhoneForbidden
	}
	n, err := phonenumbers.Parse(text, strings.ToUpper(defaultCountry))
	if err != nil || !isPossibleNumber(n) {
		return "", nil, ErrInvalidPhone
	}
	e164 := phonenumbers.Format(n, phonenumbers.E164)
	if emergency[digitsIn(e164)] || isShort(digitsIn(e164), strings.ToUpper(defaultCountry)) || isEmergencyOrShort(n) {
		return "", nil, ErrPhoneForbidden
	}
	return e164, n, nil
}

// newPhoneNumber returns the value that the parser of the phonenumbers library returns for this number.
func newPhoneNumber(code int32, national string) *phonenumbers.PhoneNumber {
	number, _ := strconv.ParseUint(national, 10, 64) // digits
	return &phonenumbers.PhoneNumber{CountryCode: &code, NationalNumber: &number}
}

// E164 parses a number like ParseNumber and returns only its E.164 form. It skips the costly country lookup.
func E164(text, defaultCountry string) (string, error) {
	if _, _, ok := splitCleanE164(text); ok {
		return text, nil
	}
	e164, _, err := readPhone(text, defaultCountry)
	return e164, err
}

// isCleanNANP reports whether a text is a North American number in E.164: ten digits with a possible area code.
// Such a number is no short or emergency number and needs no normalization.
func isCleanNANP(text string) bool {
	return len(text) == len("+12025550100") && text[:2] == "+1" && len(digitsIn(text[2:])) == 10 && hasPossibleAreaCode(text[2:])
}

// hasPossibleAreaCode reports whether a ten-digit North American number starts with a valid area code. The first
// digit is 2 to 9, and the code is not a service code N11 (211 to 911).
func hasPossibleAreaCode(national string) bool {
	return len(national) == 10 && national[0] >= '2' && national[1:3] != "11"
}

// hasPossibleExchange reports whether a ten-digit North American number has a valid central office code. The first
// digit is 2 to 9, and the code is not a service code N11. Toll-free numbers may have N11.
func hasPossibleExchange(national string) bool {
	if len(national) != 10 {
		return false
	}
	tollFree := national[0] == '8' && (national[1] == national[2] || national[1] == '8')
	return national[3] >= '2' && (national[4:6] != "11" || tollFree)
}

// isNotPhoneCharacter reports whether a character cannot be part of a telephone number.
func isNotPhoneCharacter(r rune) bool {
	return (r < '0' || r > '9') && !strings.ContainsRune("+-.()/ \u00a0\u2010\u2011\u2012\u2013", r)
}

func digitsIn(text string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, text)
}

// countryOf returns the country of a number, even if the number is not assigned to anyone. It returns "" if the number
// range belongs to no country.
func countryOf(n *phonenumbers.PhoneNumber) string {
	region := phonenumbers.GetRegionCodeForNumber(n)
	if region == "" {
		region = phonenumbers.GetRegionCodeForCountryCode(int(n.GetCountryCode()))
	}
	if len(region) != 2 || region == "ZZ" { // 001 is the world
		return ""
	}
	return region
}

// DialForbidden reports whether a number must never be dialed: emergency numbers, short codes, and numbers that are
// not full E.164 numbers. Numbers without "+" are national numbers of country.
func DialForbidden(number, country string) (reason string, forbidden bool) {
	digits := digitsIn(number)
	country = strings.ToUpper(country)
	if emergency[digits] || isShort(digits, country) || len(digits) > 0 && len(digits) <= maxShortCode && number[0] != '+' {
		return "an emergency number or a short code", true
	}
	if _, _, ok := splitCleanE164(number); ok {
		return "", false
	}
	n, err := phonenumbers.Parse(number, country)
	if err != nil || len(number) > maxPhoneText || !isPossibleNumber(n) {
		return "not a full telephone number", true
	}
	if isEmergencyOrShort(n) {
		return "an emergency number or a short code", true
	}
	return "", false
}

// isEmergencyOrShort reports whether the digits after the country code are an emergency or short number of the country,
// for example +49 110.
func isEmergencyOrShort(n *phonenumbers.PhoneNumber) bool {
	local := phonenumbers.GetNationalSignificantNumber(n)
	return emergency[local] || len(local) <= maxShortNumber && slices.ContainsFunc(
		phonenumbers.GetRegionCodesForCountryCode(int(n.GetCountryCode())), func(region string) bool { return isShort(local, region) })
}

// isShort reports whether digits are an emergency or short number when dialed within a country. Numbers of more than
// six digits are short only if they are emergency numbers. For fewer digits the phonenumbers library decides.
func isShort(digits, country string) bool {
	if len(digits) == 0 || len(digits) > maxShortNumber || country == "" {
		return false
	}
	if phonenumbers.IsEmergencyNumber(digits, country) {
		return true
	}
	if len(digits) > maxShortCode {
		return false
	}
	n, err := phonenumbers.Parse(digits, country)
	return err == nil && phonenumbers.IsValidShortNumberForRegion(n, country)
}

// TestCarrierPrefix is the prefix of the test carrier's numbers. Their last four digits select how the called phone
// behaves. No real carrier uses this range.
const TestCarrierPrefix = "+1500555"

// IsTestCarrierNumber reports whether a number consists of TestCarrierPrefix and four digits.
func IsTestCarrierNumber(e164 string) bool {
	rest, ok := strings.CutPrefix(e164, TestCarrierPrefix)
	return ok && len(rest) == 4 && rest == digitsIn(rest)
}

// CheckDestination checks an E.164 number against the destination rules of a workspace: countries, blocked
// prefixes, premium-rate and satellite ranges, and forbidden numbers. The error is destination_not_allowed.
func CheckDestination(e164 string, rules DestinationRules, defaultCountry string, env Environment) error {
	if reason, forbidden := DialForbidden(e164, defaultCountry); forbidden || !strings.HasPrefix(e164, "+") {
		if reason == "" {
			reason = "not a full telephone number"
		}
		return Errorf(CodeDestinationNotAllowed, "this number cannot be called: it is %s", reason)
	}
	n, err := NumberFromE164(e164)
	if err != nil {
		return Errorf(CodeDestinationNotAllowed, "this number cannot be called: it is not a full telephone number")
	}
	return n.CheckDestination(rules, defaultCountry, env)
}

// CheckDestination applies the rules of the function CheckDestination to a parsed number.
func (n Number) CheckDestination(rules DestinationRules, defaultCountry string, env Environment) error {
	if env == Test && IsTestCarrierNumber(n.E164) {
		return nil
	}
	if strings.HasPrefix(n.E164, "+1") && !hasPossibleExchange(n.E164[len("+1"):]) {
		return Errorf(CodeDestinationNotAllowed, "this number cannot be called: %s is no central office code of the North American Numbering Plan", n.E164[5:8])
	}
	if n.hasExtraCost() {
		return Errorf(CodeDestinationNotAllowed, "premium-rate and satellite numbers cannot be called")
	}
	for _, p := range rules.BlockedPrefixes {
		if p != "" && strings.HasPrefix(n.E164[1:], digitsIn(p)) {
			return Errorf(CodeDestinationNotAllowed, "numbers that begin with %s are blocked in this workspace", p)
		}
	}
	countries := rules.Countries
	if len(countries) == 0 {
		countries = []string{defaultCountry}
	}
	country := n.Country
	if slices.Contains(countries, "*") || country != "" && slices.ContainsFunc(countries, func(c string) bool {
		return strings.EqualFold(c, country) || strings.EqualFold(c, "US") && slices.Contains(territoriesOfUS, country)
	}) {
		return nil
	}
	if country == "" {
		country = "no country"
	}
	return Errorf(CodeDestinationNotAllowed, "calls to %s are not allowed in this workspace", country)
}

// territoriesOfUS lists territories whose North American numbers cost as much as numbers of the United States. They are
// allowed wherever US is allowed, unless blocked_prefixes excludes them.
var territoriesOfUS = []string{"PR", "VI", "GU", "AS", "MP"} //nolint:gochecknoglobals // a table

// hasExtraCost reports whether a number is premium rate, shared cost, or in a global satellite or network range
// (870, 881, 882, 883, 979).
func (n Number) hasExtraCost() bool {
	switch n.Parsed.GetCountryCode() {
	case 870, 878, 881, 882, 883, 888, 979:
		return true
	}
	return n.Kind == phonenumbers.PREMIUM_RATE || n.Kind == phonenumbers.SHARED_COST
}
