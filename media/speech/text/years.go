package text

import "strings"

// matchYear speaks four digits as a year behind a word that announces one.
func matchYear(s *scanner) match {
	rest := s.rest()
	if digitsAt(rest) != 4 || wordAfter(rest, 4) || isMoreNumber(rest[4:]) || wordBefore(s.text, s.pos) {
		return match{}
	}
	year := atoi(rest[:4])
	if year < 1100 || year > 2099 || !s.announcesYear() {
		return match{}
	}
	if u, size := s.unitAt(rest[4:]); size > 0 && u.one != "" {
		return match{}
	}
	return match{4, s.year(year), yearMatch}
}

// announcesYear reports whether the text before the place announces a year.
func (s *scanner) announcesYear() bool {
	before := strings.TrimRight(s.before(), " (")
	if s.yearCues[strings.ToLower(lastWord(before))] {
		return true
	}
	if s.lastEnd == 0 || s.last.kind != yearMatch && s.last.kind != dateMatch {
		return false
	}
	between := strings.ToLower(strings.TrimSpace(s.text[s.lastEnd:s.pos]))
	return between == "" || between == "-" || between == "–" || s.yearCues["+"+between]
}

// speakYearOrNumber speaks digits within a word: four digits are a year.
func (l *language) speakYearOrNumber(digits string) string {
	n := number{integer: digits}
	if l.cardinal == nil {
		return digits
	}
	if v := n.value(); len(digits) == 4 && v >= 1100 && v <= 2099 {
		return l.year(int(v))
	}
	return l.speakNumber(n, form{})
}
