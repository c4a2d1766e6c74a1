package text

import "strings"

var (
	italianFunctionWords = wordSet(`di del della dei delle degli e o a al alla ai alle in nel con per da dal su che è sono non si se più meno ma come ogni
		fino dopo prima tra fra il lo la i gli le un una uno ha ho oppure`)
	italianFeminines  = wordSet("mano mani moto foto auto notte notti parte parti volta volte persona persone chiave chiavi classe classi rete reti sede sedi clienti")
	italianMasculines = wordSet("problema problemi sistema sistemi programma programmi tema temi giorno mese mesi anno anni")
)

// italianGender returns the gender of a noun from its ending.
func italianGender(noun string) gender {
	word := strings.ToLower(noun)
	switch {
	case word == "":
		return standalone
	case italianMasculines[word]:
		return masculine
	case italianFeminines[word], hasAnySuffix(word, "a", "ione", "ioni", "tà", "tù", "trice", "udine"):
		return feminine
	case strings.HasSuffix(word, "ie"), strings.HasSuffix(word, "pie"):
		return feminine
	}
	return masculine
}

func italianOrdinalSuffixes() []ordinalSuffix {
	return []ordinalSuffix{{"º", form{gender: masculine}}, {"°", form{gender: masculine}}, {"ª", form{gender: feminine}}}
}

// matchItalianOrdinal speaks "2° piano": a degree sign before a noun is the mark of an ordinal.
func matchItalianOrdinal(s *scanner) match {
	rest := s.rest()
	n := s.parseNumber(rest)
	mark, hasMark := strings.CutPrefix(rest[n.size:], "°")
	if n.size == 0 || n.fraction != "" || !n.isCardinal() || !hasMark || strings.HasSuffix(s.before(), "-") {
		return match{}
	}
	if strings.HasPrefix(mark, " ") && isLetter(runeAfter(mark, 1)) || behindItalianArticle(s.before()) {
		return match{n.size + len("°"), italianOrdinal(n.value(), form{gender: masculine}), otherMatch}
	}
	return match{}
}

// behindItalianArticle reports whether an article stands before the number, which makes the number an ordinal.
func behindItalianArticle(before string) bool {
	return strings.HasSuffix(before, "il ") || strings.HasSuffix(before, "Il ")
}

// matchFirstOfMonth speaks "il 1 di ogni mese".
func matchFirstOfMonth(s *scanner) match {
	if rest := s.rest(); strings.HasPrefix(rest, "1 di ogni mese") || strings.HasPrefix(rest, "1 del mese") {
		return match{1, "primo", dateMatch}
	}
	return match{}
}

// italianRoman speaks Roman numerals as ordinals: behind names and chapters, and before nouns.
func italianRoman(word string, n int64, s *scanner) match {
	rest := s.rest()
	after := rest[len(word):]
	previous := lastWord(s.before())
	behind := previous != "" && strings.HasSuffix(s.before(), previous+" ")
	noun := firstWord(after)
	switch {
	case wordAfter(after, 0) || strings.HasPrefix(after, "'") || n > 50:
		return match{}
	case behind && wordSet("capitolo titolo libro tomo volume atto canto parte")[strings.ToLower(previous)]:
		return match{size: len(word), spoken: italianOrdinal(n, form{gender: italianGender(previous)})}
	case len(word) > 1 && wordSet("secolo trimestre semestre quadrimestre edizione guerra sezione livello piano grado millennio")[noun]:
		return match{size: len(word), spoken: italianOrdinal(n, form{gender: italianGender(noun)})}
	case len(word) > 1 && n <= 30 && behind && isCapitalized(previous) && len(previous) > 2 && strings.ToUpper(previous) != previous:
		return match{size: len(word), spoken: italianOrdinal(n, form{gender: masculine})}
	}
	return match{}
}

// italianPlate returns the size of a number plate such as "AB 123 CD".
func italianPlate(rest string) int {
	if len(rest) < 9 || !isUpperASCII(rest[0]) || !isUpperASCII(rest[1]) || rest[2] != ' ' || digitsAt(rest[3:]) != 3 || rest[6] != ' ' || !isUpperASCII(rest[7]) || !isUpperASCII(rest[8]) {
		return 0
	}
	return 9
}
