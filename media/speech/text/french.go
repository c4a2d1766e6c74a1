package text

import "strings"

func french() *language {
	return &language{
		tag:                "fr",
		words:              frenchWords(),
		numbers:            frenchNumberFormat(),
		dates:              frenchDates(),
		clock:              frenchClock(),
		money:              frenchMoney(),
		address:            addressFormat{spellsMixed: true},
		cardinal:           frenchCardinal,
		ordinal:            frenchOrdinal,
		year:               frenchYear,
		agree:              agreeWithNoun(frenchGender, frenchFunctionWords),
		plural:             pluralFromTwo,
		units:              frenchUnits(),
		unitsBefore:        map[string]string{"km": "kilomètre"},
		currencies:         frenchCurrencies(),
		signs:              frenchSigns(),
		abbreviations:      frenchAbbreviations(),
		months:             monthTable("janvier février/fevrier mars avril mai juin juillet août/aout septembre octobre novembre décembre/decembre"),
		shortMonths:        monthTable("janv/jan févr/fév/fev - avr - - juil/juill - sept/sep oct nov déc/dec"),
		weekdays:           weekdayTable("lun lundi mar mardi mer mercredi jeu jeudi ven vendredi sam samedi dim dimanche"),
		numerals:           numeralFormat{suffixes: frenchOrdinalSuffixes(), roman: frenchRoman},
		lowerAbbreviations: true,
		sentenceStarts:     wordSet("il elle on nous vous ils elles je tu le la les un une ce cela pas puis mais et ou si quand"),
		lexicon:            map[string]string{"COVID-19": "COVID dix-neuf", "Covid-19": "Covid dix-neuf"},
		yearCues:           wordSet("en depuis avant après année années jusqu'en dès vers +à +et +ou"),
		digitCues:          strings.Split("code|code est|code de vérification est|code de sécurité est|code de confirmation est|code pin", "|"),
		rules:              []rule{matchFrenchDecade, matchFrenchArticle, matchDottedCapitals, matchSwissAmount, matchIncluded},
		elision:            true,
		spacedMarks:        true,
	}
}

// pluralFromTwo is the rule of languages in which 1.5 stands with the singular.
func pluralFromTwo(n number) bool { return n.value() >= 2 || len(n.integer) > digitsMost }

func frenchWords() words {
	return words{
		digits:  [10]string(frenchOnes[:10]),
		decimal: "virgule", dot: "point", minus: "moins", plus: "plus", to: "à", score: "à",
		at: "arobase", hyphen: "tiret", underscore: "tiret bas", slash: "slash", addressDot: "point", hashtag: "hashtag",
		checked: "fait", unchecked: "à faire", times: "fois", by: "sur", about: "environ", less: "inférieur à",
		greater: "supérieur à", number: "numéro", star: "étoile", pound: "dièse", per: "par", over: "sur",
	}
}

func frenchSigns() map[string]string {
	return map[string]string{
		"&": "et", "+": "plus", "=": "égale", "@": "arobase", "_": "tiret bas", "\\": "barre oblique inverse", "<": "inférieur à",
		">": "supérieur à", "~": "environ", "§": "paragraphe", "%": "pour cent", "‰": "pour mille", "×": "fois", "÷": "divisé par",
		"±": "plus ou moins", "|": "barre verticale", "^": "circonflexe", "°": "degrés", "µ": "micro", "≤": "au plus", "≥": "au moins",
		"≈": "environ", "≠": "différent de", "→": "vers", "·": "fois", "√": "racine de", "∞": "infini", "−": "moins", "″": "pouces",
		"′": "pieds", "º": "degrés", "ª": "", "¶": "paragraphe",
	}
}

func frenchMoney() moneyFormat {
	return moneyFormat{
		join:        " ",
		bareMinor:   true,
		ofScale:     "de ",
		ofVowel:     "d'",
		spacedCents: true,
		zeroMarks:   []string{".-", ".–", ",-", ",–"},
		per: map[string]string{
			"mois": "par mois", "an": "par an", "jour": "par jour", "semaine": "par semaine", "heure": "par heure", "h": "par heure", "nuit": "par nuit",
			"personne": "par personne", "pers": "par personne", "minute": "par minute", "min": "par minute",
		},
	}
}

func frenchCurrencies() map[string]currency {
	currencyOf := func(one, many, minor string) currency {
		return currency{one: one, many: many, gender: masculine, minorOne: minor, minorMany: minor + "s", minorGender: masculine}
	}
	euro, dollar := currencyOf("euro", "euros", "centime"), currencyOf("dollar", "dollars", "cent")
	canadian, franc := currencyOf("dollar canadien", "dollars canadiens", "cent"), currencyOf("franc", "francs", "centime")
	pound := currency{one: "livre", many: "livres", gender: feminine, minorOne: "penny", minorMany: "pence", minorGender: masculine}
	yen := currency{one: "yen", many: "yens", gender: masculine}
	cfa := currency{one: "franc CFA", many: "francs CFA", gender: masculine}
	return map[string]currency{
		"€": euro, "EUR": euro, "euros": euro, "euro": euro, "$": dollar, "US$": dollar, "$US": dollar, "USD": dollar, "$ CA": canadian,
		"$CA": canadian, "CAD": canadian, "CA$": canadian, "CHF": franc, "£": pound, "GBP": pound, "¥": yen, "JPY": yen, "FCFA": cfa, "XOF": cfa,
		"F CFA": cfa,
	}
}

