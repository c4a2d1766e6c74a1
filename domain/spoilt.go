package domain

import "strings"

// Spoilt is what a spreadsheet has done to a number.
type Spoilt int

// What spreadsheets do.
const (
	SpoiltNot        Spoilt = iota
	SpoiltScientific        // 1.20256E+10: the digits behind the sixth are gone
	SpoiltApostrophe        // '+12025550100: the mark of a text is in the text
	SpoiltFormula           // ="+12025550100"
)

// SpoiltNumber says what a spreadsheet has done to a telephone number, by the
// traces that it leaves.
func SpoiltNumber(text string) Spoilt {
	text = strings.TrimSpace(text)
	if text == "" {
		return SpoiltNot
	}
	switch {
	case text[0] == '\'' || strings.HasPrefix(text, "’"):
		return SpoiltApostrophe
	case text[0] == '=':
		return SpoiltFormula
	}
	mantissa, exponent, found := strings.Cut(strings.ToUpper(text), "E")
	exponent = strings.TrimLeft(exponent, "+")
	mantissa = strings.TrimLeft(mantissa, "+")
	if found && mantissa != "" && exponent != "" && len(exponent) <= 2 && onlyOf(exponent, "0123456789") && onlyOf(mantissa, "0123456789.,") {
		return SpoiltScientific
	}
	return SpoiltNot
}

func onlyOf(text, letters string) bool { return strings.Trim(text, letters) == "" }
