package languages

import (
	"strings"

	"github.com/callboard/callboard/media/speech/text/grammar"
)

// Spanish returns the words and rules of Spanish.
func Spanish() *grammar.Language {
	return &grammar.Language{
		Tag:                "es",
		Words:              spanishWords(),
		Numbers:            spanishNumberFormat(),
		Dates:              spanishDates(),
		Clock:              spanishClock(),
		Money:              spanishMoney(),
		Address:            grammar.AddressFormat{SpellsMixed: true},
		Cardinal:           spanishCardinal,
		Ordinal:            spanishOrdinal,
		Year:               func(n int) string { return spanishCardinal(int64(max(n, 0)), grammar.Form{}) },
		Agree:              agreeWithNoun(spanishGender, spanishFunctionWords),
		Units:              spanishUnits(),
		UnitsBefore:        map[string]string{"km": "kilómetro"},
		Currencies:         spanishCurrencies(),
		Signs:              spanishSigns(),
		Abbreviations:      spanishAbbreviations(),
		Months:             monthTable("enero febrero marzo abril mayo junio julio agosto septiembre/setiembre octubre noviembre diciembre"),
		ShortMonths:        monthTable("ene feb mar abr - jun jul ago sep/sept/set oct nov dic"),
		Weekdays:           grammar.WeekdayTable("lun lunes mar martes mié miércoles mie miércoles jue jueves vie viernes sáb sábado sab sábado dom domingo"),
		Numerals:           grammar.NumeralFormat{Suffixes: spanishOrdinalSuffixes(), Roman: spanishRoman},
		AgreeOrdinal:       spanishOrdinalForm,
		LowerAbbreviations: true,
		FeminineCues:       grammar.WordSet("la una las esta nuestra"),
		SentenceStarts:     grammar.WordSet("y pero no luego después entonces ya si cuando me le les lo se es está hay también por para"),
		Lexicon:            map[string]string{"COVID-19": "COVID diecinueve", "Covid-19": "Covid diecinueve", "y/o": "y o", "s/n": "sin número"},
		DigitCues: strings.Split("termina en|terminada en|acaba en|pin|pin es|código es|código|código de verificación es|código de verificación|"+
			"código de seguridad es|clave es|contraseña es", "|"),
		Rules:  []grammar.Rule{matchColombianAddress, grammar.HouseNumber(strings.ToUpper)},
		Plates: spanishPlate,
	}
}

func spanishWords() grammar.Words {
	return grammar.Words{
		Digits:  [10]string(spanishOnes[:10]),
		Decimal: "coma", Dot: "punto", Minus: "menos", Plus: "más", To: "a", Score: "a",
		At: "arroba", Hyphen: "guion", Underscore: "guion bajo", Slash: "barra", AddressDot: "punto", Hashtag: "hashtag",
		Checked: "hecho", Unchecked: "pendiente", Times: "por", By: "por", About: "aproximadamente", Less: "menos de",
		Greater: "más de", Number: "número", Star: "asterisco", Pound: "almohadilla", Per: "por", Over: "sobre",
	}
}

func spanishSigns() map[string]string {
	return map[string]string{
		"&": "y", "+": "más", "=": "igual a", "@": "arroba", "_": "guion bajo", "\\": "barra invertida", "<": "menor que",
		">": "mayor que", "~": "aproximadamente", "§": "párrafo", "%": "por ciento", "‰": "por mil", "×": "por", "÷": "entre",
		"±": "más menos", "|": "barra vertical", "^": "circunflejo", "°": "grados", "µ": "micro", "≤": "como máximo", "≥": "al menos",
		"≈": "aproximadamente", "≠": "distinto de", "→": "a", "·": "por", "√": "raíz de", "∞": "infinito", "−": "menos", "″": "pulgadas",
		"′": "pies", ":": "dos puntos", "º": "grados", "ª": "", "¶": "párrafo",
	}
}

