package languages

import (
	"strings"

	"github.com/callboard/callboard/media/speech/text/grammar"
)

var (
	dutchOnes = strings.Fields("nul één twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien zestien zeventien " +
		"achttien negentien")
	dutchTens = strings.Fields("nul tien twintig dertig veertig vijftig zestig zeventig tachtig negentig")
)

// dutchCardinal returns a number below 10^15. A space stands behind the thousands.
func dutchCardinal(n int64, _ grammar.Form) string {
	if n == 0 {
		return "nul"
	}
	var parts []string
	for _, s := range []struct {
		unit int64
		name string
	}{{1e12, "biljoen"}, {1e9, "miljard"}, {1e6, "miljoen"}} {
		if group := n / s.unit; group > 0 {
			parts = append(parts, dutchBelowThousand(group)+" "+s.name)
		}
		n %= s.unit
	}
	switch thousands := n / 1000; {
	case thousands == 1:
		parts = append(parts, "duizend")
	case thousands > 1:
		parts = append(parts, dutchBelowThousand(thousands)+"duizend")
	}
	if n %= 1000; n > 0 {
		parts = append(parts, dutchBelowThousand(n))
	}
	return strings.Join(parts, " ")
}

// dutchBelowThousand returns one word. The number one has its accent only alone.
func dutchBelowThousand(n int64) string {
	if n == 1 {
		return "één"
	}
	out := ""
	if n >= 100 {
		if n >= 200 {
			out = dutchOnes[n/100]
		}
		out += "honderd"
		n %= 100
	}
	ones := strings.ReplaceAll(dutchOnes[n%10], "é", "e")
	switch {
	case n == 0:
		return out
	case n == 1:
		return out + "een"
	case n < 20:
		return out + dutchOnes[n]
	case n%10 == 0:
		return out + dutchTens[n/10]
	case n%10 == 2 || n%10 == 3:
		return out + ones + "ën" + dutchTens[n/10]
	}
	return out + ones + "en" + dutchTens[n/10]
}

func dutchYear(n int) string {
	if n < 1100 || n > 1999 {
		return dutchCardinal(int64(max(n, 0)), grammar.Form{})
	}
	return dutchBelowThousand(int64(n/100)) + "honderd" + dutchBelowHundred(int64(n%100))
}

// dutchBelowHundred returns a number as the end of a compound.
func dutchBelowHundred(n int64) string {
	return strings.TrimPrefix(dutchBelowThousand(100+n), "honderd")
}

func dutchOrdinal(n int64, _ grammar.Form) string {
	cardinal := dutchCardinal(n, grammar.Form{})
	special := map[int64]string{1: "eerste", 3: "derde", 8: "achtste"}
	switch last := n % 100; {
	case special[last] != "":
		word := dutchOnes[last]
		if n > 1 && last == 1 {
			word = "een"
		}
		return strings.TrimSuffix(cardinal, word) + special[last]
	case last > 0 && last < 20:
		return cardinal + "de"
	}
	return cardinal + "ste"
}

func dutchNumberFormat() grammar.NumberFormat {
	million, milliard := grammar.Scale{One: "miljoen", Many: "miljoen"}, grammar.Scale{One: "miljard", Many: "miljard"}
	thousand := grammar.Scale{One: "duizend", Many: "duizend", Thousand: true}
	return grammar.NumberFormat{
		Decimal:   ",",
		Thousands: ".' ",
		Fractions: map[string]string{
			"1/2": "½", "1/3": "één derde", "2/3": "twee derde", "1/4": "één kwart", "3/4": "driekwart", "24/7": "vierentwintig zeven",
		},
		Vulgar: map[rune]grammar.VulgarFraction{
			'½': {Alone: "½", Behind: "en een half"}, '¼': {Alone: "één kwart", Behind: "en een kwart"}, '¾': {Alone: "driekwart", Behind: "en driekwart"}, '⅓': {Alone: "één derde", Behind: "en één derde"},
			'⅔': {Alone: "twee derde", Behind: "en twee derde"},
		},
		Scales: map[string]grammar.Scale{
			"mln": million, "miljoen": million, "M": million, "mrd": milliard, "mld": milliard, "miljard": milliard, "k": thousand, "K": thousand,
		},
		Mixed: dutchMixed,
	}
}

// dutchMixed speaks an integer with a fraction. One half is "half" before nouns with the article "het".
func dutchMixed(n grammar.Number, f grammar.VulgarFraction, c grammar.Context) string {
	noun := strings.ToLower(grammar.FirstWord(c.After))
	switch {
	case n.Integer != "":
		return dutchCardinal(n.Value(), grammar.Form{}) + " " + f.Behind
	case f.Alone != "½":
		return f.Alone
	case noun == "" || grammar.WordSet("boek uur jaar kopje glas brood kilo pond ons etmaal stuk blik pak")[noun] || strings.HasSuffix(noun, "je"):
		return "een half"
	}
	return "een halve"
}
