package domain

import (
	"net/url"
	"strings"
)

// Headers of which a TrunkMatch compares one parameter. A TrunkMatch can also compare P-Charge-Info and extension
// headers (X-…) as a whole.
const (
	MatchRequestURI = "Request-URI"
	MatchFrom       = "From"
	MatchTo         = "To"
	MatchContact    = "Contact"
	MatchChargeInfo = "P-Charge-Info"
)

// MatchesByParameter reports whether a TrunkMatch for a header must name a parameter. The whole header differs from
// call to call and cannot be compared.
func MatchesByParameter(header string) bool {
	for _, name := range []string{MatchRequestURI, MatchFrom, MatchTo, MatchContact} {
		if strings.EqualFold(header, name) {
			return true
		}
	}
	return false
}

// IsMatchHeader reports whether a TrunkMatch may use a header with this name.
func IsMatchHeader(name string) bool {
	return MatchesByParameter(name) || strings.EqualFold(name, MatchChargeInfo) || len(name) > 2 && strings.EqualFold(name[:2], "X-")
}

// TrunkMatch is a header value that identifies the calls of one trunk if several trunks have the same address, for
// example a trunk group (RFC 4904). The carrier or SBC sets the header.
type TrunkMatch struct {
	Header    string `json:"header"`              // Request-URI, From, To, Contact, P-Charge-Info or X-…
	Parameter string `json:"parameter,omitempty"` // parameter of the URI or header, for example tgrp or otg; empty: the whole value is compared
	Value     string `json:"value"`               // compared without regard to case
}

// Matches reports whether a request has the header value. fields holds the header fields that sip.Incoming.MatchFields
// returns. A nil TrunkMatch matches every request. A header or parameter that occurs twice never matches.
func (m *TrunkMatch) Matches(fields map[string]string) bool {
	if m == nil {
		return true
	}
	field, found := fields[strings.ToLower(m.Header)]
	if !found {
		return false
	}
	if m.Parameter == "" {
		return strings.EqualFold(field, m.Value)
	}
	value, times := "", 0
	for part := range strings.FieldsFuncSeq(field, isMatchSeparator) {
		name, text, _ := strings.Cut(part, "=")
		if strings.EqualFold(strings.TrimSpace(name), m.Parameter) {
			value = strings.Trim(strings.TrimSpace(text), `"`)
			times++
		}
	}
	if plain, err := url.PathUnescape(value); err == nil { // unescaping follows the split, so that an escaped semicolon starts no parameter
		value = plain
	}
	return times == 1 && strings.EqualFold(value, m.Value)
}

// isMatchSeparator reports whether a character ends a parameter of a URI or header.
func isMatchSeparator(r rune) bool { return strings.ContainsRune(";@?<>", r) }
