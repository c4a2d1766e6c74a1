package languages

import (
	"strings"

	"github.com/callboard/callboard/media/speech/text/grammar"
)

// German returns the words and rules of German.
func German() *grammar.Language {
	return &grammar.Language{
		Tag:            "de",
		Words:          germanWords(),
		Numbers:        germanNumberFormat(),
		Dates:          germanDates(),
		Clock:          germanClock(),
		Money:          grammar.MoneyFormat{Join: " ", BareMinor: true, ZeroMarks: []string{",--", ",- ", ",-", ",– ", ",–", ".--", ".–", ".-"}, Per: germanPer()},
		Address:        grammar.AddressFormat{KeepsPath: true},
		Cardinal:       germanCardinal,
		Ordinal:        germanOrdinal,
		Year:           germanYear,
		UnitForm:       germanUnitForm,
		Agree:          germanAgreement,
		Units:          germanUnits(),
		Currencies:     germanCurrencies(),
		Signs:          germanSigns(),
		Abbreviations:  germanAbbreviations(),
		Months:         monthTable("januar/jänner februar/feber märz april mai juni juli august september oktober november dezember"),
		ShortMonths:    monthTable("jan/jän feb mär/mrz apr - jun jul aug sep/sept okt nov dez"),
		Weekdays:       germanWeekdays(),
		Elisions:       grammar.WordSet("s ne n nem nen"),
		Numerals:       grammar.NumeralFormat{Roman: germanRoman},
		YearCues:       grammar.WordSet("in seit ab von vor nach bis wurde jahr jahre jahres anno sommer winter herbst frühjahr frühling ende anfang mitte um +bis +und +oder"),
		SentenceStarts: germanStarts,
		OrdinalPeriod:  germanOrdinalPeriod,
		DigitCues: strings.Split("notruf ist|notruf|polizei|feuerwehr|wählen sie die|endet auf|endziffern|pin ist|pin|pin:|code ist|code|"+
			"code lautet|durchwahl|postleitzahl|plz", "|"),
		Rules: []grammar.Rule{
			matchGermanDuration, matchGermanHour, matchGermanPostalCode, matchGermanOrdinal, matchGermanMultiple, matchGermanDecade,
			grammar.HouseNumber(strings.ToLower), matchGermanStreet, matchGenderSign, matchGermanExtension,
		},
		Plates: germanPlate,
	}
}

func germanWords() grammar.Words {
	return grammar.Words{
		Digits:  [10]string(germanOnes[:10]),
		Decimal: "Komma", Dot: "Punkt", Minus: "minus", Plus: "plus", To: "bis", Score: "zu",
		At: "at", Hyphen: "Bindestrich", Underscore: "Unterstrich", Slash: "Schrägstrich", AddressDot: "Punkt", Hashtag: "Hashtag",
		Checked: "erledigt", Unchecked: "offen", Times: "mal", About: "etwa", Less: "kleiner als", Greater: "größer als",
		Number: "Nummer", Star: "Stern", Pound: "Raute", Per: "pro",
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

func germanCurrencies() map[string]grammar.Currency {
	euro := grammar.Currency{One: "Euro", Many: "Euro", Gender: grammar.Masculine, MinorOne: "Cent", MinorMany: "Cent", MinorGender: grammar.Masculine}
	dollar := grammar.Currency{One: "Dollar", Many: "Dollar", Gender: grammar.Masculine, MinorOne: "Cent", MinorMany: "Cent", MinorGender: grammar.Masculine}
	franc := grammar.Currency{One: "Franken", Many: "Franken", Gender: grammar.Masculine, MinorOne: "Rappen", MinorMany: "Rappen", MinorGender: grammar.Masculine}
	pound := grammar.Currency{One: "Pfund", Many: "Pfund", Gender: grammar.Neuter, MinorOne: "Penny", MinorMany: "Pence", MinorGender: grammar.Masculine}
	yen := grammar.Currency{One: "Yen", Many: "Yen", Gender: grammar.Masculine}
	mark := grammar.Currency{One: "D-Mark", Many: "D-Mark", Gender: grammar.Feminine, MinorOne: "Pfennig", MinorMany: "Pfennig", MinorGender: grammar.Masculine}
	cent := grammar.Currency{One: "Cent", Many: "Cent", Gender: grammar.Masculine}
	return map[string]grammar.Currency{
		"€": euro, "EUR": euro, "Euro": euro, "$": dollar, "US$": dollar, "US-$": dollar, "USD": dollar, "Dollar": dollar, "CHF": franc,
		"Fr.": franc, "SFr.": franc, "Franken": franc, "£": pound, "GBP": pound, "¥": yen, "JPY": yen, "DM": mark, "ct": cent, "Ct": cent,
		"Rp.": {One: "Rappen", Many: "Rappen", Gender: grammar.Masculine}, "Cent": cent, "¢": cent,
	}
}

func germanUnits() map[string]grammar.Unit {
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

func germanAbbreviations() grammar.Abbreviations {
	return grammar.ParseAbbreviations(`
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

func germanWeekdays() map[string]grammar.Weekday {
	days := map[string]grammar.Weekday{}
	for short, name := range map[string]string{
		"mo": "Montag", "di": "Dienstag", "mi": "Mittwoch", "do": "Donnerstag", "fr": "Freitag", "sa": "Samstag", "so": "Sonntag",
	} {
		days[short] = grammar.Weekday{Name: name, Cautious: true}
	}
	return days
}

var germanMonthNames = strings.Fields("kein Januar Februar März April Mai Juni Juli August September Oktober November Dezember")

func germanDates() grammar.DateFormat {
	return grammar.DateFormat{
		DayMark:   ".",
		Between:   []string{" bis ", " und "},
		ShortDots: true,
		Timestamp: ", ",
		Month: func(month, year int) string {
			if year == 0 {
				return germanMonthNames[month]
			}
			return germanMonthNames[month] + " " + germanYear(year)
		},
		Speak: func(d grammar.Date, c grammar.Context) string {
			f := grammar.Form{Ending: germanEnding(c.Before)}
			spoken := germanOrdinal(int64(d.Day), f)
			if d.LastDay > 0 {
				join := "bis"
				if strings.Trim(d.Joint, " /") == "" || strings.Contains(d.Joint, "und") {
					join = "und"
				}
				spoken += " " + join + " " + germanOrdinal(int64(d.LastDay), f)
			}
			name := d.Name
			if name == "" {
				name = germanMonthNames[d.Month]
			}
			spoken += " " + name
			if d.Year > 0 {
				spoken += " " + germanYear(d.Year)
			}
			return spoken
		},
	}
}

func germanClock() grammar.ClockFormat {
	return grammar.ClockFormat{
		Suffixes:   []string{"Uhr"},
		HourSuffix: []string{"Uhr"},
		DotSuffix:  true,
		Speak: func(t grammar.ClockTime, _ grammar.Context) string {
			spoken := germanCardinal(int64(t.Hour), grammar.Form{Gender: grammar.Neuter}) + " Uhr"
			if t.Minute > 0 || t.Seconds {
				spoken += " " + germanCardinal(int64(t.Minute), grammar.Form{})
			}
			if t.Seconds {
				spoken += " " + germanCardinal(int64(t.Second), grammar.Form{})
			}
			return spoken
		},
	}
}
