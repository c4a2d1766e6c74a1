package pathway

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/callboard/callboard/domain/wordlists"
)

// ExtractEntities returns the entities in an English text: date (2006-01-02), time (15:04), number, name and
// yes_no. now is the local time of the caller, from which dates such as "tomorrow" are computed. The map has no entry
// for an entity that the text does not contain.
func ExtractEntities(text string, now time.Time) map[string]string {
	found := make(map[string]string)
	put := func(name, value string) {
		if value != "" {
			found[name] = value
		}
	}
	put("name", nameIn(text))
	words := strings.Fields(wordlists.Normalize(spelledMeridiem.ReplaceAllString(text, "${1}m")))
	date, words := dateIn(words, text, now)
	put("date", date)
	clock, words := timeIn(words, text)
	put("time", clock)
	put("number", numberIn(words))
	switch yes, no := findYesNo(text); {
	case no:
		put("yes_no", "no")
	case yes:
		put("yes_no", "yes")
	}
	return found
}

var (
	spelledMeridiem = regexp.MustCompile(`(?i)\b([ap])\.\s?m\b\.?`)
	isoDate         = regexp.MustCompile(`\b(\d{4})-(\d{2})-(\d{2})\b`)
	clockTime       = regexp.MustCompile(`(?i)\b(\d{1,2}):(\d{2})(?:\s*([ap])\.?m\b)?`)
	ordinal         = regexp.MustCompile(`^(\d{1,2})(st|nd|rd|th)$`)
	namePattern     = regexp.MustCompile(`(?:[Mm]y name is|[Mm]y name's|[Tt]his is|I am|I'm|[Cc]all me)\s+((?:\p{Lu}[\p{L}'’-]+)(?:\s+\p{Lu}[\p{L}'’-]+){0,3})`)
)

