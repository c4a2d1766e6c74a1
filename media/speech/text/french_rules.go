package text

import "strings"

var (
	frenchFunctionWords = wordSet(`de du des d et ou à au aux en dans pour par sur sous avec sans que qui est sont ne pas plus non si la le les l
		un une ce cet cette ces se s vous nous il elle on ils elles avant après depuis dès jusqu entre chez comme mais donc c y ont a`)
	frenchMasculines = wordSet(`poste postes verre verres mètre mètres litre litres gramme grammes centime centimes groupe groupes compte comptes
		mode modes chiffre chiffres nombre nombres article articles titre titres service services siècle siècles problème problèmes ordre ordres
		livre livres cadre cadres arbre arbres membre membres homme hommes centre centres jeune jeunes euro euros degré degrés étage étages
		programme programmes système systèmes formulaire formulaires exemplaire exemplaires kilomètre kilomètres incendie stade stades`)
	frenchFeminines = wordSet("fois main mains clef clefs nuit nuits fleur fleurs couleur couleurs erreur erreurs chaleur part parts souris dent dents mer fin forêt voix")
)

// frenchGender returns the gender of a noun from its ending.
func frenchGender(noun string) gender {
	word := strings.ToLower(noun)
	switch {
	case word == "":
		return standalone
	case frenchMasculines[word] || hasAnySuffix(word, "age", "ages", "isme", "ismes", "ège", "mètre", "mètres"):
		return masculine
	case frenchFeminines[word], hasAnySuffix(word, "e", "es", "ion", "ions", "té", "tés"):
		return feminine
	}
	return masculine
}

// frenchRoman speaks numerals behind names and chapters as cardinals, and numerals with an ordinal mark.
func frenchRoman(word string, n int64, s *scanner) match {
	rest := s.rest()
	after := rest[len(word):]
	previous := lastWord(s.before())
	switch {
	case word == "L": // "Le"
		return match{}
	case strings.HasPrefix(after, "er") && !wordAfter(after, 2) && n == 1:
		return match{size: len(word) + 2, spoken: "premier"}
	case strings.HasPrefix(after, "e") && !wordAfter(after, 1):
		return match{size: len(word) + 1, spoken: frenchOrdinal(n, form{})}
	case strings.HasPrefix(after, "ème") && !wordAfter(after, len("ème")):
		return match{size: len(word) + len("ème"), spoken: frenchOrdinal(n, form{})}
	case wordAfter(after, 0) || !strings.HasSuffix(s.before(), previous+" ") || previous == "":
		return match{}
	}
	switch strings.ToLower(previous) {
	case "chapitre", "tome", "titre", "acte", "volume", "partie", "livre":
		return match{size: len(word), spoken: frenchCardinal(n, form{})}
	}
	if len(word) > 1 && n <= 30 && isCapitalized(previous) && len(previous) > 2 && strings.ToUpper(previous) != previous {
		return match{size: len(word), spoken: frenchCardinal(n, form{})}
	}
	return match{}
}

// matchFrenchDecade speaks "années 80" without the "s" of "quatre-vingts".
func matchFrenchDecade(s *scanner) match {
	rest := s.rest()
	n := digitsAt(rest)
	if n != 2 && n != 4 || wordAfter(rest, n) || !hasCue(s.before(), []string{"années", "année"}) {
		return match{}
	}
	return match{n, frenchYear(atoi(rest[:n])), yearMatch}
}

// matchFrenchArticle speaks articles of a code of law, such as "art. L. 221-18".
func matchFrenchArticle(s *scanner) match {
	rest := s.rest()
	if len(rest) < 4 || strings.IndexByte("LRD", rest[0]) < 0 || rest[1] != '.' || !hasCue(s.before(), []string{"art.", "article", "articles"}) {
		return match{}
	}
	digits := strings.TrimLeft(rest[2:], " ")
	a := digitsAt(digits)
	if a == 0 || !strings.HasPrefix(digits[a:], "-") {
		return match{}
	}
	b := digitsAt(digits[a+1:])
	first, second := number{integer: digits[:a]}, number{integer: digits[a+1 : a+1+b]}
	spoken := rest[:1] + " " + s.speakNumber(first, form{}) + " " + s.words.hyphen + " " + s.speakNumber(second, form{})
	return match{size: len(rest) - len(digits) + a + 1 + b, spoken: spoken}
}

// matchDottedCapitals speaks "S.A." letter by letter.
func matchDottedCapitals(s *scanner) match {
	rest := s.rest()
	var letters []string
	size := 0
	for size+1 < len(rest) && isUpperASCII(rest[size]) && rest[size+1] == '.' {
		letters = append(letters, rest[size:size+1])
		size += 2
	}
	if len(letters) < 2 || wordBefore(s.text, s.pos) {
		return match{}
	}
	if strings.TrimLeft(rest[size:], " ") == "" {
		size--
	}
	return match{size: size, spoken: strings.Join(letters, " ")}
}

// matchSwissAmount speaks "120.-" without a currency as francs.
func matchSwissAmount(s *scanner) match {
	rest := s.rest()
	if !startsWithDigit(rest) {
		return match{}
	}
	n := s.parseNumber(rest)
	if n.size == 0 || !strings.HasPrefix(rest[n.size:], ".-") && !strings.HasPrefix(rest[n.size:], ".–") || wordBefore(s.text, s.pos) {
		return match{}
	}
	size := n.size + 1 + signSize(rest[n.size+1:], "-–")
	if _, currencySize := s.currencyAt(strings.TrimLeft(rest[size:], " ")); currencySize > 0 {
		return match{}
	}
	return match{size, s.speakMajor(amount{n: n, currency: s.currencies["CHF"]}, context{}), moneyMatch}
}

// matchIncluded expands "incl.", which agrees with a tax before it.
func matchIncluded(s *scanner) match {
	rest := s.rest()
	if !strings.HasPrefix(rest, "incl.") || wordBefore(s.text, s.pos) {
		return match{}
	}
	spoken := "inclus"
	if before := s.before(); strings.Contains(before[max(0, len(before)-16):], "TVA") {
		spoken = "incluse"
	}
	if strings.TrimLeft(rest[5:], " ") == "" {
		return match{size: 4, spoken: spoken}
	}
	return match{size: 5, spoken: spoken}
}
