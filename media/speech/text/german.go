package text

import "strings"

func german() *language {
	return &language{
		tag:            "de",
		words:          germanWords(),
		numbers:        germanNumberFormat(),
		dates:          germanDates(),
		clock:          germanClock(),
		money:          moneyFormat{join: " ", bareMinor: true, zeroMarks: []string{",--", ",- ", ",-", ",– ", ",–", ".--", ".–", ".-"}, per: germanPer()},
		address:        addressFormat{keepsPath: true},
		cardinal:       germanCardinal,
		ordinal:        germanOrdinal,
		year:           germanYear,
		unitForm:       germanUnitForm,
		agree:          germanAgreement,
		units:          germanUnits(),
		currencies:     germanCurrencies(),
		signs:          germanSigns(),
		abbreviations:  germanAbbreviations(),
		months:         monthTable("januar/jänner februar/feber märz april mai juni juli august september oktober november dezember"),
		shortMonths:    monthTable("jan/jän feb mär/mrz apr - jun jul aug sep/sept okt nov dez"),
		weekdays:       germanWeekdays(),
		elisions:       wordSet("s ne n nem nen"),
		numerals:       numeralFormat{roman: germanRoman},
		yearCues:       wordSet("in seit ab von vor nach bis wurde jahr jahre jahres anno sommer winter herbst frühjahr frühling ende anfang mitte um +bis +und +oder"),
		sentenceStarts: germanStarts,
		ordinalPeriod:  germanOrdinalPeriod,
		digitCues: strings.Split("notruf ist|notruf|polizei|feuerwehr|wählen sie die|endet auf|endziffern|pin ist|pin|pin:|code ist|code|"+
			"code lautet|durchwahl|postleitzahl|plz", "|"),
		rules: []rule{
			matchGermanDuration, matchGermanHour, matchGermanPostalCode, matchGermanOrdinal, matchGermanMultiple, matchGermanDecade,
			houseNumber(strings.ToLower), matchGermanStreet, matchGenderSign, matchGermanExtension,
		},
		plates: germanPlate,
	}
}

func germanWords() words {
	return words{
		digits:  [10]string(germanOnes[:10]),
		decimal: "Komma", dot: "Punkt", minus: "minus", plus: "plus", to: "bis", score: "zu",
		at: "at", hyphen: "Bindestrich", underscore: "Unterstrich", slash: "Schrägstrich", addressDot: "Punkt", hashtag: "Hashtag",
		checked: "erledigt", unchecked: "offen", times: "mal", about: "etwa", less: "kleiner als", greater: "größer als",
		number: "Nummer", star: "Stern", pound: "Raute", per: "pro",
	}
}

func germanSigns() map[string]string {
	return map[string]string{
		"&": "und", "+": "plus", "=": "gleich", "@": "at", "_": "Unterstrich", "\\": "Backslash", "<": "kleiner als", ">": "größer als",
		"~": "etwa", "§": "Paragraf", "%": "Prozent", "‰": "Promille", "×": "mal", "÷": "geteilt durch", "±": "plus minus",
		"|": "senkrechter Strich", "^": "Dach", "°": "Grad", "µ": "Mikro", "≤": "höchstens", "≥": "mindestens", "≈": "etwa",
		"≠": "ungleich", "→": "nach", "·": "mal", "√": "Wurzel aus", "∞": "unendlich", "−": "minus", ":": "Doppelpunkt", "″": "Zoll",
		"′": "Fuß", "¶": "Absatz",
	}
}

func germanPer() map[string]string {
	return map[string]string{
		"Monat": "pro Monat", "Mon": "pro Monat", "Jahr": "pro Jahr", "Tag": "pro Tag", "Stunde": "pro Stunde", "Std": "pro Stunde",
		"Woche": "pro Woche", "Stück": "pro Stück", "Stk": "pro Stück", "Person": "pro Person", "Nacht": "pro Nacht", "Minute": "pro Minute",
	}
}

