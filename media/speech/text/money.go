package text

import (
	"strings"
	"unicode/utf8"
)

// moneyFormat says how the language speaks amounts of money.
type moneyFormat struct {
	join        string                                           // between the major and the minor unit
	bareMinor   bool                                             // the minor unit is a number without a name: "zwölf Euro fünfzig"
	ofScale     string                                           // between a scale and the currency: "de "
	ofVowel     string                                           // the same before a vowel: "d'"; "": ofScale
	spacedCents bool                                             // cents may stand behind the currency: "19 € 90"
	per         map[string]string                                // what stands behind "/": "mo" → "per month"
	rangeJoins  []string                                         // words between two amounts of which only the last names the currency
	rangeCues   []string                                         // phrases before the first of them
	attribute   func(spoken string, a amount, c context) string  // nil: amounts have one form
	zeroMarks   []string                                         // marks instead of the minor unit: ",-"
	choose      func(symbol string, n number, raw string) string // the key of the currency of an ambiguous symbol
}

// amount is an amount of money.
type amount struct {
	n        number
	scale    scale
	scaled   bool
	currency currency
	unnamed  bool // the currency is named by a later amount
	size     int
}

// currencyAt returns the currency at the beginning of s and the size of its sign or code.
func (l *language) currencyAt(s string) (key string, size int) {
	limit := min(len(s), 12)
	for size = limit; size > 0; size-- {
		if size < len(s) && !utf8.RuneStart(s[size]) {
			continue
		}
		if _, ok := l.currencies[s[:size]]; ok && !(isLetter(runeBefore(s, size)) && wordAfterLetter(s, size)) {
			return s[:size], size
		}
	}
	return "", 0
}

func wordAfterLetter(s string, at int) bool { return isLetter(runeAfter(s, at)) }

// startsWithMoney reports whether s begins with a currency and a number.
func (l *language) startsWithMoney(s string) bool {
	_, size := l.currencyAt(s)
	return size > 0 && startsWithDigit(strings.TrimLeft(s[size:], " "))
}

// matchCurrencyFirst speaks "$20", "EUR 1,000" and the like.
func matchCurrencyFirst(s *scanner) match {
	rest := s.rest()
	key, size := s.currencyAt(rest)
	if size == 0 || isLetter(runeAfter(rest, 0)) && wordBefore(s.text, s.pos) {
		return match{}
	}
	after := strings.TrimLeft(rest[size:], " ")
	minus := ""
	if n := signSize(after, "-−"); n > 0 && startsWithDigit(after[n:]) {
		minus, after = s.words.minus+" ", after[n:]
	}
	a := s.parseAmount(after)
	if a.size == 0 {
		return match{}
	}
	size = len(rest) - len(after) + a.size
	isSign := len(key) == 1
	if s.money.choose != nil {
		key = s.money.choose(key, a.n, after[:a.size])
	}
	a.currency = s.currencies[key]
	for _, code := range []string{" MXN", " USD", " CA", " CAD", " US", " AUD", " ARS", " COP", " CLP"} { // "$20 MXN" names its currency twice
		if strings.HasPrefix(rest[size:], code) && !wordAfter(rest, size+len(code)) && isSign {
			if cur, ok := s.currencies[code[1:]]; ok {
				a.currency = cur
			}
			size += len(code)
			break
		}
	}
	a.unnamed = s.namesCurrencyLater(rest[size:], key)
	return match{size, minus + s.speakAmount(a, s.around(size)), moneyMatch}
}

// namesCurrencyLater reports whether an amount of the same currency follows that names the currency for both.
func (s *scanner) namesCurrencyLater(rest, key string) bool {
	trimmed := strings.TrimLeft(rest, " ")
	if n := signSize(trimmed, "-–—"); n > 0 {
		next := strings.TrimLeft(trimmed[n:], " ")
		other, size := s.currencyAt(next)
		return size > 0 && other == key && startsWithDigit(next[size:])
	}
	if !hasCue(s.before(), s.money.rangeCues) {
		return false
	}
	for _, join := range s.money.rangeJoins {
		if next, ok := strings.CutPrefix(trimmed, join+" "); ok {
			other, size := s.currencyAt(next)
			return size > 0 && other == key
		}
	}
	return false
}

// matchAmount speaks "20 €", "99¢" and "2,5 Mio. €".
func matchAmount(s *scanner) match {
	rest := s.rest()
	a := s.parseAmount(rest)
	if a.size == 0 {
		return match{}
	}
	after := rest[a.size:]
	gap := len(after) - len(strings.TrimLeft(after, " "))
	of := ""
	for _, word := range []string{s.money.ofScale, s.money.ofVowel} {
		if a.scaled && word != "" && strings.HasPrefix(after[gap:], word) {
			of = word
		}
	}
	key, size := s.currencyAt(after[gap+len(of):])
	if size == 0 || wordAfter(after, gap+len(of)+size) && !startsWithDigit(after[gap+len(of)+size:]) {
		return match{}
	}
	a.currency = s.currencies[key]
	size += a.size + gap + len(of)
	if s.money.spacedCents && len(rest) > size+2 && rest[size] == ' ' && digitsAt(rest[size+1:]) == 2 && a.n.fraction == "" && !wordAfter(rest, size+3) {
		size++
	}
	if startsWithDigit(rest[size:]) { // "3€50"
		n := digitsAt(rest[size:])
		if n != 2 || a.n.fraction != "" {
			return match{}
		}
		a.n.fraction = rest[size : size+n]
		size += n
	}
	return match{size, s.speakAmount(a, s.around(size)), moneyMatch}
}

