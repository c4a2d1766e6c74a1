package text

import "strings"

var (
	portugueseFunctionWords = wordSet(`de do da dos das e o a os as em no na nos nas com por para que é são ao à aos às ou se mais menos até desde sobre
		entre já como cada um uma uns umas depois antes mil milhão milhões bilhão bilhões não foi está há também`)
	portugueseFeminines = wordSet(`mulher mulheres noite noites vez vezes parte partes tarde tardes rede redes sede sedes base bases fase fases colher
		colheres flor flores mão mãos foto fotos moto motos classe classes chave chaves gente morte sorte ponte pontes`)
	portugueseMasculines = wordSet("dia dias mapa mapas problema problemas sistema sistemas programa programas tema temas idioma idiomas clima planeta grama gramas telefonema")
)

// portugueseGender returns the gender of a noun from its ending.
func portugueseGender(noun string) gender {
	word := strings.ToLower(noun)
	switch {
	case word == "":
		return standalone
	case portugueseMasculines[word]:
		return masculine
	case portugueseFeminines[word], hasAnySuffix(word, "a", "as", "ção", "ções", "são", "sões", "dade", "dades", "gem", "gens", "ude", "udes", "ice", "ices"):
		return feminine
	}
	return masculine
}

func portugueseOrdinalSuffixes() []ordinalSuffix {
	var suffixes []ordinalSuffix
	for _, dot := range []string{".", ""} {
		suffixes = append(
			suffixes, ordinalSuffix{dot + "º", form{gender: masculine}}, ordinalSuffix{dot + "ª", form{gender: feminine}},
			ordinalSuffix{dot + "o", form{gender: masculine}}, ordinalSuffix{dot + "a", form{gender: feminine}},
		)
	}
	return suffixes
}

// portugueseRoman speaks a numeral as an ordinal up to ten, otherwise as a cardinal.
func portugueseRoman(word string, n int64, s *scanner) match {
	previous := lastWord(strings.TrimRight(s.before(), ". "))
	numbered := wordSet("século séc capítulo tomo título volume ato parte")[strings.ToLower(previous)]
	switch {
	case wordAfter(s.rest(), len(word)) || previous == "" || !strings.HasSuffix(s.before(), " "):
		return match{}
	case numbered:
	case len(word) < 2 || n > 30 || !isCapitalized(previous) || len(previous) < 3 || strings.ToUpper(previous) == previous || strings.HasSuffix(s.before(), ". "):
		return match{}
	}
	if n <= 10 {
		g := masculine
		if !numbered && strings.HasSuffix(previous, "a") {
			g = feminine
		}
		return match{size: len(word), spoken: portugueseOrdinal(n, form{gender: g})}
	}
	return match{size: len(word), spoken: portugueseCardinal(n, form{})}
}

// matchPortugueseRatio speaks the ratio of a picture: "formato 16:9".
func matchPortugueseRatio(s *scanner) match {
	rest := s.rest()
	if rest[0] != ':' || !s.behind(numberMatch) || s.lastEnd != s.pos {
		a := digitsAt(rest)
		if a == 0 || !strings.HasPrefix(rest[a:], ":") || !hasCue(s.before(), []string{"formato", "formato é", "proporção"}) {
			return match{}
		}
		b := digitsAt(rest[a+1:])
		if b == 0 || b > 2 {
			return match{}
		}
		first, second := number{integer: rest[:a]}, number{integer: rest[a+1 : a+1+b]}
		return match{a + 1 + b, s.speakNumber(first, form{}) + " " + s.words.by + " " + s.speakNumber(second, form{}), numberMatch}
	}
	return match{}
}

// matchCompanyNumber spells the register number of a company: "12.345.678/0001-95".
func matchCompanyNumber(s *scanner) match {
	rest := s.rest()
	const form = "00.000.000/0000-00"
	if len(rest) < len(form) || !startsWithDigit(rest) || wordBefore(s.text, s.pos) || wordAfter(rest, len(form)) {
		return match{}
	}
	for i := range len(form) {
		if isDigit := startsWithDigit(rest[i:]); isDigit != (form[i] == '0') || !isDigit && rest[i] != form[i] {
			return match{}
		}
	}
	return match{size: len(form), spoken: s.spellCode(rest[:len(form)])}
}

// timesRule returns the rule for "12x": a number of times.
func timesRule(word string, g gender) rule {
	return func(s *scanner) match {
		rest := s.rest()
		n := digitsAt(rest)
		if n == 0 || n > 6 || !strings.HasPrefix(rest[n:], "x") || wordAfter(rest, n+1) || wordBefore(s.text, s.pos) || startsWithDigit(strings.TrimLeft(rest[n+1:], " ")) {
			return match{}
		}
		return match{n + 1, s.speakNumber(number{integer: rest[:n]}, form{gender: g}) + " " + word, numberMatch}
	}
}

// halfHour returns the rule for "1/2 h".
func halfHour(words string) rule {
	return func(s *scanner) match {
		rest := s.rest()
		for _, half := range []string{"1/2", "½"} {
			after, ok := strings.CutPrefix(rest, half)
			hour := strings.TrimLeft(after, " ")
			if ok && strings.HasPrefix(hour, "h") && !wordAfter(hour, 1) && !wordBefore(s.text, s.pos) {
				return match{len(rest) - len(hour) + 1, words, numberMatch}
			}
		}
		return match{}
	}
}
