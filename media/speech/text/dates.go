package text

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// dateFormat says how the language writes and speaks dates.
type dateFormat struct {
	monthFirst bool     // "12/05" is December 5, and "May 3" is a date
	dayMark    string   // behind the day of a written date: "." in "3. Mai"
	joins      []string // words between day, month and year: "de" in "5 de mayo de 2026"
	between    []string // words between the days of a range: "bis" in "12. bis 15. September"
	speak      func(d date, c context) string
	month      func(month, year int) string // "08/29"
	then       func(c clockTime) string     // between date and time of a time stamp
	timestamp  string
	slashes    bool // "3/31" is a date
	shortDots  bool // "3.10." is a date without a year
}

// date is a calendar date. Zero values are absent.
type date struct {
	day, month, year int
	lastDay          int    // of a range of days
	joint            string // the sign between day and lastDay
	ordinal          string // the ordinal mark behind the day
	name             string // the month as the text writes it; \"\": an abbreviation or a number
}

func (d date) valid() bool {
	return d.month >= 1 && d.month <= 12 && d.day >= 1 && d.day <= 31
}

// month returns the number of a month from its name or its abbreviation, or 0.
func (l *language) month(word string) int {
	if len(word) > 20 {
		return 0
	}
	word = strings.ToLower(word)
	return max(l.months[word], l.shortMonths[word])
}

// matchISODate speaks "2026-12-05" and time stamps.
func matchISODate(s *scanner) match {
	rest := s.rest()
	if len(rest) < 10 || digitsAt(rest) != 4 || rest[4] != '-' || digitsAt(rest[5:]) != 2 || rest[7] != '-' || digitsAt(rest[8:]) != 2 {
		return match{}
	}
	d := date{year: atoi(rest[:4]), month: atoi(rest[5:7]), day: atoi(rest[8:10])}
	if !d.valid() {
		return match{}
	}
	size := 10
	var stamp clockTime
	if len(rest) > 15 && (rest[10] == 'T' || rest[10] == ' ' || rest[10] == 't') {
		stamp = parseClock(rest[11:], ":")
	}
	if stamp.size > 0 {
		size += 1 + stamp.size
		size += fractionAndZone(rest[size:])
	} else if wordAfter(rest, size) {
		return match{}
	}
	spoken := s.dates.speak(d, s.around(size))
	if stamp.size > 0 {
		if stamp.second == 0 {
			stamp.seconds = false
		}
		join := s.dates.timestamp
		if s.dates.then != nil {
			join = s.dates.then(stamp)
		}
		spoken += join + s.clock.speak(stamp, context{before: s.before()})
	}
	return match{size, spoken, dateMatch}
}

// fractionAndZone returns the size of the fraction of a second and of the time zone of a time stamp.
func fractionAndZone(s string) int {
	size := 0
	if len(s) > 1 && s[0] == '.' {
		if n := digitsAt(s[1:]); n > 0 {
			size = 1 + n
		}
	}
	rest := s[size:]
	switch {
	case strings.HasPrefix(rest, "Z"):
		return size + 1
	case len(rest) >= 6 && (rest[0] == '+' || rest[0] == '-') && digitsAt(rest[1:]) == 2 && rest[3] == ':' && digitsAt(rest[4:]) == 2:
		return size + 6
	case len(rest) >= 5 && (rest[0] == '+' || rest[0] == '-') && digitsAt(rest[1:]) == 4:
		return size + 5
	}
	return size
}

func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

