package grammar

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// DigitsMost is the number of digits up to which a number is spoken as a cardinal.
const DigitsMost = 15

// Number is a number without its separators.
type Number struct {
	Integer  string // "" for ".5"
	Fraction string
	Grouped  bool // the integer has separators between its groups
	Size     int  // bytes of the text
}

// Value returns the integer.
func (n Number) Value() int64 {
	v, err := strconv.ParseInt(n.Integer, 10, 64)
	if err != nil {
		return 0
	}
	return v
}

// isOne reports whether the number is exactly 1.
func (n Number) isOne() bool { return n.Fraction == "" && n.Integer == "1" }

// IsCardinal reports whether the integer is spoken as one number.
func (n Number) IsCardinal() bool {
	return len(n.Integer) <= DigitsMost && (len(n.Integer) < 2 || n.Integer[0] != '0')
}

// ParseNumber parses the number at the beginning of s. A size of 0 means that there is none, or that a dot follows as in
// a version.
func (l *Language) ParseNumber(s string) Number {
	n := DigitsAt(s)
	if n == 0 {
		return Number{}
	}
	out := Number{Integer: s[:n], Size: n}
	if n <= 3 && s[0] != '0' {
		l.addGroups(&out, s)
	}
	decimal := l.Numbers.Decimal
	if rest := s[out.Size:]; strings.HasPrefix(rest, decimal) {
		if f := DigitsAt(rest[len(decimal):]); f > 0 {
			out.Fraction = rest[len(decimal) : len(decimal)+f]
			out.Size += len(decimal) + f
		}
	}
	if rest := s[out.Size:]; len(rest) > 1 && (rest[0] == '.' || rest[0] == ',' && out.Fraction != "") && StartsWithDigit(rest[1:]) {
		return Number{}
	}
	return out
}

// addGroups adds the groups of three digits behind separators. One number has one kind of separator.
func (l *Language) addGroups(n *Number, s string) {
	rest := s[n.Size:]
	if rest == "" || !strings.Contains(l.Numbers.Thousands, rest[:1]) {
		return
	}
	separator := rest[0]
	for len(rest) > 3 && rest[0] == separator && DigitsAt(rest[1:]) == 3 {
		n.Integer += rest[1:4]
		n.Size += 4
		n.Grouped = true
		rest = rest[4:]
	}
}

// SpeakNumber returns a number in words.
func (l *Language) SpeakNumber(n Number, f Form) string {
	var parts []string
	if n.Integer != "" {
		if !n.IsCardinal() {
			parts = append(parts, l.SpeakDigits(n.Integer))
		} else if n.Fraction != "" {
			parts = append(parts, l.Cardinal(n.Value(), Form{}))
		} else {
			parts = append(parts, l.Cardinal(n.Value(), f))
		}
	}
	if n.Fraction != "" {
		parts = append(parts, l.Words.Decimal, l.SpeakDigits(n.Fraction))
	}
	return strings.Join(parts, " ")
}

// SpeakDigits returns the digits of s one by one. Other characters are left out.
func (l *Language) SpeakDigits(s string) string {
	words := make([]string, 0, len(s))
	for i := range len(s) {
		if s[i] >= '0' && s[i] <= '9' {
			words = append(words, l.Words.Digits[s[i]-'0'])
		}
	}
	return strings.Join(words, " ")
}

// isPlural reports whether a noun behind the number stands in the plural.
func (l *Language) isPlural(n Number) bool {
	if l.Plural != nil {
		return l.Plural(n)
	}
	return !n.isOne()
}

// matchCardinal speaks a number that no other rule knows.
func matchCardinal(s *Scanner) Match {
	rest := s.Rest()
	n := s.ParseNumber(rest)
	if n.Size == 0 {
		n = Number{Integer: rest[:DigitsAt(rest)]}
		n.Size = len(n.Integer)
	}
	if strings.HasPrefix(rest[n.Size:], "k") && !IsWordRune(RuneAfter(rest, n.Size+1)) {
		return Match{n.Size + 1, s.SpeakNumber(n, Form{}) + " K", NumberMatch}
	}
	if sc, size := s.scaleAt(rest[n.Size:]); size > 3 && n.IsCardinal() {
		return Match{n.Size + size, s.speakScaled(n, sc), NumberMatch}
	}
	f := Form{}
	if s.Agree != nil && n.Fraction == "" && n.IsCardinal() {
		f = s.Agree(n.Value(), s.around(n.Size))
	}
	spoken := s.SpeakNumber(n, f)
	if after := rest[n.Size:]; strings.HasPrefix(after, "-") && IsLetter(RuneAfter(after, 1)) {
		return Match{n.Size + 1, spoken + "-", NumberMatch}
	}
	return Match{n.Size, spoken, NumberMatch}
}

// matchLeadingPoint speaks a decimal without an integer, such as ".5".
func matchLeadingPoint(s *Scanner) Match {
	rest := s.Rest()
	decimal := s.Numbers.Decimal
	if !strings.HasPrefix(rest, decimal) || WordBefore(s.Text, s.Pos) || s.Pos != 0 && !strings.ContainsRune(" (", RuneBefore(s.Text, s.Pos)) {
		return Match{}
	}
	n := DigitsAt(rest[len(decimal):])
	if n == 0 {
		return Match{}
	}
	size := len(decimal) + n
	return Match{size, s.SpeakNumber(Number{Fraction: rest[len(decimal):size]}, Form{}), NumberMatch}
}