func germanCurrencies() map[string]currency {
	euro := currency{one: "Euro", many: "Euro", gender: masculine, minorOne: "Cent", minorMany: "Cent", minorGender: masculine}
	dollar := currency{one: "Dollar", many: "Dollar", gender: masculine, minorOne: "Cent", minorMany: "Cent", minorGender: masculine}
	franc := currency{one: "Franken", many: "Franken", gender: masculine, minorOne: "Rappen", minorMany: "Rappen", minorGender: masculine}
	pound := currency{one: "Pfund", many: "Pfund", gender: neuter, minorOne: "Penny", minorMany: "Pence", minorGender: masculine}
	yen := currency{one: "Yen", many: "Yen", gender: masculine}
	mark := currency{one: "D-Mark", many: "D-Mark", gender: feminine, minorOne: "Pfennig", minorMany: "Pfennig", minorGender: masculine}
	cent := currency{one: "Cent", many: "Cent", gender: masculine}
	return map[string]currency{
		"€": euro, "EUR": euro, "Euro": euro, "$": dollar, "US$": dollar, "US-$": dollar, "USD": dollar, "Dollar": dollar, "CHF": franc,
		"Fr.": franc, "SFr.": franc, "Franken": franc, "£": pound, "GBP": pound, "¥": yen, "JPY": yen, "DM": mark, "ct": cent, "Ct": cent,
		"Rp.": {one: "Rappen", many: "Rappen", gender: masculine}, "Cent": cent, "¢": cent,
	}
}

func germanUnits() map[string]unit {
	return unitTable(`
		km = Kilometer, Kilometer, Kilometern | m
		m = Meter, Meter, Metern | m
		cm = Zentimeter, Zentimeter, Zentimetern | m
		mm = Millimeter, Millimeter, Millimetern | m
		kg = Kilogramm | n
		g = Gramm | n
		mg = Milligramm | n
		t = Tonne, Tonnen | f
		dag = Deka | n
		l L = Liter, Liter, Litern | m
		ml = Milliliter, Milliliter, Millilitern | m
		cl = Zentiliter, Zentiliter, Zentilitern | m
		km/h = Kilometer pro Stunde, Kilometer pro Stunde, Kilometern pro Stunde | m
		m/s = Meter pro Sekunde, Meter pro Sekunde, Metern pro Sekunde | m
		m² m2 qm = Quadratmeter, Quadratmeter, Quadratmetern | m
		m³ m3 = Kubikmeter, Kubikmeter, Kubikmetern | m
		km² = Quadratkilometer, Quadratkilometer, Quadratkilometern | m
		ha = Hektar | m
		lfm = laufender Meter, laufende Meter, laufenden Metern | m
		°C = Grad Celsius | n
		°F = Grad Fahrenheit | n
		° = Grad | n
		% = Prozent | n
		‰ = Promille | n
		h Std. Std = Stunde, Stunden | f
		min Min. Min = Minute, Minuten | f
		s Sek. sek = Sekunde, Sekunden | f
		ms = Millisekunde, Millisekunden | f
		kB KB = Kilobyte | n
		MB = Megabyte | n
		GB = Gigabyte | n
		TB = Terabyte | n
		Mbit/s MBit/s = Megabit pro Sekunde | n
		kW = Kilowatt | n
		kWh = Kilowattstunde, Kilowattstunden | f
		V = Volt | n
		A = Ampere | n
		W = Watt | n
		Hz = Hertz | n
		kHz = Kilohertz | n
		MHz = Megahertz | n
		GHz = Gigahertz | n
		″ = Zoll | m
	`)
}

