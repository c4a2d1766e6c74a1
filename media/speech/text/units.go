package text

import (
	"strings"
	"unicode/utf8"
)

// unitMost is the size in bytes of the longest sign of a unit.
const unitMost = 14

// unitAt returns the unit behind a number at the beginning of s, and the size of its sign with the space before it.
func (l *language) unitAt(s string) (u unit, size int) {
	gap := len(s) - len(strings.TrimLeft(s, " "))
	if gap > 2 {
		return unit{}, 0
	}
	rest := s[gap:]
	for size = min(len(rest), unitMost); size > 0; size-- {
		if size < len(rest) && !utf8.RuneStart(rest[size]) {
			continue
		}
		u, ok := l.units[rest[:size]]
		if !ok || u.spaced && gap == 0 || size == 1 && isInitial(rest) || continuesWord(rest, size) {
			continue
		}
		return u, gap + size
	}
	return unit{}, 0
}

// isInitial reports whether a single letter with a period is an initial or a direction: "1200 W. 35th St.".
func isInitial(s string) bool {
	return len(s) > 1 && isUpperASCII(s[0]) && s[1] == '.' && strings.TrimLeft(s[2:], " ") != ""
}

// continuesWord reports whether letters at the end of s[:at] belong to a longer word: "s'est" is no second.
func continuesWord(s string, at int) bool {
	if !isWordRune(runeBefore(s, at)) {
		return false
	}
	return wordAfter(s, at) || strings.HasPrefix(s[at:], "'") && isLetter(runeAfter(s, at+1))
}

// matchMeasure speaks a number with its unit.
func matchMeasure(s *scanner) match {
	rest := s.rest()
	n := s.parseNumber(rest)
	if n.size == 0 {
		return match{}
	}
	after := rest[n.size:]
	if hyphenated, ok := strings.CutPrefix(after, "-"); ok && s.hyphenatesUnits {
		if u, size := s.unitAt(hyphenated); size > 0 && isLetter(runeAfter(hyphenated, 0)) {
			return match{n.size + 1 + size, s.speakNumber(n, form{}) + "-" + u.one, measureMatch}
		}
	}
	u, size := s.unitAt(after)
	if size == 0 {
		return match{}
	}
	size += n.size
	c := s.around(size)
	if strings.HasSuffix(rest[:size], ".") && isSentenceEnd(rest[size:]) {
		size--
	}
	return match{size, s.speakNumber(n, s.withUnit(n, u.gender, c)) + " " + s.unitName(n, u, c), measureMatch}
}

// unitName returns the name of the unit in the number and the case of the text.
func (l *language) unitName(n number, u unit, c context) string {
	f := l.withUnit(n, u.gender, c)
	switch {
	case !l.isPlural(n) || u.attributive && l.isNoun(firstWord(c.after)):
		return u.one
	case f.grammaticalCase == dative && u.dative != "":
		return u.dative
	}
	return u.many
}

// isNoun reports whether the word behind a unit is a noun as far as the language can tell.
func (l *language) isNoun(word string) bool { return word != "" && !l.unitFollowers[word] }

// matchUnitFirst speaks a unit before its number, such as "km 231".
func matchUnitFirst(s *scanner) match {
	rest := s.rest()
	n := lettersAt(rest)
	name, ok := s.unitsBefore[rest[:n]]
	if !ok || wordBefore(s.text, s.pos) || !startsWithDigit(strings.TrimLeft(rest[n:], " ")) || len(strings.TrimLeft(rest[n:], " ")) == len(rest[n:]) {
		return match{}
	}
	return match{size: n, spoken: name}
}

// matchFactor speaks the letter "x" between two numbers.
func matchFactor(s *scanner) match {
	rest := s.rest()
	if rest[0] != 'x' || isLetter(runeAfter(rest, 1)) {
		return match{}
	}
	return s.factor(1)
}

// factor speaks "x" and "×" between two numbers.
func (s *scanner) factor(size int) match {
	rest := s.rest()
	after := strings.TrimLeft(rest[size:], " ")
	if !s.behind(numberMatch, measureMatch, moneyMatch) || !startsWithDigit(after) && !s.startsWithMoney(after) {
		return match{}
	}
	word := s.words.times
	if s.words.by != "" {
		if n := s.parseNumber(after); n.size > 0 {
			if _, unitSize := s.unitAt(after[n.size:]); unitSize > 0 {
				word = s.words.by
			}
		}
	}
	return match{len(rest) - len(after), " " + word + " ", otherMatch}
}
