package text

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
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
	speak, known := valueForms()[form]
	if isMoney && currencyCode != "" {
		speak = func(l *language, value string) string { return l.moneyValue(value, strings.ToUpper(currencyCode)) }
	} else if !known {
		return "", fmt.Errorf("%w %q: use one of %s", errForm, form, strings.Join(Forms(), ", "))
	}
	if l.cardinal == nil && form != "spell" && form != "digits" {
		return value, nil
	}
	spoken := speak(l, value)
	if spoken == "" {
		return "", fmt.Errorf("%w: %s", errNotValue, form)
	}
	return tidy(spoken, l), nil
}

// valueForms returns the functions of the forms. A function returns "" for a value that is not of its kind.
func valueForms() map[string]func(l *language, value string) string {
	return map[string]func(l *language, value string) string{
		"cardinal":  (*language).cardinalValue,
		"date":      (*language).dateValue,
		"digits":    (*language).digitsValue,
		"ordinal":   (*language).ordinalValue,
		"spell":     (*language).spellValue,
		"telephone": (*language).telephoneValue,
		"time":      (*language).timeValue,
		"year":      (*language).yearValue,
	}
}

// digitsValue speaks the digits one by one with a pause at each separator.
func (l *language) digitsValue(value string) string {
	groups := strings.FieldsFunc(value, func(r rune) bool { return r < '0' || r > '9' })
	if strings.ContainsFunc(value, unicode.IsLetter) {
		return ""
	}
	for i, g := range groups {
		if l.cardinal == nil {
			groups[i] = strings.Join(strings.Split(g, ""), " ")
		} else {
			groups[i] = l.speakDigits(g)
		}
	}
	return strings.Join(groups, ", ")
}

func (l *language) cardinalValue(value string) string {
	minus := ""
	if size := signSize(value, "-−"); size > 0 {
		minus, value = l.words.minus+" ", value[size:]
	}
	n := l.parseNumber(value)
	if n.size == 0 || n.size != len(value) {
		if n = machineNumber(value); n.size == 0 {
			return ""
		}
	}
	return minus + l.speakNumber(n, form{})
}

// machineNumber parses a number as programs write it: a period before the fraction and no separators.
func machineNumber(value string) number {
	integer, fraction, _ := strings.Cut(value, ".")
	if integer == "" || digitsAt(integer) != len(integer) || digitsAt(fraction) != len(fraction) {
		return number{}
	}
	return number{integer: integer, fraction: fraction, size: len(value)}
}

func (l *language) ordinalValue(value string) string {
	n := l.parseNumber(strings.TrimSuffix(value, "."))
	if n.size == 0 || n.fraction != "" || !n.isCardinal() || strings.ContainsAny(value[n.size:], "0123456789") {
		return ""
	}
	f := form{gender: masculine}
	if strings.HasSuffix(value, "ª") {
		f.gender = feminine
	}
	return l.ordinal(n.value(), f)
}

func (l *language) yearValue(value string) string {
	if n := digitsAt(value); n == 0 || n > 4 || n != len(value) {
		return ""
	}
	return l.year(atoi(value))
}

// dateValue accepts every notation of a date that the language knows.
func (l *language) dateValue(value string) string {
	withoutFractions := *l
	withoutFractions.numbers.fractions = nil
	withoutFractions.dates.slashes = true
	withoutFractions.dates.shortDots = l.dates.dayMark != ""
	s := &scanner{language: &withoutFractions, text: value}
	for _, r := range []rule{matchISODate, matchNumericDate, matchWrittenDate, matchMonth} {
		if m := r(s); m.size > 0 && strings.Trim(value[min(m.size, len(value)):], ". ") == "" {
			return strings.TrimSuffix(m.spoken, ".")
		}
	}
	return ""
}

// timeValue accepts a time of day, a time stamp, and four digits.
func (l *language) timeValue(value string) string {
	if date, clock, ok := strings.Cut(value, "T"); ok && len(date) == len("2026-12-05") {
		value = clock
		if t := parseClock(clock, ":"); t.size > 0 && fractionAndZone(clock[t.size:]) == len(clock)-t.size {
			value = clock[:t.size]
			if t.seconds {
				value = strings.TrimSuffix(value, ":00")
			}
		}
	}
	if len(value) == 4 && digitsAt(value) == 4 {
		value = value[:2] + ":" + value[2:]
	}
	s := &scanner{language: l, text: value}
	if m := matchClock(s); m.size == len(value) {
		return m.spoken
	}
	if t := hourOnly(value); t.size > 0 && t.size == len(value) {
		return l.clock.speak(t, context{})
	}
	return ""
}

func (l *language) telephoneValue(value string) string {
	if value == "" || !startsWithDigit(value) && value[0] != '+' && value[0] != '(' {
		return ""
	}
	p := parsePhone(value)
	if p.size != len(value) || len(p.groups) == 0 {
		return ""
	}
	return l.speakPhone(p)
}

// moneyValue speaks an amount in a currency. A currency without a name is spoken by its code.
func (l *language) moneyValue(value, code string) string {
	minus := ""
	if size := signSize(value, "-−"); size > 0 {
		minus, value = l.words.minus+" ", strings.TrimSpace(value[size:])
	}
	a := l.parseAmount(value)
	if n := machineNumber(value); n.size > 0 && len(n.fraction) > 0 && len(n.fraction) < 3 {
		n.fraction = (n.fraction + "0")[:2]
		a = amount{n: n, size: len(value)}
	}
	if a.size == 0 || a.size != len(value) {
		return ""
	}
	currencyOfCode, ok := l.currencies[code]
	if !ok {
		spelled := l.spellCode(code)
		currencyOfCode = currency{one: spelled, many: spelled}
	}
	a.currency = currencyOfCode
	return minus + l.speakMoney(a, context{})
}

// spellValue speaks letters and digits one by one and names the signs.
func (l *language) spellValue(value string) string {
	var out []string
	for _, r := range value {
		switch {
		case r == ' ':
			out = append(out, ",")
		case unicode.IsDigit(r) && l.cardinal != nil:
			out = append(out, l.words.digits[r-'0'])
		case isWordRune(r):
			out = append(out, string(unicode.ToUpper(r)))
		default:
			out = append(out, l.nameOf(r))
		}
	}
	return strings.Join(out, " ")
}

// nameOf returns the name of a sign, or "" for a sign without one.
func (l *language) nameOf(r rune) string {
	switch r {
	case '.':
		return l.words.addressDot
	case '-':
		return l.words.hyphen
	case '/':
		return l.words.slash
	case '*':
		return l.words.star
	case '#':
		return l.words.pound
	}
	if c, ok := l.currencies[string(r)]; ok {
		return c.one
	}
	return l.signs[string(r)]
}
