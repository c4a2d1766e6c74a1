package text

import (
	"slices"
	"strings"
)

// romanceDate gives the words of dates for languages that say "5 of December of 2026".
type romanceDate struct {
	names    []string
	first    string // the first day of a month
	cardinal func(int64, form) string
	year     func(int) string // nil: a cardinal
	of       string
	slashes  bool
	lastDay  func(c context) string // between the days of a range
	then     func(t clockTime) string
}

// romanceDates returns the date rules.
func romanceDates(r romanceDate) dateFormat {
	day := func(n int) string {
		if n == 1 && r.first != "" {
			return r.first
		}
		return r.cardinal(int64(n), form{})
	}
	year := r.year
	if year == nil {
		year = func(n int) string { return r.cardinal(int64(max(n, 0)), form{}) }
	}
	format := dateFormat{slashes: r.slashes, then: r.then}
	if of := strings.TrimSpace(r.of); of != "" {
		format.joins = []string{of, of + "l"}
	}
	format.month = func(month, n int) string {
		if n == 0 {
			return r.names[month]
		}
		return r.names[month] + r.of + year(n)
	}
	format.speak = func(d date, c context) string {
		spoken := day(d.day)
		if d.lastDay > 0 {
			spoken += r.lastDay(c) + day(d.lastDay)
		}
		name := d.name
		if name == "" {
			name = r.names[d.month]
		}
		spoken += r.of + name
		if d.year > 0 {
			spoken += r.of + year(d.year)
		}
		return spoken
	}
	return format
}

// weekdayTable reads pairs of an abbreviation and a name. The abbreviations are expanded beside dates only.
func weekdayTable(pairs string) map[string]weekday {
	days := map[string]weekday{}
	words := strings.Fields(pairs)
	for i := 0; i+1 < len(words); i += 2 {
		days[words[i]] = weekday{name: words[i+1], dated: true}
	}
	return days
}

// isOrdinalMark reports whether an "e" behind digits makes an ordinal.
func (l *language) isOrdinalMark(letter string) bool {
	return letter == "e" && slices.ContainsFunc(l.numerals.suffixes, func(o ordinalSuffix) bool { return o.suffix == letter })
}

// houseNumber returns the rule for house numbers such as "12a".
func houseNumber(letter func(string) string) rule {
	return func(s *scanner) match {
		rest := s.rest()
		n := digitsAt(rest)
		if n == 0 || n > 3 || n >= len(rest) || rest[n] < 'a' || rest[n] > 'f' || s.isOrdinalMark(rest[n:n+1]) || wordAfter(rest, n+1) || wordBefore(s.text, s.pos) {
			return match{}
		}
		return match{size: n + 1, spoken: s.speakNumber(number{integer: rest[:n]}, form{}) + " " + letter(rest[n:n+1])}
	}
}