func spanishMoney() grammar.MoneyFormat {
	return grammar.MoneyFormat{
		Join:    " con ",
		OfScale: "de ",
		Per: map[string]string{
			"mes": "al mes", "año": "al año", "día": "al día", "semana": "a la semana", "hora": "por hora", "h": "por hora", "noche": "por noche",
			"persona": "por persona", "minuto": "por minuto", "min": "por minuto",
		},
		ZeroMarks: []string{",-", ".-"},
		Choose: func(symbol string, n grammar.Number, raw string) string {
			if symbol == "$" && strings.Contains(raw, ".") && n.Grouped && n.Fraction == "" {
				return "COP" // dots between thousands are usual where "$" is the peso
			}
			return symbol
		},
	}
}

func spanishCurrencies() map[string]grammar.Currency {
	euro := grammar.Currency{One: "euro", Many: "euros", Gender: grammar.Masculine, MinorOne: "céntimo", MinorMany: "céntimos", MinorGender: grammar.Masculine}
	dollar := grammar.Currency{One: "dólar", Many: "dólares", Gender: grammar.Masculine, MinorOne: "centavo", MinorMany: "centavos", MinorGender: grammar.Masculine}
	peso := grammar.Currency{One: "peso", Many: "pesos", Gender: grammar.Masculine, MinorOne: "centavo", MinorMany: "centavos", MinorGender: grammar.Masculine}
	sol := grammar.Currency{One: "sol", Many: "soles", Gender: grammar.Masculine, MinorOne: "céntimo", MinorMany: "céntimos", MinorGender: grammar.Masculine}
	franc := grammar.Currency{One: "franco", Many: "francos", Gender: grammar.Masculine, MinorOne: "céntimo", MinorMany: "céntimos", MinorGender: grammar.Masculine}
	pound := grammar.Currency{One: "libra", Many: "libras", Gender: grammar.Feminine, MinorOne: "penique", MinorMany: "peniques", MinorGender: grammar.Masculine}
	yen := grammar.Currency{One: "yen", Many: "yenes", Gender: grammar.Masculine}
	table := map[string]grammar.Currency{
		"€": euro, "EUR": euro, "euros": euro, "euro": euro, "$": dollar, "US$": dollar, "USD": dollar, "dólares": dollar, "CHF": franc,
		"S/": sol, "S/.": sol, "PEN": sol, "soles": sol, "£": pound, "GBP": pound, "¥": yen, "JPY": yen, "pesos": peso,
		"cts": {One: "céntimo", Many: "céntimos", Gender: grammar.Masculine},
	}
	for _, key := range []string{"MXN", "COP", "ARS", "CLP", "UYU", "DOP", "AR$", "MX$", "COL$", "CLP$"} {
		table[key] = peso
	}
	return table
}

func spanishUnits() map[string]grammar.Unit {
	return unitTable(`
		km = kilómetro, kilómetros | m
		m = metro, metros | m
		cm = centímetro, centímetros | m
		mm = milímetro, milímetros | m
		kg = kilogramo, kilogramos | m
		g gr = gramo, gramos | m
		mg = miligramo, miligramos | m
		lb = libra, libras | f
		oz = onza, onzas | f
		l L = litro, litros | m
		ml = mililitro, mililitros | m
		cl = centilitro, centilitros | m
		km/h = kilómetro por hora, kilómetros por hora | m
		m/s = metro por segundo, metros por segundo | m
		m² m2 = metro cuadrado, metros cuadrados | m
		m³ m3 = metro cúbico, metros cúbicos | m
		km² = kilómetro cuadrado, kilómetros cuadrados | m
		ha = hectárea, hectáreas | f
		°C ºC = grado Celsius, grados Celsius | m
		°F = grado Fahrenheit, grados Fahrenheit | m
		° = grado, grados | m
		% = por ciento
		‰ = por mil
		h hrs hs = hora, horas | f
		min min. = minuto, minutos | m
		s seg = segundo, segundos | m
		ms = milisegundo, milisegundos | m
		kB KB = kilobyte, kilobytes | m
		MB = megabyte, megabytes | m
		GB = gigabyte, gigabytes | m
		TB = terabyte, terabytes | m
		Mbps = megabit por segundo, megabits por segundo | m
		kW = kilovatio, kilovatios | m
		kWh = kilovatio hora, kilovatios hora | m
		V = voltio, voltios | m
		A = amperio, amperios | m
		W = vatio, vatios | m
		Hz = hercio, hercios | m
		kHz = kilohercio, kilohercios | m
		MHz = megahercio, megahercios | m
		GHz = gigahercio, gigahercios | m
		″ = pulgada, pulgadas | f
	`)
}

