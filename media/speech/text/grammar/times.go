package grammar

import (
	"slices"
	"strings"
)

// ClockFormat says how the language writes and speaks clock times.
type ClockFormat struct {
	HourSigns  []string          // between hour and minute besides ":": "h" in "10h30"
	Suffixes   []string          // words and signs behind a time: "Uhr", "h", "horas"
	HourSuffix []string          // suffixes that make a time of an hour without minutes
	Dots       []string          // between hour and minute behind a cue; nil: a period
	RangeJoins []string          // words between two times of which only the second has a suffix
	DotSuffix  bool              // "18.30" is a time before a suffix or behind a cue
	Cues       []string          // phrases behind which "12.30" is a time
	DayHalves  map[string]string // "pm" → "p.m."
	Speak      func(t ClockTime, c Context) string
}

// ClockTime is a time of day.
type ClockTime struct {
	Hour, Minute, Second int
	minutes, Seconds     bool // the text has minutes, seconds
	Suffix               string
	Sign                 string // between hour and minute
	Half                 string // "a.m." or "p.m."
	RangeStart           bool   // a time range ends in a half of the day
	Size                 int
}

// ParseClock parses "10:30" and "10:30:15" with one of the separators between hour and minute.
func ParseClock(s string, separators ...string) ClockTime {
	n := DigitsAt(s)
	if n == 0 || n > 2 {
		return ClockTime{}
	}
	t := ClockTime{Hour: Atoi(s[:n]), Size: n}
	for _, sep := range separators {
		rest, ok := strings.CutPrefix(s[n:], sep)
		if !ok || DigitsAt(rest) != 2 {
			continue
		}
		t.Minute, t.minutes = Atoi(rest[:2]), true
		t.Size = n + len(sep) + 2
		t.Sign = strings.TrimSpace(sep)
		if tail := rest[2:]; len(tail) > 2 && tail[0] == ':' && DigitsAt(tail[1:]) == 2 {
			t.Second, t.Seconds = Atoi(tail[1:3]), true
			t.Size += 3
		}
		break
	}
	if !t.minutes || t.Hour > 24 || t.Minute > 59 || t.Second > 59 {
		return ClockTime{}
	}
	return t
}

// matchClock speaks clock times.
func matchClock(s *Scanner) Match {
	if WordBefore(s.Text, s.Pos) {
		return Match{}
	}
	rest := s.Rest()
	t := ParseClock(rest, append([]string{":"}, s.Clock.HourSigns...)...)
	dotted := false
	if t.Size == 0 && (s.Clock.DotSuffix || HasCue(s.Before(), s.Clock.Cues)) {
		t = ParseClock(rest, s.Clock.dotSigns()...)
		dotted = t.Size > 0
	}
	if t.Size == 0 {
		t = hourOnly(rest)
	}
	if t.Size == 0 {
		return Match{}
	}
	s.addSuffix(&t)
	if dotted && t.Suffix == "" && !HasCue(s.Before(), s.Clock.Cues) && !s.startsDottedRange(rest[t.Size:]) || !t.minutes && t.Half == "" && !s.isHour(t.Suffix) {
		return Match{}
	}
	if after := rest[t.Size:]; StartsWithDigit(after) || !t.minutes && WordAfter(after, 0) || len(after) > 1 && strings.ContainsRune(":.,/", rune(after[0])) && StartsWithDigit(after[1:]) {
		return Match{}
	}
	if t.Half == "" {
		t.RangeStart = s.startsHalfRange(rest[t.Size:])
	}
	c := s.around(t.Size)
	return Match{t.Size, s.Clock.Speak(t, c), TimeMatch}
}

// dotSigns returns the signs between hour and minute that need a suffix or a cue.
func (f ClockFormat) dotSigns() []string {
	if f.Dots == nil {
		return []string{"."}
	}
	return f.Dots
}

// hourOnly parses an hour without minutes.
func hourOnly(s string) ClockTime {
	n := DigitsAt(s)
	if n == 0 || n > 2 || Atoi(s[:n]) > 24 {
		return ClockTime{}
	}
	return ClockTime{Hour: Atoi(s[:n]), Size: n}
}

func (s *Scanner) isHour(suffix string) bool {
	return slices.Contains(s.Clock.HourSuffix, suffix)
}

// addSuffix parses the half of the day or the suffix behind a time.
func (s *Scanner) addSuffix(t *ClockTime) {
	rest := s.Rest()[t.Size:]
	if size, half := s.dayHalf(rest); size > 0 {
		t.Size += size
		t.Half = half
		return
	}
	trimmed := strings.TrimLeft(rest, " ")
	for _, suffix := range s.Clock.Suffixes {
		if strings.HasPrefix(trimmed, suffix) && !WordAfter(trimmed, len(suffix)) {
			t.Suffix = suffix
			t.Size += len(rest) - len(trimmed) + len(suffix)
			return
		}
	}
}

// dayHalf parses "pm", "p.m." and "p. m.". A period that ends the sentence stays in the text.
func (l *Language) dayHalf(s string) (size int, half string) {
	if len(l.Clock.DayHalves) == 0 {
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
	if size >= len(rest) || rest[size]|0x20 != 'm' || WordAfter(rest, size+1) {
		return 0, ""
	}
	half = l.Clock.DayHalves[strings.ToLower(rest[:1])+"m"]
	size++
	if dotted && strings.HasPrefix(rest[size:], ".") && (strings.HasSuffix(half, ".") || !IsSentenceEnd(rest[size+1:])) {
		size++
	}
	return size + len(s) - len(rest), half
}

// startsDottedRange reports whether a range to a time with a suffix follows: "8.30 tot 19.00 uur".
func (s *Scanner) startsDottedRange(rest string) bool {
	rest = strings.TrimLeft(rest, " ")
	for _, join := range s.Clock.RangeJoins {
		if after, ok := strings.CutPrefix(rest, join); ok {
			after = strings.TrimLeft(after, " ")
			end := ParseClock(after, s.Clock.dotSigns()...)
			suffix := strings.TrimLeft(after[end.Size:], " ")
			return end.Size > 0 && slices.Contains(s.Clock.Suffixes, suffix[:LettersAt(suffix)])
		}
	}
	return false
}

// startsHalfRange reports whether a range to a time with a half of the day follows: "12:00-1:00 PM".
func (s *Scanner) startsHalfRange(rest string) bool {
	size := SignSize(strings.TrimLeft(rest, " "), "-–—")
	if size == 0 {
		return false
	}
	rest = strings.TrimLeft(strings.TrimLeft(rest, " ")[size:], " ")
	end := ParseClock(rest, ":")
	if end.Size == 0 {
		end = hourOnly(rest)
	}
	if end.Size == 0 {
		return false
	}
	n, _ := s.dayHalf(rest[end.Size:])
	return n > 0
}
