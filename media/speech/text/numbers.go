package text

import (
	"strconv"
	"strings"
)

// digitsMost is the number of digits up to which a number is spoken as a cardinal.
const digitsMost = 15

// number is a number without its separators.
type number struct {
	integer  string // "" for ".5"
	fraction string
	grouped  bool // the integer has separators between its groups
	size     int  // bytes of the text
}

// value returns the integer.
func (n number) value() int64 {
	v, err := strconv.ParseInt(n.integer, 10, 64)
	if err != nil {
		return 0
	}
	return v
}

// isOne reports whether the number is exactly 1.
func (n number) isOne() bool { return n.fraction == "" && n.integer == "1" }

// isCardinal reports whether the integer is spoken as one number.
func (n number) isCardinal() bool {
	return len(n.integer) <= digitsMost && (len(n.integer) < 2 || n.integer[0] != '0')
}

// parseNumber parses the number at the beginning of s. A size of 0 means that there is none, or that a dot follows as in
// a version.
func (l *language) parseNumber(s string) number {
	n := digitsAt(s)
	if n == 0 {
		return number{}
	}
	out := number{integer: s[:n], size: n}
	if n <= 3 && s[0] != '0' {
		l.addGroups(&out, s)
	}
	decimal := l.numbers.decimal
	if rest := s[out.size:]; strings.HasPrefix(rest, decimal) {
		if f := digitsAt(rest[len(decimal):]); f > 0 {
			out.fraction = rest[len(decimal) : len(decimal)+f]
			out.size += len(decimal) + f
		}
	}
	if rest := s[out.size:]; len(rest) > 1 && (rest[0] == '.' || rest[0] == ',' && out.fraction != "") && startsWithDigit(rest[1:]) {
		return number{}
	}
	return out
}

// addGroups adds the groups of three digits behind separators. One number has one kind of separator.
func (l *language) addGroups(n *number, s string) {
	rest := s[n.size:]
	if rest == "" || !strings.Contains(l.numbers.thousands, rest[:1]) {
		return
	}
	separator := rest[0]
	for len(rest) > 3 && rest[0] == separator && digitsAt(rest[1:]) == 3 {
		n.integer += rest[1:4]
		n.size += 4
		n.grouped = true
		rest = rest[4:]
	}
}

// speakNumber returns a number in words.
func (l *language) speakNumber(n number, f form) string {
	var parts []string
	if n.integer != "" {
		if !n.isCardinal() {
			parts = append(parts, l.speakDigits(n.integer))
		} else if n.fraction != "" {
			parts = append(parts, l.cardinal(n.value(), form{}))
		} else {
			parts = append(parts, l.cardinal(n.value(), f))
		}
	}
	if n.fraction != "" {
		parts = append(parts, l.words.decimal, l.speakDigits(n.fraction))
	}
	return strings.Join(parts, " ")
}

// speakDigits returns the digits of s one by one. Other characters are left out.
func (l *language) speakDigits(s string) string {
	words := make([]string, 0, len(s))
	for i := range len(s) {
		if s[i] >= '0' && s[i] <= '9' {
			words = append(words, l.words.digits[s[i]-'0'])
		}
	}
	return strings.Join(words, " ")
}

// isPlural reports whether a noun behind the number stands in the plural.
func (l *language) isPlural(n number) bool {
	if l.plural != nil {
		return l.plural(n)
	}
	return !n.isOne()
}

// matchCardinal speaks a number that no other rule knows.
func matchCardinal(s *scanner) match {
	rest := s.rest()
	n := s.parseNumber(rest)
	if n.size == 0 {
		n = number{integer: rest[:digitsAt(rest)]}
		n.size = len(n.integer)
	}
	if strings.HasPrefix(rest[n.size:], "k") && !isWordRune(runeAfter(rest, n.size+1)) {
		return match{n.size + 1, s.speakNumber(n, form{}) + " K", numberMatch}
	}
	if sc, size := s.scaleAt(rest[n.size:]); size > 3 && n.isCardinal() {
		return match{n.size + size, s.speakScaled(n, sc), numberMatch}
	}
	f := form{}
	if s.agree != nil && n.fraction == "" && n.isCardinal() {
		f = s.agree(n.value(), s.around(n.size))
	}
	spoken := s.speakNumber(n, f)
	if after := rest[n.size:]; strings.HasPrefix(after, "-") && isLetter(runeAfter(after, 1)) {
		return match{n.size + 1, spoken + "-", numberMatch}
	}
	return match{n.size, spoken, numberMatch}
}

// matchLeadingPoint speaks a decimal without an integer, such as ".5".
func matchLeadingPoint(s *scanner) match {
	rest := s.rest()
	decimal := s.numbers.decimal
	if !strings.HasPrefix(rest, decimal) || wordBefore(s.text, s.pos) || !(s.pos == 0 || strings.ContainsRune(" (", runeBefore(s.text, s.pos))) {
		return match{}
	}
	n := digitsAt(rest[len(decimal):])
	if n == 0 {
		return match{}
	}
	size := len(decimal) + n
	return match{size, s.speakNumber(number{fraction: rest[len(decimal):size]}, form{}), numberMatch}
}

