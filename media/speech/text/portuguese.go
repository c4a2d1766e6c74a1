package text

import "strings"

func portuguese() *language {
	return &language{
		tag:                "pt",
		words:              portugueseWords(),
		numbers:            portugueseNumberFormat(),
		dates:              portugueseDates(),
		clock:              portugueseClock(),
		money:              portugueseMoney(),
		cardinal:           portugueseCardinal,
		ordinal:            portugueseOrdinal,
		year:               func(n int) string { return portugueseCardinal(int64(max(n, 0)), form{}) },
		agree:              agreeWithNoun(portugueseGender, portugueseFunctionWords),
		plural:             pluralFromTwo,
		units:              portugueseUnits(),
		unitsBefore:        map[string]string{"km": "quilômetro"},
		currencies:         portugueseCurrencies(),
		signs:              portugueseSigns(),
		abbreviations:      portugueseAbbreviations(),
		months:             monthTable("janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro"),
		shortMonths:        monthTable("jan fev mar abr mai jun jul ago set out nov dez"),
		weekdays:           weekdayTable("seg segunda-feira ter terça-feira qua quarta-feira qui quinta-feira sex sexta-feira sáb sábado sab sábado dom domingo"),
		numerals:           numeralFormat{suffixes: portugueseOrdinalSuffixes(), roman: portugueseRoman},
		lowerAbbreviations: true,
		sentenceStarts:     wordSet("depois então mas e não o a os as um uma eu ele ela nós você já se quando também por para é está foi"),
		lexicon:            map[string]string{"COVID-19": "COVID dezenove", "Covid-19": "Covid dezenove", "e/ou": "e ou", "s/n": "sem número"},
		digitCues:          strings.Split("código otp|otp|senha|senha é|pin|pin é|código é|código|código de verificação é|código postal|cep|cpf|termina em|final", "|"),
		rules:              []rule{timesRule("vezes", feminine), halfHour("meia hora"), matchPortugueseRatio, matchCompanyNumber, houseNumber(strings.ToUpper)},
		elision:            true,
		dropsBraces:        true,
		rangeWord:          articleRange(map[string]string{"das": "às"}, "a"),
	}
}

func portugueseWords() words {
	return words{
		digits:  [10]string(portugueseOnes[:10]),
		decimal: "vírgula", dot: "ponto", minus: "menos", plus: "mais", to: "a", score: "a",
		at: "arroba", hyphen: "hífen", underscore: "underline", slash: "barra", addressDot: "ponto", hashtag: "hashtag",
		checked: "feito", unchecked: "pendente", times: "por", by: "por", about: "cerca de", less: "menor que", greater: "maior que",
		number: "número", star: "asterisco", pound: "jogo da velha", per: "por", over: "sobre",
	}
}

func portugueseSigns() map[string]string {
	return map[string]string{
		"&": "e", "+": "mais", "=": "igual a", "@": "arroba", "_": "underline", "\\": "barra invertida", "<": "menor que", ">": "maior que",
		"~": "cerca de", "§": "parágrafo", "%": "por cento", "‰": "por mil", "×": "por", "÷": "dividido por", "±": "mais ou menos",
		"|": "barra vertical", "^": "circunflexo", "°": "graus", "µ": "micro", "≤": "no máximo", "≥": "no mínimo", "≈": "cerca de",
		"≠": "diferente de", "→": "para", "·": "por", "√": "raiz de", "∞": "infinito", "−": "menos", "″": "polegadas", "′": "pés", "º": "graus",
		"ª": "", "¶": "parágrafo",
	}
}

func portugueseMoney() moneyFormat {
	return moneyFormat{
		join:      " e ",
		ofScale:   "de ",
		zeroMarks: []string{",-", ",–"},
		per: map[string]string{
			"mês": "por mês", "ano": "por ano", "dia": "por dia", "semana": "por semana", "hora": "por hora", "h": "por hora", "noite": "por noite",
			"pessoa": "por pessoa", "minuto": "por minuto", "min": "por minuto",
		},
	}
}

func portugueseCurrencies() map[string]currency {
	currencyOf := func(one, many, minor string) currency {
		return currency{one: one, many: many, gender: masculine, minorOne: minor, minorMany: minor + "s", minorGender: masculine}
	}
	euro, dollar := currencyOf("euro", "euros", "cêntimo"), currencyOf("dólar", "dólares", "centavo")
	brazilian, franc := currencyOf("real", "reais", "centavo"), currencyOf("franco", "francos", "cêntimo")
	pound := currency{one: "libra", many: "libras", gender: feminine, minorOne: "pêni", minorMany: "pence", minorGender: masculine}
	yen := currency{one: "iene", many: "ienes", gender: masculine}
	return map[string]currency{
		"€": euro, "EUR": euro, "euros": euro, "euro": euro, "$": dollar, "US$": dollar, "USD": dollar, "dólares": dollar, "R$": brazilian,
		"BRL": brazilian, "reais": brazilian, "CHF": franc, "£": pound, "GBP": pound, "¥": yen, "JPY": yen,
	}
}

