package domain

import "strings"

// SpreadsheetDamage is the way in which a spreadsheet program has changed the text of a telephone number.
type SpreadsheetDamage int

// The ways in which spreadsheet programs change telephone numbers.
const (
	NoSpreadsheetDamage SpreadsheetDamage = iota
	ScientificNotation                    // 1.20256E+10: the digits after the sixth are lost
	LeadingApostrophe                     // '+12025550100: the text marker is part of the value
	FormulaText                           // ="+12025550100"
)

// SpreadsheetDamageOf returns the way in which a spreadsheet program has changed the text of a telephone number.
func SpreadsheetDamageOf(text string) SpreadsheetDamage {
	text = strings.TrimSpace(text)
	if text == "" {
		return NoSpreadsheetDamage
	}
	switch {
	case text[0] == '\'' || strings.HasPrefix(text, "’"):
		return LeadingApostrophe
	case text[0] == '=':
		return FormulaText
	}
	mantissa, exponent, found := strings.Cut(strings.ToUpper(text), "E")
	exponent = strings.TrimLeft(exponent, "+")
	mantissa = strings.TrimLeft(mantissa, "+")
	if found && mantissa != "" && exponent != "" && len(exponent) <= 2 && onlyOf(exponent, "0123456789") && onlyOf(mantissa, "0123456789.,") {
		return ScientificNotation
	}
	return NoSpreadsheetDamage
}

func onlyOf(text, letters string) bool { return strings.Trim(text, letters) == "" }
