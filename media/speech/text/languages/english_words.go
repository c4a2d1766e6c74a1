package languages

import (
	"strings"

	"github.com/callboard/callboard/media/speech/text/grammar"
)

func englishWords() grammar.Words {
	return grammar.Words{
		Digits:  [10]string(englishOnes[:10]),
		Decimal: "point", Dot: "point", Minus: "minus", Plus: "plus", To: "to", Score: "to",
		At: "at", Hyphen: "dash", Underscore: "underscore", Slash: "slash", AddressDot: "dot", Hashtag: "hashtag",
		Checked: "checked", Unchecked: "unchecked", Times: "times", By: "by", About: "about", Less: "less than",
		Greater: "greater than", Number: "number", Star: "star", Stars: "stars", Pound: "pound", Per: "per", Over: "over",
	}
}

func englishSigns() map[string]string {
	return map[string]string{
		"&": "and", "+": "plus", "=": "equals", "@": "at", "_": "underscore", "\\": "backslash", "<": "less than",
		">": "greater than", "~": "about", "§": "section", "%": "percent", "‰": "per mille", "×": "times", "÷": "divided by",
		"±": "plus or minus", "|": "bar", "^": "caret", "°": "degrees", "µ": "micro", "≤": "at most", "≥": "at least", "≈": "about",
		"≠": "not equal to", "→": "to", "·": "times", "√": "root of", "∞": "infinity", "−": "minus",
		"№": "number", "¶": "paragraph", "″": "inches", "′": "feet",
	}
}

func englishCurrencies() map[string]grammar.Currency {
	dollar := grammar.Currency{One: "dollar", Many: "dollars", MinorOne: "cent", MinorMany: "cents"}
	euro := grammar.Currency{One: "euro", Many: "euros", MinorOne: "cent", MinorMany: "cents"}
	pound := grammar.Currency{One: "pound", Many: "pounds", MinorOne: "penny", MinorMany: "pence"}
	yen := grammar.Currency{One: "yen", Many: "yen"}
	franc := grammar.Currency{One: "franc", Many: "francs", MinorOne: "centime", MinorMany: "centimes"}
	table := map[string]grammar.Currency{
		"$": dollar, "US$": dollar, "USD": dollar, "€": euro, "EUR": euro, "£": pound, "GBP": pound, "¥": yen, "JPY": yen,
		"CHF": franc, "¢": {One: "cent", Many: "cents"}, "₹": {One: "rupee", Many: "rupees", MinorOne: "paisa", MinorMany: "paise"},
		"INR": {One: "rupee", Many: "rupees", MinorOne: "paisa", MinorMany: "paise"},
		"₽":   {One: "ruble", Many: "rubles"}, "₩": {One: "won", Many: "won"}, "₺": {One: "lira", Many: "liras"},
		"MXN": {One: "peso", Many: "pesos"}, "PLN": {One: "zloty", Many: "zlotys"},
	}
	for nation, signs := range map[string][]string{"Canadian": {"C$", "CA$", "CAD"}, "Australian": {"A$", "AU$", "AUD"}, "Hong Kong": {"HK$", "HKD"}, "New Zealand": {"NZ$", "NZD"}} {
		for _, sign := range signs {
			table[sign] = grammar.Currency{One: nation + " dollar", Many: nation + " dollars", MinorOne: "cent", MinorMany: "cents"}
		}
	}
	return table
}

// unitTable reads lines "sign sign = one, many".
func unitTable(table string) map[string]grammar.Unit {
	units := map[string]grammar.Unit{}
	for row := range strings.Lines(table) {
		signs, names, ok := strings.Cut(strings.TrimSpace(row), " = ")
		if !ok {
			continue
		}
		names, g, _ := strings.Cut(names, " | ")
		one, many, two := strings.Cut(names, ", ")
		if !two {
			many = one
		}
		many, dativePlural, _ := strings.Cut(many, ", ")
		u := grammar.Unit{One: one, Many: many, Dative: dativePlural, Gender: map[string]grammar.Gender{"m": grammar.Masculine, "f": grammar.Feminine, "n": grammar.Neuter}[g]}
		for sign := range strings.SplitSeq(signs, " ") {
			units[strings.ReplaceAll(sign, "_", " ")] = u
		}
	}
	return units
}