func portugueseUnits() map[string]unit {
	return unitTable(`
		km = quilômetro, quilômetros | m
		m = metro, metros | m
		cm = centímetro, centímetros | m
		mm = milímetro, milímetros | m
		kg = quilograma, quilogramas | m
		g = grama, gramas | m
		mg = miligrama, miligramas | m
		l L = litro, litros | m
		ml mL = mililitro, mililitros | m
		cl = centilitro, centilitros | m
		km/h = quilômetro por hora, quilômetros por hora | m
		m/s = metro por segundo, metros por segundo | m
		m² m2 = metro quadrado, metros quadrados | m
		m³ m3 = metro cúbico, metros cúbicos | m
		km² = quilômetro quadrado, quilômetros quadrados | m
		ha = hectare, hectares | m
		°C ºC = grau Celsius, graus Celsius | m
		°F = grau Fahrenheit, graus Fahrenheit | m
		° = grau, graus | m
		% = por cento
		‰ = por mil
		h = hora, horas | f
		min = minuto, minutos | m
		s seg = segundo, segundos | m
		ms = milissegundo, milissegundos | m
		kB KB = kilobyte, kilobytes | m
		MB = megabyte, megabytes | m
		GB = gigabyte, gigabytes | m
		TB = terabyte, terabytes | m
		Mbps = megabit por segundo, megabits por segundo | m
		kW = quilowatt, quilowatts | m
		kWh = quilowatt-hora, quilowatts-hora | m
		V = volt, volts | m
		A = ampere, amperes | m
		W = watt, watts | m
		Hz = hertz | m
		kHz = quilohertz | m
		MHz = megahertz | m
		GHz = gigahertz | m
		″ = polegada, polegadas | f
		cp. = comprimido, comprimidos | m
	`)
}

func portugueseAbbreviations() abbreviations {
	return parseAbbreviations(`
		Dr. = doutor
		Dra. = doutora
		Sr. = senhor
		Sra. = senhora
		Srs. = senhores
		Sras. = senhoras
		Srta. = senhorita
		D. = dona | name
		Prof. = professor
		Profa. = professora
		Prof.ª = professora
		Eng. = engenheiro | name
		Eng.º = engenheiro
		Eng.ª = engenheira
		Arq.º = arquiteto
		Arq.ª = arquiteta
		Exmo. = excelentíssimo
		Exma. = excelentíssima
		V. Exa. = Vossa Excelência
		s/ = sua
		a/c = aos cuidados
		Ref. ao = referente ao
		Ref. = referência
		p. ex. = por exemplo
		i.e. = isto é
		etc. = etcétera | closing
		vs. = versus
		aprox. = aproximadamente
		máx. = máximo
		mín. = mínimo
		pág. = página
		págs. = páginas
		art. = artigo
		cap. = capítulo | number
		n.º = número
		nº = número
		n° = número
		Av. = avenida
		Pça. = praça
		Lgo. = largo
		R. = rua | name
		Tv. = travessa | name
		Sto. = Santo | name
		Sta. = Santa | name
		séc. = século
		ap. = apartamento
		apto. = apartamento
		bl. = bloco
		esq. = esquerdo | behind number
		dto. = direito | behind number
		Lda. = limitada | closing
		Ltda. = limitada | closing
		Tel. = telefone
		tel. = telefone
		Telem. = telemóvel
		telem. = telemóvel
		Cia. = companhia
		incl. = incluído
		a.C. = antes de Cristo
		d.C. = depois de Cristo
	`)
}

func portugueseDates() dateFormat {
	return romanceDates(romanceDate{
		names: strings.Fields("- janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro"),
		first: "primeiro", cardinal: portugueseCardinal, of: " de ", slashes: true,
		lastDay: func(context) string { return " a " },
		then: func(t clockTime) string {
			if t.hour == 1 {
				return " à "
			}
			return " às "
		},
	})
}

func portugueseClock() clockFormat {
	return clockFormat{
		hourSigns: []string{"h"},
		suffixes:  []string{"min", "horas", "hs", "h"},
		speak: func(t clockTime, _ context) string {
			spoken := portugueseCardinal(int64(t.hour), form{gender: feminine})
			switch {
			case t.minute > 0 || t.second > 0:
				spoken += " e " + portugueseCardinal(int64(t.minute), form{})
			case t.hour == 0:
				return spoken + " horas"
			case t.sign != "h" && t.suffix == "":
			case t.hour == 1:
				return spoken + " hora"
			default:
				return spoken + " horas"
			}
			if t.second > 0 {
				spoken += " e " + portugueseCardinal(int64(t.second), form{})
			}
			return spoken
		},
	}
}
