package text

import "strings"

// english returns American English.
func english() *language {
	return &language{
		tag:             "en",
		words:           englishWords(),
		numbers:         englishNumberFormat(),
		dates:           englishDates(),
		clock:           englishClock(),
		money:           englishMoney(),
		cardinal:        englishCardinal,
		ordinal:         englishOrdinal,
		year:            englishYear,
		units:           englishUnits(),
		currencies:      englishCurrencies(),
		signs:           englishSigns(),
		abbreviations:   englishAbbreviations(),
		months:          englishMonths(),
		shortMonths:     monthTable("jan feb mar apr - jun jul aug sep/sept oct nov dec"),
		weekdays:        englishWeekdays(),
		elisions:        wordSet("em tis twas cause til till n bout"),
		numerals:        numeralFormat{suffixes: englishOrdinalSuffixes(), roman: englishRoman},
		yearCues:        wordSet("in since until till from by year of during after before around circa early late mid spring summer fall autumn winter +to +and +or +until"),
		digitCues:       englishDigitCues(),
		sentenceStarts:  wordSet("the it we you he she they this that there these those please does is are was were what when where how why if but and then i our your my his her its not let's anything to"),
		hyphenatesUnits: true,
		unitFollowers:   wordSet("wide long tall high deep thick of and or by to from in on at is are away"),
		lexicon:         map[string]string{"COVID-19": "COVID nineteen", "Covid-19": "Covid nineteen", "24/7": "twenty-four seven"},
		rules:           []rule{matchFeetAndInches, matchEnglishDecade, matchHighway, matchHouseNumber, matchSaintOrStreet, matchQuarter, matchZIPCode, matchShortNumber},
	}
}

// britishEnglish differs in cardinals and in the order of dates.
func britishEnglish() *language {
	l := english()
	l.tag = "en-GB"
	l.cardinal = func(n int64, f form) string { return englishWithAnd(n) }
	l.ordinal = func(n int64, f form) string { return ordinalOf(englishWithAnd(n)) }
	l.dates.monthFirst = false
	l.dates.joins = []string{"of"}
	l.dates.speak = func(d date, c context) string {
		day := ordinalOf(englishSmall(int64(d.day)))
		if d.lastDay > 0 {
			day += " to the " + ordinalOf(englishSmall(int64(d.lastDay)))
		}
		if !strings.HasSuffix(strings.ToLower(strings.TrimRight(c.before, " ")), "the") {
			day = "the " + day
		}
		spoken := day + " of " + englishMonthNames[d.month]
		if d.year > 0 {
			spoken += " " + englishYear(d.year)
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

func englishWeekdays() map[string]weekday {
	days := map[string]weekday{}
	for short, name := range map[string]string{
		"mon": "Monday", "tue": "Tuesday", "tues": "Tuesday", "wed": "Wednesday", "thu": "Thursday", "thur": "Thursday",
		"thurs": "Thursday", "fri": "Friday", "sat": "Saturday", "sun": "Sunday",
	} {
		days[short] = weekday{name: name, cautious: short == "sat" || short == "sun" || short == "wed"}
	}
	return days
}

func englishDates() dateFormat {
	return dateFormat{
		monthFirst: true,
		slashes:    true,
		joins:      []string{"of"},
		speak: func(d date, c context) string {
			spoken := englishMonthNames[d.month] + " " + englishOrdinal(int64(d.day), form{})
			if d.lastDay > 0 {
				spoken += " to " + englishOrdinal(int64(d.lastDay), form{})
			}
			if d.year > 0 {
				spoken += ", " + englishYear(d.year)
			}
			return spoken
		},
		month: func(month, year int) string {
			if year == 0 {
				return englishMonthNames[month]
			}
			return englishMonthNames[month] + " " + englishYear(year)
		},
		timestamp: ", ",
	}
}

func englishClock() clockFormat {
	return clockFormat{
		dayHalves: map[string]string{"am": "a.m.", "pm": "p.m."},
		speak: func(t clockTime, c context) string {
			hour := englishSmall(int64(t.hour))
			switch {
			case t.seconds:
				return hour + " " + englishMinutes(t.minute) + " " + englishMinutes(t.second) + withSpace(t.half)
			case t.minute > 0:
				return hour + " " + englishMinutes(t.minute) + withSpace(t.half)
			case t.half != "":
				return hour + " " + t.half
			case t.rangeStart:
				return hour
			case t.hour >= 1 && t.hour <= 12:
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

func englishMoney() moneyFormat {
	return moneyFormat{
		join: " and ",
		per: map[string]string{
			"month": "per month", "mo": "per month", "year": "per year", "yr": "per year", "week": "per week", "wk": "per week",
			"day": "per day", "hour": "per hour", "hr": "per hour", "h": "per hour", "minute": "per minute", "min": "per minute",
			"person": "per person", "night": "per night", "user": "per user", "unit": "per unit", "kWh": "per kilowatt-hour",
			"lb": "per pound", "gal": "per gallon", "mi": "per mile", "mile": "per mile",
		},
		rangeJoins: []string{"and", "to"},
		rangeCues:  []string{"between", "from"},
		attribute:  englishAttribute,
	}
}

// englishAttribute turns "fifty dollars" into "fifty-dollar" between an article and a noun.
func englishAttribute(spoken string, a amount, c context) string {
	article := strings.ToLower(lastWord(c.before))
	noun := firstWord(c.after)
	if article != "a" && article != "an" || a.n.fraction != "" || !strings.HasPrefix(c.after, " ") || noun == "" {
		return spoken
	}
	return strings.TrimSuffix(spoken, " "+a.currency.many) + "-" + a.currency.one
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
func englishPhones() phoneFormat {
	return phoneFormat{
		grouped: func(groups []string) bool {
			n := len(groups)
			if len(groups[n-1]) != 4 || len(groups[n-2]) != 3 || n > 4 {
				return false
			}
			return n == 2 || len(groups[n-3]) == 3 && (n == 3 || len(groups[0]) == 1)
		},
		plain: func(digits string) []string {
			if len(digits) != 10 || digits[0] < '2' {
				return nil
			}
			return []string{digits[:3], digits[3:6], digits[6:]}
		},
	}
}
