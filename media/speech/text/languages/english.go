// Package languages defines the words and rules with which package grammar speaks each language.
package languages

import (
	"strings"

	"github.com/callboard/callboard/media/speech/text/grammar"
)

// English returns American English.
func English() *grammar.Language {
	return &grammar.Language{
		Tag:             "en",
		Words:           englishWords(),
		Numbers:         englishNumberFormat(),
		Dates:           englishDates(),
		Clock:           englishClock(),
		Money:           englishMoney(),
		Cardinal:        englishCardinal,
		Ordinal:         englishOrdinal,
		Year:            englishYear,
		Units:           englishUnits(),
		Currencies:      englishCurrencies(),
		Signs:           englishSigns(),
		Abbreviations:   englishAbbreviations(),
		Months:          englishMonths(),
		ShortMonths:     monthTable("jan feb mar apr - jun jul aug sep/sept oct nov dec"),
		Weekdays:        englishWeekdays(),
		Elisions:        grammar.WordSet("em tis twas cause til till n bout"),
		Numerals:        grammar.NumeralFormat{Suffixes: englishOrdinalSuffixes(), Roman: englishRoman},
		YearCues:        grammar.WordSet("in since until till from by year of during after before around circa early late mid spring summer fall autumn winter +to +and +or +until"),
		DigitCues:       englishDigitCues(),
		SentenceStarts:  grammar.WordSet("the it we you he she they this that there these those please does is are was were what when where how why if but and then i our your my his her its not let's anything to"),
		HyphenatesUnits: true,
		UnitFollowers:   grammar.WordSet("wide long tall high deep thick of and or by to from in on at is are away"),
		Lexicon:         map[string]string{"COVID-19": "COVID nineteen", "Covid-19": "Covid nineteen", "24/7": "twenty-four seven"},
		Rules:           []grammar.Rule{matchFeetAndInches, matchEnglishDecade, matchHighway, matchHouseNumber, matchSaintOrStreet, matchQuarter, matchZIPCode, matchShortNumber},
	}
}

// BritishEnglish differs in cardinals and in the order of dates.
func BritishEnglish() *grammar.Language {
	l := English()
	l.Tag = "en-GB"
	l.Cardinal = func(n int64, f grammar.Form) string { return englishWithAnd(n) }
	l.Ordinal = func(n int64, f grammar.Form) string { return ordinalOf(englishWithAnd(n)) }
	l.Dates.MonthFirst = false
	l.Dates.Joins = []string{"of"}
	l.Dates.Speak = func(d grammar.Date, c grammar.Context) string {
		day := ordinalOf(englishSmall(int64(d.Day)))
		if d.LastDay > 0 {
			day += " to the " + ordinalOf(englishSmall(int64(d.LastDay)))
		}
		if !strings.HasSuffix(strings.ToLower(strings.TrimRight(c.Before, " ")), "the") {
			day = "the " + day
		}
		spoken := day + " of " + englishMonthNames[d.Month]
		if d.Year > 0 {
			spoken += " " + englishYear(d.Year)
		}
		return spoken
	}
	return l
}

var englishMonthNames = strings.Fields("none January February March April May June July August September October November December")

func englishMonths() map[string]int {
	return monthTable(strings.Join(englishMonthNames[1:], " "))
}

// monthTable numbers words by their order. Words with "/" between them stand for one month; "-" stands for none.
func monthTable(list string) map[string]int {
	table := map[string]int{}
	for i, names := range strings.Fields(strings.ToLower(list)) {
		for name := range strings.SplitSeq(names, "/") {
			if name != "-" {
				table[name] = i + 1
			}
		}
	}
	return table
}

func englishWeekdays() map[string]grammar.Weekday {
	days := map[string]grammar.Weekday{}
	for short, name := range map[string]string{
		"mon": "Monday", "tue": "Tuesday", "tues": "Tuesday", "wed": "Wednesday", "thu": "Thursday", "thur": "Thursday",
		"thurs": "Thursday", "fri": "Friday", "sat": "Saturday", "sun": "Sunday",
	} {
		days[short] = grammar.Weekday{Name: name, Cautious: short == "sat" || short == "sun" || short == "wed"}
	}
	return days
}

