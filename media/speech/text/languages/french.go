package languages

import (
	"strings"

	"github.com/callboard/callboard/media/speech/text/grammar"
)

// French returns the words and rules of French.
func French() *grammar.Language {
	return &grammar.Language{
		Tag:                "fr",
		Words:              frenchWords(),
		Numbers:            frenchNumberFormat(),
		Dates:              frenchDates(),
		Clock:              frenchClock(),
		Money:              frenchMoney(),
		Address:            grammar.AddressFormat{SpellsMixed: true},
		Cardinal:           frenchCardinal,
		Ordinal:            frenchOrdinal,
		Year:               frenchYear,
		Agree:              agreeWithNoun(frenchGender, frenchFunctionWords),
		Plural:             pluralFromTwo,
		Units:              frenchUnits(),
		UnitsBefore:        map[string]string{"km": "kilomètre"},
		Currencies:         frenchCurrencies(),
		Signs:              frenchSigns(),
		Abbreviations:      frenchAbbreviations(),
		Months:             monthTable("janvier février/fevrier mars avril mai juin juillet août/aout septembre octobre novembre décembre/decembre"),
		ShortMonths:        monthTable("janv/jan févr/fév/fev - avr - - juil/juill - sept/sep oct nov déc/dec"),
		Weekdays:           grammar.WeekdayTable("lun lundi mar mardi mer mercredi jeu jeudi ven vendredi sam samedi dim dimanche"),
		Numerals:           grammar.NumeralFormat{Suffixes: frenchOrdinalSuffixes(), Roman: frenchRoman},
		LowerAbbreviations: true,
		SentenceStarts:     grammar.WordSet("il elle on nous vous ils elles je tu le la les un une ce cela pas puis mais et ou si quand"),
		Lexicon:            map[string]string{"COVID-19": "COVID dix-neuf", "Covid-19": "Covid dix-neuf"},
		YearCues:           grammar.WordSet("en depuis avant après année années jusqu'en dès vers +à +et +ou"),
		DigitCues:          strings.Split("code|code est|code de vérification est|code de sécurité est|code de confirmation est|code pin", "|"),
		Rules:              []grammar.Rule{matchFrenchDecade, matchFrenchArticle, matchDottedCapitals, matchSwissAmount, matchIncluded},
		Elision:            true,
		SpacedMarks:        true,
	}
}

// pluralFromTwo is the rule of languages in which 1.5 stands with the singular.
func pluralFromTwo(n grammar.Number) bool {
	return n.Value() >= 2 || len(n.Integer) > grammar.DigitsMost
}

func frenchWords() grammar.Words {
	return grammar.Words{
		Digits:  [10]string(frenchOnes[:10]),
		Decimal: "virgule", Dot: "point", Minus: "moins", Plus: "plus", To: "à", Score: "à",
		At: "arobase", Hyphen: "tiret", Underscore: "tiret bas", Slash: "slash", AddressDot: "point", Hashtag: "hashtag",
		Checked: "fait", Unchecked: "à faire", Times: "fois", By: "sur", About: "environ", Less: "inférieur à",
		Greater: "supérieur à", Number: "numéro", Star: "étoile", Pound: "dièse", Per: "par", Over: "sur",
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

func frenchMoney() grammar.MoneyFormat {
	return grammar.MoneyFormat{
		Join:        " ",
		BareMinor:   true,
		OfScale:     "de ",
		OfVowel:     "d'",
		SpacedCents: true,
		ZeroMarks:   []string{".-", ".–", ",-", ",–"},
		Per: map[string]string{
			"mois": "par mois", "an": "par an", "jour": "par jour", "semaine": "par semaine", "heure": "par heure", "h": "par heure", "nuit": "par nuit",
			"personne": "par personne", "pers": "par personne", "minute": "par minute", "min": "par minute",
		},
	}
}

func frenchCurrencies() map[string]grammar.Currency {
	currencyOf := func(one, many, minor string) grammar.Currency {
		return grammar.Currency{One: one, Many: many, Gender: grammar.Masculine, MinorOne: minor, MinorMany: minor + "s", MinorGender: grammar.Masculine}
	}
	euro, dollar := currencyOf("euro", "euros", "centime"), currencyOf("dollar", "dollars", "cent")
	canadian, franc := currencyOf("dollar canadien", "dollars canadiens", "cent"), currencyOf("franc", "francs", "centime")
	pound := grammar.Currency{One: "livre", Many: "livres", Gender: grammar.Feminine, MinorOne: "penny", MinorMany: "pence", MinorGender: grammar.Masculine}
	yen := grammar.Currency{One: "yen", Many: "yens", Gender: grammar.Masculine}
	cfa := grammar.Currency{One: "franc CFA", Many: "francs CFA", Gender: grammar.Masculine}
	return map[string]grammar.Currency{
		"€": euro, "EUR": euro, "euros": euro, "euro": euro, "$": dollar, "US$": dollar, "$US": dollar, "USD": dollar, "$ CA": canadian,
		"$CA": canadian, "CAD": canadian, "CA$": canadian, "CHF": franc, "£": pound, "GBP": pound, "¥": yen, "JPY": yen, "FCFA": cfa, "XOF": cfa,
		"F CFA": cfa,
	}
}

func frenchUnits() map[string]grammar.Unit {
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

func frenchAbbreviations() grammar.Abbreviations {
	return grammar.ParseAbbreviations(`
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

func frenchDates() grammar.DateFormat {
	return grammar.RomanceDates(grammar.RomanceDate{
		Names: strings.Fields("- janvier février mars avril mai juin juillet août septembre octobre novembre décembre"),
		First: "premier", Cardinal: frenchCardinal, Year: frenchYear, Of: " ", Slashes: true,
		LastDay: func(c grammar.Context) string {
			if strings.EqualFold(grammar.LastWord(c.Before), "du") {
				return " au "
			}
			return " à "
		},
		Then: func(grammar.ClockTime) string { return " à " },
	})
}

func frenchClock() grammar.ClockFormat {
	return grammar.ClockFormat{
		HourSigns: []string{"h", " h ", "H"},
		Suffixes:  []string{"min", "h"},
		Speak: func(t grammar.ClockTime, _ grammar.Context) string {
			feminineForm := grammar.Form{Gender: grammar.Feminine}
			spoken := frenchCardinal(int64(t.Hour), feminineForm) + " heures"
			if t.Hour < 2 {
				spoken = strings.TrimSuffix(spoken, "s")
			}
			if t.Minute > 0 || t.Second > 0 {
				spoken += " " + frenchCardinal(int64(t.Minute), feminineForm)
			}
			if t.Second > 0 {
				spoken += " " + frenchCardinal(int64(t.Second), feminineForm)
			}
			if t.Suffix == "min" {
				spoken += " minutes"
			}
			return spoken
		},
	}
}
