package text

import "strings"

func italian() *language {
	return &language{
		tag:                "it",
		words:              italianWords(),
		numbers:            italianNumberFormat(),
		dates:              italianDates(),
		clock:              italianClock(),
		money:              italianMoney(),
		cardinal:           italianCardinal,
		ordinal:            italianOrdinal,
		year:               func(n int) string { return italianCardinal(int64(max(n, 0)), form{}) },
		agree:              agreeWithNoun(italianGender, italianFunctionWords),
		units:              italianUnits(),
		unitsBefore:        map[string]string{"km": "chilometro"},
		currencies:         italianCurrencies(),
		signs:              italianSigns(),
		abbreviations:      italianAbbreviations(),
		months:             monthTable("gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre"),
		shortMonths:        monthTable("gen feb mar apr mag giu lug ago set/sett ott nov dic"),
		weekdays:           weekdayTable("lun lunedì mar martedì mer mercoledì gio giovedì ven venerdì sab sabato dom domenica"),
		numerals:           numeralFormat{suffixes: italianOrdinalSuffixes(), roman: italianRoman},
		lowerAbbreviations: true,
		sentenceStarts:     wordSet("poi ma e non il la lo i gli le un una mi ti si ci vi ho ha allora quindi dopo se quando anche per"),
		lexicon:            map[string]string{"COVID-19": "COVID diciannove", "Covid-19": "Covid diciannove", "e/o": "e o", "H24": "H ventiquattro", "h24": "H ventiquattro"},
		digitCues:          strings.Split("codice otp|otp|pin è|pin|codice è|codice di verifica è|termina con|termina in", "|"),
		groupCues:          strings.Split("chiami|chiami il|chiami l'|chiamare il|numero|componga|componga il|codice|al", "|"),
		rules:              []rule{matchItalianOrdinal, matchFirstOfMonth, halfHour("mezz'ora"), houseNumber(strings.ToUpper)},
		plates:             italianPlate,
		elision:            true,
		dropsBraces:        true,
		rangeWord:          articleRange(map[string]string{"dalle": "alle", "dal": "al", "dai": "ai", "dall": "all"}, "a"),
	}
}

// articleRange returns the rule for the word between the parts of a range: behind a preposition with an article, such
// as "dalle", the word has the article too.
func articleRange(pairs map[string]string, plain string) func(c context) string {
	return func(c context) string {
		start := strings.LastIndexAny(c.before, ".,;!?")
		words := strings.Fields(strings.ToLower(c.before[start+1:]))
		for i := len(words) - 1; i >= 0 && i >= len(words)-3; i-- {
			if to, ok := pairs[strings.TrimRight(words[i], "'")]; ok {
				return to
			}
		}
		return plain
	}
}

func italianWords() words {
	return words{
		digits:  [10]string(italianOnes[:10]),
		decimal: "virgola", dot: "punto", minus: "meno", plus: "più", to: "a", score: "a",
		at: "chiocciola", hyphen: "trattino", underscore: "trattino basso", slash: "barra", addressDot: "punto", hashtag: "hashtag",
		checked: "fatto", unchecked: "da fare", times: "per", by: "per", about: "circa", less: "minore di", greater: "maggiore di",
		number: "numero", star: "asterisco", pound: "cancelletto", per: "al", over: "barra",
	}
}

func italianSigns() map[string]string {
	return map[string]string{
		"&": "e", "+": "più", "=": "uguale", "@": "chiocciola", "_": "trattino basso", "\\": "barra inversa", "<": "minore di",
		">": "maggiore di", "~": "circa", "§": "paragrafo", "%": "per cento", "‰": "per mille", "×": "per", "÷": "diviso", "±": "più o meno",
		"|": "barra verticale", "^": "circonflesso", "°": "gradi", "µ": "micro", "≤": "al massimo", "≥": "almeno", "≈": "circa",
		"≠": "diverso da", "→": "a", "·": "per", "√": "radice di", "∞": "infinito", "−": "meno", "″": "pollici", "′": "piedi", "º": "gradi", "ª": "",
		"¶": "paragrafo",
	}
}

func italianMoney() moneyFormat {
	return moneyFormat{
		join:      " e ",
		ofScale:   "di ",
		zeroMarks: []string{".–", ".-", ",-", ",–"},
		per: map[string]string{
			"mese": "al mese", "anno": "all'anno", "giorno": "al giorno", "die": "al giorno", "settimana": "alla settimana", "ora": "all'ora", "h": "all'ora",
			"notte": "a notte", "persona": "a persona", "minuto": "al minuto", "min": "al minuto", "kWh": "al chilowattora",
		},
	}
}