// nameIn returns the name after a phrase such as "my name is". It accepts only capitalized words, because speech
// recognizers capitalize names.
func nameIn(text string) string {
	if m := namePattern.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

var weekdays = map[string]time.Weekday{ //nolint:gochecknoglobals // a table
	"sunday": time.Sunday, "monday": time.Monday, "tuesday": time.Tuesday, "wednesday": time.Wednesday,
	"thursday": time.Thursday, "friday": time.Friday, "saturday": time.Saturday,
}

func monthOf(word string) time.Month {
	for m := time.January; m <= time.December; m++ {
		if long := strings.ToLower(m.String()); word == long || len(word) == 3 && word != "may" && strings.HasPrefix(long, word) {
			return m
		}
	}
	return 0
}

// dateIn returns the first date in a text and the words that do not belong to the date.
func dateIn(words []string, text string, now time.Time) (string, []string) {
	if m := isoDate.FindStringSubmatch(text); m != nil {
		if d, err := time.Parse(time.DateOnly, m[0]); err == nil {
			return d.Format(time.DateOnly), removeWords(words, m[0])
		}
	}
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
	for i, w := range words {
		if month := monthOf(w); month != 0 {
			if day, used := dayNearMonth(words, i); day > 0 {
				return nextOccurrence(today, month, day), removeAt(words, append(used, i))
			}
		}
	}
	for i, w := range words {
		day, known := weekdays[w]
		switch {
		case known:
			days := (int(day) - int(today.Weekday()) + 7) % 7
			if days == 0 || i > 0 && words[i-1] == "next" && days < 3 {
				days += 7
			}
			return today.AddDate(0, 0, days).Format(time.DateOnly), removeAt(words, []int{i})
		case w == "tomorrow":
			days := 1
			if i > 1 && words[i-1] == "after" && words[i-2] == "day" {
				days = 2
			}
			return today.AddDate(0, 0, days).Format(time.DateOnly), removeAt(words, []int{i})
		case w == "today" || w == "tonight":
			return today.Format(time.DateOnly), removeAt(words, []int{i})
		}
	}
	return "", words
}

// dayNearMonth returns the day of a month from the words next to the month at index at: "march fifth", "5 of march",
// "march 5th". used are the indexes of these words.
func dayNearMonth(words []string, at int) (day int, used []int) {
	for _, i := range []int{at + 1, at - 1, at - 2, at + 2} {
		if i < 0 || i >= len(words) || i == at-2 && words[at-1] != "of" || i == at+2 && words[at+1] != "the" {
			continue
		}
		w := words[i]
		if m := ordinal.FindStringSubmatch(w); m != nil {
			w = m[1]
		}
		if n, err := strconv.Atoi(w); err == nil && n >= 1 && n <= 31 {
			return n, []int{i}
		}
		if n := ordinalWords[w]; n > 0 {
			return n, []int{i}
		}
		if (w == "twenty" || w == "thirty") && i+1 < len(words) && ordinalWords[words[i+1]] > 0 && ordinalWords[words[i+1]] < 10 {
			return map[string]int{"twenty": 20, "thirty": 30}[w] + ordinalWords[words[i+1]], []int{i, i + 1}
		}
	}
	return 0, nil
}

var ordinalWords = map[string]int{ //nolint:gochecknoglobals // a table
	"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10, "eleventh": 11,
	"twelfth": 12, "thirteenth": 13, "fourteenth": 14, "fifteenth": 15, "sixteenth": 16, "seventeenth": 17, "eighteenth": 18, "nineteenth": 19,
	"twentieth": 20, "twenty-first": 21, "twenty-second": 22, "twenty-third": 23, "twenty-fourth": 24, "twenty-fifth": 25, "twenty-sixth": 26,
	"twenty-seventh": 27, "twenty-eighth": 28, "twenty-ninth": 29, "thirtieth": 30, "thirty-first": 31,
}

// nextOccurrence returns the next date with this month and day that is not before today.
func nextOccurrence(today time.Time, month time.Month, day int) string {
	for year := today.Year(); year <= today.Year()+8; year++ {
		d := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
		if d.Month() == month && !d.Before(today) {
			return d.Format(time.DateOnly)
		}
	}
	return ""
}

// timeIn returns the first time of day in a text and the words that do not belong to it. Without am or pm, hours from
// 1 to 6 are in the afternoon.
func timeIn(words []string, text string) (string, []string) {
	if m := clockTime.FindStringSubmatch(text); m != nil {
		h, _ := strconv.Atoi(m[1])
		minute, _ := strconv.Atoi(m[2])
		if t := formatClock(h, minute, strings.ToLower(m[3])); t != "" {
			return t, removeWords(words, m[1], m[2], "am", "pm", m[2]+"am", m[2]+"pm")
		}
	}
	for i, w := range words {
		switch w {
		case "noon", "midday":
			return "12:00", removeAt(words, []int{i})
		case "midnight":
			return "00:00", removeAt(words, []int{i})
		}
		for _, rule := range []func([]string, int) (string, []int){relativeHour, statedHour, attachedHour} {
			if t, used := rule(words, i); t != "" {
				return t, removeAt(words, used)
			}
		}
	}
	return "", words
}

// meridiemAt returns "a" or "p" if the word at an index is am or pm, else "".
func meridiemAt(words []string, at int) string {
	if at < len(words) && (words[at] == "am" || words[at] == "pm") {
		return words[at][:1]
	}
	return ""
}

// relativeHour parses "half past four" and "a quarter to nine".
func relativeHour(words []string, i int) (string, []int) {
	w := words[i]
	if w != "past" && w != "to" || i == 0 || i+1 >= len(words) || parseHour(words[i+1]) == 0 {
		return "", nil
	}
	minute := map[string]int{"half": 30, "quarter": 15, "ten": 10, "twenty": 20, "five": 5}[words[i-1]]
	h := parseHour(words[i+1])
	switch {
	case minute == 0 || w == "to" && words[i-1] == "half":
		return "", nil
	case w == "to":
		h, minute = h-1, 60-minute
	}
	return formatClock(h, minute, meridiemAt(words, i+2)), []int{i - 1, i, i + 1}
}

// statedHour parses "at three", "three pm", "two thirty pm" and "five o'clock".
func statedHour(words []string, i int) (string, []int) {
	if parseHour(words[i]) == 0 {
		return "", nil
	}
	minute, used := 0, []int{i}
	half := meridiemAt(words, i+1)
	if i+1 < len(words) {
		if m := map[string]int{"thirty": 30, "fifteen": 15, "forty-five": 45}[words[i+1]]; m > 0 {
			minute, used, half = m, append(used, i+1), meridiemAt(words, i+2)
		}
	}
	if half == "" && (i == 0 || words[i-1] != "at") && (i+1 >= len(words) || words[i+1] != "o'clock") {
		return "", nil
	}
	return formatClock(parseHour(words[i]), minute, half), used
}

// attachedHour parses "7pm".
func attachedHour(words []string, i int) (string, []int) {
	w := words[i]
	if len(w) < 3 || !strings.HasSuffix(w, "am") && !strings.HasSuffix(w, "pm") {
		return "", nil
	}
	h, err := strconv.Atoi(w[:len(w)-2])
	if err != nil {
		return "", nil
	}
	return formatClock(h, 0, w[len(w)-2:len(w)-1]), []int{i}
}

func parseHour(word string) int {
	if n, err := strconv.Atoi(word); err == nil && n >= 1 && n <= 24 {
		return n
	}
	if n, ok := units[word]; ok && n >= 1 && n <= 12 {
		return n
	}
	return 0
}

func formatClock(h, minute int, half string) string {
	switch {
	case h < 0 || h > 24 || minute > 59:
		return ""
	case half == "p" && h < 12, half == "" && h >= 1 && h <= 6:
		h += 12
	case half == "a" && h == 12:
		h = 0
	}
	return fmt.Sprintf("%02d:%02d", h%24, minute)
}

var units = map[string]int{ //nolint:gochecknoglobals // a table
	"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11,
	"twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19,
}

var tens = map[string]int{ //nolint:gochecknoglobals // a table
	"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}

// numberIn returns the first number: digits, or words up to the thousands.
func numberIn(words []string) string {
	for i, w := range words {
		if strings.Trim(w, "0123456789") == "" && w != "" && len(w) <= 18 {
			return w
		}
		if n, ok := wordNumber(words[i:]); ok {
			return strconv.Itoa(n)
		}
	}
	return ""
}

func wordNumber(words []string) (n int, ok bool) {
	group := 0
	for i, word := range words {
		for w := range strings.SplitSeq(word, "-") {
			u, unit := units[w]
			t, ten := tens[w]
			switch {
			case unit:
				group += u
			case ten:
				group += t
			case w == "hundred" && ok:
				group *= 100
			case w == "thousand" && ok:
				n, group = (n+group)*1000, 0
			case w == "and" && ok && i+1 < len(words):
				continue
			default:
				return n + group, ok
			}
			ok = true
		}
	}
	return n + group, ok
}

func removeAt(words []string, at []int) []string {
	out := make([]string, 0, len(words))
	for i, w := range words {
		if !slices.Contains(at, i) {
			out = append(out, w)
		}
	}
	return out
}

func removeWords(words []string, removed ...string) []string {
	var at []int
	for i, w := range words {
		if slices.Contains(removed, w) {
			at = append(at, i)
		}
	}
	return removeAt(words, at)
}