func frenchUnits() map[string]unit {
	return unitTable(`
		km = kilomètre, kilomètres | m
		m = mètre, mètres | m
		cm = centimètre, centimètres | m
		mm = millimètre, millimètres | m
		kg = kilogramme, kilogrammes | m
		g = gramme, grammes | m
		mg = milligramme, milligrammes | m
		t = tonne, tonnes | f
		l L = litre, litres | m
		cl = centilitre, centilitres | m
		ml mL = millilitre, millilitres | m
		km/h = kilomètre par heure, kilomètres par heure | m
		m/s = mètre par seconde, mètres par seconde | m
		m² m2 = mètre carré, mètres carrés | m
		m³ m3 = mètre cube, mètres cubes | m
		km² = kilomètre carré, kilomètres carrés | m
		ha = hectare, hectares | m
		°C = degré Celsius, degrés Celsius | m
		°F = degré Fahrenheit, degrés Fahrenheit | m
		° = degré, degrés | m
		% = pour cent
		‰ = pour mille
		h = heure, heures | f
		min mn = minute, minutes | f
		s sec = seconde, secondes | f
		ms = milliseconde, millisecondes | f
		kB ko Ko = kilooctet, kilooctets | m
		MB Mo = mégaoctet, mégaoctets | m
		GB Go = gigaoctet, gigaoctets | m
		TB To = téraoctet, téraoctets | m
		Mbit/s Mb/s = mégabit par seconde, mégabits par seconde | m
		kW = kilowatt, kilowatts | m
		kWh = kilowattheure, kilowattheures | m
		V = volt, volts | m
		A = ampère, ampères | m
		W = watt, watts | m
		Hz = hertz | m
		kHz = kilohertz | m
		MHz = mégahertz | m
		GHz = gigahertz | m
		″ = pouce, pouces | m
	`)
}

func frenchAbbreviations() abbreviations {
	return parseAbbreviations(`
		M. = monsieur | name
		MM. = messieurs | name
		Mme = madame
		Mmes = mesdames
		Mlle = mademoiselle
		Dr = docteur | name
		Dr. = docteur | name
		Dre = docteure | name
		Pr = professeur | name
		Me = maître | name
		Mgr = monseigneur | name
		Vve = veuve | name
		p. ex. = par exemple
		c.-à-d. = c'est-à-dire
		càd = c'est-à-dire
		etc. = et cetera | closing
		env. = environ
		av. = avenue
		bd = boulevard | name
		bld = boulevard | name
		pl. = place
		ét. = étage
		appt = appartement
		bibl. = bibliothèque
		p. = page | number
		pp. = pages | number
		art. = article
		chap. = chapitre | number
		n° = numéro
		nº = numéro
		nos = numéros | number
		cf. = voir
		vs. = contre
		vs = contre
		svp = s'il vous plaît
		SVP = s'il vous plaît
		RDV = rendez-vous
		rdv = rendez-vous
		Tél. = téléphone
		tél. = téléphone
		St = Saint | name
		Ste = Sainte | name
		max. = maximum
		min. = minimum
		réf. = référence
		dép. = département
		av. J.-C. = avant Jésus-Christ
		apr. J.-C. = après Jésus-Christ
	`)
}

func frenchDates() dateFormat {
	return romanceDates(romanceDate{
		names: strings.Fields("- janvier février mars avril mai juin juillet août septembre octobre novembre décembre"),
		first: "premier", cardinal: frenchCardinal, year: frenchYear, of: " ", slashes: true,
		lastDay: func(c context) string {
			if strings.EqualFold(lastWord(c.before), "du") {
				return " au "
			}
			return " à "
		},
		then: func(clockTime) string { return " à " },
	})
}

func frenchClock() clockFormat {
	return clockFormat{
		hourSigns: []string{"h", " h ", "H"},
		suffixes:  []string{"min", "h"},
		speak: func(t clockTime, _ context) string {
			feminineForm := form{gender: feminine}
			spoken := frenchCardinal(int64(t.hour), feminineForm) + " heures"
			if t.hour < 2 {
				spoken = strings.TrimSuffix(spoken, "s")
			}
			if t.minute > 0 || t.second > 0 {
				spoken += " " + frenchCardinal(int64(t.minute), feminineForm)
			}
			if t.second > 0 {
				spoken += " " + frenchCardinal(int64(t.second), feminineForm)
			}
			if t.suffix == "min" {
				spoken += " minutes"
			}
			return spoken
		},
	}
}
