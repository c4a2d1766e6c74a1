package grammar

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// DateFormat says how the language writes and speaks dates.
type DateFormat struct {
	MonthFirst bool     // "12/05" is December 5, and "May 3" is a date
	DayMark    string   // behind the day of a written date: "." in "3. Mai"
	Joins      []string // words between day, month and year: "de" in "5 de mayo de 2026"
	Between    []string // words between the days of a range: "bis" in "12. bis 15. September"
	Speak      func(d Date, c Context) string
	Month      func(month, year int) string // "08/29"
	then       func(c ClockTime) string     // between date and time of a time stamp
	Timestamp  string
	Slashes    bool // "3/31" is a date
	ShortDots  bool // "3.10." is a date without a year
}

// Date is a calendar date. Zero values are absent.
type Date struct {
	Day, Month, Year int
	LastDay          int    // of a range of days
	Joint            string // the sign between day and lastDay
	ordinal          string // the ordinal mark behind the day
	Name             string // the month as the text writes it; \"\": an abbreviation or a number
}

func (d Date) valid() bool {
	return d.Month >= 1 && d.Month <= 12 && d.Day >= 1 && d.Day <= 31
}

// month returns the number of a month from its name or its abbreviation, or 0.
func (l *Language) month(word string) int {
	if len(word) > 20 {
		return 0
	}
	word = strings.ToLower(word)
	return max(l.Months[word], l.ShortMonths[word])
}

// matchISODate speaks "2026-12-05" and time stamps.
func matchISODate(s *Scanner) Match {
	rest := s.Rest()
	if len(rest) < 10 || DigitsAt(rest) != 4 || rest[4] != '-' || DigitsAt(rest[5:]) != 2 || rest[7] != '-' || DigitsAt(rest[8:]) != 2 {
		return Match{}
	}
	d := Date{Year: Atoi(rest[:4]), Month: Atoi(rest[5:7]), Day: Atoi(rest[8:10])}
	if !d.valid() {
		return Match{}
	}
	size := 10
	var stamp ClockTime
	if len(rest) > 15 && (rest[10] == 'T' || rest[10] == ' ' || rest[10] == 't') {
		stamp = ParseClock(rest[11:], ":")
	}
	if stamp.Size > 0 {
		size += 1 + stamp.Size
		size += fractionAndZone(rest[size:])
	} else if WordAfter(rest, size) {
		return Match{}
	}
	spoken := s.Dates.Speak(d, s.around(size))
	if stamp.Size > 0 {
		if stamp.Second == 0 {
			stamp.Seconds = false
		}
		join := s.Dates.Timestamp
		if s.Dates.then != nil {
			join = s.Dates.then(stamp)
		}
		spoken += join + s.Clock.Speak(stamp, Context{Before: s.Before()})
	}
	return Match{size, spoken, DateMatch}
}

// fractionAndZone returns the size of the fraction of a second and of the time zone of a time stamp.
func fractionAndZone(s string) int {
	size := 0
	if len(s) > 1 && s[0] == '.' {
		if n := DigitsAt(s[1:]); n > 0 {
			size = 1 + n
		}
	}
	rest := s[size:]
	switch {
	case strings.HasPrefix(rest, "Z"):
		return size + 1
	case len(rest) >= 6 && (rest[0] == '+' || rest[0] == '-') && DigitsAt(rest[1:]) == 2 && rest[3] == ':' && DigitsAt(rest[4:]) == 2:
		return size + 6
	case len(rest) >= 5 && (rest[0] == '+' || rest[0] == '-') && DigitsAt(rest[1:]) == 4:
		return size + 5
	}
	return size
}

// Atoi returns the number of a text of digits, or 0.
func Atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