func englishUnits() map[string]grammar.Unit {
	units := unitTable(`
		km = kilometer, kilometers
		m = meter, meters
		cm = centimeter, centimeters
		mm = millimeter, millimeters
		kg = kilogram, kilograms
		g = gram, grams
		mg = milligram, milligrams
		lb lbs lb. lbs. = pound, pounds
		oz oz. = ounce, ounces
		l L = liter, liters
		ml mL = milliliter, milliliters
		gal gal. = gallon, gallons
		km/h kph = kilometer per hour, kilometers per hour
		mph = mile per hour, miles per hour
		m/s = meter per second, meters per second
		m² m2 = square meter, square meters
		m³ m3 = cubic meter, cubic meters
		km² km2 = square kilometer, square kilometers
		sq._ft. sq_ft ft² = square foot, square feet
		°C = degree Celsius, degrees Celsius
		°F = degree Fahrenheit, degrees Fahrenheit
		° = degree, degrees
		% = percent
		‰ = per mille
		h hr hr. hrs hrs. = hour, hours
		min min. mins = minute, minutes
		s sec sec. = second, seconds
		ms = millisecond, milliseconds
		kB KB = kilobyte, kilobytes
		MB = megabyte, megabytes
		GB = gigabyte, gigabytes
		TB = terabyte, terabytes
		Mbit/s Mbps = megabit per second, megabits per second
		kW = kilowatt, kilowatts
		kWh = kilowatt-hour, kilowatt-hours
		V = volt, volts
		A = amp, amps
		W = watt, watts
		Hz = hertz
		kHz = kilohertz
		MHz = megahertz
		GHz = gigahertz
		ft ft. ′ = foot, feet
		in. ″ = inch, inches
		yd yd. yds = yard, yards
		mi mi. = mile, miles
		p = penny, pence
	`)
	amp := units["A"]
	amp.Spaced = true // "exit 12A"
	units["A"] = amp
	inch := units["in."]
	inch.Attributive = true
	units["in."] = inch
	return units
}

func englishAbbreviations() grammar.Abbreviations {
	return grammar.ParseAbbreviations(`
		Dr. = Doctor
		Mr. = Mister
		Mrs. = Missus
		Prof. = Professor
		Lt. = Lieutenant
		Gov. = Governor | name
		Sen. = Senator | name
		Rep. = Representative | name
		Capt. = Captain | name
		Sgt. = Sergeant | name
		Gen. = General | name
		Rev. = Reverend | name
		Jr. = Junior
		Sr. = Senior
		e.g. = for example
		i.e. = that is
		etc. = et cetera | closing
		vs. = versus
		vs = versus
		approx. = approximately
		No. = Number | number
		Nos. = Numbers | number
		no. = number | number
		Ave. = Avenue | closing
		Blvd. = Boulevard | closing
		Rd. = Road | closing
		Ln. = Lane | behind name
		Hwy. = Highway | closing
		Inc. = Incorporated | closing
		Ltd. = Limited | closing
		Co. = Company | closing
		Corp. = Corporation | closing
		Dept. = Department
		dept. = department
		Apt. = Apartment
		apt. = apartment
		Rm. = Room | number
		Ste. = Suite | number
		fl. = floor | behind number
		Tel. = Telephone
		tel. = telephone
		ext. = extension | number
		w/ = with
		w/o = without
		est. = estimated
		dept. = department
		min. = minimum
		max. = maximum
		incl. = including
		misc. = miscellaneous
		a.m. = a.m.
		p.m. = p.m.
	`)
}
