package text

import (
	"slices"
	"strings"
)

// clockFormat says how the language writes and speaks clock times.
type clockFormat struct {
	hourSigns  []string          // between hour and minute besides ":": "h" in "10h30"
	suffixes   []string          // words and signs behind a time: "Uhr", "h", "horas"
	hourSuffix []string          // suffixes that make a time of an hour without minutes
	dots       []string          // between hour and minute behind a cue; nil: a period
	rangeJoins []string          // words between two times of which only the second has a suffix
	dotSuffix  bool              // "18.30" is a time before a suffix or behind a cue
	cues       []string          // phrases behind which "12.30" is a time
	dayHalves  map[string]string // "pm" → "p.m."
	speak      func(t clockTime, c context) string
}

// clockTime is a time of day.
type clockTime struct {
	hour, minute, second int
	minutes, seconds     bool // the text has minutes, seconds
	suffix               string
	sign                 string // between hour and minute
	half                 string // "a.m." or "p.m."
	rangeStart           bool   // a time range ends in a half of the day
	size                 int
}

// parseClock parses "10:30" and "10:30:15" with one of the separators between hour and minute.
func parseClock(s string, separators ...string) clockTime {
	n := digitsAt(s)
	if n == 0 || n > 2 {
		return clockTime{}
	}
	t := clockTime{hour: atoi(s[:n]), size: n}
	for _, sep := range separators {
		rest, ok := strings.CutPrefix(s[n:], sep)
		if !ok || digitsAt(rest) != 2 {
			continue
		}
		t.minute, t.minutes = atoi(rest[:2]), true
		t.size = n + len(sep) + 2
		t.sign = strings.TrimSpace(sep)
		if tail := rest[2:]; len(tail) > 2 && tail[0] == ':' && digitsAt(tail[1:]) == 2 {
			t.second, t.seconds = atoi(tail[1:3]), true
			t.size += 3
		}
		break
	}
	if !t.minutes || t.hour > 24 || t.minute > 59 || t.second > 59 {
		return clockTime{}
	}
	return t
}

// matchClock speaks clock times.
func matchClock(s *scanner) match {
	if wordBefore(s.text, s.pos) {
		return match{}
	}
	rest := s.rest()
	t := parseClock(rest, append([]string{":"}, s.clock.hourSigns...)...)
	dotted := false
	if t.size == 0 && (s.clock.dotSuffix || hasCue(s.before(), s.clock.cues)) {
		t = parseClock(rest, s.clock.dotSigns()...)
		dotted = t.size > 0
	}
	if t.size == 0 {
		t = hourOnly(rest)
	}
	if t.size == 0 {
		return match{}
	}
	s.addSuffix(&t)
	if dotted && t.suffix == "" && !hasCue(s.before(), s.clock.cues) && !s.startsDottedRange(rest[t.size:]) || !t.minutes && t.half == "" && !s.isHour(t.suffix) {
		return match{}
	}
	if after := rest[t.size:]; startsWithDigit(after) || !t.minutes && wordAfter(after, 0) || len(after) > 1 && strings.ContainsRune(":.,/", rune(after[0])) && startsWithDigit(after[1:]) {
		return match{}
	}
	if t.half == "" {
		t.rangeStart = s.startsHalfRange(rest[t.size:])
	}
	c := s.around(t.size)
	return match{t.size, s.clock.speak(t, c), timeMatch}
}

// dotSigns returns the signs between hour and minute that need a suffix or a cue.
func (f clockFormat) dotSigns() []string {
	if f.dots == nil {
		return []string{"."}
	}
	return f.dots
}

// hourOnly parses an hour without minutes.
func hourOnly(s string) clockTime {
	n := digitsAt(s)
	if n == 0 || n > 2 || atoi(s[:n]) > 24 {
		return clockTime{}
	}
	return clockTime{hour: atoi(s[:n]), size: n}
}

func (s *scanner) isHour(suffix string) bool {
	for _, h := range s.clock.hourSuffix {
		if h == suffix {
			return true
		}
	}
	return false
}

// addSuffix parses the half of the day or the suffix behind a time.
func (s *scanner) addSuffix(t *clockTime) {
	rest := s.rest()[t.size:]
	if size, half := s.dayHalf(rest); size > 0 {
		t.size += size
		t.half = half
		return
	}
	trimmed := strings.TrimLeft(rest, " ")
	for _, suffix := range s.clock.suffixes {
		if strings.HasPrefix(trimmed, suffix) && !wordAfter(trimmed, len(suffix)) {
			t.suffix = suffix
			t.size += len(rest) - len(trimmed) + len(suffix)
			return
		}
	}
}

// dayHalf parses "pm", "p.m." and "p. m.". A period that ends the sentence stays in the text.
func (l *language) dayHalf(s string) (size int, half string) {
	if len(l.clock.dayHalves) == 0 {
		return 0, ""
	}
	rest := strings.TrimLeft(s, " ")
	if len(rest) < 2 || !strings.ContainsRune("aApP", rune(rest[0])) {
		return 0, ""
	}
	size = 1
	dotted := rest[size] == '.'
	if dotted {
		size++
		size += len(rest[size:]) - len(strings.TrimLeft(rest[size:], " "))
	}
	if size >= len(rest) || rest[size]|0x20 != 'm' || wordAfter(rest, size+1) {
		return 0, ""
	}
	half = l.clock.dayHalves[strings.ToLower(rest[:1])+"m"]
	size++
	if dotted && strings.HasPrefix(rest[size:], ".") && (strings.HasSuffix(half, ".") || !isSentenceEnd(rest[size+1:])) {
		size++
	}
	return size + len(s) - len(rest), half
}

// startsDottedRange reports whether a range to a time with a suffix follows: "8.30 tot 19.00 uur".
func (s *scanner) startsDottedRange(rest string) bool {
	rest = strings.TrimLeft(rest, " ")
	for _, join := range s.clock.rangeJoins {
		if after, ok := strings.CutPrefix(rest, join); ok {
			after = strings.TrimLeft(after, " ")
			end := parseClock(after, s.clock.dotSigns()...)
			suffix := strings.TrimLeft(after[end.size:], " ")
			return end.size > 0 && slices.Contains(s.clock.suffixes, suffix[:lettersAt(suffix)])
		}
	}
	return false
}

// startsHalfRange reports whether a range to a time with a half of the day follows: "12:00-1:00 PM".
func (s *scanner) startsHalfRange(rest string) bool {
	size := signSize(strings.TrimLeft(rest, " "), "-–—")
	if size == 0 {
		return false
	}
	rest = strings.TrimLeft(strings.TrimLeft(rest, " ")[size:], " ")
	end := parseClock(rest, ":")
	if end.size == 0 {
		end = hourOnly(rest)
	}
	if end.size == 0 {
		return false
	}
	n, _ := s.dayHalf(rest[end.size:])
	return n > 0
}
