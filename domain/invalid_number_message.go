package domain

// PhoneProblem explains to a client why a text is not a phone number. err is the error of E164. Numbers that a
// spreadsheet has damaged get a message of their own.
func PhoneProblem(text string, err error) string {
	switch SpreadsheetDamageOf(text) {
	case ScientificNotation:
		return "in scientific notation, so that its last digits are lost: format the column as text before it is filled in"
	case LeadingApostrophe:
		return "led by an apostrophe: a spreadsheet keeps a number as text that way; send it without"
	case FormulaText:
		return "a formula of a spreadsheet: send the number alone"
	case NoSpreadsheetDamage:
	}
	return err.Error()
}
