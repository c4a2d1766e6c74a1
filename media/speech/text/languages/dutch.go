package languages

import (
	"strings"

	"github.com/callboard/callboard/media/speech/text/grammar"
)

// Dutch returns the words and rules of Dutch.
func Dutch() *grammar.Language {
	return &grammar.Language{
		Tag:            "nl",
		Words:          dutchWords(),
		Numbers:        dutchNumberFormat(),
		Dates:          dutchDates(),
		Clock:          dutchClock(),
		Money:          grammar.MoneyFormat{Join: " ", BareMinor: true, ZeroMarks: []string{",--", ",-", ",–", ".-"}, Per: dutchPer()},
		Cardinal:       dutchCardinal,
		Ordinal:        dutchOrdinal,
		Year:           dutchYear,
		Units:          dutchUnits(),
		UnitsBefore:    map[string]string{"km": "kilometer"},
		Currencies:     dutchCurrencies(),
		Signs:          dutchSigns(),
		Abbreviations:  dutchAbbreviations(),
		Months:         monthTable("januari februari maart april mei juni juli augustus september oktober november december"),
		ShortMonths:    monthTable("jan feb mrt apr - jun jul aug sep/sept okt nov dec"),
		Weekdays:       grammar.WeekdayTable("ma maandag di dinsdag wo woensdag do donderdag vr vrijdag za zaterdag zo zondag"),
		Elisions:       grammar.WordSet("s t n k m r ns"),
		Numerals:       grammar.NumeralFormat{Suffixes: []grammar.OrdinalSuffix{{Suffix: "ste"}, {Suffix: "de"}, {Suffix: "e"}}, Roman: dutchRoman},
		YearCues:       grammar.WordSet("in sinds jaar jaren voor tegen van tot over periode aangifte belastingaangifte vanaf na rond omstreeks zomer winter najaar voorjaar +tot +en +of"),
		SentenceStarts: grammar.WordSet("daarna hij zij ze wij we ik het dan en maar toen nu kunt u is er als die dat ook wat wie"),
		Lexicon: map[string]string{
			"t/m": "tot en met", "p/m": "per maand", "p/j": "per jaar", "hm-paal": "hectometerpaal", "COVID-19": "COVID negentien",
			"Covid-19": "Covid negentien",
		},
		DigitCues: strings.Split("code|code is|pincode|pincode is|verificatiecode is|bel bij spoed|bel|belt u|burgerservicenummer|burgerservicenummer:|"+
			"burgerservicenummer is|bsn|bsn:|eindigt op|eindigend op", "|"),
		Rules:       []grammar.Rule{timesRule("keer", grammar.Standalone), matchDutchPostalCode, grammar.HouseNumber(strings.ToUpper)},
		RangeWord:   dutchRange,
		DropsBraces: true,
	}
}

func dutchWords() grammar.Words {
	return grammar.Words{
		Digits:  [10]string(dutchOnes[:10]),
		Decimal: "komma", Dot: "punt", Minus: "min", Plus: "plus", To: "tot", Score: "",
		At: "apenstaartje", Hyphen: "streepje", Underscore: "underscore", Slash: "slash", AddressDot: "punt", Hashtag: "hashtag",
		Checked: "klaar", Unchecked: "open", Times: "keer", By: "bij", About: "ongeveer", Less: "kleiner dan", Greater: "groter dan",
		Number: "nummer", Star: "sterretje", Pound: "hekje", Per: "per", Over: "op",
	}
}

func dutchSigns() map[string]string {
	return map[string]string{
		"&": "en", "+": "plus", "=": "is", "@": "apenstaartje", "_": "underscore", "\\": "backslash", "<": "kleiner dan", ">": "groter dan",
		"~": "ongeveer", "§": "paragraaf", "%": "procent", "‰": "promille", "×": "keer", "÷": "gedeeld door", "±": "plus of min",
		"|": "rechte streep", "^": "dakje", "°": "graden", "µ": "micro", "≤": "hoogstens", "≥": "minstens", "≈": "ongeveer", "≠": "ongelijk aan",
		"→": "naar", "·": "keer", "√": "wortel van", "∞": "oneindig", "−": "min", "″": "inch", "′": "voet", "¶": "alinea",
	}
}

