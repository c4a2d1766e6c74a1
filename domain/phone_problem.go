package domain

// PhoneProblem says why a text is not a phone number. err is of E164. It names what
// a spreadsheet has done to a number.
func PhoneProblem(text string, err error) string {
	switch SpoiltNumber(text) {
	case SpoiltScientific:
		return "in scientific notation, so that its last digits are lost: format the column as text before it is filled in"
	case SpoiltApostrophe:
		return "led by an apostrophe: a spreadsheet keeps a number as text that way; send it without"
	case SpoiltFormula:
		return "a formula of a spreadsheet: send the number alone"
	case SpoiltNot:
	}
	return err.Error()
}
