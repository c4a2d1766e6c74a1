package dnc

import (
	"strings"

	"github.com/callboard/callboard/domain"
)

// ParseNumber parses a phone number in a URL query, where an unescaped plus sign arrives as a space. n is the number
// packed by PackNumber.
func ParseNumber(text, country string) (e164 string, n uint64, err error) {
	if rest, lost := strings.CutPrefix(text, " "); lost {
		text = "+" + strings.TrimSpace(rest)
	}
	if e164, err = domain.E164(text, country); err != nil && !strings.HasPrefix(text, "+") {
		e164, err = domain.E164("+"+text, "")
	}
	if err != nil {
		return "", 0, err
	}
	n, err = PackNumber(e164)
	return e164, n, err
}

// ListNumber parses a phone number and returns the number packed by PackNumber.
func ListNumber(phone, country string) (uint64, error) {
	e164, err := domain.E164(phone, country)
	if err != nil {
		return 0, err
	}
	n, err := PackNumber(e164)
	if err != nil {
		return 0, ErrNumber
	}
	return n, nil
}