// matchNumericDate speaks dates such as "12/05/2026", "5.12.", "3/31" and "08/2029".
func matchNumericDate(s *Scanner) Match {
	rest := s.Rest()
	a := DigitsAt(rest)
	if a == 0 || a > 2 || len(rest) < a+2 || !strings.ContainsRune("/.-", rune(rest[a])) || WordBefore(s.Text, s.Pos) {
		return Match{}
	}
	separator := rest[a]
	b := DigitsAt(rest[a+1:])
	size := a + 1 + b
	first, second := Atoi(rest[:a]), Atoi(rest[a+1:size])
	if b == 4 && separator == '/' && first >= 1 && first <= 12 && second >= 1900 && second <= 2099 && !WordAfter(rest, size) {
		return Match{size, s.Dates.Month(first, second), DateMatch}
	}
	if b == 0 || b > 2 {
		return Match{}
	}
	d := s.orderDate(first, second)
	if size < len(rest) && rest[size] == separator {
		if y, n := parseYear(rest[size+1:]); n > 0 && d.valid() {
			d.Year = y
			size += 1 + n
			return Match{size, s.Dates.Speak(d, s.around(size)), DateMatch}
		}
	}
	return s.shortDate(d, size, separator)
}

// shortDate speaks a date without a year.
func (s *Scanner) shortDate(d Date, size int, separator byte) Match {
	rest := s.Rest()
	switch {
	case separator == '.' && s.Dates.ShortDots && strings.HasPrefix(rest[size:], ".") && d.valid() && !StartsWithDigit(rest[size+1:]):
		size++
		spoken := s.Dates.Speak(d, s.around(size))
		if IsSentenceEnd(rest[size:]) {
			spoken += "."
		}
		return Match{size, spoken, DateMatch}
	case separator == '/' && s.Dates.Slashes && !WordAfter(rest, size) && !strings.HasPrefix(rest[size:], "/"):
		piece := rest[:size]
		if _, isFraction := s.Numbers.Fractions[piece]; isFraction {
			return Match{}
		}
		first, second, _ := strings.Cut(piece, "/")
		if len(second) == 2 && len(first) == 2 && Atoi(second) > 12 && Atoi(first) <= 12 && !s.Dates.MonthFirst {
			return Match{size, s.Dates.Month(Atoi(first), 2000+Atoi(second)), DateMatch}
		}
		if d.valid() && !strings.HasSuffix(s.Before(), "/") {
			return Match{size, s.Dates.Speak(d, s.around(size)), DateMatch}
		}
	}
	return Match{}
}

// orderDate decides which number is the day. A number above 12 is.
func (s *Scanner) orderDate(first, second int) Date {
	if s.Dates.MonthFirst && first <= 12 || !s.Dates.MonthFirst && second > 12 {
		return Date{Month: first, Day: second}
	}
	return Date{Day: first, Month: second}
}

// parseYear parses a year of four or two digits, the latter with or without an apostrophe.
func parseYear(s string) (year, size int) {
	mark := 0
	if strings.HasPrefix(s, "'") {
		mark = 1
	}
	n := DigitsAt(s[mark:])
	if WordAfter(s, mark+n) {
		return 0, 0
	}
	switch v := Atoi(s[mark : mark+n]); {
	case n == 4 && mark == 0:
		return v, 4
	case n == 2 && v < 50:
		return 2000 + v, mark + 2
	case n == 2:
		return 1900 + v, mark + 2
	}
	return 0, 0
}

// matchWrittenDate speaks dates that begin with the day, such as "5 Dec" and "3. Mai 2026".
func matchWrittenDate(s *Scanner) Match {
	rest := s.Rest()
	n := DigitsAt(rest)
	if n == 0 || n > 2 || WordBefore(s.Text, s.Pos) {
		return Match{}
	}
	d := Date{Day: Atoi(rest[:n])}
	size := n
	mark := 0
	for _, m := range []string{s.Dates.DayMark, ".º", "º", "°", "er", "e", "ste", "de"} {
		if m != "" && strings.HasPrefix(rest[size:], m) && (m == s.Dates.DayMark || !IsLetter(RuneAfter(rest, size+len(m)))) {
			mark = len(m)
			d.ordinal = m
			break
		}
	}
	if s.Dates.DayMark != "" && d.ordinal != s.Dates.DayMark {
		mark, d.ordinal = 0, ""
	}
	size += mark
	if last, joint, end := s.lastDay(rest[size:]); end > 0 {
		if month := s.monthBehind(rest[size+end:], nil); month > 0 {
			d.LastDay, d.Joint = last, joint
			size += end
		}
	}
	return s.finishDate(d, size, s.monthBehind(rest[size:], &d))
}

