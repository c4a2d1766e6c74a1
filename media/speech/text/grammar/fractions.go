package grammar

import "strings"

// matchFraction speaks fractions such as "3/4", and pairs of numbers such as "24/7".
func matchFraction(s *Scanner) Match {
	rest := s.Rest()
	a := DigitsAt(rest)
	if a == 0 || a > 4 || len(rest) < a+2 || rest[a] != '/' {
		return Match{}
	}
	b := DigitsAt(rest[a+1:])
	size := a + 1 + b
	if b == 0 || b > 4 || IsLetter(RuneAfter(rest, size)) || strings.HasPrefix(rest[size:], "/") || strings.HasSuffix(s.Before(), "/") {
		return Match{}
	}
	c := s.around(size)
	if word, ok := s.Numbers.Fractions[rest[:size]]; ok {
		return s.speakFraction(VulgarFraction{Alone: word}, size)
	}
	first, second := Number{Integer: rest[:a]}, Number{Integer: rest[a+1 : size]}
	if a == 4 && b == 2 && first.Value() >= 1900 && first.Value() < 2100 {
		return Match{size, s.Year(Atoi(rest[:a])) + s.yearJoin() + s.SpeakNumber(second, Form{}), YearMatch}
	}
	if s.Numbers.Over != nil && first.IsCardinal() && second.IsCardinal() {
		return Match{size, s.Numbers.Over(first.Value(), second.Value(), c), NumberMatch}
	}
	if !first.IsCardinal() || !second.IsCardinal() || s.Words.Over == "" {
		return Match{}
	}
	return Match{size, s.SpeakNumber(first, Form{}) + " " + s.Words.Over + " " + s.SpeakNumber(second, Form{}), NumberMatch}
}

// yearJoin returns the words between the years of "2025/26".
func (l *Language) yearJoin() string {
	if l.Numbers.Over != nil {
		return " "
	}
	return " " + l.Words.To + " "
}

// matchMixedNumber speaks an integer with a fraction, such as "2½" and "3 1/2".
func matchMixedNumber(s *Scanner) Match {
	rest := s.Rest()
	n := DigitsAt(rest)
	if n > DigitsMost {
		return Match{}
	}
	after := strings.TrimLeft(rest[n:], " ")
	f, ok := s.Numbers.Vulgar[RuneAfter(after, 0)]
	size := len(rest) - len(after)
	if ok {
		size += len(string(RuneAfter(after, 0)))
	} else {
		if len(after) < 3 || len(after) == len(rest)-n || after[1] != '/' || WordAfter(after, 3) {
			return Match{}
		}
		for sign, v := range s.Numbers.Vulgar {
			if vulgarText[sign] == after[:3] {
				f, ok = v, true
			}
		}
		size += 3
	}
	if !ok {
		return Match{}
	}
	c := s.around(size)
	u, unitSize := s.unitAt(c.After)
	var spoken string
	if integer := (Number{Integer: rest[:n]}); s.Numbers.Mixed != nil {
		spoken = s.Numbers.Mixed(integer, f, c)
	} else {
		spoken = s.SpeakNumber(integer, Form{}) + " " + f.Behind
	}
	if unitSize > 0 {
		spoken += " " + u.Many
	}
	return Match{size + unitSize, spoken, NumberMatch}
}

// vulgarText gives the fraction signs in digits.
var vulgarText = map[rune]string{'½': "1/2", '¼': "1/4", '¾': "3/4", '⅓': "1/3", '⅔': "2/3", '⅛': "1/8"}

// matchVulgar speaks a fraction sign without an integer.
func matchVulgar(s *Scanner) Match {
	r := RuneAfter(s.Text, s.Pos)
	f, ok := s.Numbers.Vulgar[r]
	if !ok {
		return Match{}
	}
	return s.speakFraction(f, len(string(r)))
}

// speakFraction speaks a fraction of the given size without an integer, and the unit behind it.
func (s *Scanner) speakFraction(f VulgarFraction, size int) Match {
	c := s.around(size)
	u, unitSize := s.unitAt(c.After)
	if unitSize > 0 {
		c.After = " " + u.One
	}
	spoken := f.Alone
	if s.Numbers.Mixed != nil {
		spoken = s.Numbers.Mixed(Number{}, f, c)
	}
	if unitSize > 0 {
		return Match{size + unitSize, spoken + c.After[prefixGap(spoken, c):], measureMatch}
	}
	return Match{size + prefixGap(spoken, c), spoken, NumberMatch}
}

// prefixGap returns the size of the space that vanishes behind a prefix such as "demi-".
func prefixGap(spoken string, c Context) int {
	if strings.HasSuffix(spoken, "-") && strings.HasPrefix(c.After, " ") {
		return 1
	}
	return 0
}
