package languages

import (
	"strings"

	"github.com/callboard/callboard/media/speech/text/grammar"
)

// Italian returns the words and rules of Italian.
func Italian() *grammar.Language {
	return &grammar.Language{
		Tag:                "it",
		Words:              italianWords(),
		Numbers:            italianNumberFormat(),
		Dates:              italianDates(),
		Clock:              italianClock(),
		Money:              italianMoney(),
		Cardinal:           italianCardinal,
		Ordinal:            italianOrdinal,
		Year:               func(n int) string { return italianCardinal(int64(max(n, 0)), grammar.Form{}) },
		Agree:              agreeWithNoun(italianGender, italianFunctionWords),
		Units:              italianUnits(),
		UnitsBefore:        map[string]string{"km": "chilometro"},
		Currencies:         italianCurrencies(),
		Signs:              italianSigns(),
		Abbreviations:      italianAbbreviations(),
		Months:             monthTable("gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre"),
		ShortMonths:        monthTable("gen feb mar apr mag giu lug ago set/sett ott nov dic"),
		Weekdays:           grammar.WeekdayTable("lun lunedì mar martedì mer mercoledì gio giovedì ven venerdì sab sabato dom domenica"),
		Numerals:           grammar.NumeralFormat{Suffixes: italianOrdinalSuffixes(), Roman: italianRoman},
		LowerAbbreviations: true,
		SentenceStarts:     grammar.WordSet("poi ma e non il la lo i gli le un una mi ti si ci vi ho ha allora quindi dopo se quando anche per"),
		Lexicon:            map[string]string{"COVID-19": "COVID diciannove", "Covid-19": "Covid diciannove", "e/o": "e o", "H24": "H ventiquattro", "h24": "H ventiquattro"},
		DigitCues:          strings.Split("codice otp|otp|pin è|pin|codice è|codice di verifica è|termina con|termina in", "|"),
		GroupCues:          strings.Split("chiami|chiami il|chiami l'|chiamare il|numero|componga|componga il|codice|al", "|"),
		Rules:              []grammar.Rule{matchItalianOrdinal, matchFirstOfMonth, halfHour("mezz'ora"), grammar.HouseNumber(strings.ToUpper)},
		Plates:             italianPlate,
		Elision:            true,
		DropsBraces:        true,
		RangeWord:          articleRange(map[string]string{"dalle": "alle", "dal": "al", "dai": "ai", "dall": "all"}, "a"),
	}
}

// articleRange returns the rule for the word between the parts of a range: behind a preposition with an article, such
// as "dalle", the word has the article too.
func articleRange(pairs map[string]string, plain string) func(c grammar.Context) string {
	return func(c grammar.Context) string {
		start := strings.LastIndexAny(c.Before, ".,;!?")
		words := strings.Fields(strings.ToLower(c.Before[start+1:]))
		for i := len(words) - 1; i >= 0 && i >= len(words)-3; i-- {
			if to, ok := pairs[strings.TrimRight(words[i], "'")]; ok {
				return to
			}
		}
		return plain
	}
}

func italianWords() grammar.Words {
	return grammar.Words{
		Digits:  [10]string(italianOnes[:10]),
		Decimal: "virgola", Dot: "punto", Minus: "meno", Plus: "più", To: "a", Score: "a",
		At: "chiocciola", Hyphen: "trattino", Underscore: "trattino basso", Slash: "barra", AddressDot: "punto", Hashtag: "hashtag",
		Checked: "fatto", Unchecked: "da fare", Times: "per", By: "per", About: "circa", Less: "minore di", Greater: "maggiore di",
		Number: "numero", Star: "asterisco", Pound: "cancelletto", Per: "al", Over: "barra",
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

func italianMoney() grammar.MoneyFormat {
	return grammar.MoneyFormat{
		Join:      " e ",
		OfScale:   "di ",
		ZeroMarks: []string{".–", ".-", ",-", ",–"},
		Per: map[string]string{
			"mese": "al mese", "anno": "all'anno", "giorno": "al giorno", "die": "al giorno", "settimana": "alla settimana", "ora": "all'ora", "h": "all'ora",
			"notte": "a notte", "persona": "a persona", "minuto": "al minuto", "min": "al minuto", "kWh": "al chilowattora",
		},
	}
}

func italianCurrencies() map[string]grammar.Currency {
	euro := grammar.Currency{One: "euro", Many: "euro", Gender: grammar.Masculine, MinorOne: "centesimo", MinorMany: "centesimi", MinorGender: grammar.Masculine}
	dollar := grammar.Currency{One: "dollaro", Many: "dollari", Gender: grammar.Masculine, MinorOne: "centesimo", MinorMany: "centesimi", MinorGender: grammar.Masculine}
	franc := grammar.Currency{One: "franco", Many: "franchi", Gender: grammar.Masculine, MinorOne: "centesimo", MinorMany: "centesimi", MinorGender: grammar.Masculine}
	pound := grammar.Currency{One: "sterlina", Many: "sterline", Gender: grammar.Feminine, MinorOne: "penny", MinorMany: "penny", MinorGender: grammar.Masculine}
	yen := grammar.Currency{One: "yen", Many: "yen", Gender: grammar.Masculine}
	return map[string]grammar.Currency{
		"€": euro, "EUR": euro, "euro": euro, "Euro": euro, "$": dollar, "US$": dollar, "USD": dollar, "dollari": dollar, "CHF": franc, "fr.": franc,
		"£": pound, "GBP": pound, "¥": yen, "JPY": yen,
	}
}

func italianUnits() map[string]grammar.Unit {
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

func italianAbbreviations() grammar.Abbreviations {
	return grammar.ParseAbbreviations(`
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

func italianDates() grammar.DateFormat {
	return grammar.RomanceDates(grammar.RomanceDate{
		Names: strings.Fields("- gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre"),
		First: "primo", Cardinal: italianCardinal, Of: " ", Slashes: true,
		LastDay: func(c grammar.Context) string {
			return " " + articleRange(map[string]string{"dal": "al"}, "a")(c) + " "
		},
		Then: func(t grammar.ClockTime) string {
			if t.Hour == 1 {
				return " all'"
			}
			return " alle "
		},
	})
}

func italianClock() grammar.ClockFormat {
	return grammar.ClockFormat{
		Cues: []string{"alle", "dalle", "delle", "ore", "le", "entro le", "h", "h."},
		Dots: []string{".", ","},
		Speak: func(t grammar.ClockTime, _ grammar.Context) string {
			hour := italianCardinal(int64(t.Hour), grammar.Form{Gender: grammar.Feminine})
			if t.Minute > 0 || t.Second > 0 {
				hour += " e " + italianCardinal(int64(t.Minute), grammar.Form{})
			}
			if t.Second > 0 {
				hour += " e " + italianCardinal(int64(t.Second), grammar.Form{})
			}
			return hour
		},
	}
}
