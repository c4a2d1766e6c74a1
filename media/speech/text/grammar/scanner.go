// Package grammar replaces the numbers, dates, times, amounts of money, addresses, codes, signs and abbreviations of a
// text by the words of a language. A Language holds the words and rules of one language; package languages defines them.
package grammar

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Window is the number of bytes that a rule sees on each side of its place. The limit keeps the time linear.
const Window = 240

// Scanner replaces numbers, signs and abbreviations of a text by words, from left to right.
type Scanner struct {
	*Language
	Text      string
	Pos       int
	out       strings.Builder
	last      Match // the latest replacement
	LastEnd   int   // its end in text
	needSpace bool  // the next letter needs a space before it
}

// Match is a piece of the text and the words that replace it. A size of 0 means that the rule does not apply.
type Match struct {
	Size   int
	Spoken string
	Kind   matchKind
}

type matchKind int

// The kinds of a match.
const (
	OtherMatch matchKind = iota
	NumberMatch
	YearMatch
	DateMatch
	TimeMatch
	MoneyMatch
	measureMatch // a number with a unit
	weekdayMatch
	PhoneMatch
)

// Rule returns the replacement of the text at the place of the scanner.
type Rule func(s *Scanner) Match

// Context is the text on both sides of a replacement.
type Context struct{ Before, After string }

// Rules by the first rune of the piece. The first rule that applies wins: a rule for a longer form precedes the rule for
// a part of the form.
func digitRules() []Rule {
	return []Rule{
		matchAddress, matchISODate, matchNumericDate, matchWrittenDate, matchClock, matchPlate, matchDigitCue, matchPhone,
		matchAmount, matchDottedNumber, matchMixedNumber, matchFraction, matchScore, matchMeasure, matchOrdinal,
		matchCode, matchYear, matchCardinal,
	}
}

func letterRules() []Rule {
	return []Rule{
		matchFactor, matchAddress, matchPlate, matchLexicon, matchCurrencyFirst, matchMonth, matchWeekday, matchAbbreviation, matchUnitFirst,
		matchVersion, matchNumeral, matchCode,
	}
}

func signRules() []Rule {
	return []Rule{
		matchCurrencyFirst, matchPhone, matchHandle, matchHashtag, matchKeys, matchNumberSign, matchRange, matchNegative,
		matchLeadingPoint, matchVulgar, matchSign,
	}
}

// ReplaceAll applies the rules of the language to the text.
func ReplaceAll(text string, l *Language) string {
	s := &Scanner{Language: l, Text: text}
	digits, letters, signs := digitRules(), letterRules(), signRules()
	if l.Cardinal == nil {
		digits, letters, signs = []Rule{matchAddress}, []Rule{matchAddress}, []Rule{matchHandle, matchHashtag, matchSign}
	}
	for s.Pos < len(text) {
		r, size := utf8.DecodeRuneInString(text[s.Pos:])
		rules := signs
		switch {
		case r == ' ':
			s.copy(1)
			continue
		case unicode.IsDigit(r):
			rules = digits
		case IsLetter(r):
			rules = letters
		}
		if m := s.first(rules); m.Size > 0 {
			s.replace(m)
			continue
		}
		if IsLetter(r) {
			size = s.wordSize(text[s.Pos:])
		}
		s.copy(size)
	}
	return s.out.String()
}

// first returns the replacement of the first rule that applies.
func (s *Scanner) first(rules []Rule) Match {
	for _, r := range s.Rules {
		if m := r(s); m.Size > 0 {
			return m
		}
	}
	for _, r := range rules {
		if m := r(s); m.Size > 0 {
			return m
		}
	}
	return Match{}
}

// wordSize returns the size of the word at the beginning of s with its apostrophes, unless they separate words.
func (l *Language) wordSize(s string) int {
	size := LettersAt(s)
	if l.Elision {
		return max(size, 1)
	}
	for size < len(s)-1 && s[size] == '\'' && IsLetter(RuneAfter(s, size+1)) {
		size += 1 + LettersAt(s[size+1:])
	}
	return max(size, 1)
}

// copy writes the next bytes of the text unchanged.
func (s *Scanner) copy(size int) {
	s.write(s.Text[s.Pos:min(s.Pos+size, len(s.Text))])
	s.Pos += size
	s.needSpace = false
}

// replace writes the words of a match, apart from letters beside them.
func (s *Scanner) replace(m Match) {
	if s.Pos > 0 && m.Spoken != "" && IsLetter(RuneAfter(m.Spoken, 0)) && IsWordRune(RuneBefore(s.Text, s.Pos)) {
		s.out.WriteByte(' ')
	}
	s.write(m.Spoken)
	s.Pos += m.Size
	s.last, s.LastEnd = m, s.Pos
	s.needSpace = IsLetter(RuneBefore(m.Spoken, len(m.Spoken)))
}

func (s *Scanner) write(text string) {
	if s.needSpace && IsWordRune(RuneAfter(text, 0)) {
		s.out.WriteByte(' ')
	}
	s.out.WriteString(text)
}

// Rest returns the text at the place of the scanner, at most a window.
func (s *Scanner) Rest() string { return s.Text[s.Pos:min(s.Pos+Window, len(s.Text))] }

// Before returns the text before the place of the scanner, at most a window.
func (s *Scanner) Before() string { return s.Text[max(0, s.Pos-Window):s.Pos] }

// around returns the context of a piece of the given size at the place of the scanner.
func (s *Scanner) around(size int) Context {
	end := s.Pos + size
	return Context{Before: s.Before(), After: s.Text[min(end, len(s.Text)):min(end+Window, len(s.Text))]}
}

// atSentenceStart reports whether a sentence begins at the place of the scanner. The period of an abbreviation that was
// expanded ends no sentence.
func (s *Scanner) atSentenceStart() bool {
	if s.LastEnd > 0 && strings.HasSuffix(s.Text[:s.LastEnd], ".") && strings.TrimLeft(s.Text[s.LastEnd:s.Pos], " ") == "" && !strings.HasSuffix(s.last.Spoken, ".") {
		return false
	}
	return StartsSentence(s.Before())
}

// FollowsReplacement reports whether the latest replacement is of the kind and ends at the place of the scanner, apart from spaces.
func (s *Scanner) FollowsReplacement(kinds ...matchKind) bool {
	if s.LastEnd == 0 || strings.TrimLeft(s.Text[s.LastEnd:s.Pos], " ") != "" {
		return false
	}
	return slices.Contains(kinds, s.last.Kind)
}
