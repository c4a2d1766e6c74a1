package grammar

import "strings"

// matchYear speaks four digits as a year behind a word that announces one.
func matchYear(s *Scanner) Match {
	rest := s.Rest()
	if DigitsAt(rest) != 4 || WordAfter(rest, 4) || IsMoreNumber(rest[4:]) || WordBefore(s.Text, s.Pos) {
		return Match{}
	}
	year := Atoi(rest[:4])
	if year < 1100 || year > 2099 || !s.announcesYear() {
		return Match{}
	}
	if u, size := s.unitAt(rest[4:]); size > 0 && u.One != "" {
		return Match{}
	}
	return Match{4, s.Year(year), YearMatch}
}

// announcesYear reports whether the text before the place announces a year.
func (s *Scanner) announcesYear() bool {
	before := strings.TrimRight(s.Before(), " (")
	if s.YearCues[strings.ToLower(LastWord(before))] {
		return true
	}
	if s.LastEnd == 0 || s.last.Kind != YearMatch && s.last.Kind != DateMatch {
		return false
	}
	between := strings.ToLower(strings.TrimSpace(s.Text[s.LastEnd:s.Pos]))
	return between == "" || between == "-" || between == "–" || s.YearCues["+"+between]
}

// speakYearOrNumber speaks digits within a word: four digits are a year.
func (l *Language) speakYearOrNumber(digits string) string {
	n := Number{Integer: digits}
	if l.Cardinal == nil {
		return digits
	}
	if v := n.Value(); len(digits) == 4 && v >= 1100 && v <= 2099 {
		return l.Year(int(v))
	}
	return l.SpeakNumber(n, Form{})
}