// parseAmount parses a number with cents in any usual form, and its scale.
func (l *language) parseAmount(s string) amount {
	a := amount{n: l.parseAmountNumber(s)}
	if a.n.size == 0 {
		return a
	}
	a.size = a.n.size
	for _, mark := range l.money.zeroMarks {
		if a.n.fraction == "" && strings.HasPrefix(s[a.size:], mark) {
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
func (l *language) parseAmountNumber(s string) number {
	if strings.HasPrefix(s, l.numbers.decimal) {
		if n := digitsAt(s[1:]); n > 0 {
			return number{integer: "0", fraction: s[1 : 1+n], size: 1 + n}
		}
	}
	n := digitsAt(s)
	if n == 0 {
		return number{}
	}
	integer, rest := s[:n], s[n:]
	size := n
	group := byte(0)
	for len(rest) > 3 && strings.ContainsRune(".,' ", rune(rest[0])) && digitsAt(rest[1:]) == 3 && n <= 3 && (group == 0 || rest[0] == group) && (rest[0] != ' ' || strings.Contains(l.numbers.thousands, " ")) {
		group = rest[0]
		integer += rest[1:4]
		rest = rest[4:]
		size += 4
	}
	if len(rest) > 2 && strings.ContainsRune(".,'", rune(rest[0])) && rest[0] != group && digitsAt(rest[1:]) == 2 && !isMoreNumber(rest[3:]) {
		return number{integer: integer, fraction: rest[1:3], grouped: group != 0, size: size + 3}
	}
	return l.parseNumber(s)
}

func isMoreNumber(s string) bool {
	return len(s) > 1 && strings.ContainsRune(".,", rune(s[0])) && startsWithDigit(s[1:])
}

// speakAmount speaks an amount with its currency.
func (s *scanner) speakAmount(a amount, c context) string {
	spoken := s.speakMoney(a, c)
	if s.money.attribute != nil {
		spoken = s.money.attribute(spoken, a, c)
	}
	return spoken
}

func (l *language) speakMoney(a amount, c context) string {
	n, cur := a.n, a.currency
	cents := n.fraction
	if a.scaled || len(cents) != 2 || cur.minorMany == "" {
		return l.speakMajor(a, c)
	}
	n.fraction = ""
	if cents == "00" {
		return l.speakMajor(amount{n: n, currency: cur, unnamed: a.unnamed}, c)
	}
	minor := number{integer: strings.TrimPrefix(cents, "0")}
	name := cur.minorMany
	if !l.isPlural(minor) {
		name = cur.minorOne
	}
	if strings.Trim(n.integer, "0") == "" {
		return l.speakNumber(minor, l.withUnit(minor, cur.minorGender, c)) + " " + name
	}
	major := l.speakMajor(amount{n: n, currency: cur}, c)
	if l.money.bareMinor {
		return major + l.money.join + l.speakNumber(minor, form{})
	}
	return major + l.money.join + l.speakNumber(minor, l.withUnit(minor, cur.minorGender, c)) + " " + name
}

// speakMajor speaks the number, its scale and the name of the major unit.
func (l *language) speakMajor(a amount, c context) string {
	n, cur := a.n, a.currency
	name := cur.many
	if !a.scaled && !l.isPlural(n) {
		name = cur.one
	}
	spoken := ""
	if a.scaled {
		spoken = l.speakScaled(n, a.scale)
		if a.scale.many != "" && a.scale.gender != standalone {
			name = l.of(name)
		}
	} else {
		spoken = l.speakNumber(n, l.withUnit(n, cur.gender, c))
		if n.fraction == "" && len(n.integer) > 6 && strings.HasSuffix(n.integer, "000000") {
			name = l.of(name)
		}
	}
	if a.unnamed {
		return l.speakNumber(n, form{})
	}
	return spoken + " " + name
}

// of puts the preposition behind a scale before the name of a currency.
func (l *language) of(name string) string {
	if l.money.ofVowel != "" && strings.ContainsAny(name[:1], "aeiou") {
		return l.money.ofVowel + name
	}
	return l.money.ofScale + name
}

// withUnit returns the agreement of a number with a unit or a currency.
func (l *language) withUnit(n number, g gender, c context) form {
	if l.unitForm != nil {
		return l.unitForm(n, g, c)
	}
	return form{gender: g}
}

// perUnit speaks "/month" behind an amount.
func (s *scanner) perUnit() match {
	rest := s.rest()
	if rest[0] != '/' || !s.behind(moneyMatch, measureMatch, numberMatch) || s.lastEnd != s.pos {
		return match{}
	}
	word := rest[1 : 1+lettersAt(rest[1:])]
	size := 1 + len(word)
	phrase, ok := s.money.per[word]
	if u, unitSize := s.unitAt(rest[1:]); !ok && unitSize > 0 && s.words.per != "" && !s.behind(numberMatch) {
		phrase, ok = s.words.per+" "+u.one, true
		size = 1 + unitSize
	}
	if !ok {
		return match{}
	}
	if strings.HasPrefix(rest[size:], ".") && !isSentenceEnd(rest[size+1:]) {
		size++
	}
	return match{size, " " + phrase, otherMatch}
}
