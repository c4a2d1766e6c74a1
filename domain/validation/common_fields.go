// Package validation validates resources and sets their defaults. Each function returns all problems at once or adds
// them to a list. A problem names the path of its field.
package validation

import (
	"encoding/json"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/callboard/callboard/domain"
)

// Limits of fields that all resources have.
const (
	MaxName          = 200
	MaxMetadata      = 50
	MaxContext       = 200
	MaxContextBytes  = 64 << 10 // encoded as JSON
	MaxMetadataKey   = 40
	MaxMetadataValue = 500
	MaxURL           = 2048
)

// Text adds the problems with a single-line text: missing although required, too long, or with control characters.
func Text(p *domain.Problems, param, text string, required bool, most int) {
	switch {
	case required && strings.TrimSpace(text) == "":
		p.Add(param, domain.CodeValidation, "is required")
	case utf8.RuneCountInString(text) > most:
		p.Add(param, domain.CodeValidation, "has more than %d characters", most)
	case !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl):
		p.Add(param, domain.CodeValidation, "must not hold control characters")
	}
}

// Prose adds the problems with an optional text in which line breaks and tabs are allowed.
func Prose(p *domain.Problems, param, text string, most int) {
	Text(p, param, strings.NewReplacer("\n", " ", "\r", " ", "\t", " ").Replace(text), false, most)
}

// Metadata adds the problems with the metadata of a resource.
func Metadata(p *domain.Problems, m map[string]string) {
	if len(m) > MaxMetadata {
		p.Add("metadata", domain.CodeValidation, "has %d entries; %d at most", len(m), MaxMetadata)
		return
	}
	for _, k := range sortedKeys(m) {
		Text(p, "metadata", k, true, MaxMetadataKey)
		Prose(p, "metadata."+shorten(k), m[k], MaxMetadataValue)
	}
}

// Context adds a problem if the context variables of a call or message are too many or too large.
func Context(p *domain.Problems, param string, c domain.Context) {
	if len(c) > MaxContext {
		p.Add(param, domain.CodeValidation, "has %d entries; %d at most", len(c), MaxContext)
	} else if jsonSize(map[string]any(c)) > MaxContextBytes {
		p.Add(param, domain.CodeValidation, "is larger than %d kB of JSON", MaxContextBytes>>10)
	}
}

// jsonSize returns the approximate size of the JSON of a value in bytes.
func jsonSize(v any) (n int) {
	const number, mark = 8, 4
	switch v := v.(type) {
	case string:
		return len(v) + mark
	case json.Number:
		return len(v)
	case []any:
		for _, e := range v {
			n += jsonSize(e) + 1
		}
		return n + mark
	case map[string]any:
		for name, e := range v {
			n += len(name) + jsonSize(e) + mark
		}
		return n + mark
	}
	return number
}

// zoneOfAbbreviation maps abbreviations of time zones to the zones that are probably meant, for error messages.
// Abbreviations are rejected, because many of them ignore daylight saving time.
var zoneOfAbbreviation = map[string]string{ //nolint:gochecknoglobals // a table
	"EST": "America/New_York", "EDT": "America/New_York", "EST5EDT": "America/New_York", "ET": "America/New_York",
	"CST": "America/Chicago", "CDT": "America/Chicago", "CST6CDT": "America/Chicago", "CT": "America/Chicago",
	"MST": "America/Denver", "MDT": "America/Denver", "MST7MDT": "America/Denver", "MT": "America/Denver",
	"PST": "America/Los_Angeles", "PDT": "America/Los_Angeles", "PST8PDT": "America/Los_Angeles", "PT": "America/Los_Angeles",
	"AKST": "America/Anchorage", "HST": "Pacific/Honolulu",
	"CET": "Europe/Berlin", "CEST": "Europe/Berlin", "MET": "Europe/Berlin", "EET": "Europe/Athens", "EEST": "Europe/Athens",
	"WET": "Europe/Lisbon", "WEST": "Europe/Lisbon", "BST": "Europe/London", "GB": "Europe/London", "IST": "Asia/Kolkata", "JST": "Asia/Tokyo",
}

// Zone adds a problem if a time zone name is ambiguous or unknown. Valid names consist of area and place, such as
// Europe/Berlin, or are UTC.
func Zone(p *domain.Problems, param, name string) {
	if problem := ZoneProblem(name, ValidZone(name)); problem != "" {
		p.Add(param, domain.CodeValidation, "%q %s", shorten(name), problem)
	}
}

