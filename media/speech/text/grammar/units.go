package grammar

import (
	"strings"
	"unicode/utf8"
)

// unitMost is the size in bytes of the longest sign of a unit.
const unitMost = 14

// unitAt returns the unit behind a number at the beginning of s, and the size of its sign with the space before it.
func (l *Language) unitAt(s string) (u Unit, size int) {
	gap := len(s) - len(strings.TrimLeft(s, " "))
	if gap > 2 {
		return Unit{}, 0
	}
	rest := s[gap:]
	for size = min(len(rest), unitMost); size > 0; size-- {
		if size < len(rest) && !utf8.RuneStart(rest[size]) {
			continue
		}
		u, ok := l.Units[rest[:size]]
		if !ok || u.Spaced && gap == 0 || size == 1 && isInitial(rest) || continuesWord(rest, size) {
			continue
		}
		return u, gap + size
	}
	return Unit{}, 0
}

// isInitial reports whether a single letter with a period is an initial or a direction: "1200 W. 35th St.".
func isInitial(s string) bool {
	return len(s) > 1 && IsUpperASCII(s[0]) && s[1] == '.' && strings.TrimLeft(s[2:], " ") != ""
}

// continuesWord reports whether letters at the end of s[:at] belong to a longer word: "s'est" is no second.
func continuesWord(s string, at int) bool {
	if !IsWordRune(RuneBefore(s, at)) {
		return false
	}
	return WordAfter(s, at) || strings.HasPrefix(s[at:], "'") && IsLetter(RuneAfter(s, at+1))
}

// matchMeasure speaks a number with its unit.
func matchMeasure(s *Scanner) Match {
	rest := s.Rest()
	n := s.ParseNumber(rest)
	if n.Size == 0 {
		return Match{}
	}
	after := rest[n.Size:]
	if hyphenated, ok := strings.CutPrefix(after, "-"); ok && s.HyphenatesUnits {
		if u, size := s.unitAt(hyphenated); size > 0 && IsLetter(RuneAfter(hyphenated, 0)) {
			return Match{n.Size + 1 + size, s.SpeakNumber(n, Form{}) + "-" + u.One, measureMatch}
		}
	}
	u, size := s.unitAt(after)
	if size == 0 {
		return Match{}
	}
	size += n.Size
	c := s.around(size)
	if strings.HasSuffix(rest[:size], ".") && IsSentenceEnd(rest[size:]) {
		size--
	}
	return Match{size, s.SpeakNumber(n, s.withUnit(n, u.Gender, c)) + " " + s.UnitName(n, u, c), measureMatch}
}

// UnitName returns the name of the unit in the number and the case of the text.
func (l *Language) UnitName(n Number, u Unit, c Context) string {
	f := l.withUnit(n, u.Gender, c)
	switch {
	case !l.isPlural(n) || u.Attributive && l.isNoun(FirstWord(c.After)):
		return u.One
	case f.GrammaticalCase == Dative && u.Dative != "":
		return u.Dative
	}
	return u.Many
}

// isNoun reports whether the word behind a unit is a noun as far as the language can tell.
func (l *Language) isNoun(word string) bool { return word != "" && !l.UnitFollowers[word] }

// matchUnitFirst speaks a unit before its number, such as "km 231".
func matchUnitFirst(s *Scanner) Match {
	rest := s.Rest()
	n := LettersAt(rest)
	name, ok := s.UnitsBefore[rest[:n]]
	if !ok || WordBefore(s.Text, s.Pos) || !StartsWithDigit(strings.TrimLeft(rest[n:], " ")) || len(strings.TrimLeft(rest[n:], " ")) == len(rest[n:]) {
		return Match{}
	}
	return Match{Size: n, Spoken: name}
}

// matchFactor speaks the letter "x" between two numbers.
func matchFactor(s *Scanner) Match {
	rest := s.Rest()
	if rest[0] != 'x' || IsLetter(RuneAfter(rest, 1)) {
		return Match{}
	}
	return s.factor(1)
}

// factor speaks "x" and "×" between two numbers.
func (s *Scanner) factor(size int) Match {
	rest := s.Rest()
	after := strings.TrimLeft(rest[size:], " ")
	if !s.FollowsReplacement(NumberMatch, measureMatch, MoneyMatch) || !StartsWithDigit(after) && !s.startsWithMoney(after) {
		return Match{}
	}
	word := s.Words.Times
	if s.Words.By != "" {
		if n := s.ParseNumber(after); n.Size > 0 {
			if _, unitSize := s.unitAt(after[n.Size:]); unitSize > 0 {
				word = s.Words.By
			}
		}
	}
	return Match{len(rest) - len(after), " " + word + " ", OtherMatch}
}
