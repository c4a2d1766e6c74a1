package languages

import (
	"strings"

	"github.com/callboard/callboard/media/speech/text/grammar"
)

var (
	spanishFunctionWords = grammar.WordSet(`de del y o u a en con por para que es son al la el los las lo no se si antes hasta sobre desde más menos ya está
		están fue ha han hay como cada entre sin según durante tras ante e ni pero cuando donde le les me te nos su sus un una unos unas
		mil millones millón`)
	spanishMasculines = grammar.WordSet(`día días mapa mapas problema problemas sistema sistemas programa programas tema temas idioma idiomas clima
		planeta planetas poeta telegrama diploma síntoma síntomas esquema esquemas crucigrama`)
	spanishFeminines = grammar.WordSet(`noche noches vez veces clase clases llave llaves tarde tardes parte partes calle calles vacante vacantes imagen
		imágenes mujer mujeres red redes sede sedes señal señales flor flores mano manos foto fotos moto motos base bases fase fases serie series
		leche gente torre torres nube nubes fuente fuentes carne cárcel tos piel sal ley leyes orden órdenes`)
)

// spanishGender returns the gender of a noun from its ending.
func spanishGender(noun string) grammar.Gender {
	word := strings.ToLower(noun)
	switch {
	case word == "":
		return grammar.Standalone
	case spanishMasculines[word]:
		return grammar.Masculine
	case spanishFeminines[word], hasAnySuffix(word, "a", "as", "ión", "iones", "dad", "dades", "tad", "tades", "tud", "tudes", "umbre", "umbres", "iz", "ices"):
		return grammar.Feminine
	}
	return grammar.Masculine
}

// agreeWithNoun returns the rule for a number that agrees with the word behind it, unless that is a function word.
func agreeWithNoun(genderOf func(string) grammar.Gender, functionWords map[string]bool) func(int64, grammar.Context) grammar.Form {
	return func(_ int64, c grammar.Context) grammar.Form {
		noun := grammar.FirstWord(c.After)
		if !strings.HasPrefix(c.After, " ") || noun == "" || functionWords[strings.ToLower(noun)] || grammar.IsCapitalized(noun) {
			return grammar.Form{}
		}
		return grammar.Form{Gender: genderOf(noun)}
	}
}

func spanishOrdinalSuffixes() []grammar.OrdinalSuffix {
	var suffixes []grammar.OrdinalSuffix
	for _, dot := range []string{".", ""} {
		suffixes = append(
			suffixes, grammar.OrdinalSuffix{Suffix: dot + "er", Form: grammar.Form{Gender: grammar.Masculine, Short: true}}, grammar.OrdinalSuffix{Suffix: dot + "º", Form: grammar.Form{Gender: grammar.Masculine}},
			grammar.OrdinalSuffix{Suffix: dot + "°", Form: grammar.Form{Gender: grammar.Masculine}}, grammar.OrdinalSuffix{Suffix: dot + "ª", Form: grammar.Form{Gender: grammar.Feminine}},
			grammar.OrdinalSuffix{Suffix: dot + "ro", Form: grammar.Form{Gender: grammar.Masculine}}, grammar.OrdinalSuffix{Suffix: dot + "ra", Form: grammar.Form{Gender: grammar.Feminine}},
			grammar.OrdinalSuffix{Suffix: dot + "do", Form: grammar.Form{Gender: grammar.Masculine}}, grammar.OrdinalSuffix{Suffix: dot + "da", Form: grammar.Form{Gender: grammar.Feminine}},
			grammar.OrdinalSuffix{Suffix: dot + "to", Form: grammar.Form{Gender: grammar.Masculine}}, grammar.OrdinalSuffix{Suffix: dot + "ta", Form: grammar.Form{Gender: grammar.Feminine}},
		)
	}
	return suffixes
}

// spanishOrdinalForm puts an ordinal behind a plural article into the plural.
func spanishOrdinalForm(f grammar.Form, c grammar.Context) grammar.Form {
	switch strings.ToLower(grammar.LastWord(c.Before)) {
	case "los", "las":
		f.Plural = true
	}
	return f
}

// spanishRoman speaks a numeral as an ordinal up to ten behind a name, otherwise as a cardinal.
func spanishRoman(word string, n int64, s *grammar.Scanner) grammar.Match {
	previous := grammar.LastWord(s.Before())
	lower := strings.ToLower(previous)
	switch {
	case grammar.WordAfter(s.Rest(), len(word)) || !strings.HasSuffix(s.Before(), previous+" ") || previous == "":
		return grammar.Match{}
	case lower == "siglo" || lower == "capítulo" || lower == "tomo" || lower == "título" || lower == "volumen" || lower == "siglos":
		return grammar.Match{Size: len(word), Spoken: spanishCardinal(n, grammar.Form{})}
	case !grammar.IsCapitalized(previous) || len(previous) < 3 || strings.ToUpper(previous) == previous || n > 30:
		return grammar.Match{}
	case n <= 10:
		g := grammar.Masculine
		if hasAnySuffix(lower, "a", "isabel", "beatriz") {
			g = grammar.Feminine
		}
		return grammar.Match{Size: len(word), Spoken: spanishOrdinal(n, grammar.Form{Gender: g})}
	}
	return grammar.Match{Size: len(word), Spoken: spanishCardinal(n, grammar.Form{})}
}

// matchColombianAddress speaks "# 12-34" in an address.
func matchColombianAddress(s *grammar.Scanner) grammar.Match {
	rest := s.Rest()
	a := grammar.DigitsAt(rest)
	if a == 0 || !strings.HasPrefix(rest[a:], "-") || !strings.HasSuffix(strings.TrimRight(s.Before(), " "), "#") {
		return grammar.Match{}
	}
	b := grammar.DigitsAt(rest[a+1:])
	if b == 0 || grammar.WordAfter(rest, a+1+b) {
		return grammar.Match{}
	}
	first, second := grammar.Number{Integer: rest[:a]}, grammar.Number{Integer: rest[a+1 : a+1+b]}
	return grammar.Match{Size: a + 1 + b, Spoken: s.SpeakNumber(first, grammar.Form{}) + " " + s.Words.Hyphen + " " + s.SpeakNumber(second, grammar.Form{}), Kind: grammar.OtherMatch}
}

// spanishPlate returns the size of a number plate such as "4821 KLM".
func spanishPlate(rest string) int {
	if grammar.DigitsAt(rest) != 4 || len(rest) < 8 || rest[4] != ' ' {
		return 0
	}
	for _, c := range []byte(rest[5:8]) {
		if !grammar.IsUpperASCII(c) || strings.IndexByte("AEIOU", c) >= 0 {
			return 0
		}
	}
	return 8
}