func italianCurrencies() map[string]currency {
	euro := currency{one: "euro", many: "euro", gender: masculine, minorOne: "centesimo", minorMany: "centesimi", minorGender: masculine}
	dollar := currency{one: "dollaro", many: "dollari", gender: masculine, minorOne: "centesimo", minorMany: "centesimi", minorGender: masculine}
	franc := currency{one: "franco", many: "franchi", gender: masculine, minorOne: "centesimo", minorMany: "centesimi", minorGender: masculine}
	pound := currency{one: "sterlina", many: "sterline", gender: feminine, minorOne: "penny", minorMany: "penny", minorGender: masculine}
	yen := currency{one: "yen", many: "yen", gender: masculine}
	return map[string]currency{
		"€": euro, "EUR": euro, "euro": euro, "Euro": euro, "$": dollar, "US$": dollar, "USD": dollar, "dollari": dollar, "CHF": franc, "fr.": franc,
		"£": pound, "GBP": pound, "¥": yen, "JPY": yen,
	}
}

func italianUnits() map[string]unit {
	return unitTable(`
		km = chilometro, chilometri | m
		m = metro, metri | m
		cm = centimetro, centimetri | m
		mm = millimetro, millimetri | m
		kg = chilogrammo, chilogrammi | m
		g gr = grammo, grammi | m
		mg = milligrammo, milligrammi | m
		l L = litro, litri | m
		ml = millilitro, millilitri | m
		cl = centilitro, centilitri | m
		km/h = chilometro all'ora, chilometri all'ora | m
		m/s = metro al secondo, metri al secondo | m
		m² m2 mq = metro quadrato, metri quadrati | m
		m³ m3 mc = metro cubo, metri cubi | m
		km² kmq = chilometro quadrato, chilometri quadrati | m
		ha = ettaro, ettari | m
		°C = grado Celsius, gradi Celsius | m
		°F = grado Fahrenheit, gradi Fahrenheit | m
		° = grado, gradi | m
		% = per cento
		‰ = per mille
		h = ora, ore | f
		min = minuto, minuti | m
		s sec = secondo, secondi | m
		ms = millisecondo, millisecondi | m
		kB KB = kilobyte | m
		MB = megabyte | m
		GB = gigabyte | m
		TB = terabyte | m
		Mbps = megabit al secondo | m
		kW = chilowatt | m
		kWh = chilowattora | m
		V = volt | m
		A = ampere | m
		W = watt | m
		Hz = hertz | m
		kHz = kilohertz | m
		MHz = megahertz | m
		GHz = gigahertz | m
		″ = pollice, pollici | m
		cpr = compressa, compresse | f
	`)
}

func italianAbbreviations() abbreviations {
	return parseAbbreviations(`
		sig. = signor | name
		sig. = signore | closing
		sig.ra = signora
		sig.na = signorina
		sigg. = signori
		dott. = dottor | name
		dott. = dottore | closing
		dr. = dottor | name
		dott.ssa = dottoressa
		prof. = professor | name
		prof. = professore | closing
		prof.ssa = professoressa
		ing. = ingegner | name
		ing. = ingegnere | closing
		avv. = avvocato
		arch. = architetto
		rag. = ragioniere | name
		geom. = geometra | name
		gent.mo = gentilissimo
		gent.ma = gentilissima
		gent.mi = gentilissimi
		egr. = egregio
		spett.le = spettabile
		ns. = nostro
		vs. = contro
		rif. = riferimento
		all. = allegato
		c.a. = cortese attenzione
		c/o = presso
		ca. = circa
		max. = massimo
		min. = minimo
		p.es. = per esempio
		p. es. = per esempio
		ad es. = ad esempio
		es. = esempio
		ecc. = eccetera | closing
		pag. = pagina
		pagg. = pagine
		art. = articolo
		artt. = articoli
		cap. = capitolo | number
		n. = numero | number
		nr. = numero | number
		N. = numero | number
		int. = interno
		tel. = telefono
		cell. = cellulare
		C.so = corso
		V.le = viale
		P.zza = piazza
		P.za = piazza
		S.r.l. = società a responsabilità limitata
		S.p.A. = società per azioni
		h = ore | number
		h. = ore | number
		a.C. = avanti Cristo
		d.C. = dopo Cristo
		tot. = totale
		incl. = incluso
		S. = San/Santa | saint
	`)
}

func italianDates() dateFormat {
	return romanceDates(romanceDate{
		names: strings.Fields("- gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre"),
		first: "primo", cardinal: italianCardinal, of: " ", slashes: true,
		lastDay: func(c context) string { return " " + articleRange(map[string]string{"dal": "al"}, "a")(c) + " " },
		then: func(t clockTime) string {
			if t.hour == 1 {
				return " all'"
			}
			return " alle "
		},
	})
}

func italianClock() clockFormat {
	return clockFormat{
		cues: []string{"alle", "dalle", "delle", "ore", "le", "entro le", "h", "h."},
		dots: []string{".", ","},
		speak: func(t clockTime, _ context) string {
			hour := italianCardinal(int64(t.hour), form{gender: feminine})
			if t.minute > 0 || t.second > 0 {
				hour += " e " + italianCardinal(int64(t.minute), form{})
			}
			if t.second > 0 {
				hour += " e " + italianCardinal(int64(t.second), form{})
			}
			return hour
		},
	}
}
