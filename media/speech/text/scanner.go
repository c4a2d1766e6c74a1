package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// window is the number of bytes that a rule sees on each side of its place. The limit keeps the time linear.
const window = 240

// scanner replaces numbers, signs and abbreviations of a text by words, from left to right.
type scanner struct {
	*language
	text      string
	pos       int
	out       strings.Builder
	last      match // the latest replacement
	lastEnd   int   // its end in text
	needSpace bool  // the next letter needs a space before it
}

// match is a piece of the text and the words that replace it. A size of 0 means that the rule does not apply.
type match struct {
	size   int
	spoken string
	kind   matchKind
}

type matchKind int

const (
	otherMatch matchKind = iota
	numberMatch
	yearMatch
	dateMatch
	timeMatch
	moneyMatch
	measureMatch // a number with a unit
	weekdayMatch
	phoneMatch
)

// rule returns the replacement of the text at the place of the scanner.
type rule func(s *scanner) match

// context is the text on both sides of a replacement.
type context struct{ before, after string }

// Rules by the first rune of the piece. The first rule that applies wins: a rule for a longer form precedes the rule for
// a part of the form.
func digitRules() []rule {
	return []rule{
		matchAddress, matchISODate, matchNumericDate, matchWrittenDate, matchClock, matchPlate, matchDigitCue, matchPhone,
		matchAmount, matchDottedNumber, matchMixedNumber, matchFraction, matchScore, matchMeasure, matchOrdinal,
		matchCode, matchYear, matchCardinal,
	}
}

func letterRules() []rule {
	return []rule{
		matchFactor, matchAddress, matchPlate, matchLexicon, matchCurrencyFirst, matchMonth, matchWeekday, matchAbbreviation, matchUnitFirst,
		matchVersion, matchNumeral, matchCode,
	}
}

func signRules() []rule {
	return []rule{
		matchCurrencyFirst, matchPhone, matchHandle, matchHashtag, matchKeys, matchNumberSign, matchRange, matchNegative,
		matchLeadingPoint, matchVulgar, matchSign,
	}
}

// replaceAll applies the rules of the language to the text.
func replaceAll(text string, l *language) string {
	s := &scanner{language: l, text: text}
	digits, letters, signs := digitRules(), letterRules(), signRules()
	if l.cardinal == nil {
		digits, letters, signs = []rule{matchAddress}, []rule{matchAddress}, []rule{matchHandle, matchHashtag, matchSign}
	}
	for s.pos < len(text) {
		r, size := utf8.DecodeRuneInString(text[s.pos:])
		rules := signs
		switch {
		case r == ' ':
			s.copy(1)
			continue
		case unicode.IsDigit(r):
			rules = digits
		case isLetter(r):
			rules = letters
		}
		if m := s.first(rules); m.size > 0 {
			s.replace(m)
			continue
		}
		if isLetter(r) {
			size = s.wordSize(text[s.pos:])
		}
		s.copy(size)
	}
	return s.out.String()
}

// first returns the replacement of the first rule that applies.
func (s *scanner) first(rules []rule) match {
	for _, r := range s.rules {
		if m := r(s); m.size > 0 {
			return m
		}
	}
	for _, r := range rules {
		if m := r(s); m.size > 0 {
			return m
		}
	}
	return match{}
}

// wordSize returns the size of the word at the beginning of s with its apostrophes, unless they separate words.
func (l *language) wordSize(s string) int {
	size := lettersAt(s)
	if l.elision {
		return max(size, 1)
	}
	for size < len(s)-1 && s[size] == '\'' && isLetter(runeAfter(s, size+1)) {
		size += 1 + lettersAt(s[size+1:])
	}
	return max(size, 1)
}

// copy writes the next bytes of the text unchanged.
func (s *scanner) copy(size int) {
	s.write(s.text[s.pos:min(s.pos+size, len(s.text))])
	s.pos += size
	s.needSpace = false
}

// replace writes the words of a match, apart from letters beside them.
func (s *scanner) replace(m match) {
	if s.pos > 0 && m.spoken != "" && isLetter(runeAfter(m.spoken, 0)) && isWordRune(runeBefore(s.text, s.pos)) {
		s.out.WriteByte(' ')
	}
	s.write(m.spoken)
	s.pos += m.size
	s.last, s.lastEnd = m, s.pos
	s.needSpace = isLetter(runeBefore(m.spoken, len(m.spoken)))
}

func (s *scanner) write(text string) {
	if s.needSpace && isWordRune(runeAfter(text, 0)) {
		s.out.WriteByte(' ')
	}
	s.out.WriteString(text)
}

// rest returns the text at the place of the scanner, at most a window.
func (s *scanner) rest() string { return s.text[s.pos:min(s.pos+window, len(s.text))] }

// before returns the text before the place of the scanner, at most a window.
func (s *scanner) before() string { return s.text[max(0, s.pos-window):s.pos] }

// around returns the context of a piece of the given size at the place of the scanner.
func (s *scanner) around(size int) context {
	end := s.pos + size
	return context{before: s.before(), after: s.text[min(end, len(s.text)):min(end+window, len(s.text))]}
}

// atSentenceStart reports whether a sentence begins at the place of the scanner. The period of an abbreviation that was
// expanded ends no sentence.
func (s *scanner) atSentenceStart() bool {
	if s.lastEnd > 0 && strings.HasSuffix(s.text[:s.lastEnd], ".") && strings.TrimLeft(s.text[s.lastEnd:s.pos], " ") == "" && !strings.HasSuffix(s.last.spoken, ".") {
		return false
	}
	return startsSentence(s.before())
}

// behind reports whether the latest replacement is of the kind and ends at the place of the scanner, apart from spaces.
func (s *scanner) behind(kinds ...matchKind) bool {
	if s.lastEnd == 0 || strings.TrimLeft(s.text[s.lastEnd:s.pos], " ") != "" {
		return false
	}
	for _, k := range kinds {
		if s.last.kind == k {
			return true
		}
	}
	return false
}