// ZoneProblem explains the problem with a time zone name and suggests a valid name. It returns "" for a valid name.
// known reports whether the name is in the time-zone database.
func ZoneProblem(name string, known bool) string {
	if better := zoneOfAbbreviation[strings.ToUpper(name)]; better != "" {
		return "is an abbreviation that says nothing reliable of daylight saving; use the name of a place, such as " + better
	}
	area, _, placed := strings.Cut(name, "/")
	switch {
	case !known:
		return "is no time zone (e.g. Europe/Berlin)"
	case area == "Etc" && name != "Etc/UTC" && name != "Etc/GMT", !placed && name != "UTC" && name != "GMT":
		return "does not name a place; use an area and a place, such as Europe/Berlin, or UTC"
	}
	return ""
}

// ValidZone reports whether a name is in the time-zone database.
func ValidZone(name string) bool {
	if name == "" || name == "Local" || len(name) > 64 {
		return false
	}
	_, err := time.LoadLocation(name)
	return err == nil
}

// Country adds a problem if the code is not an ISO 3166 alpha-2 code.
func Country(p *domain.Problems, param, code string) {
	if len(code) != 2 || !isCapital(code[0]) || !isCapital(code[1]) {
		p.Add(param, domain.CodeValidation, "%q is not a country code (ISO 3166, e.g. US)", shorten(code))
	}
}

func isCapital(letter byte) bool { return letter >= 'A' && letter <= 'Z' }

// ID adds a problem if the ID is invalid, and returns its canonical form.
func ID(p *domain.Problems, param string, kind domain.Prefix, id string) string {
	if id == "" {
		return ""
	}
	good, err := domain.ParseID(kind, id)
	if err != nil {
		p.Add(param, domain.CodeValidation, "there is no %s %q", kind, shorten(id))
		return ""
	}
	return good
}

// Phone adds a problem if the text is not a telephone number, and returns the number in E.164.
func Phone(p *domain.Problems, param, text, defaultCountry string) string {
	e164, err := domain.E164(text, defaultCountry)
	if err != nil {
		p.Add(param, domain.CodeValidation, "%q is not a phone number (e.g. +12025550123)", shorten(text))
		return ""
	}
	return e164
}

// HTTPS adds a problem if the text is not a valid URL for webhooks.
func HTTPS(p *domain.Problems, param, text string) {
	u, err := url.Parse(text)
	switch {
	case text == "":
		p.Add(param, domain.CodeValidation, "is required")
	case len(text) > MaxURL || err != nil || u.Host == "" || u.Hostname() == "":
		p.Add(param, domain.CodeInvalidURL, "is no URL")
	case u.Scheme != "https":
		p.Add(param, domain.CodeInvalidURL, "must begin with https://")
	case u.User != nil || u.Fragment != "":
		p.Add(param, domain.CodeInvalidURL, "must hold neither a user nor a fragment")
	}
}

// checkNetworks adds a problem for each entry that is neither an IP address nor a CIDR.
func checkNetworks(p *domain.Problems, param string, list []string) {
	for i, n := range list {
		if _, err := netip.ParsePrefix(n); err == nil {
			continue
		}
		if a, err := netip.ParseAddr(n); err != nil || a.Zone() != "" {
			p.Add(indexedParam(param, i), domain.CodeValidation, "%q is neither an address nor a network", shorten(n))
		}
	}
}

// atMost adds a problem if a list has more than most entries, and returns the first most entries.
func atMost[T any](p *domain.Problems, param string, list []T, most int) []T {
	if len(list) > most {
		p.Add(param, domain.CodeValidation, "has %d entries; %d at most", len(list), most)
		return list[:most]
	}
	return list
}

func checkOneOf(p *domain.Problems, param, word string, words ...string) {
	if !slices.Contains(words, word) {
		p.Add(param, domain.CodeValidation, "%q is not one of %s", shorten(word), strings.Join(words, ", "))
	}
}

func checkBetween(p *domain.Problems, param string, n, least, most int) {
	if n < least || n > most {
		p.Add(param, domain.CodeValidation, "must be between %d and %d", least, most)
	}
}