// lastDay parses "-5" and "bis 15." behind the first day of a range.
func (s *Scanner) lastDay(rest string) (day int, joint string, size int) {
	for _, joint = range append([]string{"-", "–", " - ", " – ", "/"}, s.Dates.Between...) {
		after, ok := strings.CutPrefix(rest, joint)
		if !ok {
			continue
		}
		n := DigitsAt(after)
		if n == 0 || n > 2 {
			return 0, "", 0
		}
		size = len(joint) + n
		if s.Dates.DayMark != "" {
			if !strings.HasPrefix(rest[size:], s.Dates.DayMark) {
				return 0, "", 0
			}
			size += len(s.Dates.DayMark)
		}
		return Atoi(after[:n]), joint, size
	}
	return 0, "", 0
}

// monthBehind parses the month behind a day and stores it in d. The result is the size of the text, or 0.
func (s *Scanner) monthBehind(rest string, d *Date) int {
	size := s.skipJoin(rest)
	if size == 0 && strings.HasPrefix(rest, "-") {
		size = 1
	}
	n := LettersAt(rest[size:])
	month := s.month(rest[size : size+n])
	if month == 0 || size == 0 {
		return 0
	}
	if d != nil {
		d.Month = month
		if word := rest[size : size+n]; !s.isShortMonth(word) {
			d.Name = word
		}
	}
	return size + n
}

// skipJoin returns the size of spaces and of one of the words that join the parts of a date.
func (s *Scanner) skipJoin(rest string) int {
	spaces := len(rest) - len(strings.TrimLeft(rest, " "))
	if spaces == 0 {
		return 0
	}
	for _, j := range s.Dates.Joins {
		if strings.HasPrefix(rest[spaces:], j+" ") {
			return spaces + len(j) + 1
		}
	}
	return spaces
}

// finishDate adds the year behind a day and its month and speaks the date.
func (s *Scanner) finishDate(d Date, size, monthSize int) Match {
	if monthSize == 0 || d.Day < 1 || d.Day > 31 {
		return Match{}
	}
	rest := s.Rest()
	size += monthSize
	dot := 0
	if strings.HasPrefix(rest[size:], ".") && s.isShortMonth(rest[:size]) {
		dot = 1
	}
	if year, n := s.yearBehind(rest[size+dot:]); n > 0 {
		d.Year = year
		size += dot + n
		return Match{size, s.Dates.Speak(d, s.around(size)), DateMatch}
	}
	if dot > 0 && !IsSentenceEnd(rest[size+1:]) {
		size++
	}
	return Match{size, s.Dates.Speak(d, s.around(size)), DateMatch}
}

// isShortMonth reports whether the text ends in an abbreviation of a month.
func (s *Scanner) isShortMonth(text string) bool {
	return s.ShortMonths[strings.ToLower(LastWord(text))] != 0
}

// yearBehind parses the year behind a month.
func (s *Scanner) yearBehind(rest string) (year, size int) {
	size = strings.IndexFunc(rest, func(r rune) bool { return r != ' ' && r != ',' && r != '-' })
	if size <= 0 {
		return 0, 0
	}
	if strings.HasPrefix(rest, " ") {
		size = s.skipJoin(rest)
	}
	n := DigitsAt(rest[size:])
	if n != 4 || WordAfter(rest, size+n) || rest[size] == '0' || len(rest) > size+5 && strings.ContainsRune(":.,", rune(rest[size+4])) && unicode.IsDigit(rune(rest[size+5])) {
		return 0, 0
	}
	if year = Atoi(rest[size : size+n]); year < 1000 || year > 2999 {
		return 0, 0
	}
	return year, size + n
}