func spanishAbbreviations() grammar.Abbreviations {
	return grammar.ParseAbbreviations(`
		Dr. = doctor
		Dra. = doctora
		Dres. = doctores
		Sr. = señor
		Sra. = señora
		Sres. = señores
		Sras. = señoras
		Srta. = señorita
		D. = don | name
		D.ª = doña
		Dª = doña
		Ud. = usted
		Uds. = ustedes
		Vd. = usted
		Vds. = ustedes
		p. ej. = por ejemplo
		EE. UU. = Estados Unidos
		S. L. = sociedad limitada
		S. A. = sociedad anónima
		p. ej = por ejemplo
		etc. = etcétera | closing
		vs. = versus
		núm. = número | closing
		n.º = número
		nº = número
		Av. = avenida
		Avda. = avenida
		Pza. = plaza
		Pl. = plaza | name
		C/ = calle
		c/ = calle
		Ctra. = carretera
		Sta. = Santa | name
		Sto. = Santo | name
		izda. = izquierda
		izq. = izquierda
		dcha. = derecha
		apto. = apartamento
		dpto. = departamento
		incl. = incluido
		aprox. = aproximadamente
		máx. = máximo
		mín. = mínimo
		Tel. = teléfono
		tel. = teléfono
		tfno. = teléfono
		Lic. = licenciado/licenciada
		Ing. = ingeniero/ingeniera
		Prof. = profesor/profesora
		Arq. = arquitecto/arquitecta
		pág. = página
		págs. = páginas
		art. = artículo
		cap. = capítulo | number
		vol. = volumen | number
		Admón. = administración
		a. C. = antes de Cristo
		d. C. = después de Cristo
		atte. = atentamente
	`)
}

func spanishDates() grammar.DateFormat {
	names := strings.Fields("- enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre")
	return grammar.RomanceDates(grammar.RomanceDate{
		Names: names, First: "primero", Cardinal: spanishCardinal, Of: " de ", Slashes: true,
		LastDay: func(c grammar.Context) string {
			if strings.EqualFold(grammar.LastWord(c.Before), "del") {
				return " al "
			}
			return " a "
		},
		Then: func(t grammar.ClockTime) string {
			if t.Hour == 1 {
				return " a la "
			}
			return " a las "
		},
	})
}

func spanishClock() grammar.ClockFormat {
	return grammar.ClockFormat{
		HourSigns: []string{"h"},
		Suffixes:  []string{"horas", "hrs", "hs", "h"},
		Cues:      []string{"a las", "las", "a la", "desde las", "hasta las"},
		DayHalves: map[string]string{"am": "am", "pm": "pm"},
		Speak: func(t grammar.ClockTime, _ grammar.Context) string {
			feminineHour := grammar.Form{Gender: grammar.Feminine}
			spoken := spanishCardinal(int64(t.Hour), feminineHour)
			if t.Minute > 0 || t.Second > 0 {
				spoken += " y " + spanishCardinal(int64(t.Minute), grammar.Form{})
			}
			if t.Second > 0 {
				spoken += " y " + spanishCardinal(int64(t.Second), grammar.Form{})
			}
			switch {
			case t.Suffix != "" && t.Hour == 1 && t.Minute == 0:
				return spoken + " hora"
			case t.Suffix != "":
				return spoken + " horas"
			}
			return spoken + spanishDayHalf(t)
		},
	}
}

// spanishDayHalf returns the part of the day for "a. m." and "p. m.".
func spanishDayHalf(t grammar.ClockTime) string {
	switch {
	case t.Half == "am" && t.Hour == 12:
		return " de la noche"
	case t.Half == "am":
		return " de la mañana"
	case t.Half == "pm" && t.Hour == 12:
		return " del mediodía"
	case t.Half == "pm" && t.Hour < 8:
		return " de la tarde"
	case t.Half == "pm":
		return " de la noche"
	}
	return ""
}
