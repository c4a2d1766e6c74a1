package languages

import (
	"strings"

	"github.com/callboard/callboard/media/speech/text/grammar"
)

var (
	italianOnes = strings.Fields("zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici " +
		"diciassette diciotto diciannove")
	italianTens = strings.Fields("zero dieci venti trenta quaranta cinquanta sessanta settanta ottanta novanta")
)

// italianCardinal returns a number below 10^15. The number one agrees with a noun behind the number.
func italianCardinal(n int64, f grammar.Form) string {
	switch n {
	case 0:
		return "zero"
	case 1:
		return italianOne(f)
	}
	var parts []string
	for _, s := range []struct {
		unit      int64
		one, many string
	}{{1e12, "un bilione", "bilioni"}, {1e9, "un miliardo", "miliardi"}, {1e6, "un milione", "milioni"}} {
		switch group := n / s.unit; {
		case group == 1:
			parts = append(parts, s.one)
		case group > 1:
			parts = append(parts, italianBelowMillion(group)+" "+s.many)
		}
		n %= s.unit
	}
	switch {
	case n == 1 && len(parts) > 0:
		parts = append(parts, "e "+italianOne(f))
	case n > 0:
		parts = append(parts, italianBelowMillion(n))
	}
	return strings.Join(parts, " ")
}

func italianOne(f grammar.Form) string {
	switch f.Gender {
	case grammar.Feminine:
		return "una"
	case grammar.Masculine:
		return "un"
	case grammar.Standalone, grammar.Neuter:
	}
	return "uno"
}

// italianBelowMillion returns one word. A final "tre" has an accent.
func italianBelowMillion(n int64) string {
	if n == 3 {
		return "tre"
	}
	out := ""
	switch thousands := n / 1000; {
	case thousands == 1:
		out = "mille"
	case thousands > 1:
		out = strings.Replace(italianBelowThousand(thousands), "tré", "tre", 1) + "mila"
	}
	out += italianBelowThousand(n % 1000)
	if strings.HasSuffix(out, "tre") {
		out = strings.TrimSuffix(out, "e") + "é"
	}
	return out
}

func italianBelowThousand(n int64) string {
	out := ""
	if n >= 100 {
		if n >= 200 {
			out = italianOnes[n/100]
		}
		out += "cento"
		n %= 100
		if n/10 == 8 || n == 8 { // "centotto", "centottanta"
			out = strings.TrimSuffix(out, "o")
		}
	}
	switch {
	case n == 0:
		return out
	case n < 20:
		return out + italianOnes[n]
	}
	tens, ones := italianTens[n/10], n%10
	switch ones {
	case 0:
		return out + tens
	case 1, 8:
		tens = tens[:len(tens)-1]
	}
	return out + tens + italianOnes[ones]
}

func italianOrdinal(n int64, f grammar.Form) string {
	first := strings.Fields("zeresimo primo secondo terzo quarto quinto sesto settimo ottavo nono decimo")
	var spoken string
	if n < int64(len(first)) {
		spoken = first[n]
	} else {
		spoken = strings.Replace(italianCardinal(n, grammar.Form{}), "mila", "mill", 1)
		spoken = strings.ReplaceAll(spoken, "é", "ee")
		if !strings.HasSuffix(spoken, "sei") && !strings.HasSuffix(spoken, "ee") {
			spoken = spoken[:len(spoken)-1]
		} else if strings.HasSuffix(spoken, "ee") {
			spoken = spoken[:len(spoken)-1]
		}
		spoken += "esimo"
	}
	if f.Gender == grammar.Feminine {
		return strings.TrimSuffix(spoken, "o") + "a"
	}
	return spoken
}

func italianNumberFormat() grammar.NumberFormat {
	million := grammar.Scale{One: "milione", Many: "milioni", Gender: grammar.Masculine}
	milliard := grammar.Scale{One: "miliardo", Many: "miliardi", Gender: grammar.Masculine}
	thousand := grammar.Scale{One: "mila", Many: "mila", Thousand: true}
	return grammar.NumberFormat{
		Decimal:   ",",
		Thousands: ".' ",
		Fractions: map[string]string{
			"1/2": "½", "1/3": "un terzo", "2/3": "due terzi", "1/4": "un quarto", "3/4": "tre quarti", "24/7": "ventiquattro sette",
		},
		Vulgar: map[rune]grammar.VulgarFraction{
			'½': {Alone: "½", Behind: "e mezzo"}, '¼': {Alone: "un quarto", Behind: "e un quarto"}, '¾': {Alone: "tre quarti", Behind: "e tre quarti"}, '⅓': {Alone: "un terzo", Behind: "e un terzo"},
			'⅔': {Alone: "due terzi", Behind: "e due terzi"},
		},
		Scales: map[string]grammar.Scale{
			"M": million, "mln": million, "milione": million, "milioni": million, "mld": milliard, "miliardo": milliard, "miliardi": milliard,
			"k": thousand, "K": thousand, "mila": thousand,
		},
		Phones: grammar.PhoneFormat{
			Grouped: func(groups []string) bool {
				digits := strings.Join(groups, "")
				return len(digits) == 9 && (digits[0] == '8' || digits[0] == '1' || digits[0] == '3') ||
					len(groups[0]) == 3 && groups[0][0] == '3' && (len(digits) == 9 || len(digits) == 10)
			},
			Plain: func(digits string) []string {
				if len(digits) != 10 || digits[0] != '3' {
					return nil
				}
				return []string{digits[:3], digits[3:6], digits[6:]}
			},
		},
		Mixed: italianMixed,
	}
}

// italianMixed speaks an integer with a fraction. One half agrees with its noun: "mezza tazza", "mezz'ora".
func italianMixed(n grammar.Number, f grammar.VulgarFraction, c grammar.Context) string {
	if n.Integer == "" && f.Alone == "½" {
		if after := strings.TrimLeft(c.After, " "); strings.HasPrefix(after, "h") && !grammar.WordAfter(after, 1) {
			return "mezz'"
		}
	}
	return romanceHalf("mezzo", "mezza", italianCardinal, italianGender)(n, f, c)
}
