package grammar

import "strings"

// PhoneFormat says which digits without "+" are a telephone number of the country.
type PhoneFormat struct {
	PlainCues  []string                     // phrases before digits without separators; nil: any place
	KeepsTrunk bool                         // the trunk prefix in "(0)4" is spoken
	Grouped    func(groups []string) bool   // digits in groups; nil: none besides the common forms
	Plain      func(digits string) []string // the groups of digits without separators; nil result: not a telephone number
}

// phoneDigitsMost is the number of digits of the longest telephone number with its prefixes.
const phoneDigitsMost = 16

// phone is a telephone number in groups.
type phone struct {
	plus    bool
	trunk   int  // the group behind "(0)"; 0: none
	bracket bool // the first group stands in brackets
	groups  []string
	digits  int
	signs   string // the separators
	size    int
}

// matchPhone speaks telephone numbers: the digits one by one, with a pause between the groups.
func matchPhone(s *Scanner) Match {
	rest := s.Rest()
	if c := rest[0]; c != '+' && c != '(' && (c < '0' || c > '9') || WordBefore(s.Text, s.Pos) {
		return Match{}
	}
	p := parsePhone(rest)
	if len(p.groups) == 0 || !s.isPhone(p) {
		return Match{}
	}
	return Match{p.size, s.speakPhone(p), PhoneMatch}
}

// speakPhone speaks the digits of a telephone number.
func (l *Language) speakPhone(p phone) string {
	format := l.Numbers.Phones
	groups := p.groups
	if p.trunk > 0 && p.trunk < len(groups) && format.KeepsTrunk {
		groups[p.trunk] = "0" + groups[p.trunk]
	}
	if len(groups) == 1 {
		groups = Threes(p.groups[0])
		if !p.plus && format.Plain != nil {
			if plain := format.Plain(p.groups[0]); plain != nil {
				groups = plain
			}
		}
	}
	spoken := make([]string, len(groups))
	for i, g := range groups {
		if spoken[i] = g; DigitsAt(g) == len(g) {
			spoken[i] = l.SpeakDigits(g)
		}
	}
	words := strings.Join(spoken, ", ")
	if p.plus {
		words = l.Words.Plus + " " + words
	}
	return words
}

// parsePhone parses groups of digits with separators between them.
func parsePhone(s string) phone {
	var p phone
	if s[0] == '+' {
		p.plus, p.size = true, 1
	}
	end := 0 // behind the last group
	for p.digits <= phoneDigitsMost {
		bracketed, ok := p.addGroup(s[p.size:])
		if !ok {
			p.size = end
			break
		}
		end = p.size
		separator := phoneSeparator(s[end:])
		rest := s[end+len(separator):]
		if word := vanityWord(rest); separator == "-" && word != "" {
			p.groups = append(p.groups, word)
			p.digits += len(word)
			p.size += len(separator) + len(word)
			break
		}
		if separator == "" && !bracketed && !strings.HasPrefix(rest, "(") || !StartsWithDigit(strings.TrimPrefix(rest, "(")) {
			break
		}
		p.signs += separator
		p.size += len(separator)
	}
	return p
}

// addGroup adds the group of digits at the beginning of s, which may stand in brackets.
func (p *phone) addGroup(s string) (bracketed, ok bool) {
	digits := strings.TrimPrefix(s, "(")
	bracketed = len(digits) < len(s)
	n := DigitsAt(digits)
	if n == 0 || bracketed && !strings.HasPrefix(digits[n:], ")") {
		return false, false
	}
	first := len(p.groups) == 0
	if bracketed && !first && digits[:n] == "0" { // the trunk prefix is not dialed behind a country code
		p.trunk = len(p.groups)
	} else {
		p.groups = append(p.groups, digits[:n])
		p.digits += n
	}
	p.size += n
	if bracketed {
		p.size += len("()")
		p.bracket = p.bracket || first
	}
	return bracketed, true
}

// phoneSeparator returns the separator between two groups of a telephone number.
func phoneSeparator(s string) string {
	for _, sep := range []string{" / ", " - ", " – ", " ", "-", ".", "/"} {
		if strings.HasPrefix(s, sep) {
			return sep
		}
	}
	return ""
}

// vanityWord returns the capital letters that stand for digits, as in 1-800-555-ROOF.
func vanityWord(s string) string {
	n := 0
	for n < len(s) && s[n] >= 'A' && s[n] <= 'Z' {
		n++
	}
	if n < 3 || WordAfter(s, n) {
		return ""
	}
	return s[:n]
}

// isPhone reports whether the groups are a telephone number and no other kind of number.
func (s *Scanner) isPhone(p phone) bool {
	if after := RuneAfter(s.Rest(), p.size); p.digits < 7 || p.digits > phoneDigitsMost || IsWordRune(after) {
		return p.plus && p.digits >= 3 && !IsWordRune(RuneAfter(s.Rest(), p.size))
	}
	if rest := s.Rest()[p.size:]; len(rest) > 1 && strings.ContainsRune(",:", rune(rest[0])) && StartsWithDigit(rest[1:]) {
		return false
	}
	format := s.Numbers.Phones
	switch {
	case p.plus:
		return true
	case len(p.groups) == 1:
		return format.Plain != nil && p.digits >= 9 && p.digits <= 11 && (format.PlainCues == nil || HasCue(s.Before(), format.PlainCues)) && format.Plain(p.groups[0]) != nil
	case p.bracket, format.Grouped != nil && format.Grouped(p.groups):
		return true
	case isIPAddress(p):
		return false
	case strings.Trim(p.signs, "-") == "" && hasLeadingZero(p.groups): // a customer number such as "4711-0815"
		return true
	case p.groups[0][0] == '0':
		return p.groups[0] != "0" || len(p.groups) > 2
	}
	return len(p.groups) > 2 && !areThousands(p.groups)
}

// hasLeadingZero reports whether a group behind the first is no cardinal.
func hasLeadingZero(groups []string) bool {
	for _, g := range groups[1:] {
		if len(g) > 2 && g[0] == '0' {
			return true
		}
	}
	return false
}

// isIPAddress reports whether the groups are four bytes with dots.
func isIPAddress(p phone) bool {
	if len(p.groups) != 4 || strings.Trim(p.signs, ".") != "" {
		return false
	}
	for _, g := range p.groups {
		if len(g) > 3 || Atoi(g) > 255 {
			return false
		}
	}
	return true
}

// areThousands reports whether the groups are those of one large number.
func areThousands(groups []string) bool {
	for _, g := range groups[1:] {
		if len(g) != 3 {
			return false
		}
	}
	return len(groups[0]) <= 3 && groups[0][0] != '0'
}

// Threes splits digits into groups of three. A last single digit joins the group before it.
func Threes(digits string) []string {
	var groups []string
	for len(digits) > 4 {
		groups = append(groups, digits[:3])
		digits = digits[3:]
	}
	return append(groups, digits)
}