// matchMonth speaks dates that begin with the month, and expands abbreviated months.
func matchMonth(s *Scanner) Match {
	rest := s.Rest()
	n := LettersAt(rest)
	month := s.month(rest[:n])
	if month == 0 || WordBefore(s.Text, s.Pos) || WordAfter(rest, n) || !IsCapitalized(rest) && s.Dates.MonthFirst {
		return Match{}
	}
	dot := 0
	short := s.isShortMonth(rest[:n])
	if short && strings.HasPrefix(rest[n:], ".") {
		dot = 1
	}
	if s.Dates.MonthFirst {
		if m := s.dayBehindMonth(month, n+dot); m.Size > 0 {
			return m
		}
	}
	if year, size := s.yearBehind(rest[n+dot:]); size > 0 && !strings.Contains(rest[n+dot:n+dot+size], ",") {
		name, join := rest[:n], rest[n+dot:n+dot+size-4]
		if short {
			name = s.Dates.Month(month, 0)
		}
		return Match{n + dot + size, name + join + s.Year(year), DateMatch}
	}
	if _, isWeekday := s.Weekdays[strings.ToLower(rest[:n])]; isWeekday && StartsWithDigit(strings.TrimLeft(rest[n+dot:], " ")) {
		return Match{}
	}
	if short && dot == 1 && (!IsSentenceEnd(rest[n+1:]) || !slices.Contains(s.Words.Digits[:], strings.ToLower(rest[:n]))) {
		return Match{n + s.closingDot(rest[n:]), s.Dates.Month(month, 0), DateMatch}
	}
	return Match{}
}

// closingDot returns 1 for a period that does not end a sentence.
func (s *Scanner) closingDot(rest string) int {
	if IsSentenceEnd(rest[1:]) && strings.TrimLeft(rest[1:], " ") == "" {
		return 0
	}
	return 1
}

// dayBehindMonth speaks "Dec 5", "May 3-5" and "January 1, 2027".
func (s *Scanner) dayBehindMonth(month, size int) Match {
	rest := s.Rest()
	spaces := len(rest[size:]) - len(strings.TrimLeft(rest[size:], " "))
	day := rest[size+spaces:]
	n := DigitsAt(day)
	if n == 0 || n > 2 || spaces == 0 && size > 0 && rest[size-1] != '.' {
		return Match{}
	}
	d := Date{Month: month, Day: Atoi(day[:n])}
	end := n
	for _, mark := range []string{"st", "nd", "rd", "th"} {
		if strings.HasPrefix(day[n:], mark) {
			end += len(mark)
		}
	}
	if !d.valid() || WordAfter(day, end) || len(day) > end+1 && strings.ContainsRune(":.,/", rune(day[end])) && StartsWithDigit(day[end+1:]) {
		return Match{}
	}
	size += spaces + end
	if last, joint, n := s.lastDay(rest[size:]); n > 0 && last <= 31 && joint != "/" && !WordAfter(rest, size+n) {
		d.LastDay, d.Joint = last, joint
		size += n
	}
	if year, n := s.yearBehind(rest[size:]); n > 0 {
		d.Year = year
		size += n
	}
	return Match{size, s.Dates.Speak(d, s.around(size)), DateMatch}
}

// matchWeekday expands an abbreviated weekday.
func matchWeekday(s *Scanner) Match {
	rest := s.Rest()
	n := LettersAt(rest)
	if n > 8 || WordBefore(s.Text, s.Pos) || WordAfter(rest, n) {
		return Match{}
	}
	day, ok := s.Weekdays[strings.ToLower(rest[:n])]
	if !ok {
		return Match{}
	}
	dot := strings.HasPrefix(rest[n:], ".")
	after := strings.TrimLeft(strings.TrimLeft(rest[n:], "."), " ,:")
	beside := StartsWithDigit(after) || s.LastEnd > 0 && s.FollowsReplacement(weekdayMatch)
	if !beside && SignSize(after, "-–") > 0 {
		next := strings.TrimLeft(after, " -–")
		_, beside = s.Weekdays[strings.ToLower(next[:LettersAt(next)])]
	}
	if day.dated && !beside {
		return Match{}
	}
	if day.Cautious && !beside && (!dot || StartsSentence(s.Before()) || IsCapitalized(strings.TrimLeft(rest[n+1:], " "))) {
		return Match{}
	}
	name := day.Name
	if IsCapitalized(rest) {
		if !IsCapitalized(name) && StartsSentence(s.Before()) {
			name = Capitalize(name)
		}
	} else if IsCapitalized(name) {
		return Match{}
	}
	if dot {
		n += s.closingDot(rest[n:])
	}
	return Match{n, name, weekdayMatch}
}
