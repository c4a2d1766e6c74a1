package languages

import (
	"strings"

	"github.com/callboard/callboard/media/speech/text/grammar"
)

var (
	portugueseFunctionWords = grammar.WordSet(`de do da dos das e o a os as em no na nos nas com por para que é são ao à aos às ou se mais menos até desde sobre
		entre já como cada um uma uns umas depois antes mil milhão milhões bilhão bilhões não foi está há também`)
	portugueseFeminines = grammar.WordSet(`mulher mulheres noite noites vez vezes parte partes tarde tardes rede redes sede sedes base bases fase fases colher
		colheres flor flores mão mãos foto fotos moto motos classe classes chave chaves gente morte sorte ponte pontes`)
	portugueseMasculines = grammar.WordSet("dia dias mapa mapas problema problemas sistema sistemas programa programas tema temas idioma idiomas clima planeta grama gramas telefonema")
)

// portugueseGender returns the gender of a noun from its ending.
func portugueseGender(noun string) grammar.Gender {
	word := strings.ToLower(noun)
	switch {
	case word == "":
		return grammar.Standalone
	case portugueseMasculines[word]:
		return grammar.Masculine
	case portugueseFeminines[word], hasAnySuffix(word, "a", "as", "ção", "ções", "são", "sões", "dade", "dades", "gem", "gens", "ude", "udes", "ice", "ices"):
		return grammar.Feminine
	}
	return grammar.Masculine
}

func portugueseOrdinalSuffixes() []grammar.OrdinalSuffix {
	var suffixes []grammar.OrdinalSuffix
	for _, dot := range []string{".", ""} {
		suffixes = append(
			suffixes, grammar.OrdinalSuffix{Suffix: dot + "º", Form: grammar.Form{Gender: grammar.Masculine}}, grammar.OrdinalSuffix{Suffix: dot + "ª", Form: grammar.Form{Gender: grammar.Feminine}},
			grammar.OrdinalSuffix{Suffix: dot + "o", Form: grammar.Form{Gender: grammar.Masculine}}, grammar.OrdinalSuffix{Suffix: dot + "a", Form: grammar.Form{Gender: grammar.Feminine}},
		)
	}
	return suffixes
}

// portugueseRoman speaks a numeral as an ordinal up to ten, otherwise as a cardinal.
func portugueseRoman(word string, n int64, s *grammar.Scanner) grammar.Match {
	previous := grammar.LastWord(strings.TrimRight(s.Before(), ". "))
	numbered := grammar.WordSet("século séc capítulo tomo título volume ato parte")[strings.ToLower(previous)]
	switch {
	case grammar.WordAfter(s.Rest(), len(word)) || previous == "" || !strings.HasSuffix(s.Before(), " "):
		return grammar.Match{}
	case numbered:
	case len(word) < 2 || n > 30 || !grammar.IsCapitalized(previous) || len(previous) < 3 || strings.ToUpper(previous) == previous || strings.HasSuffix(s.Before(), ". "):
		return grammar.Match{}
	}
	if n <= 10 {
		g := grammar.Masculine
		if !numbered && strings.HasSuffix(previous, "a") {
			g = grammar.Feminine
		}
		return grammar.Match{Size: len(word), Spoken: portugueseOrdinal(n, grammar.Form{Gender: g})}
	}
	return grammar.Match{Size: len(word), Spoken: portugueseCardinal(n, grammar.Form{})}
}

// matchPortugueseRatio speaks the ratio of a picture: "formato 16:9".
func matchPortugueseRatio(s *grammar.Scanner) grammar.Match {
	rest := s.Rest()
	if rest[0] != ':' || !s.FollowsReplacement(grammar.NumberMatch) || s.LastEnd != s.Pos {
		a := grammar.DigitsAt(rest)
		if a == 0 || !strings.HasPrefix(rest[a:], ":") || !grammar.HasCue(s.Before(), []string{"formato", "formato é", "proporção"}) {
			return grammar.Match{}
		}
		b := grammar.DigitsAt(rest[a+1:])
		if b == 0 || b > 2 {
			return grammar.Match{}
		}
		first, second := grammar.Number{Integer: rest[:a]}, grammar.Number{Integer: rest[a+1 : a+1+b]}
		return grammar.Match{Size: a + 1 + b, Spoken: s.SpeakNumber(first, grammar.Form{}) + " " + s.Words.By + " " + s.SpeakNumber(second, grammar.Form{}), Kind: grammar.NumberMatch}
	}
	return grammar.Match{}
}

// matchCompanyNumber spells the register number of a company: "12.345.678/0001-95".
func matchCompanyNumber(s *grammar.Scanner) grammar.Match {
	rest := s.Rest()
	const form = "00.000.000/0000-00"
	if len(rest) < len(form) || !grammar.StartsWithDigit(rest) || grammar.WordBefore(s.Text, s.Pos) || grammar.WordAfter(rest, len(form)) {
		return grammar.Match{}
	}
	for i := range len(form) {
		if isDigit := grammar.StartsWithDigit(rest[i:]); isDigit != (form[i] == '0') || !isDigit && rest[i] != form[i] {
			return grammar.Match{}
		}
	}
	return grammar.Match{Size: len(form), Spoken: s.SpellCode(rest[:len(form)])}
}

// timesRule returns the rule for "12x": a number of times.
func timesRule(word string, g grammar.Gender) grammar.Rule {
	return func(s *grammar.Scanner) grammar.Match {
		rest := s.Rest()
		n := grammar.DigitsAt(rest)
		if n == 0 || n > 6 || !strings.HasPrefix(rest[n:], "x") || grammar.WordAfter(rest, n+1) || grammar.WordBefore(s.Text, s.Pos) || grammar.StartsWithDigit(strings.TrimLeft(rest[n+1:], " ")) {
			return grammar.Match{}
		}
		return grammar.Match{Size: n + 1, Spoken: s.SpeakNumber(grammar.Number{Integer: rest[:n]}, grammar.Form{Gender: g}) + " " + word, Kind: grammar.NumberMatch}
	}
}

// halfHour returns the rule for "1/2 h".
func halfHour(words string) grammar.Rule {
	return func(s *grammar.Scanner) grammar.Match {
		rest := s.Rest()
		for _, half := range []string{"1/2", "½"} {
			after, ok := strings.CutPrefix(rest, half)
			hour := strings.TrimLeft(after, " ")
			if ok && strings.HasPrefix(hour, "h") && !grammar.WordAfter(hour, 1) && !grammar.WordBefore(s.Text, s.Pos) {
				return grammar.Match{Size: len(rest) - len(hour) + 1, Spoken: words, Kind: grammar.NumberMatch}
			}
		}
		return grammar.Match{}
	}
}
