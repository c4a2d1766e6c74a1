package text

import "strings"

var (
	frenchOnes = strings.Fields("zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept " +
		"dix-huit dix-neuf")
	frenchTens = strings.Fields("zéro dix vingt trente quarante cinquante soixante")
)

// frenchCardinal returns a number below 10^15 in the traditional spelling. A final "un" agrees with a feminine noun.
func frenchCardinal(n int64, f form) string {
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
	if f.gender == feminine && (spoken == "un" || strings.HasSuffix(spoken, " un") || strings.HasSuffix(spoken, "-un")) {
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
	spoken := frenchCardinal(int64(max(n, 0)), form{})
	if strings.HasSuffix(spoken, "vingts") {
		return strings.TrimSuffix(spoken, "s")
	}
	return spoken
}

// frenchOrdinal returns an ordinal. The form's ending distinguishes "second" and "deuxième".
func frenchOrdinal(n int64, f form) string {
	spoken := ""
	switch {
	case n == 1 && f.gender == feminine:
		spoken = "première"
	case n == 1:
		spoken = "premier"
	case n == 2 && f.short && f.gender == feminine:
		spoken = "seconde"
	case n == 2 && f.short:
		spoken = "second"
	default:
		spoken = frenchCardinal(n, form{})
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
	if f.plural {
		spoken += "s"
	}
	return spoken
}

func frenchOrdinalSuffixes() []ordinalSuffix {
	return []ordinalSuffix{
		{"ème", form{}}, {"eme", form{}}, {"ère", form{gender: feminine}}, {"ers", form{plural: true}}, {"res", form{gender: feminine, plural: true}},
		{"nde", form{gender: feminine, short: true}}, {"nd", form{short: true}}, {"er", form{}}, {"re", form{gender: feminine}},
		{"es", form{plural: true}}, {"d", form{short: true}}, {"e", form{}},
	}
}

func frenchNumberFormat() numberFormat {
	million := scale{one: "million", many: "millions", gender: masculine}
	milliard := scale{one: "milliard", many: "milliards", gender: masculine}
	thousand := scale{one: "mille", many: "mille", thousand: true}
	return numberFormat{
		decimal:   ",",
		thousands: " '.",
		fractions: map[string]string{
			"1/2": "½", "1/3": "un tiers", "2/3": "deux tiers", "1/4": "un quart", "3/4": "trois quarts", "1/7": "un sur sept",
			"24/7": "vingt-quatre sept",
		},
		vulgar: map[rune]vulgarFraction{
			'½': {"½", "et demi"}, '¼': {"un quart", "un quart"}, '¾': {"trois quarts", "trois quarts"}, '⅓': {"un tiers", "un tiers"},
			'⅔': {"deux tiers", "deux tiers"},
		},
		scales: map[string]scale{
			"M": million, "million": million, "millions": million, "Mds": milliard, "Md": milliard, "milliard": milliard, "milliards": milliard,
			"k": thousand, "K": thousand, "mille": thousand,
		},
		phones: phoneFormat{keepsTrunk: true},
		mixed:  frenchMixed,
	}
}

// frenchMixed speaks an integer with a fraction. One half is a prefix of its noun.
func frenchMixed(n number, f vulgarFraction, c context) string {
	noun := firstWord(c.after)
	switch {
	case n.integer != "":
		return frenchCardinal(n.value(), form{}) + " " + f.behind
	case f.alone != "½":
		return f.alone
	case noun == "" || frenchFunctionWords[noun] || !strings.HasPrefix(c.after, " "):
		return "un demi"
	case frenchGender(noun) == feminine:
		return "une demi-"
	}
	return "un demi-"
}
