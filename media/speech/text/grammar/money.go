package grammar

import (
	"strings"
	"unicode/utf8"
)

// MoneyFormat says how the language speaks amounts of money.
type MoneyFormat struct {
	Join        string                                           // between the major and the minor unit
	BareMinor   bool                                             // the minor unit is a number without a name: "zwölf Euro fünfzig"
	OfScale     string                                           // between a scale and the currency: "de "
	OfVowel     string                                           // the same before a vowel: "d'"; "": ofScale
	SpacedCents bool                                             // cents may stand behind the currency: "19 € 90"
	Per         map[string]string                                // what stands behind "/": "mo" → "per month"
	RangeJoins  []string                                         // words between two amounts of which only the last names the currency
	RangeCues   []string                                         // phrases before the first of them
	Attribute   func(spoken string, a Amount, c Context) string  // nil: amounts have one form
	ZeroMarks   []string                                         // marks instead of the minor unit: ",-"
	Choose      func(symbol string, n Number, raw string) string // the key of the currency of an ambiguous symbol
}

// Amount is an amount of money.
type Amount struct {
	N        Number
	scale    Scale
	scaled   bool
	Currency Currency
	unnamed  bool // the currency is named by a later amount
	size     int
}

// CurrencyAt returns the currency at the beginning of s and the size of its sign or code.
func (l *Language) CurrencyAt(s string) (key string, size int) {
	limit := min(len(s), 12)
	for size = limit; size > 0; size-- {
		if size < len(s) && !utf8.RuneStart(s[size]) {
			continue
		}
		if _, ok := l.Currencies[s[:size]]; ok && (!IsLetter(RuneBefore(s, size)) || !wordAfterLetter(s, size)) {
			return s[:size], size
		}
	}
	return "", 0
}

func wordAfterLetter(s string, at int) bool { return IsLetter(RuneAfter(s, at)) }

// startsWithMoney reports whether s begins with a currency and a number.
func (l *Language) startsWithMoney(s string) bool {
	_, size := l.CurrencyAt(s)
	return size > 0 && StartsWithDigit(strings.TrimLeft(s[size:], " "))
}

// matchCurrencyFirst speaks "$20", "EUR 1,000" and the like.
func matchCurrencyFirst(s *Scanner) Match {
	rest := s.Rest()
	key, size := s.CurrencyAt(rest)
	if size == 0 || IsLetter(RuneAfter(rest, 0)) && WordBefore(s.Text, s.Pos) {
		return Match{}
	}
	after := strings.TrimLeft(rest[size:], " ")
	minus := ""
	if n := SignSize(after, "-−"); n > 0 && StartsWithDigit(after[n:]) {
		minus, after = s.Words.Minus+" ", after[n:]
	}
	a := s.parseAmount(after)
	if a.size == 0 {
		return Match{}
	}
	size = len(rest) - len(after) + a.size
	isSign := len(key) == 1
	if s.Money.Choose != nil {
		key = s.Money.Choose(key, a.N, after[:a.size])
	}
	a.Currency = s.Currencies[key]
	for _, code := range []string{" MXN", " USD", " CA", " CAD", " US", " AUD", " ARS", " COP", " CLP"} { // "$20 MXN" names its currency twice
		if strings.HasPrefix(rest[size:], code) && !WordAfter(rest, size+len(code)) && isSign {
			if cur, ok := s.Currencies[code[1:]]; ok {
				a.Currency = cur
			}
			size += len(code)
			break
		}
	}
	a.unnamed = s.namesCurrencyLater(rest[size:], key)
	return Match{size, minus + s.speakAmount(a, s.around(size)), MoneyMatch}
}

