package text

import (
	"errors"
	"fmt"
	"strings"

	"github.com/callboard/callboard/media/speech/text/grammar"
)

// moneyPrefix precedes the ISO 4217 code in the form "money:EUR".
const moneyPrefix = "money:"

// Forms returns the forms of SpeakAs. "money:EUR" stands for all currencies.
func Forms() []string {
	return []string{"cardinal", "date", "digits", "money:EUR", "ordinal", "spell", "telephone", "time", "verbatim", "year"}
}

var (
	errForm     = errors.New("unknown say-as form")
	errNotValue = errors.New("the value cannot be spoken in this say-as form")
)

// SpeakAs returns the spoken form of a value whose kind the text does not show. Form is one of Forms, and tag is the
// BCP 47 tag of the language. The error does not contain the value, which can be confidential. For an unknown language the digits stay.
func SpeakAs(value, form, tag string) (string, error) {
	if form == "verbatim" {
		return value, nil
	}
	l := languageOf(tag)
	value = strings.TrimSpace(strings.ReplaceAll(normalize(value), "\n", " "))
	currencyCode, isMoney := strings.CutPrefix(form, moneyPrefix)
	speak, known := grammar.ValueForms()[form]
	if isMoney && currencyCode != "" {
		speak = func(l *grammar.Language, value string) string {
			return l.MoneyValue(value, strings.ToUpper(currencyCode))
		}
	} else if !known {
		return "", fmt.Errorf("%w %q: use one of %s", errForm, form, strings.Join(Forms(), ", "))
	}
	if l.Cardinal == nil && form != "spell" && form != "digits" {
		return value, nil
	}
	spoken := speak(l, value)
	if spoken == "" {
		return "", fmt.Errorf("%w: %s", errNotValue, form)
	}
	return tidy(spoken, l), nil
}
