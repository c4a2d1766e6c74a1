package languages

import (
	"strings"

	"github.com/callboard/callboard/media/speech/text/grammar"
)

var (
	spanishOnes = strings.Fields("cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis " +
		"diecisiete dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete " +
		"veintiocho veintinueve")
	spanishTens     = strings.Fields("cero diez veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa")
	spanishHundreds = strings.Fields("cero ciento doscientos trescientos cuatrocientos quinientos seiscientos setecientos ochocientos novecientos")
)

// spanishCardinal returns a number below 10^15. The ones and the hundreds agree with a noun behind the number.
func spanishCardinal(n int64, f grammar.Form) string {
	if n == 0 {
		return "cero"
	}
	var parts []string
	for _, s := range []struct {
		unit      int64
		one, many string
	}{{1e12, "un billón", "billones"}, {1e6, "un millón", "millones"}} {
		switch group := n / s.unit; {
		case group == 1:
			parts = append(parts, s.one)
		case group > 1:
			parts = append(parts, spanishBelowMillion(group, grammar.Form{Gender: grammar.Masculine})+" "+s.many)
		}
		n %= s.unit
	}
	if n > 0 {
		parts = append(parts, spanishBelowMillion(n, f))
	}
	return strings.Join(parts, " ")
}

func spanishBelowMillion(n int64, f grammar.Form) string {
	var parts []string
	switch thousands := n / 1000; {
	case thousands == 1:
		parts = append(parts, "mil")
	case thousands > 1:
		g := grammar.Form{Gender: grammar.Masculine}
		words := spanishBelowThousand(thousands, g)
		if f.Gender == grammar.Feminine {
			words = strings.ReplaceAll(words, "ientos", "ientas")
		}
		parts = append(parts, words+" mil")
	}
	if n %= 1000; n > 0 {
		parts = append(parts, spanishBelowThousand(n, f))
	}
	return strings.Join(parts, " ")
}

func spanishBelowThousand(n int64, f grammar.Form) string {
	var parts []string
	if n == 100 {
		return "cien"
	}
	if n > 100 {
		hundred := spanishHundreds[n/100]
		if f.Gender == grammar.Feminine {
			hundred = strings.Replace(hundred, "ientos", "ientas", 1)
		}
		parts = append(parts, hundred)
		n %= 100
	}
	switch {
	case n == 0:
	case n < 30:
		parts = append(parts, spanishOne(spanishOnes[n], f))
	case n%10 == 0:
		parts = append(parts, spanishTens[n/10])
	default:
		parts = append(parts, spanishTens[n/10]+" y "+spanishOne(spanishOnes[n%10], f))
	}
	return strings.Join(parts, " ")
}

// spanishOne puts "uno" into the form before a noun.
func spanishOne(word string, f grammar.Form) string {
	if !strings.HasSuffix(word, "uno") || f.Gender == grammar.Standalone {
		return word
	}
	stem := strings.TrimSuffix(word, "uno")
	switch {
	case f.Gender == grammar.Feminine:
		return stem + "una"
	case stem != "":
		return stem + "ún"
	}
	return "un"
}

// spanishOrdinal returns an ordinal below 1000.
func spanishOrdinal(n int64, f grammar.Form) string {
	ones := strings.Fields("- primero segundo tercero cuarto quinto sexto séptimo octavo noveno")
	tens := strings.Fields("- décimo vigésimo trigésimo cuadragésimo quincuagésimo sexagésimo septuagésimo octogésimo nonagésimo")
	hundreds := strings.Fields("- centésimo ducentésimo tricentésimo cuadringentésimo quingentésimo sexcentésimo septingentésimo octingentésimo noningentésimo")
	if n == 0 || n > 999 {
		return spanishCardinal(n, f)
	}
	var parts []string
	if n >= 100 {
		parts = append(parts, hundreds[n/100])
	}
	switch rest := n % 100; {
	case rest == 0:
	case rest < 10:
		parts = append(parts, ones[rest])
	case rest == 11:
		parts = append(parts, "undécimo")
	case rest == 12:
		parts = append(parts, "duodécimo")
	case rest%10 == 0:
		parts = append(parts, tens[rest/10])
	case rest < 30: // one word without the accent of the first part
		parts = append(parts, strings.NewReplacer("é", "e").Replace(tens[rest/10])+ones[rest%10])
	default:
		parts = append(parts, tens[rest/10], ones[rest%10])
	}
	for i, p := range parts {
		if f.Gender == grammar.Feminine {
			p = strings.TrimSuffix(p, "o") + "a"
		}
		if f.Plural {
			p += "s"
		}
		parts[i] = p
	}
	spoken := strings.Join(parts, " ")
	if f.Short && (strings.HasSuffix(spoken, "primero") || strings.HasSuffix(spoken, "tercero")) {
		return strings.TrimSuffix(spoken, "o")
	}
	return spoken
}

func spanishNumberFormat() grammar.NumberFormat {
	million := grammar.Scale{One: "millón", Many: "millones", Gender: grammar.Masculine}
	thousand := grammar.Scale{One: "mil", Many: "mil", Thousand: true}
	return grammar.NumberFormat{
		Decimal:   ",",
		Thousands: ".' ",
		Fractions: map[string]string{
			"1/2": "½", "1/3": "un tercio", "2/3": "dos tercios", "1/4": "un cuarto", "3/4": "tres cuartos", "1/7": "uno sobre siete",
			"24/7": "veinticuatro siete",
		},
		Vulgar: map[rune]grammar.VulgarFraction{
			'½': {Alone: "½", Behind: "y medio"}, '¼': {Alone: "un cuarto", Behind: "y cuarto"}, '¾': {Alone: "tres cuartos", Behind: "y tres cuartos"}, '⅓': {Alone: "un tercio", Behind: "y un tercio"},
			'⅔': {Alone: "dos tercios", Behind: "y dos tercios"},
		},
		Scales: map[string]grammar.Scale{"M": million, "MM": million, "millón": million, "millones": million, "k": thousand, "K": thousand, "mil": thousand},
		Phones: grammar.PhoneFormat{
			Grouped: func(groups []string) bool { return isSpanishPhone(strings.Join(groups, "")) },
			Plain: func(digits string) []string {
				if !isSpanishPhone(digits) {
					return nil
				}
				return grammar.Threes(digits)
			},
		},
		Mixed: romanceHalf("medio", "media", spanishCardinal, spanishGender),
	}
}

// isSpanishPhone reports whether the digits are a telephone number of Spain.
func isSpanishPhone(digits string) bool {
	return len(digits) == 9 && digits[0] >= '6' && digits[0] <= '9'
}

// romanceHalf returns the rule for fractions of a language in which one half agrees with its noun.
func romanceHalf(masculineHalf, feminineHalf string, cardinal func(int64, grammar.Form) string, genderOf func(string) grammar.Gender) func(grammar.Number, grammar.VulgarFraction, grammar.Context) string {
	return func(n grammar.Number, f grammar.VulgarFraction, c grammar.Context) string {
		switch {
		case n.Integer != "":
			return cardinal(n.Value(), grammar.Form{}) + " " + f.Behind
		case f.Alone != "½":
			return f.Alone
		case genderOf(grammar.FirstWord(c.After)) == grammar.Feminine:
			return feminineHalf
		}
		return masculineHalf
	}
}