// namesCurrencyLater reports whether an amount of the same currency follows that names the currency for both.
func (s *Scanner) namesCurrencyLater(rest, key string) bool {
	trimmed := strings.TrimLeft(rest, " ")
	if n := SignSize(trimmed, "-–—"); n > 0 {
		next := strings.TrimLeft(trimmed[n:], " ")
		other, size := s.CurrencyAt(next)
		return size > 0 && other == key && StartsWithDigit(next[size:])
	}
	if !HasCue(s.Before(), s.Money.RangeCues) {
		return false
	}
	for _, join := range s.Money.RangeJoins {
		if next, ok := strings.CutPrefix(trimmed, join+" "); ok {
			other, size := s.CurrencyAt(next)
			return size > 0 && other == key
		}
	}
	return false
}

// matchAmount speaks "20 €", "99¢" and "2,5 Mio. €".
func matchAmount(s *Scanner) Match {
	rest := s.Rest()
	a := s.parseAmount(rest)
	if a.size == 0 {
		return Match{}
	}
	after := rest[a.size:]
	gap := len(after) - len(strings.TrimLeft(after, " "))
	of := ""
	for _, word := range []string{s.Money.OfScale, s.Money.OfVowel} {
		if a.scaled && word != "" && strings.HasPrefix(after[gap:], word) {
			of = word
		}
	}
	key, size := s.CurrencyAt(after[gap+len(of):])
	if size == 0 || WordAfter(after, gap+len(of)+size) && !StartsWithDigit(after[gap+len(of)+size:]) {
		return Match{}
	}
	a.Currency = s.Currencies[key]
	size += a.size + gap + len(of)
	if s.Money.SpacedCents && len(rest) > size+2 && rest[size] == ' ' && DigitsAt(rest[size+1:]) == 2 && a.N.Fraction == "" && !WordAfter(rest, size+3) {
		size++
	}
	if StartsWithDigit(rest[size:]) { // "3€50"
		n := DigitsAt(rest[size:])
		if n != 2 || a.N.Fraction != "" {
			return Match{}
		}
		a.N.Fraction = rest[size : size+n]
		size += n
	}
	return Match{size, s.speakAmount(a, s.around(size)), MoneyMatch}
}

// parseAmount parses a number with cents in any usual form, and its scale.
func (l *Language) parseAmount(s string) Amount {
	a := Amount{N: l.parseAmountNumber(s)}
	if a.N.Size == 0 {
		return a
	}
	a.size = a.N.Size
	for _, mark := range l.Money.ZeroMarks {
		if a.N.Fraction == "" && strings.HasPrefix(s[a.size:], mark) {
			a.size += len(mark)
			return a
		}
	}
	if sc, size := l.scaleAt(s[a.size:]); size > 0 {
		a.scale, a.scaled = sc, true
		a.size += size
	}
	return a
}

// parseAmountNumber parses a number in the notation of the language, or in that of another language if only that is
// possible: "1.99" where the decimal sign is a comma.
func (l *Language) parseAmountNumber(s string) Number {
	if strings.HasPrefix(s, l.Numbers.Decimal) {
		if n := DigitsAt(s[1:]); n > 0 {
			return Number{Integer: "0", Fraction: s[1 : 1+n], Size: 1 + n}
		}
	}
	n := DigitsAt(s)
	if n == 0 {
		return Number{}
	}
	var integer strings.Builder
	integer.WriteString(s[:n])
	rest := s[n:]
	size := n
	group := byte(0)
	for len(rest) > 3 && strings.ContainsRune(".,' ", rune(rest[0])) && DigitsAt(rest[1:]) == 3 && n <= 3 && (group == 0 || rest[0] == group) && (rest[0] != ' ' || strings.Contains(l.Numbers.Thousands, " ")) {
		group = rest[0]
		integer.WriteString(rest[1:4])
		rest = rest[4:]
		size += 4
	}
	if len(rest) > 2 && strings.ContainsRune(".,'", rune(rest[0])) && rest[0] != group && DigitsAt(rest[1:]) == 2 && !IsMoreNumber(rest[3:]) {
		return Number{Integer: integer.String(), Fraction: rest[1:3], Grouped: group != 0, Size: size + 3}
	}
	return l.ParseNumber(s)
}

