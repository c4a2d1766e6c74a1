package grammar

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// condition says where an abbreviation is expanded, and whether its period ends a sentence.
type condition int

// The conditions.
const (
	anywhere     condition = iota // the period ends a sentence at the end of the text
	closing                       // the period ends a sentence before a capital too
	beforeNumber                  // only before a number
	BeforeName                    // only before a capital
	afterNumber                   // only behind a number
	afterName                     // only behind a capitalized word
	saint                         // before a name, whose gender chooses the form
)

// Abbreviation is a short form and the words that it stands for.
type Abbreviation struct {
	Short, spoken string
	When          condition
}

// Abbreviations are the abbreviations of a language by their first word in lower case. The longest comes first.
type Abbreviations map[string][]Abbreviation

// ParseAbbreviations reads lines "short = words", "short = words | condition".
func ParseAbbreviations(table string) Abbreviations {
	conditions := map[string]condition{
		"": anywhere, "closing": closing, "number": beforeNumber, "name": BeforeName, "behind number": afterNumber,
		"behind name": afterName, "saint": saint,
	}
	out := Abbreviations{}
	for row := range strings.Lines(table) {
		short, rest, ok := strings.Cut(strings.TrimSpace(row), " = ")
		if !ok {
			continue
		}
		spoken, when, _ := strings.Cut(rest, " | ")
		first := strings.ToLower(short[:LettersAt(short)])
		out[first] = append(out[first], Abbreviation{Short: short, spoken: spoken, When: conditions[when]})
	}
	for _, list := range out {
		slices.SortStableFunc(list, func(a, b Abbreviation) int { return cmp.Compare(len(b.Short), len(a.Short)) })
	}
	return out
}

// matchAbbreviation expands an abbreviation.
func matchAbbreviation(s *Scanner) Match {
	rest := s.Rest()
	n := LettersAt(rest)
	if n > 16 || WordBefore(s.Text, s.Pos) && !isDigitRune(RuneBefore(s.Text, s.Pos)) {
		return Match{}
	}
	for _, a := range s.Abbreviations[strings.ToLower(rest[:n])] {
		size := ShortFormSize(rest, a.Short)
		if size == 0 {
			continue
		}
		if m := s.expand(a, size); m.Size > 0 {
			return m
		}
	}
	return Match{}
}

func isDigitRune(r rune) bool { return r >= '0' && r <= '9' }

// ShortFormSize returns the size of the short form at the beginning of s. A space of the form is optional in the text,
// and the first letter may be a capital.
func ShortFormSize(s, short string) int {
	i := 0
	for j := 0; j < len(short); {
		want, n := utf8.DecodeRuneInString(short[j:])
		if want == ' ' {
			for i < len(s) && s[i] == ' ' {
				i++
			}
			j++
			continue
		}
		got, size := utf8.DecodeRuneInString(s[i:])
		if got != want && (j != 0 || unicode.ToLower(got) != want) {
			return 0
		}
		i += size
		j += n
	}
	if IsLetter(RuneBefore(short, len(short))) && WordAfter(s, i) {
		return 0
	}
	return i
}

// expand returns the words of an abbreviation if its condition holds.
func (s *Scanner) expand(a Abbreviation, size int) Match {
	rest := s.Rest()
	after := rest[size:]
	next := strings.TrimLeft(after, " ")
	if s.isAddressWord(LastWord(s.Before())) || s.isAddressWord(FirstWord(next)) { // a part of an address that was spoken before
		return Match{}
	}
	if !s.conditionHolds(a.When, next) {
		return Match{}
	}
	if a.When == saint {
		male, female, _ := strings.Cut(a.spoken, "/")
		if strings.HasSuffix(FirstWord(next), "a") {
			return Match{Size: size, Spoken: female}
		}
		return Match{Size: size, Spoken: male}
	}
	ends := next == "" || IsSentenceEnd(after) && s.SentenceStarts[strings.ToLower(FirstWord(next))] && a.When == anywhere
	if a.When == closing || a.When == afterName {
		ends = IsSentenceEnd(after)
	}
	spoken := s.withCase(a, rest)
	if strings.HasSuffix(rest[:size], ".") && ends && !strings.HasSuffix(spoken, ".") {
		spoken += "."
	}
	return Match{Size: size, Spoken: spoken}
}

// conditionHolds reports whether an abbreviation is expanded before the text next.
func (s *Scanner) conditionHolds(c condition, next string) bool {
	switch c {
	case beforeNumber:
		return StartsWithDigit(next) || SignSize(next, "#-") > 0 && StartsWithDigit(next[1:])
	case BeforeName:
		return IsCapitalized(strings.TrimLeft(next, "-")) && !s.SentenceStarts[strings.ToLower(FirstWord(next))]
	case afterNumber:
		return s.FollowsReplacement(NumberMatch, measureMatch, OtherMatch, YearMatch, DateMatch)
	case afterName:
		return IsCapitalized(LastWord(s.Before())) || s.FollowsReplacement(OtherMatch)
	case saint:
		return IsCapitalized(next) && len(FirstWord(next)) > 2
	case anywhere, closing:
	}
	return true
}

// isAddressWord reports whether the word names a sign of an address.
func (l *Language) isAddressWord(word string) bool {
	return word != "" && l.LowerAbbreviations && (word == l.Words.AddressDot || word == l.Words.At || word == l.Words.Slash)
}

// withCase returns the words with the capital that the language wants.
func (s *Scanner) withCase(a Abbreviation, rest string) string {
	if male, female, two := strings.Cut(a.spoken, "/"); two {
		a.spoken = male
		if s.FeminineCues[strings.ToLower(LastWord(s.Before()))] {
			a.spoken = female
		}
	}
	switch {
	case a.spoken == "":
		return ""
	case s.LowerAbbreviations:
		if s.atSentenceStart() && IsCapitalized(rest) {
			return Capitalize(a.spoken)
		}
	case IsCapitalized(rest) && !IsCapitalized(a.Short):
		return Capitalize(a.spoken)
	}
	return a.spoken
}

// Joins reports whether a sentence continues behind the abbreviation.
func (a Abbreviation) Joins(after string, starts bool) bool {
	switch a.When {
	case beforeNumber:
		return StartsWithDigit(strings.TrimLeft(after, " "))
	case closing, afterName:
		return !IsCapitalized(strings.TrimLeft(after, " "))
	case anywhere, BeforeName, afterNumber, saint:
	}
	return !starts
}
