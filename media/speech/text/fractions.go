package text

import "strings"

// matchFraction speaks fractions such as "3/4", and pairs of numbers such as "24/7".
func matchFraction(s *scanner) match {
	rest := s.rest()
	a := digitsAt(rest)
	if a == 0 || a > 4 || len(rest) < a+2 || rest[a] != '/' {
		return match{}
	}
	b := digitsAt(rest[a+1:])
	size := a + 1 + b
	if b == 0 || b > 4 || isLetter(runeAfter(rest, size)) || strings.HasPrefix(rest[size:], "/") || strings.HasSuffix(s.before(), "/") {
		return match{}
	}
	c := s.around(size)
	if word, ok := s.numbers.fractions[rest[:size]]; ok {
		return s.speakFraction(vulgarFraction{alone: word}, size)
	}
	first, second := number{integer: rest[:a]}, number{integer: rest[a+1 : size]}
	if a == 4 && b == 2 && first.value() >= 1900 && first.value() < 2100 {
		return match{size, s.year(atoi(rest[:a])) + s.yearJoin() + s.speakNumber(second, form{}), yearMatch}
	}
	if s.numbers.over != nil && first.isCardinal() && second.isCardinal() {
		return match{size, s.numbers.over(first.value(), second.value(), c), numberMatch}
	}
	if !first.isCardinal() || !second.isCardinal() || s.words.over == "" {
		return match{}
	}
	return match{size, s.speakNumber(first, form{}) + " " + s.words.over + " " + s.speakNumber(second, form{}), numberMatch}
}

// yearJoin returns the words between the years of "2025/26".
func (l *language) yearJoin() string {
	if l.numbers.over != nil {
		return " "
	}
	return " " + l.words.to + " "
}

// matchMixedNumber speaks an integer with a fraction, such as "2½" and "3 1/2".
func matchMixedNumber(s *scanner) match {
	rest := s.rest()
	n := digitsAt(rest)
	if n > digitsMost {
		return match{}
	}
	after := strings.TrimLeft(rest[n:], " ")
	f, ok := s.numbers.vulgar[runeAfter(after, 0)]
	size := len(rest) - len(after)
	if ok {
		size += len(string(runeAfter(after, 0)))
	} else {
		if len(after) < 3 || len(after) == len(rest)-n || after[1] != '/' || wordAfter(after, 3) {
			return match{}
		}
		for sign, v := range s.numbers.vulgar {
			if vulgarText[sign] == after[:3] {
				f, ok = v, true
			}
		}
		size += 3
	}
	if !ok {
		return match{}
	}
	c := s.around(size)
	u, unitSize := s.unitAt(c.after)
	spoken := ""
	if integer := (number{integer: rest[:n]}); s.numbers.mixed != nil {
		spoken = s.numbers.mixed(integer, f, c)
	} else {
		spoken = s.speakNumber(integer, form{}) + " " + f.behind
	}
	if unitSize > 0 {
		spoken += " " + u.many
	}
	return match{size + unitSize, spoken, numberMatch}
}

// vulgarText gives the fraction signs in digits.
var vulgarText = map[rune]string{'½': "1/2", '¼': "1/4", '¾': "3/4", '⅓': "1/3", '⅔': "2/3", '⅛': "1/8"}

// matchVulgar speaks a fraction sign without an integer.
func matchVulgar(s *scanner) match {
	r := runeAfter(s.text, s.pos)
	f, ok := s.numbers.vulgar[r]
	if !ok {
		return match{}
	}
	return s.speakFraction(f, len(string(r)))
}

// speakFraction speaks a fraction of the given size without an integer, and the unit behind it.
func (s *scanner) speakFraction(f vulgarFraction, size int) match {
	c := s.around(size)
	u, unitSize := s.unitAt(c.after)
	if unitSize > 0 {
		c.after = " " + u.one
	}
	spoken := f.alone
	if s.numbers.mixed != nil {
		spoken = s.numbers.mixed(number{}, f, c)
	}
	if unitSize > 0 {
		return match{size + unitSize, spoken + c.after[prefixGap(spoken, c):], measureMatch}
	}
	return match{size + prefixGap(spoken, c), spoken, numberMatch}
}

// prefixGap returns the size of the space that vanishes behind a prefix such as "demi-".
func prefixGap(spoken string, c context) int {
	if strings.HasSuffix(spoken, "-") && strings.HasPrefix(c.after, " ") {
		return 1
	}
	return 0
}
