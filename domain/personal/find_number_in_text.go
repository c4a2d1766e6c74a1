// Package personal finds a telephone number in texts and records, in any common notation, and masks it.
package personal

import (
	"strconv"
	"strings"

	"github.com/nyaruka/phonenumbers"

	"github.com/callboard/callboard/domain"
)

// Blank is the text that replaces an erased number.
const Blank = "[erased]"

// Number is a telephone number that is searched for in texts.
type Number struct {
	e164     string
	national string // digits after the country code
	prefixes map[string]bool
}

// NewNumber returns a Number that finds the telephone number e164 in texts.
func NewNumber(e164 string) (Number, error) {
	n, err := domain.ParseNumber(e164, "")
	if err != nil {
		return Number{}, err
	}
	code := strconv.Itoa(int(n.Parsed.GetCountryCode()))
	return Number{
		e164: n.E164, national: phonenumbers.GetNationalSignificantNumber(n.Parsed),
		// Digits that may precede the national number: the country code, also after an international prefix, and
		// trunk prefixes.
		prefixes: map[string]bool{"": true, code: true, "00" + code: true, "011" + code: true, code + "0": true, "0": true, "1": code == "1"},
	}, nil
}

// E164 returns the telephone number in E.164 format.
func (n Number) E164() string { return n.e164 }

// Equals reports whether a text is the number in E.164.
func (n Number) Equals(text string) bool { return text == n.e164 }

// IsIn reports whether a text contains the number.
func (n Number) IsIn(text string) bool {
	_, _, found := n.findFrom(text, 0)
	return found
}

// Mask replaces each occurrence of the number in a text with Blank.
func (n Number) Mask(text string) (masked string, found bool) {
	start, end, found := n.findFrom(text, 0)
	if !found {
		return text, false
	}
	var b strings.Builder
	at := 0
	for found {
		b.WriteString(text[at:start])
		b.WriteString(Blank)
		at = end
		start, end, found = n.findFrom(text, at)
	}
	b.WriteString(text[at:])
	return b.String(), true
}

// maxSeparators is the maximum number of separators between two digits of a number: spaces, dots, hyphens, slashes and
// parentheses.
const maxSeparators = 3

// findFrom returns the first position of the number in text at or after from. Separators may be between its digits. A run
// of digits with further digits that are not a prefix is another number.
func (n Number) findFrom(text string, from int) (start, end int, found bool) {
	for at := from; len(text)-at >= len(n.national); {
		i := strings.IndexAny(text[at:], "0123456789")
		if i < 0 {
			return 0, 0, false
		}
		var digits []byte
		var places []int
		at += i
		for at < len(text) {
			if c := text[at]; c >= '0' && c <= '9' {
				digits, places = append(digits, c), append(places, at)
				at++
				continue
			}
			separators := len(text[at:]) - len(strings.TrimLeft(text[at:], " .-/()"))
			if separators == 0 || separators > maxSeparators || at+separators >= len(text) || text[at+separators] < '0' || text[at+separators] > '9' {
				break
			}
			at += separators
		}
		if first, last, ok := n.findInDigits(string(digits), places); ok {
			start, end = places[first], places[last]+1
			for start > from && (text[start-1] == '+' || text[start-1] == '(') {
				start--
			}
			return start, end, true
		}
	}
	return 0, 0, false
}

// findInDigits finds the number in a run of digits. places holds the position of each digit in the text. first is the
// index of the first digit of the number or of its prefix, and last that of the last digit.
func (n Number) findInDigits(digits string, places []int) (first, last int, ok bool) {
	for from := 0; ; from++ {
		i := strings.Index(digits[from:], n.national)
		if i < 0 {
			return 0, 0, false
		}
		from += i
		last = from + len(n.national) - 1
		if last+1 < len(digits) && places[last+1] == places[last]+1 {
			continue
		}
		first = from
		for first > 0 && places[first-1] == places[first]-1 {
			first--
		}
		if !n.prefixes[digits[first:from]] {
			continue
		}
		for first > 0 { // a separate prefix, as in +44 (0) 20 …
			begin := first - 1
			for begin > 0 && places[begin-1] == places[begin]-1 {
				begin--
			}
			if !n.prefixes[digits[begin:first]] {
				break
			}
			first = begin
		}
		return first, last, true
	}
}
