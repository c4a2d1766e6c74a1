package domain

import (
	"net/url"
	"strings"
)

// The headers whose parameters a TrunkMatch may compare, beside P-Charge-Info
// and extension headers (X-…), which have a value of their own.
const (
	MatchRequestURI = "Request-URI"
	MatchFrom       = "From"
	MatchTo         = "To"
	MatchContact    = "Contact"
	MatchChargeInfo = "P-Charge-Info"
)

// MatchesByParameter says whether a TrunkMatch of a header needs a parameter:
// the rest of such a header differs from call to call.
func MatchesByParameter(header string) bool {
	for _, name := range []string{MatchRequestURI, MatchFrom, MatchTo, MatchContact} {
		if strings.EqualFold(header, name) {
			return true
		}
	}
	return false
}

// IsMatchHeader says whether a TrunkMatch may name a header.
func IsMatchHeader(name string) bool {
	return MatchesByParameter(name) || strings.EqualFold(name, MatchChargeInfo) || len(name) > 2 && strings.EqualFold(name[:2], "X-")
}

// TrunkMatch is the header by which a carrier or an SBC tells the calls of one
// trunk from those of other trunks at the same address, for example a trunk
// group (RFC 4904).
type TrunkMatch struct {
	Header    string `json:"header"`              // Request-URI, From, To, Contact, P-Charge-Info or X-…
	Parameter string `json:"parameter,omitempty"` // of the URI or the header, for example tgrp or otg; "": the whole value counts
	Value     string `json:"value"`               // compared without regard to case
}

// Matches says whether a request carries the value. fields are what a user agent
// has read of it (sip.Incoming.MatchFields). A nil match takes every request; a
// header or a parameter that occurs twice matches nothing.
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
	if plain, err := url.PathUnescape(value); err == nil { // after the split: an escaped semicolon begins no parameter
		value = plain
	}
	return times == 1 && strings.EqualFold(value, m.Value)
}

// isMatchSeparator ends a parameter of a URI or of a header.
func isMatchSeparator(r rune) bool { return strings.ContainsRune(";@?<>", r) }
