package languages

import (
	"strings"

	"github.com/callboard/callboard/media/speech/text/grammar"
)

// Portuguese returns the words and rules of Portuguese.
func Portuguese() *grammar.Language {
	return &grammar.Language{
		Tag:                "pt",
		Words:              portugueseWords(),
		Numbers:            portugueseNumberFormat(),
		Dates:              portugueseDates(),
		Clock:              portugueseClock(),
		Money:              portugueseMoney(),
		Cardinal:           portugueseCardinal,
		Ordinal:            portugueseOrdinal,
		Year:               func(n int) string { return portugueseCardinal(int64(max(n, 0)), grammar.Form{}) },
		Agree:              agreeWithNoun(portugueseGender, portugueseFunctionWords),
		Plural:             pluralFromTwo,
		Units:              portugueseUnits(),
		UnitsBefore:        map[string]string{"km": "quilômetro"},
		Currencies:         portugueseCurrencies(),
		Signs:              portugueseSigns(),
		Abbreviations:      portugueseAbbreviations(),
		Months:             monthTable("janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro"),
		ShortMonths:        monthTable("jan fev mar abr mai jun jul ago set out nov dez"),
		Weekdays:           grammar.WeekdayTable("seg segunda-feira ter terça-feira qua quarta-feira qui quinta-feira sex sexta-feira sáb sábado sab sábado dom domingo"),
		Numerals:           grammar.NumeralFormat{Suffixes: portugueseOrdinalSuffixes(), Roman: portugueseRoman},
		LowerAbbreviations: true,
		SentenceStarts:     grammar.WordSet("depois então mas e não o a os as um uma eu ele ela nós você já se quando também por para é está foi"),
		Lexicon:            map[string]string{"COVID-19": "COVID dezenove", "Covid-19": "Covid dezenove", "e/ou": "e ou", "s/n": "sem número"},
		DigitCues:          strings.Split("código otp|otp|senha|senha é|pin|pin é|código é|código|código de verificação é|código postal|cep|cpf|termina em|final", "|"),
		Rules:              []grammar.Rule{timesRule("vezes", grammar.Feminine), halfHour("meia hora"), matchPortugueseRatio, matchCompanyNumber, grammar.HouseNumber(strings.ToUpper)},
		Elision:            true,
		DropsBraces:        true,
		RangeWord:          articleRange(map[string]string{"das": "às"}, "a"),
	}
}

func portugueseWords() grammar.Words {
	return grammar.Words{
		Digits:  [10]string(portugueseOnes[:10]),
		Decimal: "vírgula", Dot: "ponto", Minus: "menos", Plus: "mais", To: "a", Score: "a",
		At: "arroba", Hyphen: "hífen", Underscore: "underline", Slash: "barra", AddressDot: "ponto", Hashtag: "hashtag",
		Checked: "feito", Unchecked: "pendente", Times: "por", By: "por", About: "cerca de", Less: "menor que", Greater: "maior que",
		Number: "número", Star: "asterisco", Pound: "jogo da velha", Per: "por", Over: "sobre",
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

func portugueseMoney() grammar.MoneyFormat {
	return grammar.MoneyFormat{
		Join:      " e ",
		OfScale:   "de ",
		ZeroMarks: []string{",-", ",–"},
		Per: map[string]string{
			"mês": "por mês", "ano": "por ano", "dia": "por dia", "semana": "por semana", "hora": "por hora", "h": "por hora", "noite": "por noite",
			"pessoa": "por pessoa", "minuto": "por minuto", "min": "por minuto",
		},
	}
}

func portugueseCurrencies() map[string]grammar.Currency {
	currencyOf := func(one, many, minor string) grammar.Currency {
		return grammar.Currency{One: one, Many: many, Gender: grammar.Masculine, MinorOne: minor, MinorMany: minor + "s", MinorGender: grammar.Masculine}
	}
	euro, dollar := currencyOf("euro", "euros", "cêntimo"), currencyOf("dólar", "dólares", "centavo")
	brazilian, franc := currencyOf("real", "reais", "centavo"), currencyOf("franco", "francos", "cêntimo")
	pound := grammar.Currency{One: "libra", Many: "libras", Gender: grammar.Feminine, MinorOne: "pêni", MinorMany: "pence", MinorGender: grammar.Masculine}
	yen := grammar.Currency{One: "iene", Many: "ienes", Gender: grammar.Masculine}
	return map[string]grammar.Currency{
		"€": euro, "EUR": euro, "euros": euro, "euro": euro, "$": dollar, "US$": dollar, "USD": dollar, "dólares": dollar, "R$": brazilian,
		"BRL": brazilian, "reais": brazilian, "CHF": franc, "£": pound, "GBP": pound, "¥": yen, "JPY": yen,
	}
}

func portugueseUnits() map[string]grammar.Unit {
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

func portugueseAbbreviations() grammar.Abbreviations {
	return grammar.ParseAbbreviations(`
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

func portugueseDates() grammar.DateFormat {
	return grammar.RomanceDates(grammar.RomanceDate{
		Names: strings.Fields("- janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro"),
		First: "primeiro", Cardinal: portugueseCardinal, Of: " de ", Slashes: true,
		LastDay: func(grammar.Context) string { return " a " },
		Then: func(t grammar.ClockTime) string {
			if t.Hour == 1 {
				return " à "
			}
			return " às "
		},
	})
}

func portugueseClock() grammar.ClockFormat {
	return grammar.ClockFormat{
		HourSigns: []string{"h"},
		Suffixes:  []string{"min", "horas", "hs", "h"},
		Speak: func(t grammar.ClockTime, _ grammar.Context) string {
			spoken := portugueseCardinal(int64(t.Hour), grammar.Form{Gender: grammar.Feminine})
			switch {
			case t.Minute > 0 || t.Second > 0:
				spoken += " e " + portugueseCardinal(int64(t.Minute), grammar.Form{})
			case t.Hour == 0:
				return spoken + " horas"
			case t.Sign != "h" && t.Suffix == "":
			case t.Hour == 1:
				return spoken + " hora"
			default:
				return spoken + " horas"
			}
			if t.Second > 0 {
				spoken += " e " + portugueseCardinal(int64(t.Second), grammar.Form{})
			}
			return spoken
		},
	}
}
