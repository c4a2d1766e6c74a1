package grammar

import (
	"slices"
	"strings"
)

// RomanceDate gives the words of dates for languages that say "5 of December of 2026".
type RomanceDate struct {
	Names    []string
	First    string // the first day of a month
	Cardinal func(int64, Form) string
	Year     func(int) string // nil: a cardinal
	Of       string
	Slashes  bool
	LastDay  func(c Context) string // between the days of a range
	Then     func(t ClockTime) string
}

// RomanceDates returns the date rules.
func RomanceDates(r RomanceDate) DateFormat {
	day := func(n int) string {
		if n == 1 && r.First != "" {
			return r.First
		}
		return r.Cardinal(int64(n), Form{})
	}
	year := r.Year
	if year == nil {
		year = func(n int) string { return r.Cardinal(int64(max(n, 0)), Form{}) }
	}
	format := DateFormat{Slashes: r.Slashes, then: r.Then}
	if of := strings.TrimSpace(r.Of); of != "" {
		format.Joins = []string{of, of + "l"}
	}
	format.Month = func(month, n int) string {
		if n == 0 {
			return r.Names[month]
		}
		return r.Names[month] + r.Of + year(n)
	}
	format.Speak = func(d Date, c Context) string {
		spoken := day(d.Day)
		if d.LastDay > 0 {
			spoken += r.LastDay(c) + day(d.LastDay)
		}
		name := d.Name
		if name == "" {
			name = r.Names[d.Month]
		}
		spoken += r.Of + name
		if d.Year > 0 {
			spoken += r.Of + year(d.Year)
		}
		return spoken
	}
	return format
}

// WeekdayTable reads pairs of an abbreviation and a name. The abbreviations are expanded beside dates only.
func WeekdayTable(pairs string) map[string]Weekday {
	days := map[string]Weekday{}
	words := strings.Fields(pairs)
	for i := 0; i+1 < len(words); i += 2 {
		days[words[i]] = Weekday{Name: words[i+1], dated: true}
	}
	return days
}

// isOrdinalMark reports whether an "e" behind digits makes an ordinal.
func (l *Language) isOrdinalMark(letter string) bool {
	return letter == "e" && slices.ContainsFunc(l.Numerals.Suffixes, func(o OrdinalSuffix) bool { return o.Suffix == letter })
}

// HouseNumber returns the rule for house numbers such as "12a".
func HouseNumber(letter func(string) string) Rule {
	return func(s *Scanner) Match {
		rest := s.Rest()
		n := DigitsAt(rest)
		if n == 0 || n > 3 || n >= len(rest) || rest[n] < 'a' || rest[n] > 'f' || s.isOrdinalMark(rest[n:n+1]) || WordAfter(rest, n+1) || WordBefore(s.Text, s.Pos) {
			return Match{}
		}
		return Match{Size: n + 1, Spoken: s.SpeakNumber(Number{Integer: rest[:n]}, Form{}) + " " + letter(rest[n:n+1])}
	}
}
