package text

import "strings"

var (
	spanishFunctionWords = wordSet(`de del y o u a en con por para que es son al la el los las lo no se si antes hasta sobre desde más menos ya está
		están fue ha han hay como cada entre sin según durante tras ante e ni pero cuando donde le les me te nos su sus un una unos unas
		mil millones millón`)
	spanishMasculines = wordSet(`día días mapa mapas problema problemas sistema sistemas programa programas tema temas idioma idiomas clima
		planeta planetas poeta telegrama diploma síntoma síntomas esquema esquemas crucigrama`)
	spanishFeminines = wordSet(`noche noches vez veces clase clases llave llaves tarde tardes parte partes calle calles vacante vacantes imagen
		imágenes mujer mujeres red redes sede sedes señal señales flor flores mano manos foto fotos moto motos base bases fase fases serie series
		leche gente torre torres nube nubes fuente fuentes carne cárcel tos piel sal ley leyes orden órdenes`)
)

// spanishGender returns the gender of a noun from its ending.
func spanishGender(noun string) gender {
	word := strings.ToLower(noun)
	switch {
	case word == "":
		return standalone
	case spanishMasculines[word]:
		return masculine
	case spanishFeminines[word], hasAnySuffix(word, "a", "as", "ión", "iones", "dad", "dades", "tad", "tades", "tud", "tudes", "umbre", "umbres", "iz", "ices"):
		return feminine
	}
	return masculine
}

// agreeWithNoun returns the rule for a number that agrees with the word behind it, unless that is a function word.
func agreeWithNoun(genderOf func(string) gender, functionWords map[string]bool) func(int64, context) form {
	return func(_ int64, c context) form {
		noun := firstWord(c.after)
		if !strings.HasPrefix(c.after, " ") || noun == "" || functionWords[strings.ToLower(noun)] || isCapitalized(noun) {
			return form{}
		}
		return form{gender: genderOf(noun)}
	}
}

func spanishOrdinalSuffixes() []ordinalSuffix {
	var suffixes []ordinalSuffix
	for _, dot := range []string{".", ""} {
		suffixes = append(
			suffixes, ordinalSuffix{dot + "er", form{gender: masculine, short: true}}, ordinalSuffix{dot + "º", form{gender: masculine}},
			ordinalSuffix{dot + "°", form{gender: masculine}}, ordinalSuffix{dot + "ª", form{gender: feminine}},
			ordinalSuffix{dot + "ro", form{gender: masculine}}, ordinalSuffix{dot + "ra", form{gender: feminine}},
			ordinalSuffix{dot + "do", form{gender: masculine}}, ordinalSuffix{dot + "da", form{gender: feminine}},
			ordinalSuffix{dot + "to", form{gender: masculine}}, ordinalSuffix{dot + "ta", form{gender: feminine}},
		)
	}
	return suffixes
}

// spanishOrdinalForm puts an ordinal behind a plural article into the plural.
func spanishOrdinalForm(f form, c context) form {
	switch strings.ToLower(lastWord(c.before)) {
	case "los", "las":
		f.plural = true
	}
	return f
}

// spanishRoman speaks a numeral as an ordinal up to ten behind a name, otherwise as a cardinal.
func spanishRoman(word string, n int64, s *scanner) match {
	previous := lastWord(s.before())
	lower := strings.ToLower(previous)
	switch {
	case wordAfter(s.rest(), len(word)) || !strings.HasSuffix(s.before(), previous+" ") || previous == "":
		return match{}
	case lower == "siglo" || lower == "capítulo" || lower == "tomo" || lower == "título" || lower == "volumen" || lower == "siglos":
		return match{size: len(word), spoken: spanishCardinal(n, form{})}
	case !isCapitalized(previous) || len(previous) < 3 || strings.ToUpper(previous) == previous || n > 30:
		return match{}
	case n <= 10:
		g := masculine
		if hasAnySuffix(lower, "a", "isabel", "beatriz") {
			g = feminine
		}
		return match{size: len(word), spoken: spanishOrdinal(n, form{gender: g})}
	}
	return match{size: len(word), spoken: spanishCardinal(n, form{})}
}

// matchColombianAddress speaks "# 12-34" in an address.
func matchColombianAddress(s *scanner) match {
	rest := s.rest()
	a := digitsAt(rest)
	if a == 0 || !strings.HasPrefix(rest[a:], "-") || !strings.HasSuffix(strings.TrimRight(s.before(), " "), "#") {
		return match{}
	}
	b := digitsAt(rest[a+1:])
	if b == 0 || wordAfter(rest, a+1+b) {
		return match{}
	}
	first, second := number{integer: rest[:a]}, number{integer: rest[a+1 : a+1+b]}
	return match{a + 1 + b, s.speakNumber(first, form{}) + " " + s.words.hyphen + " " + s.speakNumber(second, form{}), otherMatch}
}

// spanishPlate returns the size of a number plate such as "4821 KLM".
func spanishPlate(rest string) int {
	if digitsAt(rest) != 4 || len(rest) < 8 || rest[4] != ' ' {
		return 0
	}
	for _, c := range []byte(rest[5:8]) {
		if !isUpperASCII(c) || strings.IndexByte("AEIOU", c) >= 0 {
			return 0
		}
	}
	return 8
}