func dutchPer() map[string]string {
	return map[string]string{
		"maand": "per maand", "mnd": "per maand", "jaar": "per jaar", "dag": "per dag", "week": "per week", "uur": "per uur", "u": "per uur",
		"nacht": "per nacht", "persoon": "per persoon", "stuk": "per stuk", "min": "per minuut", "minuut": "per minuut",
	}
}

func dutchCurrencies() map[string]grammar.Currency {
	euro := grammar.Currency{One: "euro", Many: "euro", MinorOne: "cent", MinorMany: "cent"}
	dollar := grammar.Currency{One: "dollar", Many: "dollar", MinorOne: "cent", MinorMany: "cent"}
	franc := grammar.Currency{One: "frank", Many: "frank", MinorOne: "centime", MinorMany: "centime"}
	pound := grammar.Currency{One: "pond", Many: "pond", MinorOne: "penny", MinorMany: "pence"}
	yen := grammar.Currency{One: "yen", Many: "yen"}
	return map[string]grammar.Currency{
		"€": euro, "EUR": euro, "euro": euro, "Euro": euro, "$": dollar, "US$": dollar, "USD": dollar, "dollar": dollar, "CHF": franc,
		"£": pound, "GBP": pound, "¥": yen, "JPY": yen,
	}
}

func dutchUnits() map[string]grammar.Unit {
	return unitTable(`
		km = kilometer
		m = meter
		cm = centimeter
		mm = millimeter
		kg = kilogram
		g gr = gram
		mg = milligram
		l L = liter
		ml = milliliter
		cl = centiliter
		dl = deciliter
		km/h km/u = kilometer per uur
		m/s = meter per seconde
		m² m2 = vierkante meter
		m³ m3 = kubieke meter
		km² = vierkante kilometer
		ha = hectare
		°C = graad Celsius, graden Celsius
		°F = graad Fahrenheit, graden Fahrenheit
		° = graad, graden
		% = procent
		‰ = promille
		h = uur
		min min. = minuut, minuten
		s sec sec. = seconde, seconden
		ms = milliseconde, milliseconden
		kB KB = kilobyte
		MB = megabyte
		GB = gigabyte
		TB = terabyte
		Mbit/s Mbps = megabit per seconde
		kW = kilowatt
		kWh = kilowattuur
		V = volt
		A = ampère
		W = watt
		Hz = hertz
		kHz = kilohertz
		MHz = megahertz
		GHz = gigahertz
		″ = inch
		tabl. = tablet, tabletten
	`)
}

func dutchAbbreviations() grammar.Abbreviations {
	return grammar.ParseAbbreviations(`
		dhr. = de heer
		hr. = heer
		mevr. = mevrouw
		mw. = mevrouw
		prof. = professor
		dr. = doctor
		drs. = doctorandus
		mr. = meester
		ing. = ingenieur
		ir. = ingenieur
		bijv. = bijvoorbeeld
		bv. = bijvoorbeeld
		enz. = enzovoort | closing
		etc. = et cetera | closing
		blz. = bladzijde
		art. = artikel
		nr. = nummer
		nrs. = nummers
		Str. = Straat
		str. = straat
		t.o. = tegenover
		Gebr. = Gebroeders
		ca. = circa
		max. = maximaal
		min. = minimaal
		i.v.m. = in verband met
		m.u.v. = met uitzondering van
		t.a.v. = ter attentie van
		t/m = tot en met
		m.b.t. = met betrekking tot
		d.m.v. = door middel van
		n.a.v. = naar aanleiding van
		i.p.v. = in plaats van
		afd. = afdeling
		bijl. = bijlage
		St. = Sint | name
		d.w.z. = dat wil zeggen
		d.i. = dat is
		s.v.p. = alstublieft
		a.u.b. = alstublieft
		o.a. = onder andere
		m.a.w. = met andere woorden
		vs. = versus
		a.s. = aanstaande
		jl. = jongstleden
		evt. = eventueel
		incl. = inclusief
		excl. = exclusief
		k.k. = kosten koper
		tel. = telefoon
		mob. = mobiel
		geb.dat. = geboortedatum
		v.Chr. = voor Christus
		n.Chr. = na Christus
		resp. = respectievelijk
	`)
}

