package languages

import (
	"strings"

	"github.com/callboard/callboard/media/speech/text/grammar"
)

// matchFeetAndInches speaks 5'7".
func matchFeetAndInches(s *grammar.Scanner) grammar.Match {
	rest := s.Rest()
	feet := grammar.DigitsAt(rest)
	if feet == 0 || feet > 2 || !strings.HasPrefix(rest[feet:], "'") {
		return grammar.Match{}
	}
	inches := grammar.DigitsAt(rest[feet+1:])
	size := feet + 1 + inches
	if inches == 0 || inches > 2 || grammar.WordAfter(rest, size) {
		return grammar.Match{}
	}
	if strings.HasPrefix(rest[size:], "″") {
		size += len("″")
	}
	f, i := grammar.Number{Integer: rest[:feet]}, grammar.Number{Integer: rest[feet+1 : feet+1+inches]}
	return grammar.Match{Size: size, Spoken: s.SpeakNumber(f, grammar.Form{}) + " " + s.UnitName(f, s.Units["ft"], grammar.Context{}) + " " + s.SpeakNumber(i, grammar.Form{}) + " " + s.UnitName(i, s.Units["in."], grammar.Context{}), Kind: grammar.NumberMatch}
}

// matchEnglishDecade speaks "1990s" and "'80s".
func matchEnglishDecade(s *grammar.Scanner) grammar.Match {
	rest := s.Rest()
	mark := len(rest) - len(strings.TrimPrefix(rest, "'"))
	n := grammar.DigitsAt(rest[mark:])
	size := mark + n
	digits := rest[mark:size]
	after := strings.TrimPrefix(rest[size:], "'")
	if !strings.HasPrefix(after, "s") || grammar.WordAfter(after, 1) || n != 2 && n != 4 || digits[n-1] != '0' || mark == 1 && n != 2 {
		return grammar.Match{}
	}
	size = len(rest) - len(after) + 1
	spoken := englishYear(grammar.Atoi(digits))
	if n == 2 {
		spoken = englishSmall(int64(grammar.Atoi(digits)))
	}
	if before, ok := strings.CutSuffix(spoken, "y"); ok {
		spoken = before + "ie"
	}
	return grammar.Match{Size: size, Spoken: spoken + "s", Kind: grammar.YearMatch}
}

// matchHighway speaks "I-95" and "US-1".
func matchHighway(s *grammar.Scanner) grammar.Match {
	rest := s.Rest()
	for _, prefix := range []string{"I-", "US-"} {
		digits, ok := strings.CutPrefix(rest, prefix)
		n := grammar.DigitsAt(digits)
		if ok && n > 0 && n <= 3 && !grammar.WordAfter(digits, n) && !grammar.WordBefore(s.Text, s.Pos) {
			return grammar.Match{Size: len(prefix) + n, Spoken: strings.TrimSuffix(prefix, "-") + " " + s.SpeakNumber(grammar.Number{Integer: digits[:n]}, grammar.Form{})}
		}
	}
	return grammar.Match{}
}

// matchHouseNumber speaks addresses such as "12a Elm Ave".
func matchHouseNumber(s *grammar.Scanner) grammar.Match {
	rest := s.Rest()
	n := grammar.DigitsAt(rest)
	if n == 0 || n > 4 || n+2 >= len(rest) || rest[n] < 'a' || rest[n] > 'f' || rest[n+1] != ' ' || !grammar.IsCapitalized(rest[n+2:]) {
		return grammar.Match{}
	}
	return grammar.Match{Size: n + 1, Spoken: s.SpeakNumber(grammar.Number{Integer: rest[:n]}, grammar.Form{}) + " " + strings.ToUpper(rest[n:n+1])}
}

