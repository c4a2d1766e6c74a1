package text

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// condition says where an abbreviation is expanded, and whether its period ends a sentence.
type condition int

const (
	anywhere     condition = iota // the period ends a sentence at the end of the text
	closing                       // the period ends a sentence before a capital too
	beforeNumber                  // only before a number
	beforeName                    // only before a capital
	afterNumber                   // only behind a number
	afterName                     // only behind a capitalized word
	saint                         // before a name, whose gender chooses the form
)

// abbreviation is a short form and the words that it stands for.
type abbreviation struct {
	short, spoken string
	when          condition
}

// abbreviations are the abbreviations of a language by their first word in lower case. The longest comes first.
type abbreviations map[string][]abbreviation

// parseAbbreviations reads lines "short = words", "short = words | condition".
func parseAbbreviations(table string) abbreviations {
	conditions := map[string]condition{
		"": anywhere, "closing": closing, "number": beforeNumber, "name": beforeName, "behind number": afterNumber,
		"behind name": afterName, "saint": saint,
	}
	out := abbreviations{}
	for row := range strings.Lines(table) {
		short, rest, ok := strings.Cut(strings.TrimSpace(row), " = ")
		if !ok {
			continue
		}
		spoken, when, _ := strings.Cut(rest, " | ")
		first := strings.ToLower(short[:lettersAt(short)])
		out[first] = append(out[first], abbreviation{short: short, spoken: spoken, when: conditions[when]})
	}
	for _, list := range out {
		slices.SortStableFunc(list, func(a, b abbreviation) int { return cmp.Compare(len(b.short), len(a.short)) })
	}
	return out
}

// matchAbbreviation expands an abbreviation.
func matchAbbreviation(s *scanner) match {
	rest := s.rest()
	n := lettersAt(rest)
	if n > 16 || wordBefore(s.text, s.pos) && !isDigitRune(runeBefore(s.text, s.pos)) {
		return match{}
	}
	for _, a := range s.abbreviations[strings.ToLower(rest[:n])] {
		size := shortFormSize(rest, a.short)
		if size == 0 {
			continue
		}
		if m := s.expand(a, size); m.size > 0 {
			return m
		}
	}
	return match{}
}

func isDigitRune(r rune) bool { return r >= '0' && r <= '9' }

// shortFormSize returns the size of the short form at the beginning of s. A space of the form is optional in the text,
// and the first letter may be a capital.
func shortFormSize(s, short string) int {
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
		if got != want && !(j == 0 && unicode.ToLower(got) == want) {
			return 0
		}
		i += size
		j += n
	}
	if isLetter(runeBefore(short, len(short))) && wordAfter(s, i) {
		return 0
	}
	return i
}

// expand returns the words of an abbreviation if its condition holds.
func (s *scanner) expand(a abbreviation, size int) match {
	rest := s.rest()
	after := rest[size:]
	next := strings.TrimLeft(after, " ")
	if s.isAddressWord(lastWord(s.before())) || s.isAddressWord(firstWord(next)) { // a part of an address that was spoken before
		return match{}
	}
	if !s.conditionHolds(a.when, next) {
		return match{}
	}
	if a.when == saint {
		male, female, _ := strings.Cut(a.spoken, "/")
		if strings.HasSuffix(firstWord(next), "a") {
			return match{size: size, spoken: female}
		}
		return match{size: size, spoken: male}
	}
	ends := next == "" || isSentenceEnd(after) && s.sentenceStarts[strings.ToLower(firstWord(next))] && a.when == anywhere
	if a.when == closing || a.when == afterName {
		ends = isSentenceEnd(after)
	}
	spoken := s.withCase(a, rest)
	if strings.HasSuffix(rest[:size], ".") && ends && !strings.HasSuffix(spoken, ".") {
		spoken += "."
	}
	return match{size: size, spoken: spoken}
}

// conditionHolds reports whether an abbreviation is expanded before the text next.
func (s *scanner) conditionHolds(c condition, next string) bool {
	switch c {
	case beforeNumber:
		return startsWithDigit(next) || signSize(next, "#-") > 0 && startsWithDigit(next[1:])
	case beforeName:
		return isCapitalized(strings.TrimLeft(next, "-")) && !s.sentenceStarts[strings.ToLower(firstWord(next))]
	case afterNumber:
		return s.behind(numberMatch, measureMatch, otherMatch, yearMatch, dateMatch)
	case afterName:
		return isCapitalized(lastWord(s.before())) || s.behind(otherMatch)
	case saint:
		return isCapitalized(next) && len(firstWord(next)) > 2
	case anywhere, closing:
	}
	return true
}

// isAddressWord reports whether the word names a sign of an address.
func (l *language) isAddressWord(word string) bool {
	return word != "" && l.lowerAbbreviations && (word == l.words.addressDot || word == l.words.at || word == l.words.slash)
}

// withCase returns the words with the capital that the language wants.
func (s *scanner) withCase(a abbreviation, rest string) string {
	if male, female, two := strings.Cut(a.spoken, "/"); two {
		a.spoken = male
		if s.feminineCues[strings.ToLower(lastWord(s.before()))] {
			a.spoken = female
		}
	}
	switch {
	case a.spoken == "":
		return ""
	case s.lowerAbbreviations:
		if s.atSentenceStart() && isCapitalized(rest) {
			return capitalize(a.spoken)
		}
	case isCapitalized(rest) && !isCapitalized(a.short):
		return capitalize(a.spoken)
	}
	return a.spoken
}