func germanAbbreviations() abbreviations {
	return parseAbbreviations(`
		z. B. = zum Beispiel
		d. h. = das heißt
		u. a. = unter anderem
		u. U. = unter Umständen
		u. Ä. = und Ähnliches | closing
		o. Ä. = oder Ähnliches | closing
		o. g. = oben genannten
		s. o. = siehe oben
		s. u. = siehe unten
		i. V. = in Vertretung
		i. A. = im Auftrag
		d. M. = dieses Monats
		d. J. = dieses Jahres
		v. Chr. = vor Christus
		n. Chr. = nach Christus
		v. a. = vor allem
		z. T. = zum Teil
		z. Zt. = zurzeit
		z. Hd. = zu Händen
		m. E. = meines Erachtens
		usw. = und so weiter | closing
		etc. = et cetera | closing
		ca. = circa
		Ca. = Circa
		Nr. = Nummer
		Nrn. = Nummern
		Str. = Straße | closing
		Hr. = Herr | name
		Hrn. = Herrn | name
		Fr. = Frau | name
		Dr. = Doktor
		Prof. = Professor
		Mag. = Magister
		Dipl.-Ing. = Diplomingenieur
		Ing. = Ingenieur | name
		evtl. = eventuell
		ggf. = gegebenenfalls
		bzw. = beziehungsweise
		bzgl. = bezüglich
		vgl. = vergleiche
		inkl. = inklusive
		exkl. = exklusive
		zzgl. = zuzüglich
		abzgl. = abzüglich
		MwSt. = Mehrwertsteuer
		USt. = Umsatzsteuer
		max. = maximal
		mind. = mindestens
		min. = mindestens | number
		geb. = geboren
		gest. = gestorben
		lt. = laut
		Lt. = Laut
		Tel. = Telefon
		Abs. = Absatz | number
		Art. = Artikel | number
		Abt. = Abteilung
		Fa. = Firma
		Co. = Co
		S. = Seite | number
		Bd. = Band | number
		Kap. = Kapitel | number
		ff. = und folgende | behind number
		u. = und
		St. = Sankt | name
		vs. = versus
		Mio. = Millionen | behind number
		Mrd. = Milliarden | behind number
		Std. = Stunden
		Min. = Minuten | behind number
		Jh. = Jahrhundert | closing
		Pl. = Platz | closing
		Tsd. = Tausend | behind number
	`)
}

func germanWeekdays() map[string]weekday {
	days := map[string]weekday{}
	for short, name := range map[string]string{
		"mo": "Montag", "di": "Dienstag", "mi": "Mittwoch", "do": "Donnerstag", "fr": "Freitag", "sa": "Samstag", "so": "Sonntag",
	} {
		days[short] = weekday{name: name, cautious: true}
	}
	return days
}

var germanMonthNames = strings.Fields("kein Januar Februar März April Mai Juni Juli August September Oktober November Dezember")

func germanDates() dateFormat {
	return dateFormat{
		dayMark:   ".",
		between:   []string{" bis ", " und "},
		shortDots: true,
		timestamp: ", ",
		month: func(month, year int) string {
			if year == 0 {
				return germanMonthNames[month]
			}
			return germanMonthNames[month] + " " + germanYear(year)
		},
		speak: func(d date, c context) string {
			f := form{ending: germanEnding(c.before)}
			spoken := germanOrdinal(int64(d.day), f)
			if d.lastDay > 0 {
				join := "bis"
				if strings.Trim(d.joint, " /") == "" || strings.Contains(d.joint, "und") {
					join = "und"
				}
				spoken += " " + join + " " + germanOrdinal(int64(d.lastDay), f)
			}
			name := d.name
			if name == "" {
				name = germanMonthNames[d.month]
			}
			spoken += " " + name
			if d.year > 0 {
				spoken += " " + germanYear(d.year)
			}
			return spoken
		},
	}
}

func germanClock() clockFormat {
	return clockFormat{
		suffixes:   []string{"Uhr"},
		hourSuffix: []string{"Uhr"},
		dotSuffix:  true,
		speak: func(t clockTime, _ context) string {
			spoken := germanCardinal(int64(t.hour), form{gender: neuter}) + " Uhr"
			if t.minute > 0 || t.seconds {
				spoken += " " + germanCardinal(int64(t.minute), form{})
			}
			if t.seconds {
				spoken += " " + germanCardinal(int64(t.second), form{})
			}
			return spoken
		},
	}
}