// matchSaintOrStreet speaks "St." as "Saint" before a name and as "Street" behind one.
func matchSaintOrStreet(s *grammar.Scanner) grammar.Match {
	rest := s.Rest()
	if !strings.HasPrefix(rest, "St.") || grammar.WordBefore(s.Text, s.Pos) {
		return grammar.Match{}
	}
	before := strings.TrimRight(s.Before(), " ")
	word := grammar.LastWord(before)
	isName := grammar.IsCapitalized(word) && !grammar.StartsSentence(strings.TrimSuffix(before, word)) || s.FollowsReplacement(grammar.OtherMatch)
	if grammar.IsCapitalized(strings.TrimLeft(rest[3:], " ")) && !isName {
		return grammar.Match{Size: 3, Spoken: "Saint"}
	}
	if grammar.IsSentenceEnd(rest[3:]) {
		return grammar.Match{Size: 3, Spoken: "Street."}
	}
	return grammar.Match{Size: 3, Spoken: "Street"}
}

// matchQuarter speaks the year behind a quarter, such as "Q3 2026".
func matchQuarter(s *grammar.Scanner) grammar.Match {
	rest := s.Rest()
	if len(rest) < 7 || rest[0] != 'Q' || rest[1] < '1' || rest[1] > '4' || rest[2] != ' ' || grammar.DigitsAt(rest[3:]) != 4 || grammar.WordAfter(rest, 7) || grammar.WordBefore(s.Text, s.Pos) {
		return grammar.Match{}
	}
	return grammar.Match{Size: 7, Spoken: "Q " + s.Words.Digits[rest[1]-'0'] + " " + englishYear(grammar.Atoi(rest[3:7])), Kind: grammar.YearMatch}
}

// numberedNouns are the words behind which a Roman numeral is a cardinal.
var numberedNouns = grammar.WordSet("war bowl part chapter act phase type volume vol level stage class book section episode article title world grade mark")

// englishRoman speaks a Roman numeral behind a noun or behind the name of a monarch.
func englishRoman(word string, n int64, s *grammar.Scanner) grammar.Match {
	previous := grammar.LastWord(s.Before())
	switch {
	case grammar.WordAfter(s.Rest(), len(word)) || previous == "" || !strings.HasSuffix(s.Before(), previous+" "):
		return grammar.Match{}
	case numberedNouns[strings.ToLower(previous)] && (len(word) > 1 || word != "I"):
		return grammar.Match{Size: len(word), Spoken: englishCardinal(n, grammar.Form{})}
	case len(word) > 1 && n <= 30 && grammar.IsCapitalized(previous) && len(previous) > 2 && strings.ToUpper(previous) != previous:
		return grammar.Match{Size: len(word), Spoken: "the " + englishOrdinal(n, grammar.Form{})}
	}
	return grammar.Match{}
}

// matchZIPCode speaks the digits of a ZIP code behind the code of a state: "IL 60609".
func matchZIPCode(s *grammar.Scanner) grammar.Match {
	rest := s.Rest()
	state := grammar.LastWord(s.Before())
	if grammar.DigitsAt(rest) != 5 || grammar.WordAfter(rest, 5) || len(state) != 2 || strings.ToUpper(state) != state || !strings.HasSuffix(s.Before(), state+" ") {
		return grammar.Match{}
	}
	return grammar.Match{Size: 5, Spoken: s.SpeakDigits(rest[:5]), Kind: grammar.PhoneMatch}
}

// matchShortNumber speaks the digits of 911 and similar numbers behind a verb of calling.
func matchShortNumber(s *grammar.Scanner) grammar.Match {
	rest := s.Rest()
	if grammar.DigitsAt(rest) != 3 || grammar.WordAfter(rest, 3) || grammar.IsMoreNumber(rest[3:]) || rest[1:3] != "11" && rest[:3] != "988" || !grammar.HasCue(s.Before(), []string{"call", "dial", "text", "calling", "dialing"}) {
		return grammar.Match{}
	}
	return grammar.Match{Size: 3, Spoken: s.SpeakDigits(rest[:3]), Kind: grammar.PhoneMatch}
}
