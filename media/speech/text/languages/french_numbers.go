package languages

import (
	"strings"

	"github.com/callboard/callboard/media/speech/text/grammar"
)

var (
	frenchOnes = strings.Fields("zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept " +
		"dix-huit dix-neuf")
	frenchTens = strings.Fields("zéro dix vingt trente quarante cinquante soixante")
)

// frenchCardinal returns a number below 10^15 in the traditional spelling. A final "un" agrees with a feminine noun.
func frenchCardinal(n int64, f grammar.Form) string {
	if n == 0 {
		return "zéro"
	}
	var parts []string
	for _, s := range []struct {
		unit int64
		name string
	}{{1e12, "billion"}, {1e9, "milliard"}, {1e6, "million"}} {
		switch group := n / s.unit; {
		case group == 1:
			parts = append(parts, "un "+s.name)
		case group > 1:
			parts = append(parts, frenchBelowThousand(group, true)+" "+s.name+"s")
		}
		n %= s.unit
	}
	switch thousands := n / 1000; {
	case thousands == 1:
		parts = append(parts, "mille")
	case thousands > 1:
		parts = append(parts, frenchBelowThousand(thousands, false)+" mille")
	}
	if n %= 1000; n > 0 {
		parts = append(parts, frenchBelowThousand(n, true))
	}
	spoken := strings.Join(parts, " ")
	if f.Gender == grammar.Feminine && (spoken == "un" || strings.HasSuffix(spoken, " un") || strings.HasSuffix(spoken, "-un")) {
		spoken += "e"
	}
	return spoken
}

// frenchBelowThousand returns a number below 1000. "Cents" and "vingts" take their "s" at the end of the number only.
func frenchBelowThousand(n int64, end bool) string {
	var parts []string
	if n >= 100 {
		if n >= 200 {
			parts = append(parts, frenchOnes[n/100])
		}
		hundred := "cent"
		if n >= 200 && n%100 == 0 && end {
			hundred = "cents"
		}
		parts = append(parts, hundred)
		n %= 100
	}
	switch {
	case n == 0:
	case n < 20:
		parts = append(parts, frenchOnes[n])
	case n == 80 && end:
		parts = append(parts, "quatre-vingts")
	case n >= 80:
		parts = append(parts, strings.TrimSuffix("quatre-vingt-"+frenchOnes[n-80], "-zéro"))
	case n == 71:
		parts = append(parts, "soixante et onze")
	case n > 70:
		parts = append(parts, "soixante-"+frenchOnes[n-60])
	case n == 70:
		parts = append(parts, "soixante-dix")
	case n%10 == 0:
		parts = append(parts, frenchTens[n/10])
	case n%10 == 1:
		parts = append(parts, frenchTens[n/10]+" et un")
	default:
		parts = append(parts, frenchTens[n/10]+"-"+frenchOnes[n%10])
	}
	return strings.Join(parts, " ")
}

// frenchYear returns a year: a final "quatre-vingt" has no "s".
func frenchYear(n int) string {
	spoken := frenchCardinal(int64(max(n, 0)), grammar.Form{})
	if strings.HasSuffix(spoken, "vingts") {
		return strings.TrimSuffix(spoken, "s")
	}
	return spoken
}

// frenchOrdinal returns an ordinal. The form's ending distinguishes "second" and "deuxième".
func frenchOrdinal(n int64, f grammar.Form) string {
	var spoken string
	switch {
	case n == 1 && f.Gender == grammar.Feminine:
		spoken = "première"
	case n == 1:
		spoken = "premier"
	case n == 2 && f.Short && f.Gender == grammar.Feminine:
		spoken = "seconde"
	case n == 2 && f.Short:
		spoken = "second"
	default:
		spoken = frenchCardinal(n, grammar.Form{})
		spoken = strings.TrimSuffix(spoken, "s")
		switch {
		case strings.HasSuffix(spoken, "troi"), strings.HasSuffix(spoken, "cent "):
			spoken += "s"
		case strings.HasSuffix(spoken, "cinq"):
			spoken += "u"
		case strings.HasSuffix(spoken, "neuf"):
			spoken = strings.TrimSuffix(spoken, "f") + "v"
		}
		spoken = strings.TrimSuffix(spoken, "e") + "ième"
	}
	if f.Plural {
		spoken += "s"
	}
	return spoken
}

func frenchOrdinalSuffixes() []grammar.OrdinalSuffix {
	return []grammar.OrdinalSuffix{
		{Suffix: "ème", Form: grammar.Form{}},
		{Suffix: "eme", Form: grammar.Form{}},
		{Suffix: "ère", Form: grammar.Form{Gender: grammar.Feminine}},
		{Suffix: "ers", Form: grammar.Form{Plural: true}},
		{Suffix: "res", Form: grammar.Form{Gender: grammar.Feminine, Plural: true}},
		{Suffix: "nde", Form: grammar.Form{Gender: grammar.Feminine, Short: true}},
		{Suffix: "nd", Form: grammar.Form{Short: true}},
		{Suffix: "er", Form: grammar.Form{}},
		{Suffix: "re", Form: grammar.Form{Gender: grammar.Feminine}},
		{Suffix: "es", Form: grammar.Form{Plural: true}},
		{Suffix: "d", Form: grammar.Form{Short: true}},
		{Suffix: "e", Form: grammar.Form{}},
	}
}

func frenchNumberFormat() grammar.NumberFormat {
	million := grammar.Scale{One: "million", Many: "millions", Gender: grammar.Masculine}
	milliard := grammar.Scale{One: "milliard", Many: "milliards", Gender: grammar.Masculine}
	thousand := grammar.Scale{One: "mille", Many: "mille", Thousand: true}
	return grammar.NumberFormat{
		Decimal:   ",",
		Thousands: " '.",
		Fractions: map[string]string{
			"1/2": "½", "1/3": "un tiers", "2/3": "deux tiers", "1/4": "un quart", "3/4": "trois quarts", "1/7": "un sur sept",
			"24/7": "vingt-quatre sept",
		},
		Vulgar: map[rune]grammar.VulgarFraction{
			'½': {Alone: "½", Behind: "et demi"}, '¼': {Alone: "un quart", Behind: "un quart"}, '¾': {Alone: "trois quarts", Behind: "trois quarts"}, '⅓': {Alone: "un tiers", Behind: "un tiers"},
			'⅔': {Alone: "deux tiers", Behind: "deux tiers"},
		},
		Scales: map[string]grammar.Scale{
			"M": million, "million": million, "millions": million, "Mds": milliard, "Md": milliard, "milliard": milliard, "milliards": milliard,
			"k": thousand, "K": thousand, "mille": thousand,
		},
		Phones: grammar.PhoneFormat{KeepsTrunk: true},
		Mixed:  frenchMixed,
	}
}

// frenchMixed speaks an integer with a fraction. One half is a prefix of its noun.
func frenchMixed(n grammar.Number, f grammar.VulgarFraction, c grammar.Context) string {
	noun := grammar.FirstWord(c.After)
	switch {
	case n.Integer != "":
		return frenchCardinal(n.Value(), grammar.Form{}) + " " + f.Behind
	case f.Alone != "½":
		return f.Alone
	case noun == "" || frenchFunctionWords[noun] || !strings.HasPrefix(c.After, " "):
		return "un demi"
	case frenchGender(noun) == grammar.Feminine:
		return "une demi-"
	}
	return "un demi-"
}
