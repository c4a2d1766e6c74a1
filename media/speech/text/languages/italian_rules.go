package languages

import (
	"strings"

	"github.com/callboard/callboard/media/speech/text/grammar"
)

var (
	italianFunctionWords = grammar.WordSet(`di del della dei delle degli e o a al alla ai alle in nel con per da dal su che è sono non si se più meno ma come ogni
		fino dopo prima tra fra il lo la i gli le un una uno ha ho oppure`)
	italianFeminines  = grammar.WordSet("mano mani moto foto auto notte notti parte parti volta volte persona persone chiave chiavi classe classi rete reti sede sedi clienti")
	italianMasculines = grammar.WordSet("problema problemi sistema sistemi programma programmi tema temi giorno mese mesi anno anni")
)

// italianGender returns the gender of a noun from its ending.
func italianGender(noun string) grammar.Gender {
	word := strings.ToLower(noun)
	switch {
	case word == "":
		return grammar.Standalone
	case italianMasculines[word]:
		return grammar.Masculine
	case italianFeminines[word], hasAnySuffix(word, "a", "ione", "ioni", "tà", "tù", "trice", "udine"):
		return grammar.Feminine
	case strings.HasSuffix(word, "ie"), strings.HasSuffix(word, "pie"):
		return grammar.Feminine
	}
	return grammar.Masculine
}

func italianOrdinalSuffixes() []grammar.OrdinalSuffix {
	return []grammar.OrdinalSuffix{{Suffix: "º", Form: grammar.Form{Gender: grammar.Masculine}}, {Suffix: "°", Form: grammar.Form{Gender: grammar.Masculine}}, {Suffix: "ª", Form: grammar.Form{Gender: grammar.Feminine}}}
}

// matchItalianOrdinal speaks "2° piano": a degree sign before a noun is the mark of an ordinal.
func matchItalianOrdinal(s *grammar.Scanner) grammar.Match {
	rest := s.Rest()
	n := s.ParseNumber(rest)
	mark, hasMark := strings.CutPrefix(rest[n.Size:], "°")
	if n.Size == 0 || n.Fraction != "" || !n.IsCardinal() || !hasMark || strings.HasSuffix(s.Before(), "-") {
		return grammar.Match{}
	}
	if strings.HasPrefix(mark, " ") && grammar.IsLetter(grammar.RuneAfter(mark, 1)) || behindItalianArticle(s.Before()) {
		return grammar.Match{Size: n.Size + len("°"), Spoken: italianOrdinal(n.Value(), grammar.Form{Gender: grammar.Masculine}), Kind: grammar.OtherMatch}
	}
	return grammar.Match{}
}

// behindItalianArticle reports whether an article stands before the number, which makes the number an ordinal.
func behindItalianArticle(before string) bool {
	return strings.HasSuffix(before, "il ") || strings.HasSuffix(before, "Il ")
}

// matchFirstOfMonth speaks "il 1 di ogni mese".
func matchFirstOfMonth(s *grammar.Scanner) grammar.Match {
	if rest := s.Rest(); strings.HasPrefix(rest, "1 di ogni mese") || strings.HasPrefix(rest, "1 del mese") {
		return grammar.Match{Size: 1, Spoken: "primo", Kind: grammar.DateMatch}
	}
	return grammar.Match{}
}

// italianRoman speaks Roman numerals as ordinals: behind names and chapters, and before nouns.
func italianRoman(word string, n int64, s *grammar.Scanner) grammar.Match {
	rest := s.Rest()
	after := rest[len(word):]
	previous := grammar.LastWord(s.Before())
	behind := previous != "" && strings.HasSuffix(s.Before(), previous+" ")
	noun := grammar.FirstWord(after)
	switch {
	case grammar.WordAfter(after, 0) || strings.HasPrefix(after, "'") || n > 50:
		return grammar.Match{}
	case behind && grammar.WordSet("capitolo titolo libro tomo volume atto canto parte")[strings.ToLower(previous)]:
		return grammar.Match{Size: len(word), Spoken: italianOrdinal(n, grammar.Form{Gender: italianGender(previous)})}
	case len(word) > 1 && grammar.WordSet("secolo trimestre semestre quadrimestre edizione guerra sezione livello piano grado millennio")[noun]:
		return grammar.Match{Size: len(word), Spoken: italianOrdinal(n, grammar.Form{Gender: italianGender(noun)})}
	case len(word) > 1 && n <= 30 && behind && grammar.IsCapitalized(previous) && len(previous) > 2 && strings.ToUpper(previous) != previous:
		return grammar.Match{Size: len(word), Spoken: italianOrdinal(n, grammar.Form{Gender: grammar.Masculine})}
	}
	return grammar.Match{}
}

// italianPlate returns the size of a number plate such as "AB 123 CD".
func italianPlate(rest string) int {
	if len(rest) < 9 || !grammar.IsUpperASCII(rest[0]) || !grammar.IsUpperASCII(rest[1]) || rest[2] != ' ' || grammar.DigitsAt(rest[3:]) != 3 || rest[6] != ' ' || !grammar.IsUpperASCII(rest[7]) || !grammar.IsUpperASCII(rest[8]) {
		return 0
	}
	return 9
}