// matchNumericDate speaks dates such as "12/05/2026", "5.12.", "3/31" and "08/2029".
func matchNumericDate(s *scanner) match {
	rest := s.rest()
	a := digitsAt(rest)
	if a == 0 || a > 2 || len(rest) < a+2 || !strings.ContainsRune("/.-", rune(rest[a])) || wordBefore(s.text, s.pos) {
		return match{}
	}
	separator := rest[a]
	b := digitsAt(rest[a+1:])
	size := a + 1 + b
	first, second := atoi(rest[:a]), atoi(rest[a+1:size])
	if b == 4 && separator == '/' && first >= 1 && first <= 12 && second >= 1900 && second <= 2099 && !wordAfter(rest, size) {
		return match{size, s.dates.month(first, second), dateMatch}
	}
	if b == 0 || b > 2 {
		return match{}
	}
	d := s.orderDate(first, second)
	if size < len(rest) && rest[size] == separator {
		if y, n := parseYear(rest[size+1:]); n > 0 && d.valid() {
			d.year = y
			size += 1 + n
			return match{size, s.dates.speak(d, s.around(size)), dateMatch}
		}
	}
	return s.shortDate(d, size, separator)
}

// shortDate speaks a date without a year.
func (s *scanner) shortDate(d date, size int, separator byte) match {
	rest := s.rest()
	switch {
	case separator == '.' && s.dates.shortDots && strings.HasPrefix(rest[size:], ".") && d.valid() && !startsWithDigit(rest[size+1:]):
		size++
		spoken := s.dates.speak(d, s.around(size))
		if isSentenceEnd(rest[size:]) {
			spoken += "."
		}
		return match{size, spoken, dateMatch}
	case separator == '/' && s.dates.slashes && !wordAfter(rest, size) && !strings.HasPrefix(rest[size:], "/"):
		piece := rest[:size]
		if _, isFraction := s.numbers.fractions[piece]; isFraction {
			return match{}
		}
		first, second, _ := strings.Cut(piece, "/")
		if len(second) == 2 && len(first) == 2 && atoi(second) > 12 && atoi(first) <= 12 && !s.dates.monthFirst {
			return match{size, s.dates.month(atoi(first), 2000+atoi(second)), dateMatch}
		}
		if d.valid() && !strings.HasSuffix(s.before(), "/") {
			return match{size, s.dates.speak(d, s.around(size)), dateMatch}
		}
	}
	return match{}
}

// orderDate decides which number is the day. A number above 12 is.
func (s *scanner) orderDate(first, second int) date {
	if s.dates.monthFirst && first <= 12 || !s.dates.monthFirst && second > 12 {
		return date{month: first, day: second}
	}
	return date{day: first, month: second}
}

