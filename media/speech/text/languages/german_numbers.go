package languages

import (
	"strings"

	"github.com/callboard/callboard/media/speech/text/grammar"
)

var (
	germanOnes = strings.Fields("null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn " +
		"sechzehn siebzehn achtzehn neunzehn")
	germanTens   = strings.Fields("null zehn zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig")
	germanScales = []grammar.Scale{{}, {}, {One: "Million", Many: "Millionen"}, {One: "Milliarde", Many: "Milliarden"}, {One: "Billion", Many: "Billionen"}}
)

// germanCardinal returns a number below 10^15. Only the number one has a gender and a case.
func germanCardinal(n int64, f grammar.Form) string {
	if n == 1 {
		return germanOne(f)
	}
	var parts []string
	for i := len(germanScales) - 1; i >= 2; i-- {
		unit := power(1000, i)
		switch group := n / unit; {
		case group == 1:
			parts = append(parts, "eine "+germanScales[i].One)
		case group > 1:
			parts = append(parts, germanBelowMillion(group)+" "+germanScales[i].Many)
		}
		n %= unit
	}
	if n > 0 || len(parts) == 0 {
		parts = append(parts, germanBelowMillion(n))
	}
	return strings.Join(parts, " ")
}

func germanOne(f grammar.Form) string {
	switch {
	case f.Ending != "":
		return "ein" + f.Ending
	case f.Gender == grammar.Standalone:
		return "eins"
	case f.Gender == grammar.Feminine && f.GrammaticalCase == grammar.Dative:
		return "einer"
	case f.Gender == grammar.Feminine:
		return "eine"
	case f.GrammaticalCase == grammar.Dative:
		return "einem"
	case f.Gender == grammar.Masculine && f.GrammaticalCase == grammar.Accusative:
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
func germanOrdinal(n int64, f grammar.Form) string {
	ending := f.Ending
	if ending == "" {
		ending = "e"
	}
	stem := germanCardinal(n, grammar.Form{})
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
		return germanCardinal(int64(max(n, 0)), grammar.Form{})
	}
	rest := germanBelowMillion(int64(n % 100))
	if n%100 == 0 {
		rest = ""
	}
	return germanPart(int64(n/100)) + "hundert" + rest
}

func germanNumberFormat() grammar.NumberFormat {
	return grammar.NumberFormat{
		Decimal:   ",",
		Thousands: ".' ",
		Fractions: map[string]string{"1/2": "½", "3/4": "drei Viertel", "1/4": "ein Viertel", "2/3": "zwei Drittel", "1/3": "ein Drittel"},
		Vulgar: map[rune]grammar.VulgarFraction{
			'½': {Alone: "½", Behind: "einhalb"}, '¼': {Alone: "ein Viertel", Behind: "ein Viertel"}, '¾': {Alone: "drei Viertel", Behind: "drei Viertel"},
			'⅓': {Alone: "ein Drittel", Behind: "ein Drittel"}, '⅔': {Alone: "zwei Drittel", Behind: "zwei Drittel"},
		},
		Scales: map[string]grammar.Scale{
			"Mio": {One: "Million", Many: "Millionen", Gender: grammar.Feminine}, "Million": {One: "Million", Many: "Millionen", Gender: grammar.Feminine},
			"Millionen": {One: "Million", Many: "Millionen", Gender: grammar.Feminine},
			"Mrd":       {One: "Milliarde", Many: "Milliarden", Gender: grammar.Feminine}, "Milliarde": {One: "Milliarde", Many: "Milliarden", Gender: grammar.Feminine},
			"Milliarden": {One: "Milliarde", Many: "Milliarden", Gender: grammar.Feminine}, "Tsd": {One: "tausend", Many: "tausend", Thousand: true},
			"k": {One: "tausend", Many: "tausend", Thousand: true}, "T": {One: "tausend", Many: "tausend", Thousand: true},
		},
		Mixed: germanMixed,
		Over:  germanOver,
	}
}

// germanMixed speaks an integer with a fraction. One half agrees with its noun: "einen halben Liter".
func germanMixed(n grammar.Number, f grammar.VulgarFraction, c grammar.Context) string {
	if n.Integer != "" {
		join := ""
		if f.Behind != "einhalb" {
			join = " "
		}
		return germanPart(n.Value()) + join + f.Behind
	}
	if f.Alone != "½" {
		return f.Alone
	}
	switch germanGender(grammar.FirstWord(c.After)) {
	case grammar.Masculine:
		if grammar.StartsSentence(c.Before) || strings.HasSuffix(c.Before, ": ") {
			return "ein halber"
		}
		return "einen halben"
	case grammar.Feminine:
		return "eine halbe"
	case grammar.Neuter:
		return "ein halbes"
	case grammar.Standalone:
	}
	return "ein halb"
}

// germanOver speaks a fraction, or two numbers with a slash that are none, such as "24/7".
func germanOver(a, b int64, _ grammar.Context) string {
	if b > 99 {
		return germanCardinal(a, grammar.Form{}) + " Schrägstrich " + germanCardinal(b, grammar.Form{})
	}
	if a >= b || b < 3 || b > 12 {
		return germanCardinal(a, grammar.Form{}) + " " + germanCardinal(b, grammar.Form{})
	}
	numerator := germanCardinal(a, grammar.Form{Gender: grammar.Neuter})
	return numerator + " " + grammar.Capitalize(germanOrdinal(b, grammar.Form{Ending: "el"}))
}