func dutchDates() grammar.DateFormat {
	format := grammar.RomanceDates(grammar.RomanceDate{
		Names:    strings.Fields("- januari februari maart april mei juni juli augustus september oktober november december"),
		Cardinal: dutchCardinal, Year: dutchYear, Of: " ", Slashes: true,
		LastDay: func(grammar.Context) string { return " tot " },
	})
	format.Timestamp = ", "
	return format
}

func dutchClock() grammar.ClockFormat {
	return grammar.ClockFormat{
		HourSigns:  []string{"h", "u"},
		Suffixes:   []string{"uur", "u.", "u"},
		HourSuffix: []string{"u", "u."},
		DotSuffix:  true,
		RangeJoins: []string{"tot", "en", "-", "–"},
		Speak: func(t grammar.ClockTime, _ grammar.Context) string {
			spoken := dutchCardinal(int64(t.Hour), grammar.Form{}) + " uur"
			if t.Minute > 0 || t.Second > 0 {
				spoken += " " + dutchCardinal(int64(t.Minute), grammar.Form{})
			}
			if t.Second > 0 {
				spoken += " " + dutchCardinal(int64(t.Second), grammar.Form{})
			}
			return spoken
		},
	}
}

// dutchRoman speaks numerals behind names and chapters, and numerals with an ordinal mark.
func dutchRoman(word string, n int64, s *grammar.Scanner) grammar.Match {
	after := s.Rest()[len(word):]
	previous := grammar.LastWord(s.Before())
	switch {
	case strings.HasPrefix(after, "e") && !grammar.WordAfter(after, 1) && len(word) > 1:
		return grammar.Match{Size: len(word) + 1, Spoken: dutchOrdinal(n, grammar.Form{})}
	case grammar.WordAfter(after, 0) || strings.HasPrefix(after, "'") || previous == "" || !strings.HasSuffix(s.Before(), previous+" "):
		return grammar.Match{}
	case grammar.WordSet("hoofdstuk deel artikel boek titel bijlage")[strings.ToLower(previous)]:
		return grammar.Match{Size: len(word), Spoken: dutchCardinal(n, grammar.Form{})}
	case len(word) > 1 && n <= 30 && grammar.IsCapitalized(previous) && len(previous) > 2 && strings.ToUpper(previous) != previous:
		return grammar.Match{Size: len(word), Spoken: "de " + grammar.Capitalize(dutchOrdinal(n, grammar.Form{}))}
	}
	return grammar.Match{}
}

// dutchRange returns the word between two numbers. A falling pair is a result, which has no word.
func dutchRange(c grammar.Context) string {
	start := len(c.Before)
	for start > 0 && c.Before[start-1] >= '0' && c.Before[start-1] <= '9' {
		start--
	}
	first, second := c.Before[start:], c.After[:grammar.DigitsAt(c.After)]
	if first != "" && second != "" && (start == 0 || c.Before[start-1] == ' ') && len(first) < 3 && len(second) < 3 && grammar.Atoi(first) > grammar.Atoi(second) {
		return ""
	}
	return "tot"
}

// matchDutchPostalCode speaks "1012 AB".
func matchDutchPostalCode(s *grammar.Scanner) grammar.Match {
	rest := s.Rest()
	if grammar.DigitsAt(rest) != 4 || len(rest) < 7 || rest[4] != ' ' || !grammar.IsUpperASCII(rest[5]) || !grammar.IsUpperASCII(rest[6]) || grammar.WordAfter(rest, 7) || grammar.WordBefore(s.Text, s.Pos) {
		return grammar.Match{}
	}
	return grammar.Match{Size: 7, Spoken: s.SpeakDigits(rest[:4]) + " " + s.SpellCode(rest[5:7])}
}
