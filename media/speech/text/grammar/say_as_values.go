package grammar

import (
	"strings"
	"unicode"
)

// ValueForms returns the functions of the forms. A function returns "" for a value that is not of its kind.
func ValueForms() map[string]func(l *Language, value string) string {
	return map[string]func(l *Language, value string) string{
		"cardinal":  (*Language).cardinalValue,
		"date":      (*Language).dateValue,
		"digits":    (*Language).digitsValue,
		"ordinal":   (*Language).ordinalValue,
		"spell":     (*Language).spellValue,
		"telephone": (*Language).telephoneValue,
		"time":      (*Language).timeValue,
		"year":      (*Language).yearValue,
	}
}

// digitsValue speaks the digits one by one with a pause at each separator.
func (l *Language) digitsValue(value string) string {
	groups := strings.FieldsFunc(value, func(r rune) bool { return r < '0' || r > '9' })
	if strings.ContainsFunc(value, unicode.IsLetter) {
		return ""
	}
	for i, g := range groups {
		if l.Cardinal == nil {
			groups[i] = strings.Join(strings.Split(g, ""), " ")
		} else {
			groups[i] = l.SpeakDigits(g)
		}
	}
	return strings.Join(groups, ", ")
}

func (l *Language) cardinalValue(value string) string {
	minus := ""
	if size := SignSize(value, "-−"); size > 0 {
		minus, value = l.Words.Minus+" ", value[size:]
	}
	n := l.ParseNumber(value)
	if n.Size == 0 || n.Size != len(value) {
		if n = machineNumber(value); n.Size == 0 {
			return ""
		}
	}
	return minus + l.SpeakNumber(n, Form{})
}

// machineNumber parses a number as programs write it: a period before the fraction and no separators.
func machineNumber(value string) Number {
	integer, fraction, _ := strings.Cut(value, ".")
	if integer == "" || DigitsAt(integer) != len(integer) || DigitsAt(fraction) != len(fraction) {
		return Number{}
	}
	return Number{Integer: integer, Fraction: fraction, Size: len(value)}
}

func (l *Language) ordinalValue(value string) string {
	n := l.ParseNumber(strings.TrimSuffix(value, "."))
	if n.Size == 0 || n.Fraction != "" || !n.IsCardinal() || strings.ContainsAny(value[n.Size:], "0123456789") {
		return ""
	}
	f := Form{Gender: Masculine}
	if strings.HasSuffix(value, "ª") {
		f.Gender = Feminine
	}
	return l.Ordinal(n.Value(), f)
}

func (l *Language) yearValue(value string) string {
	if n := DigitsAt(value); n == 0 || n > 4 || n != len(value) {
		return ""
	}
	return l.Year(Atoi(value))
}

// dateValue accepts every notation of a date that the language knows.
func (l *Language) dateValue(value string) string {
	withoutFractions := *l
	withoutFractions.Numbers.Fractions = nil
	withoutFractions.Dates.Slashes = true
	withoutFractions.Dates.ShortDots = l.Dates.DayMark != ""
	s := &Scanner{Language: &withoutFractions, Text: value}
	for _, r := range []Rule{matchISODate, matchNumericDate, matchWrittenDate, matchMonth} {
		if m := r(s); m.Size > 0 && strings.Trim(value[min(m.Size, len(value)):], ". ") == "" {
			return strings.TrimSuffix(m.Spoken, ".")
		}
	}
	return ""
}

// timeValue accepts a time of day, a time stamp, and four digits.
func (l *Language) timeValue(value string) string {
	if date, clock, ok := strings.Cut(value, "T"); ok && len(date) == len("2026-12-05") {
		value = clock
		if t := ParseClock(clock, ":"); t.Size > 0 && fractionAndZone(clock[t.Size:]) == len(clock)-t.Size {
			value = clock[:t.Size]
			if t.Seconds {
				value = strings.TrimSuffix(value, ":00")
			}
		}
	}
	if len(value) == 4 && DigitsAt(value) == 4 {
		value = value[:2] + ":" + value[2:]
	}
	s := &Scanner{Language: l, Text: value}
	if m := matchClock(s); m.Size == len(value) {
		return m.Spoken
	}
	if t := hourOnly(value); t.Size > 0 && t.Size == len(value) {
		return l.Clock.Speak(t, Context{})
	}
	return ""
}

func (l *Language) telephoneValue(value string) string {
	if value == "" || !StartsWithDigit(value) && value[0] != '+' && value[0] != '(' {
		return ""
	}
	p := parsePhone(value)
	if p.size != len(value) || len(p.groups) == 0 {
		return ""
	}
	return l.speakPhone(p)
}

// MoneyValue speaks an amount in a currency. A currency without a name is spoken by its code.
func (l *Language) MoneyValue(value, code string) string {
	minus := ""
	if size := SignSize(value, "-−"); size > 0 {
		minus, value = l.Words.Minus+" ", strings.TrimSpace(value[size:])
	}
	a := l.parseAmount(value)
	if n := machineNumber(value); n.Size > 0 && len(n.Fraction) > 0 && len(n.Fraction) < 3 {
		n.Fraction = (n.Fraction + "0")[:2]
		a = Amount{N: n, size: len(value)}
	}
	if a.size == 0 || a.size != len(value) {
		return ""
	}
	currencyOfCode, ok := l.Currencies[code]
	if !ok {
		spelled := l.SpellCode(code)
		currencyOfCode = Currency{One: spelled, Many: spelled}
	}
	a.Currency = currencyOfCode
	return minus + l.speakMoney(a, Context{})
}

// spellValue speaks letters and digits one by one and names the signs.
func (l *Language) spellValue(value string) string {
	var out []string
	for _, r := range value {
		switch {
		case r == ' ':
			out = append(out, ",")
		case unicode.IsDigit(r) && l.Cardinal != nil:
			out = append(out, l.Words.Digits[r-'0'])
		case IsWordRune(r):
			out = append(out, string(unicode.ToUpper(r)))
		default:
			out = append(out, l.nameOf(r))
		}
	}
	return strings.Join(out, " ")
}

// nameOf returns the name of a sign, or "" for a sign without one.
func (l *Language) nameOf(r rune) string {
	switch r {
	case '.':
		return l.Words.AddressDot
	case '-':
		return l.Words.Hyphen
	case '/':
		return l.Words.Slash
	case '*':
		return l.Words.Star
	case '#':
		return l.Words.Pound
	}
	if c, ok := l.Currencies[string(r)]; ok {
		return c.One
	}
	return l.Signs[string(r)]
}
