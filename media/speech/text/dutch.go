package text

import "strings"

func dutch() *language {
	return &language{
		tag:            "nl",
		words:          dutchWords(),
		numbers:        dutchNumberFormat(),
		dates:          dutchDates(),
		clock:          dutchClock(),
		money:          moneyFormat{join: " ", bareMinor: true, zeroMarks: []string{",--", ",-", ",–", ".-"}, per: dutchPer()},
		cardinal:       dutchCardinal,
		ordinal:        dutchOrdinal,
		year:           dutchYear,
		units:          dutchUnits(),
		unitsBefore:    map[string]string{"km": "kilometer"},
		currencies:     dutchCurrencies(),
		signs:          dutchSigns(),
		abbreviations:  dutchAbbreviations(),
		months:         monthTable("januari februari maart april mei juni juli augustus september oktober november december"),
		shortMonths:    monthTable("jan feb mrt apr - jun jul aug sep/sept okt nov dec"),
		weekdays:       weekdayTable("ma maandag di dinsdag wo woensdag do donderdag vr vrijdag za zaterdag zo zondag"),
		elisions:       wordSet("s t n k m r ns"),
		numerals:       numeralFormat{suffixes: []ordinalSuffix{{suffix: "ste"}, {suffix: "de"}, {suffix: "e"}}, roman: dutchRoman},
		yearCues:       wordSet("in sinds jaar jaren voor tegen van tot over periode aangifte belastingaangifte vanaf na rond omstreeks zomer winter najaar voorjaar +tot +en +of"),
		sentenceStarts: wordSet("daarna hij zij ze wij we ik het dan en maar toen nu kunt u is er als die dat ook wat wie"),
		lexicon: map[string]string{
			"t/m": "tot en met", "p/m": "per maand", "p/j": "per jaar", "hm-paal": "hectometerpaal", "COVID-19": "COVID negentien",
			"Covid-19": "Covid negentien",
		},
		digitCues: strings.Split("code|code is|pincode|pincode is|verificatiecode is|bel bij spoed|bel|belt u|burgerservicenummer|burgerservicenummer:|"+
			"burgerservicenummer is|bsn|bsn:|eindigt op|eindigend op", "|"),
		rules:       []rule{timesRule("keer", standalone), matchDutchPostalCode, houseNumber(strings.ToUpper)},
		rangeWord:   dutchRange,
		dropsBraces: true,
	}
}

func dutchWords() words {
	return words{
		digits:  [10]string(dutchOnes[:10]),
		decimal: "komma", dot: "punt", minus: "min", plus: "plus", to: "tot", score: "",
		at: "apenstaartje", hyphen: "streepje", underscore: "underscore", slash: "slash", addressDot: "punt", hashtag: "hashtag",
		checked: "klaar", unchecked: "open", times: "keer", by: "bij", about: "ongeveer", less: "kleiner dan", greater: "groter dan",
		number: "nummer", star: "sterretje", pound: "hekje", per: "per", over: "op",
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

func dutchCurrencies() map[string]currency {
	euro := currency{one: "euro", many: "euro", minorOne: "cent", minorMany: "cent"}
	dollar := currency{one: "dollar", many: "dollar", minorOne: "cent", minorMany: "cent"}
	franc := currency{one: "frank", many: "frank", minorOne: "centime", minorMany: "centime"}
	pound := currency{one: "pond", many: "pond", minorOne: "penny", minorMany: "pence"}
	yen := currency{one: "yen", many: "yen"}
	return map[string]currency{
		"€": euro, "EUR": euro, "euro": euro, "Euro": euro, "$": dollar, "US$": dollar, "USD": dollar, "dollar": dollar, "CHF": franc,
		"£": pound, "GBP": pound, "¥": yen, "JPY": yen,
	}
}

func dutchUnits() map[string]unit {
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

func dutchAbbreviations() abbreviations {
	return parseAbbreviations(`
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

func dutchDates() dateFormat {
	format := romanceDates(romanceDate{
		names:    strings.Fields("- januari februari maart april mei juni juli augustus september oktober november december"),
		cardinal: dutchCardinal, year: dutchYear, of: " ", slashes: true,
		lastDay: func(context) string { return " tot " },
	})
	format.timestamp = ", "
	return format
}

func dutchClock() clockFormat {
	return clockFormat{
		hourSigns:  []string{"h", "u"},
		suffixes:   []string{"uur", "u.", "u"},
		hourSuffix: []string{"u", "u."},
		dotSuffix:  true,
		rangeJoins: []string{"tot", "en", "-", "–"},
		speak: func(t clockTime, _ context) string {
			spoken := dutchCardinal(int64(t.hour), form{}) + " uur"
			if t.minute > 0 || t.second > 0 {
				spoken += " " + dutchCardinal(int64(t.minute), form{})
			}
			if t.second > 0 {
				spoken += " " + dutchCardinal(int64(t.second), form{})
			}
			return spoken
		},
	}
}

// dutchRoman speaks numerals behind names and chapters, and numerals with an ordinal mark.
func dutchRoman(word string, n int64, s *scanner) match {
	after := s.rest()[len(word):]
	previous := lastWord(s.before())
	switch {
	case strings.HasPrefix(after, "e") && !wordAfter(after, 1) && len(word) > 1:
		return match{size: len(word) + 1, spoken: dutchOrdinal(n, form{})}
	case wordAfter(after, 0) || strings.HasPrefix(after, "'") || previous == "" || !strings.HasSuffix(s.before(), previous+" "):
		return match{}
	case wordSet("hoofdstuk deel artikel boek titel bijlage")[strings.ToLower(previous)]:
		return match{size: len(word), spoken: dutchCardinal(n, form{})}
	case len(word) > 1 && n <= 30 && isCapitalized(previous) && len(previous) > 2 && strings.ToUpper(previous) != previous:
		return match{size: len(word), spoken: "de " + capitalize(dutchOrdinal(n, form{}))}
	}
	return match{}
}

// dutchRange returns the word between two numbers. A falling pair is a result, which has no word.
func dutchRange(c context) string {
	start := len(c.before)
	for start > 0 && c.before[start-1] >= '0' && c.before[start-1] <= '9' {
		start--
	}
	first, second := c.before[start:], c.after[:digitsAt(c.after)]
	if first != "" && second != "" && (start == 0 || c.before[start-1] == ' ') && len(first) < 3 && len(second) < 3 && atoi(first) > atoi(second) {
		return ""
	}
	return "tot"
}

// matchDutchPostalCode speaks "1012 AB".
func matchDutchPostalCode(s *scanner) match {
	rest := s.rest()
	if digitsAt(rest) != 4 || len(rest) < 7 || rest[4] != ' ' || !isUpperASCII(rest[5]) || !isUpperASCII(rest[6]) || wordAfter(rest, 7) || wordBefore(s.text, s.pos) {
		return match{}
	}
	return match{size: 7, spoken: s.speakDigits(rest[:4]) + " " + s.spellCode(rest[5:7])}
}
