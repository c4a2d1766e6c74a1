package languages

import (
	"strings"

	"github.com/callboard/callboard/media/speech/text/grammar"
)

var (
	portugueseOnes = strings.Fields("zero um dois três quatro cinco seis sete oito nove dez onze doze treze catorze quinze dezesseis dezessete " +
		"dezoito dezenove")
	portugueseTens     = strings.Fields("zero dez vinte trinta quarenta cinquenta sessenta setenta oitenta noventa")
	portugueseHundreds = strings.Fields("zero cento duzentos trezentos quatrocentos quinhentos seiscentos setecentos oitocentos novecentos")
)

// portugueseCardinal returns a number below 10^15. One, two and the hundreds agree with a noun behind the number.
func portugueseCardinal(n int64, f grammar.Form) string {
	if n == 0 {
		return "zero"
	}
	out := ""
	for _, s := range []struct {
		unit      int64
		one, many string
	}{{1e12, "um trilhão", "trilhões"}, {1e9, "um bilhão", "bilhões"}, {1e6, "um milhão", "milhões"}} {
		switch group := n / s.unit; {
		case group == 1:
			out += " " + s.one
		case group > 1:
			out += " " + portugueseBelowThousand(group, grammar.Form{}) + " " + s.many
		}
		n %= s.unit
	}
	switch thousands := n / 1000; {
	case thousands == 1:
		out += " mil"
	case thousands > 1:
		out += " " + portugueseBelowThousand(thousands, f) + " mil"
	}
	if n %= 1000; n > 0 {
		if out != "" && (n <= 100 || n%100 == 0) {
			out += " e"
		}
		out += " " + portugueseBelowThousand(n, f)
	}
	return strings.TrimSpace(out)
}

func portugueseBelowThousand(n int64, f grammar.Form) string {
	var parts []string
	if n == 100 {
		return "cem"
	}
	if n > 100 {
		hundred := portugueseHundreds[n/100]
		if f.Gender == grammar.Feminine {
			hundred = strings.Replace(hundred, "os", "as", 1)
		}
		parts = append(parts, hundred)
		n %= 100
	}
	if n >= 20 {
		parts = append(parts, portugueseTens[n/10])
		n %= 10
	}
	if n > 0 {
		one := portugueseOnes[n]
		if f.Gender == grammar.Feminine && n <= 2 {
			one = []string{"", "uma", "duas"}[n]
		}
		parts = append(parts, one)
	}
	return strings.Join(parts, " e ")
}

// portugueseOrdinal returns an ordinal up to 1000.
func portugueseOrdinal(n int64, f grammar.Form) string {
	ones := strings.Fields("- primeiro segundo terceiro quarto quinto sexto sétimo oitavo nono")
	tens := strings.Fields("- décimo vigésimo trigésimo quadragésimo quinquagésimo sexagésimo septuagésimo octogésimo nonagésimo")
	hundreds := strings.Fields("- centésimo ducentésimo tricentésimo quadringentésimo quingentésimo sexcentésimo septingentésimo octingentésimo noningentésimo")
	if n == 0 || n > 1000 {
		return portugueseCardinal(n, f)
	}
	var parts []string
	if n == 1000 {
		parts = append(parts, "milésimo")
		n = 0
	}
	if n >= 100 {
		parts = append(parts, hundreds[n/100])
		n %= 100
	}
	if n >= 10 {
		parts = append(parts, tens[n/10])
		n %= 10
	}
	if n > 0 {
		parts = append(parts, ones[n])
	}
	if f.Gender == grammar.Feminine {
		for i, p := range parts {
			parts[i] = strings.TrimSuffix(p, "o") + "a"
		}
	}
	return strings.Join(parts, " ")
}

func portugueseNumberFormat() grammar.NumberFormat {
	million := grammar.Scale{One: "milhão", Many: "milhões", Gender: grammar.Masculine}
	milliard := grammar.Scale{One: "bilhão", Many: "bilhões", Gender: grammar.Masculine}
	thousand := grammar.Scale{One: "mil", Many: "mil", Thousand: true}
	return grammar.NumberFormat{
		Decimal:   ",",
		Thousands: ".' ",
		Fractions: map[string]string{
			"1/2": "½", "1/3": "um terço", "2/3": "dois terços", "1/4": "um quarto", "3/4": "três quartos", "24/7": "vinte e quatro sete",
		},
		Vulgar: map[rune]grammar.VulgarFraction{
			'½': {Alone: "½", Behind: "e meio"}, '¼': {Alone: "um quarto", Behind: "e um quarto"}, '¾': {Alone: "três quartos", Behind: "e três quartos"}, '⅓': {Alone: "um terço", Behind: "e um terço"},
			'⅔': {Alone: "dois terços", Behind: "e dois terços"},
		},
		Scales: map[string]grammar.Scale{
			"M": million, "mi": million, "milhão": million, "milhões": million, "bi": milliard, "bilhão": milliard, "bilhões": milliard,
			"k": thousand, "K": thousand, "mil": thousand,
		},
		Phones: grammar.PhoneFormat{Grouped: isPortuguesePhone, Plain: grammar.Threes, PlainCues: strings.Split("número|telefone|celular|telemóvel|whatsapp|número é|telefone é", "|")},
		Mixed:  romanceHalf("meio", "meia", portugueseCardinal, portugueseGender),
	}
}

// isPortuguesePhone reports whether the groups are a number of Portugal, or a Brazilian number without an area code.
func isPortuguesePhone(groups []string) bool {
	digits := strings.Join(groups, "")
	if len(groups) == 2 && len(groups[0]) == 4 && len(groups[1]) == 4 {
		return groups[0] > "2099"
	}
	return len(digits) == 9 && strings.IndexByte("23789", digits[0]) >= 0 && len(groups) == 3
}