func englishDates() grammar.DateFormat {
	return grammar.DateFormat{
		MonthFirst: true,
		Slashes:    true,
		Joins:      []string{"of"},
		Speak: func(d grammar.Date, c grammar.Context) string {
			spoken := englishMonthNames[d.Month] + " " + englishOrdinal(int64(d.Day), grammar.Form{})
			if d.LastDay > 0 {
				spoken += " to " + englishOrdinal(int64(d.LastDay), grammar.Form{})
			}
			if d.Year > 0 {
				spoken += ", " + englishYear(d.Year)
			}
			return spoken
		},
		Month: func(month, year int) string {
			if year == 0 {
				return englishMonthNames[month]
			}
			return englishMonthNames[month] + " " + englishYear(year)
		},
		Timestamp: ", ",
	}
}

func englishClock() grammar.ClockFormat {
	return grammar.ClockFormat{
		DayHalves: map[string]string{"am": "a.m.", "pm": "p.m."},
		Speak: func(t grammar.ClockTime, c grammar.Context) string {
			hour := englishSmall(int64(t.Hour))
			switch {
			case t.Seconds:
				return hour + " " + englishMinutes(t.Minute) + " " + englishMinutes(t.Second) + withSpace(t.Half)
			case t.Minute > 0:
				return hour + " " + englishMinutes(t.Minute) + withSpace(t.Half)
			case t.Half != "":
				return hour + " " + t.Half
			case t.RangeStart:
				return hour
			case t.Hour >= 1 && t.Hour <= 12:
				return hour + " o'clock"
			}
			return hour + " hundred"
		},
	}
}

// withSpace returns the word with a space before it, or nothing.
func withSpace(word string) string {
	if word == "" {
		return ""
	}
	return " " + word
}

func englishMinutes(n int) string {
	if n == 0 {
		return "zero"
	}
	if n < 10 {
		return "oh " + englishSmall(int64(n))
	}
	return englishSmall(int64(n))
}

func englishMoney() grammar.MoneyFormat {
	return grammar.MoneyFormat{
		Join: " and ",
		Per: map[string]string{
			"month": "per month", "mo": "per month", "year": "per year", "yr": "per year", "week": "per week", "wk": "per week",
			"day": "per day", "hour": "per hour", "hr": "per hour", "h": "per hour", "minute": "per minute", "min": "per minute",
			"person": "per person", "night": "per night", "user": "per user", "unit": "per unit", "kWh": "per kilowatt-hour",
			"lb": "per pound", "gal": "per gallon", "mi": "per mile", "mile": "per mile",
		},
		RangeJoins: []string{"and", "to"},
		RangeCues:  []string{"between", "from"},
		Attribute:  englishAttribute,
	}
}

// englishAttribute turns "fifty dollars" into "fifty-dollar" between an article and a noun.
func englishAttribute(spoken string, a grammar.Amount, c grammar.Context) string {
	article := strings.ToLower(grammar.LastWord(c.Before))
	noun := grammar.FirstWord(c.After)
	if article != "a" && article != "an" || a.N.Fraction != "" || !strings.HasPrefix(c.After, " ") || noun == "" {
		return spoken
	}
	return strings.TrimSuffix(spoken, " "+a.Currency.Many) + "-" + a.Currency.One
}

func englishDigitCues() []string {
	cues := strings.Split("ending in|ends in|ending with|code is|code:|code|passcode|passcode:|meeting id|meeting id:|pin is|pin|pin:|ext.|ext|extension|dial|passcode is|"+
		"password is|zip code|digits|last four|last four digits", "|")
	for _, to := range []string{"HELP", "STOP", "START", "YES", "JOIN"} {
		cues = append(cues, "text "+strings.ToLower(to)+" to")
	}
	return cues
}

// englishPhones are the forms of the North American numbering plan.
func englishPhones() grammar.PhoneFormat {
	return grammar.PhoneFormat{
		Grouped: func(groups []string) bool {
			n := len(groups)
			if len(groups[n-1]) != 4 || len(groups[n-2]) != 3 || n > 4 {
				return false
			}
			return n == 2 || len(groups[n-3]) == 3 && (n == 3 || len(groups[0]) == 1)
		},
		Plain: func(digits string) []string {
			if len(digits) != 10 || digits[0] < '2' {
				return nil
			}
			return []string{digits[:3], digits[3:6], digits[6:]}
		},
	}
}