// matchNegative speaks the minus before a number.
func matchNegative(s *scanner) match {
	rest := s.rest()
	size := signSize(rest, "-−–")
	if size == 0 || wordBefore(s.text, s.pos) {
		return match{}
	}
	after := rest[size:]
	if rest[:size] == "−" {
		after = strings.TrimLeft(after, " ")
	}
	if startsWithDigit(after) || s.startsWithMoney(after) {
		return match{len(rest) - len(after), s.words.minus + " ", otherMatch}
	}
	return match{}
}

// signSize returns the size of the first rune of s if signs contain the rune.
func signSize(s, signs string) int {
	for _, r := range s {
		if strings.ContainsRune(signs, r) {
			return len(string(r))
		}
		break
	}
	return 0
}

// matchRange speaks a dash between two numbers, dates, times or weekdays.
func matchRange(s *scanner) match {
	rest := s.rest()
	size := signSize(rest, "-–—")
	if size == 0 || !s.behind(numberMatch, measureMatch, yearMatch, dateMatch, timeMatch, moneyMatch, weekdayMatch) {
		return match{}
	}
	after := strings.TrimLeft(rest[size:], " ")
	spaced := len(after) < len(rest)-size
	if spaced != (s.lastEnd < s.pos) {
		return match{}
	}
	word := firstWord(after)
	if !startsWithDigit(after) && !s.startsWithMoney(after) && !(s.behind(dateMatch, weekdayMatch) && (s.isMonth(word) || s.weekdays[strings.ToLower(word)].name != "")) {
		return match{}
	}
	to := s.words.to
	if s.rangeWord != nil {
		to = s.rangeWord(s.around(size))
	}
	return match{len(rest) - len(after), " " + to + " ", s.last.kind}
}

// matchDottedNumber speaks versions, numbers of chapters and IP addresses.
func matchDottedNumber(s *scanner) match {
	rest := s.rest()
	if s.parseNumber(rest).size > 0 {
		return match{}
	}
	var parts []string
	size := 0
	for {
		n := digitsAt(rest[size:])
		parts = append(parts, rest[size:size+n])
		size += n
		if size+1 >= len(rest) || rest[size] != '.' || !startsWithDigit(rest[size+1:]) {
			break
		}
		size++
	}
	if len(parts) < 2 || isLetter(runeAfter(rest, size)) {
		return match{}
	}
	dot := s.words.dot
	if len(parts) == 4 && s.numbers.addressDigits {
		dot = s.words.addressDot
	}
	for i, p := range parts {
		if n := (number{integer: p}); len(parts) == 4 && s.numbers.addressDigits || !n.isCardinal() {
			parts[i] = s.speakDigits(p)
		} else {
			parts[i] = s.speakNumber(n, form{})
		}
	}
	return match{size, strings.Join(parts, " "+dot+" "), numberMatch}
}

// matchScore speaks results and ratios such as 3:1.
func matchScore(s *scanner) match {
	rest := s.rest()
	a := digitsAt(rest)
	if a > 3 || len(rest) < a+2 || rest[a] != ':' {
		return match{}
	}
	b := digitsAt(rest[a+1:])
	if size := a + 1 + b; b >= 1 && b <= 3 && !wordAfter(rest, size) {
		first, second := number{integer: rest[:a]}, number{integer: rest[a+1 : size]}
		return match{size, s.speakNumber(first, form{}) + " " + s.words.score + " " + s.speakNumber(second, form{}), numberMatch}
	}
	return match{}
}

// matchDigitCue speaks digit by digit behind phrases such as "ending in".
func matchDigitCue(s *scanner) match {
	cued := hasCue(s.before(), s.digitCues)
	if !cued && !hasCue(s.before(), s.groupCues) {
		return match{}
	}
	rest := s.rest()
	groups := []string{}
	size := 0
	for {
		n := digitsAt(rest[size:])
		groups = append(groups, s.speakDigits(rest[size:size+n]))
		size += n
		if size+1 >= len(rest) || rest[size] != ' ' && rest[size] != '-' || digitsAt(rest[size+1:]) < 2 {
			break
		}
		size++
	}
	if !cued && len(groups) < 2 || wordAfter(rest, size) || strings.HasPrefix(rest[size:], ":") || len(rest) > size+1 && strings.ContainsRune(".,/", rune(rest[size])) && startsWithDigit(rest[size+1:]) {
		return match{}
	}
	return match{size, strings.Join(groups, ", "), phoneMatch}
}

// cueMost is the number of bytes before a number in which a cue is looked for.
const cueMost = 64

// hasCue reports whether the text ends in one of the phrases. A phrase begins at a word.
func hasCue(before string, cues []string) bool {
	if len(cues) == 0 {
		return false
	}
	before = strings.ToLower(strings.TrimRight(before[max(0, len(before)-cueMost):], " *•"))
	for _, cue := range cues {
		if strings.HasSuffix(before, cue) && !wordBefore(before, len(before)-len(cue)) {
			return true
		}
	}
	return false
}