// parseYear parses a year of four or two digits, the latter with or without an apostrophe.
func parseYear(s string) (year, size int) {
	mark := 0
	if strings.HasPrefix(s, "'") {
		mark = 1
	}
	n := digitsAt(s[mark:])
	if wordAfter(s, mark+n) {
		return 0, 0
	}
	switch v := atoi(s[mark : mark+n]); {
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
func matchWrittenDate(s *scanner) match {
	rest := s.rest()
	n := digitsAt(rest)
	if n == 0 || n > 2 || wordBefore(s.text, s.pos) {
		return match{}
	}
	d := date{day: atoi(rest[:n])}
	size := n
	mark := 0
	for _, m := range []string{s.dates.dayMark, ".º", "º", "°", "er", "e", "ste", "de"} {
		if m != "" && strings.HasPrefix(rest[size:], m) && (m == s.dates.dayMark || !isLetter(runeAfter(rest, size+len(m)))) {
			mark = len(m)
			d.ordinal = m
			break
		}
	}
	if s.dates.dayMark != "" && d.ordinal != s.dates.dayMark {
		mark, d.ordinal = 0, ""
	}
	size += mark
	if last, joint, end := s.lastDay(rest[size:]); end > 0 {
		if month := s.monthBehind(rest[size+end:], nil); month > 0 {
			d.lastDay, d.joint = last, joint
			size += end
		}
	}
	return s.finishDate(d, size, s.monthBehind(rest[size:], &d))
}

// lastDay parses "-5" and "bis 15." behind the first day of a range.
func (s *scanner) lastDay(rest string) (day int, joint string, size int) {
	for _, joint = range append([]string{"-", "–", " - ", " – ", "/"}, s.dates.between...) {
		after, ok := strings.CutPrefix(rest, joint)
		if !ok {
			continue
		}
		n := digitsAt(after)
		if n == 0 || n > 2 {
			return 0, "", 0
		}
		size = len(joint) + n
		if s.dates.dayMark != "" {
			if !strings.HasPrefix(rest[size:], s.dates.dayMark) {
				return 0, "", 0
			}
			size += len(s.dates.dayMark)
		}
		return atoi(after[:n]), joint, size
	}
	return 0, "", 0
}

// monthBehind parses the month behind a day and stores it in d. The result is the size of the text, or 0.
func (s *scanner) monthBehind(rest string, d *date) int {
	size := s.skipJoin(rest)
	if size == 0 && strings.HasPrefix(rest, "-") {
		size = 1
	}
	n := lettersAt(rest[size:])
	month := s.month(rest[size : size+n])
	if month == 0 || size == 0 {
		return 0
	}
	if d != nil {
		d.month = month
		if word := rest[size : size+n]; !s.isShortMonth(word) {
			d.name = word
		}
	}
	return size + n
}

// skipJoin returns the size of spaces and of one of the words that join the parts of a date.
func (s *scanner) skipJoin(rest string) int {
	spaces := len(rest) - len(strings.TrimLeft(rest, " "))
	if spaces == 0 {
		return 0
	}
	for _, j := range s.dates.joins {
		if strings.HasPrefix(rest[spaces:], j+" ") {
			return spaces + len(j) + 1
		}
	}
	return spaces
}

// finishDate adds the year behind a day and its month and speaks the date.
func (s *scanner) finishDate(d date, size, monthSize int) match {
	if monthSize == 0 || d.day < 1 || d.day > 31 {
		return match{}
	}
	rest := s.rest()
	size += monthSize
	dot := 0
	if strings.HasPrefix(rest[size:], ".") && s.isShortMonth(rest[:size]) {
		dot = 1
	}
	if year, n := s.yearBehind(rest[size+dot:]); n > 0 {
		d.year = year
		size += dot + n
		return match{size, s.dates.speak(d, s.around(size)), dateMatch}
	}
	if dot > 0 && !isSentenceEnd(rest[size+1:]) {
		size++
	}
	return match{size, s.dates.speak(d, s.around(size)), dateMatch}
}

// isShortMonth reports whether the text ends in an abbreviation of a month.
func (s *scanner) isShortMonth(text string) bool {
	return s.shortMonths[strings.ToLower(lastWord(text))] != 0
}

// yearBehind parses the year behind a month.
func (s *scanner) yearBehind(rest string) (year, size int) {
	size = strings.IndexFunc(rest, func(r rune) bool { return r != ' ' && r != ',' && r != '-' })
	if size <= 0 {
		return 0, 0
	}
	if strings.HasPrefix(rest, " ") {
		size = s.skipJoin(rest)
	}
	n := digitsAt(rest[size:])
	if n != 4 || wordAfter(rest, size+n) || rest[size] == '0' || len(rest) > size+5 && strings.ContainsRune(":.,", rune(rest[size+4])) && unicode.IsDigit(rune(rest[size+5])) {
		return 0, 0
	}
	if year = atoi(rest[size : size+n]); year < 1000 || year > 2999 {
		return 0, 0
	}
	return year, size + n
}

// matchMonth speaks dates that begin with the month, and expands abbreviated months.
func matchMonth(s *scanner) match {
	rest := s.rest()
	n := lettersAt(rest)
	month := s.month(rest[:n])
	if month == 0 || wordBefore(s.text, s.pos) || wordAfter(rest, n) || !isCapitalized(rest) && s.dates.monthFirst {
		return match{}
	}
	dot := 0
	short := s.isShortMonth(rest[:n])
	if short && strings.HasPrefix(rest[n:], ".") {
		dot = 1
	}
	if s.dates.monthFirst {
		if m := s.dayBehindMonth(month, n+dot); m.size > 0 {
			return m
		}
	}
	if year, size := s.yearBehind(rest[n+dot:]); size > 0 && !strings.Contains(rest[n+dot:n+dot+size], ",") {
		name, join := rest[:n], rest[n+dot:n+dot+size-4]
		if short {
			name = s.dates.month(month, 0)
		}
		return match{n + dot + size, name + join + s.year(year), dateMatch}
	}
	if _, isWeekday := s.weekdays[strings.ToLower(rest[:n])]; isWeekday && startsWithDigit(strings.TrimLeft(rest[n+dot:], " ")) {
		return match{}
	}
	if short && dot == 1 && !(isSentenceEnd(rest[n+1:]) && slices.Contains(s.words.digits[:], strings.ToLower(rest[:n]))) {
		return match{n + s.closingDot(rest[n:]), s.dates.month(month, 0), dateMatch}
	}
	return match{}
}

// closingDot returns 1 for a period that does not end a sentence.
func (s *scanner) closingDot(rest string) int {
	if isSentenceEnd(rest[1:]) && strings.TrimLeft(rest[1:], " ") == "" {
		return 0
	}
	return 1
}

// dayBehindMonth speaks "Dec 5", "May 3-5" and "January 1, 2027".
func (s *scanner) dayBehindMonth(month, size int) match {
	rest := s.rest()
	spaces := len(rest[size:]) - len(strings.TrimLeft(rest[size:], " "))
	day := rest[size+spaces:]
	n := digitsAt(day)
	if n == 0 || n > 2 || spaces == 0 && size > 0 && rest[size-1] != '.' {
		return match{}
	}
	d := date{month: month, day: atoi(day[:n])}
	end := n
	for _, mark := range []string{"st", "nd", "rd", "th"} {
		if strings.HasPrefix(day[n:], mark) {
			end += len(mark)
		}
	}
	if !d.valid() || wordAfter(day, end) || len(day) > end+1 && strings.ContainsRune(":.,/", rune(day[end])) && startsWithDigit(day[end+1:]) {
		return match{}
	}
	size += spaces + end
	if last, joint, n := s.lastDay(rest[size:]); n > 0 && last <= 31 && joint != "/" && !wordAfter(rest, size+n) {
		d.lastDay, d.joint = last, joint
		size += n
	}
	if year, n := s.yearBehind(rest[size:]); n > 0 {
		d.year = year
		size += n
	}
	return match{size, s.dates.speak(d, s.around(size)), dateMatch}
}

// matchWeekday expands an abbreviated weekday.
func matchWeekday(s *scanner) match {
	rest := s.rest()
	n := lettersAt(rest)
	if n > 8 || wordBefore(s.text, s.pos) || wordAfter(rest, n) {
		return match{}
	}
	day, ok := s.weekdays[strings.ToLower(rest[:n])]
	if !ok {
		return match{}
	}
	dot := strings.HasPrefix(rest[n:], ".")
	after := strings.TrimLeft(strings.TrimLeft(rest[n:], "."), " ,:")
	beside := startsWithDigit(after) || s.lastEnd > 0 && s.behind(weekdayMatch)
	if !beside && signSize(after, "-–") > 0 {
		next := strings.TrimLeft(after, " -–")
		_, beside = s.weekdays[strings.ToLower(next[:lettersAt(next)])]
	}
	if day.dated && !beside {
		return match{}
	}
	if day.cautious && !beside && (!dot || startsSentence(s.before()) || isCapitalized(strings.TrimLeft(rest[n+1:], " "))) {
		return match{}
	}
	name := day.name
	if isCapitalized(rest) {
		if !isCapitalized(name) && startsSentence(s.before()) {
			name = capitalize(name)
		}
	} else if isCapitalized(name) {
		return match{}
	}
	if dot {
		n += s.closingDot(rest[n:])
	}
	return match{n, name, weekdayMatch}
}
