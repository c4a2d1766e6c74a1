package text

import "strings"

var (
	germanOnes = strings.Fields("null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn " +
		"sechzehn siebzehn achtzehn neunzehn")
	germanTens   = strings.Fields("null zehn zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig")
	germanScales = []scale{{}, {}, {one: "Million", many: "Millionen"}, {one: "Milliarde", many: "Milliarden"}, {one: "Billion", many: "Billionen"}}
)

// germanCardinal returns a number below 10^15. Only the number one has a gender and a case.
func germanCardinal(n int64, f form) string {
	if n == 1 {
		return germanOne(f)
	}
	var parts []string
	for i := len(germanScales) - 1; i >= 2; i-- {
		unit := power(1000, i)
		switch group := n / unit; {
		case group == 1:
			parts = append(parts, "eine "+germanScales[i].one)
		case group > 1:
			parts = append(parts, germanBelowMillion(group)+" "+germanScales[i].many)
		}
		n %= unit
	}
	if n > 0 || len(parts) == 0 {
		parts = append(parts, germanBelowMillion(n))
	}
	return strings.Join(parts, " ")
}

func germanOne(f form) string {
	switch {
	case f.ending != "":
		return "ein" + f.ending
	case f.gender == standalone:
		return "eins"
	case f.gender == feminine && f.grammaticalCase == dative:
		return "einer"
	case f.gender == feminine:
		return "eine"
	case f.grammaticalCase == dative:
		return "einem"
	case f.gender == masculine && f.grammaticalCase == accusative:
		return "einen"
	}
	return "ein"
}

func germanBelowMillion(n int64) string {
	out := ""
	if n >= 1000 {
		out = germanPart(n/1000) + "tausend"
		n %= 1000
	}
	if n >= 100 {
		out += germanPart(n/100) + "hundert"
		n %= 100
	}
	switch {
	case n == 0 && out != "":
		return out
	case n < 20:
		return out + germanOnes[n]
	case n%10 == 0:
		return out + germanTens[n/10]
	}
	return out + germanPart(n%10) + "und" + germanTens[n/10]
}

// germanPart returns a number as the first part of a compound: "ein", not "eins".
func germanPart(n int64) string {
	words := germanBelowMillion(n)
	if n%100 == 1 {
		return strings.TrimSuffix(words, "s")
	}
	return words
}

// germanOrdinal returns an ordinal with the ending of the form.
func germanOrdinal(n int64, f form) string {
	ending := f.ending
	if ending == "" {
		ending = "e"
	}
	stem := germanCardinal(n, form{})
	special := map[string]string{"eins": "erst", "drei": "dritt", "sieben": "siebt", "acht": "acht"}
	switch last := n % 100; {
	case last >= 20 || last == 0:
		stem += "st"
	case special[germanOnes[last]] != "":
		stem = strings.TrimSuffix(stem, germanOnes[last]) + special[germanOnes[last]]
	default:
		stem += "t"
	}
	return stem + ending
}

func germanYear(n int) string {
	if n < 1100 || n > 1999 {
		return germanCardinal(int64(max(n, 0)), form{})
	}
	rest := germanBelowMillion(int64(n % 100))
	if n%100 == 0 {
		rest = ""
	}
	return germanPart(int64(n/100)) + "hundert" + rest
}

func germanNumberFormat() numberFormat {
	return numberFormat{
		decimal:   ",",
		thousands: ".' ",
		fractions: map[string]string{"1/2": "½", "3/4": "drei Viertel", "1/4": "ein Viertel", "2/3": "zwei Drittel", "1/3": "ein Drittel"},
		vulgar: map[rune]vulgarFraction{
			'½': {"½", "einhalb"}, '¼': {"ein Viertel", "ein Viertel"}, '¾': {"drei Viertel", "drei Viertel"},
			'⅓': {"ein Drittel", "ein Drittel"}, '⅔': {"zwei Drittel", "zwei Drittel"},
		},
		scales: map[string]scale{
			"Mio": {one: "Million", many: "Millionen", gender: feminine}, "Million": {one: "Million", many: "Millionen", gender: feminine},
			"Millionen": {one: "Million", many: "Millionen", gender: feminine},
			"Mrd":       {one: "Milliarde", many: "Milliarden", gender: feminine}, "Milliarde": {one: "Milliarde", many: "Milliarden", gender: feminine},
			"Milliarden": {one: "Milliarde", many: "Milliarden", gender: feminine}, "Tsd": {one: "tausend", many: "tausend", thousand: true},
			"k": {one: "tausend", many: "tausend", thousand: true}, "T": {one: "tausend", many: "tausend", thousand: true},
		},
		mixed: germanMixed,
		over:  germanOver,
	}
}

// germanMixed speaks an integer with a fraction. One half agrees with its noun: "einen halben Liter".
func germanMixed(n number, f vulgarFraction, c context) string {
	if n.integer != "" {
		join := ""
		if f.behind != "einhalb" {
			join = " "
		}
		return germanPart(n.value()) + join + f.behind
	}
	if f.alone != "½" {
		return f.alone
	}
	switch germanGender(firstWord(c.after)) {
	case masculine:
		if startsSentence(c.before) || strings.HasSuffix(c.before, ": ") {
			return "ein halber"
		}
		return "einen halben"
	case feminine:
		return "eine halbe"
	case neuter:
		return "ein halbes"
	case standalone:
	}
	return "ein halb"
}

// germanOver speaks a fraction, or two numbers with a slash that are none, such as "24/7".
func germanOver(a, b int64, _ context) string {
	if b > 99 {
		return germanCardinal(a, form{}) + " Schrägstrich " + germanCardinal(b, form{})
	}
	if a >= b || b < 3 || b > 12 {
		return germanCardinal(a, form{}) + " " + germanCardinal(b, form{})
	}
	numerator := germanCardinal(a, form{gender: neuter})
	return numerator + " " + capitalize(germanOrdinal(b, form{ending: "el"}))
}