// matchNegative speaks the minus before a number.
func matchNegative(s *Scanner) Match {
	rest := s.Rest()
	size := SignSize(rest, "-−–")
	if size == 0 || WordBefore(s.Text, s.Pos) {
		return Match{}
	}
	after := rest[size:]
	if rest[:size] == "−" {
		after = strings.TrimLeft(after, " ")
	}
	if StartsWithDigit(after) || s.startsWithMoney(after) {
		return Match{len(rest) - len(after), s.Words.Minus + " ", OtherMatch}
	}
	return Match{}
}

// SignSize returns the size of the first rune of s if signs contain the rune.
func SignSize(s, signs string) int {
	r, size := utf8.DecodeRuneInString(s)
	if size > 0 && strings.ContainsRune(signs, r) {
		return size
	}
	return 0
}

// matchRange speaks a dash between two numbers, dates, times or weekdays.
func matchRange(s *Scanner) Match {
	rest := s.Rest()
	size := SignSize(rest, "-–—")
	if size == 0 || !s.FollowsReplacement(NumberMatch, measureMatch, YearMatch, DateMatch, TimeMatch, MoneyMatch, weekdayMatch) {
		return Match{}
	}
	after := strings.TrimLeft(rest[size:], " ")
	spaced := len(after) < len(rest)-size
	if spaced != (s.LastEnd < s.Pos) {
		return Match{}
	}
	word := FirstWord(after)
	if !StartsWithDigit(after) && !s.startsWithMoney(after) && (!s.FollowsReplacement(DateMatch, weekdayMatch) || !s.IsMonth(word) && s.Weekdays[strings.ToLower(word)].Name == "") {
		return Match{}
	}
	to := s.Words.To
	if s.RangeWord != nil {
		to = s.RangeWord(s.around(size))
	}
	return Match{len(rest) - len(after), " " + to + " ", s.last.Kind}
}

// matchDottedNumber speaks versions, numbers of chapters and IP addresses.
func matchDottedNumber(s *Scanner) Match {
	rest := s.Rest()
	if s.ParseNumber(rest).Size > 0 {
		return Match{}
	}
	var parts []string
	size := 0
	for {
		n := DigitsAt(rest[size:])
		parts = append(parts, rest[size:size+n])
		size += n
		if size+1 >= len(rest) || rest[size] != '.' || !StartsWithDigit(rest[size+1:]) {
			break
		}
		size++
	}
	if len(parts) < 2 || IsLetter(RuneAfter(rest, size)) {
		return Match{}
	}
	dot := s.Words.Dot
	if len(parts) == 4 && s.Numbers.AddressDigits {
		dot = s.Words.AddressDot
	}
	for i, p := range parts {
		if n := (Number{Integer: p}); len(parts) == 4 && s.Numbers.AddressDigits || !n.IsCardinal() {
			parts[i] = s.SpeakDigits(p)
		} else {
			parts[i] = s.SpeakNumber(n, Form{})
		}
	}
	return Match{size, strings.Join(parts, " "+dot+" "), NumberMatch}
}

// matchScore speaks results and ratios such as 3:1.
func matchScore(s *Scanner) Match {
	rest := s.Rest()
	a := DigitsAt(rest)
	if a > 3 || len(rest) < a+2 || rest[a] != ':' {
		return Match{}
	}
	b := DigitsAt(rest[a+1:])
	if size := a + 1 + b; b >= 1 && b <= 3 && !WordAfter(rest, size) {
		first, second := Number{Integer: rest[:a]}, Number{Integer: rest[a+1 : size]}
		return Match{size, s.SpeakNumber(first, Form{}) + " " + s.Words.Score + " " + s.SpeakNumber(second, Form{}), NumberMatch}
	}
	return Match{}
}

// matchDigitCue speaks digit by digit behind phrases such as "ending in".
func matchDigitCue(s *Scanner) Match {
	cued := HasCue(s.Before(), s.DigitCues)
	if !cued && !HasCue(s.Before(), s.GroupCues) {
		return Match{}
	}
	rest := s.Rest()
	groups := []string{}
	size := 0
	for {
		n := DigitsAt(rest[size:])
		groups = append(groups, s.SpeakDigits(rest[size:size+n]))
		size += n
		if size+1 >= len(rest) || rest[size] != ' ' && rest[size] != '-' || DigitsAt(rest[size+1:]) < 2 {
			break
		}
		size++
	}
	if !cued && len(groups) < 2 || WordAfter(rest, size) || strings.HasPrefix(rest[size:], ":") || len(rest) > size+1 && strings.ContainsRune(".,/", rune(rest[size])) && StartsWithDigit(rest[size+1:]) {
		return Match{}
	}
	return Match{size, strings.Join(groups, ", "), PhoneMatch}
}

// cueMost is the number of bytes before a number in which a cue is looked for.
const cueMost = 64

// HasCue reports whether the text ends in one of the phrases. A phrase begins at a word.
func HasCue(before string, cues []string) bool {
	if len(cues) == 0 {
		return false
	}
	before = strings.ToLower(strings.TrimRight(before[max(0, len(before)-cueMost):], " *•"))
	for _, cue := range cues {
		if strings.HasSuffix(before, cue) && !WordBefore(before, len(before)-len(cue)) {
			return true
		}
	}
	return false
}