// IsMoreNumber reports whether the text continues a number with a separator and a digit.
func IsMoreNumber(s string) bool {
	return len(s) > 1 && strings.ContainsRune(".,", rune(s[0])) && StartsWithDigit(s[1:])
}

// speakAmount speaks an amount with its currency.
func (s *Scanner) speakAmount(a Amount, c Context) string {
	spoken := s.speakMoney(a, c)
	if s.Money.Attribute != nil {
		spoken = s.Money.Attribute(spoken, a, c)
	}
	return spoken
}

func (l *Language) speakMoney(a Amount, c Context) string {
	n, cur := a.N, a.Currency
	cents := n.Fraction
	if a.scaled || len(cents) != 2 || cur.MinorMany == "" {
		return l.SpeakMajor(a, c)
	}
	n.Fraction = ""
	if cents == "00" {
		return l.SpeakMajor(Amount{N: n, Currency: cur, unnamed: a.unnamed}, c)
	}
	minor := Number{Integer: strings.TrimPrefix(cents, "0")}
	name := cur.MinorMany
	if !l.isPlural(minor) {
		name = cur.MinorOne
	}
	if strings.Trim(n.Integer, "0") == "" {
		return l.SpeakNumber(minor, l.withUnit(minor, cur.MinorGender, c)) + " " + name
	}
	major := l.SpeakMajor(Amount{N: n, Currency: cur}, c)
	if l.Money.BareMinor {
		return major + l.Money.Join + l.SpeakNumber(minor, Form{})
	}
	return major + l.Money.Join + l.SpeakNumber(minor, l.withUnit(minor, cur.MinorGender, c)) + " " + name
}

// SpeakMajor speaks the number, its scale and the name of the major unit.
func (l *Language) SpeakMajor(a Amount, c Context) string {
	n, cur := a.N, a.Currency
	name := cur.Many
	if !a.scaled && !l.isPlural(n) {
		name = cur.One
	}
	var spoken string
	if a.scaled {
		spoken = l.speakScaled(n, a.scale)
		if a.scale.Many != "" && a.scale.Gender != Standalone {
			name = l.of(name)
		}
	} else {
		spoken = l.SpeakNumber(n, l.withUnit(n, cur.Gender, c))
		if n.Fraction == "" && len(n.Integer) > 6 && strings.HasSuffix(n.Integer, "000000") {
			name = l.of(name)
		}
	}
	if a.unnamed {
		return l.SpeakNumber(n, Form{})
	}
	return spoken + " " + name
}

// of puts the preposition behind a scale before the name of a currency.
func (l *Language) of(name string) string {
	if l.Money.OfVowel != "" && strings.ContainsAny(name[:1], "aeiou") {
		return l.Money.OfVowel + name
	}
	return l.Money.OfScale + name
}

// withUnit returns the agreement of a number with a unit or a currency.
func (l *Language) withUnit(n Number, g Gender, c Context) Form {
	if l.UnitForm != nil {
		return l.UnitForm(n, g, c)
	}
	return Form{Gender: g}
}

// perUnit speaks "/month" behind an amount.
func (s *Scanner) perUnit() Match {
	rest := s.Rest()
	if rest[0] != '/' || !s.FollowsReplacement(MoneyMatch, measureMatch, NumberMatch) || s.LastEnd != s.Pos {
		return Match{}
	}
	word := rest[1 : 1+LettersAt(rest[1:])]
	size := 1 + len(word)
	phrase, ok := s.Money.Per[word]
	if u, unitSize := s.unitAt(rest[1:]); !ok && unitSize > 0 && s.Words.Per != "" && !s.FollowsReplacement(NumberMatch) {
		phrase, ok = s.Words.Per+" "+u.One, true
		size = 1 + unitSize
	}
	if !ok {
		return Match{}
	}
	if strings.HasPrefix(rest[size:], ".") && !IsSentenceEnd(rest[size+1:]) {
		size++
	}
	return Match{size, " " + phrase, OtherMatch}
}
