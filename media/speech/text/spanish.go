package text

import "strings"

func spanish() *language {
	return &language{
		tag:                "es",
		words:              spanishWords(),
		numbers:            spanishNumberFormat(),
		dates:              spanishDates(),
		clock:              spanishClock(),
		money:              spanishMoney(),
		address:            addressFormat{spellsMixed: true},
		cardinal:           spanishCardinal,
		ordinal:            spanishOrdinal,
		year:               func(n int) string { return spanishCardinal(int64(max(n, 0)), form{}) },
		agree:              agreeWithNoun(spanishGender, spanishFunctionWords),
		units:              spanishUnits(),
		unitsBefore:        map[string]string{"km": "kilómetro"},
		currencies:         spanishCurrencies(),
		signs:              spanishSigns(),
		abbreviations:      spanishAbbreviations(),
		months:             monthTable("enero febrero marzo abril mayo junio julio agosto septiembre/setiembre octubre noviembre diciembre"),
		shortMonths:        monthTable("ene feb mar abr - jun jul ago sep/sept/set oct nov dic"),
		weekdays:           weekdayTable("lun lunes mar martes mié miércoles mie miércoles jue jueves vie viernes sáb sábado sab sábado dom domingo"),
		numerals:           numeralFormat{suffixes: spanishOrdinalSuffixes(), roman: spanishRoman},
		agreeOrdinal:       spanishOrdinalForm,
		lowerAbbreviations: true,
		feminineCues:       wordSet("la una las esta nuestra"),
		sentenceStarts:     wordSet("y pero no luego después entonces ya si cuando me le les lo se es está hay también por para"),
		lexicon:            map[string]string{"COVID-19": "COVID diecinueve", "Covid-19": "Covid diecinueve", "y/o": "y o", "s/n": "sin número"},
		digitCues: strings.Split("termina en|terminada en|acaba en|pin|pin es|código es|código|código de verificación es|código de verificación|"+
			"código de seguridad es|clave es|contraseña es", "|"),
		rules:  []rule{matchColombianAddress, houseNumber(strings.ToUpper)},
		plates: spanishPlate,
	}
}

func spanishWords() words {
	return words{
		digits:  [10]string(spanishOnes[:10]),
		decimal: "coma", dot: "punto", minus: "menos", plus: "más", to: "a", score: "a",
		at: "arroba", hyphen: "guion", underscore: "guion bajo", slash: "barra", addressDot: "punto", hashtag: "hashtag",
		checked: "hecho", unchecked: "pendiente", times: "por", by: "por", about: "aproximadamente", less: "menos de",
		greater: "más de", number: "número", star: "asterisco", pound: "almohadilla", per: "por", over: "sobre",
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

func spanishMoney() moneyFormat {
	return moneyFormat{
		join:    " con ",
		ofScale: "de ",
		per: map[string]string{
			"mes": "al mes", "año": "al año", "día": "al día", "semana": "a la semana", "hora": "por hora", "h": "por hora", "noche": "por noche",
			"persona": "por persona", "minuto": "por minuto", "min": "por minuto",
		},
		zeroMarks: []string{",-", ".-"},
		choose: func(symbol string, n number, raw string) string {
			if symbol == "$" && strings.Contains(raw, ".") && n.grouped && n.fraction == "" {
				return "COP" // dots between thousands are usual where "$" is the peso
			}
			return symbol
		},
	}
}

func spanishCurrencies() map[string]currency {
	euro := currency{one: "euro", many: "euros", gender: masculine, minorOne: "céntimo", minorMany: "céntimos", minorGender: masculine}
	dollar := currency{one: "dólar", many: "dólares", gender: masculine, minorOne: "centavo", minorMany: "centavos", minorGender: masculine}
	peso := currency{one: "peso", many: "pesos", gender: masculine, minorOne: "centavo", minorMany: "centavos", minorGender: masculine}
	sol := currency{one: "sol", many: "soles", gender: masculine, minorOne: "céntimo", minorMany: "céntimos", minorGender: masculine}
	franc := currency{one: "franco", many: "francos", gender: masculine, minorOne: "céntimo", minorMany: "céntimos", minorGender: masculine}
	pound := currency{one: "libra", many: "libras", gender: feminine, minorOne: "penique", minorMany: "peniques", minorGender: masculine}
	yen := currency{one: "yen", many: "yenes", gender: masculine}
	table := map[string]currency{
		"€": euro, "EUR": euro, "euros": euro, "euro": euro, "$": dollar, "US$": dollar, "USD": dollar, "dólares": dollar, "CHF": franc,
		"S/": sol, "S/.": sol, "PEN": sol, "soles": sol, "£": pound, "GBP": pound, "¥": yen, "JPY": yen, "pesos": peso,
		"cts": {one: "céntimo", many: "céntimos", gender: masculine},
	}
	for _, key := range []string{"MXN", "COP", "ARS", "CLP", "UYU", "DOP", "AR$", "MX$", "COL$", "CLP$"} {
		table[key] = peso
	}
	return table
}

func spanishUnits() map[string]unit {
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

func spanishAbbreviations() abbreviations {
	return parseAbbreviations(`
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

func spanishDates() dateFormat {
	names := strings.Fields("- enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre")
	return romanceDates(romanceDate{
		names: names, first: "primero", cardinal: spanishCardinal, of: " de ", slashes: true,
		lastDay: func(c context) string {
			if strings.EqualFold(lastWord(c.before), "del") {
				return " al "
			}
			return " a "
		},
		then: func(t clockTime) string {
			if t.hour == 1 {
				return " a la "
			}
			return " a las "
		},
	})
}

func spanishClock() clockFormat {
	return clockFormat{
		hourSigns: []string{"h"},
		suffixes:  []string{"horas", "hrs", "hs", "h"},
		cues:      []string{"a las", "las", "a la", "desde las", "hasta las"},
		dayHalves: map[string]string{"am": "am", "pm": "pm"},
		speak: func(t clockTime, _ context) string {
			feminineHour := form{gender: feminine}
			spoken := spanishCardinal(int64(t.hour), feminineHour)
			if t.minute > 0 || t.second > 0 {
				spoken += " y " + spanishCardinal(int64(t.minute), form{})
			}
			if t.second > 0 {
				spoken += " y " + spanishCardinal(int64(t.second), form{})
			}
			switch {
			case t.suffix != "" && t.hour == 1 && t.minute == 0:
				return spoken + " hora"
			case t.suffix != "":
				return spoken + " horas"
			}
			return spoken + spanishDayHalf(t)
		},
	}
}

// spanishDayHalf returns the part of the day for "a. m." and "p. m.".
func spanishDayHalf(t clockTime) string {
	switch {
	case t.half == "am" && t.hour == 12:
		return " de la noche"
	case t.half == "am":
		return " de la mañana"
	case t.half == "pm" && t.hour == 12:
		return " del mediodía"
	case t.half == "pm" && t.hour < 8:
		return " de la tarde"
	case t.half == "pm":
		return " de la noche"
	}
	return ""
}
