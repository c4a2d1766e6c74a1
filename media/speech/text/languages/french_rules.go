package languages

import (
	"strings"

	"github.com/callboard/callboard/media/speech/text/grammar"
)

var (
	frenchFunctionWords = grammar.WordSet(`de du des d et ou à au aux en dans pour par sur sous avec sans que qui est sont ne pas plus non si la le les l
		un une ce cet cette ces se s vous nous il elle on ils elles avant après depuis dès jusqu entre chez comme mais donc c y ont a`)
	frenchMasculines = grammar.WordSet(`poste postes verre verres mètre mètres litre litres gramme grammes centime centimes groupe groupes compte comptes
		mode modes chiffre chiffres nombre nombres article articles titre titres service services siècle siècles problème problèmes ordre ordres
		livre livres cadre cadres arbre arbres membre membres homme hommes centre centres jeune jeunes euro euros degré degrés étage étages
		programme programmes système systèmes formulaire formulaires exemplaire exemplaires kilomètre kilomètres incendie stade stades`)
	frenchFeminines = grammar.WordSet("fois main mains clef clefs nuit nuits fleur fleurs couleur couleurs erreur erreurs chaleur part parts souris dent dents mer fin forêt voix")
)

// frenchGender returns the gender of a noun from its ending.
func frenchGender(noun string) grammar.Gender {
	word := strings.ToLower(noun)
	switch {
	case word == "":
		return grammar.Standalone
	case frenchMasculines[word] || hasAnySuffix(word, "age", "ages", "isme", "ismes", "ège", "mètre", "mètres"):
		return grammar.Masculine
	case frenchFeminines[word], hasAnySuffix(word, "e", "es", "ion", "ions", "té", "tés"):
		return grammar.Feminine
	}
	return grammar.Masculine
}

// frenchRoman speaks numerals behind names and chapters as cardinals, and numerals with an ordinal mark.
func frenchRoman(word string, n int64, s *grammar.Scanner) grammar.Match {
	rest := s.Rest()
	after := rest[len(word):]
	previous := grammar.LastWord(s.Before())
	switch {
	case word == "L": // "Le"
		return grammar.Match{}
	case strings.HasPrefix(after, "er") && !grammar.WordAfter(after, 2) && n == 1:
		return grammar.Match{Size: len(word) + 2, Spoken: "premier"}
	case strings.HasPrefix(after, "e") && !grammar.WordAfter(after, 1):
		return grammar.Match{Size: len(word) + 1, Spoken: frenchOrdinal(n, grammar.Form{})}
	case strings.HasPrefix(after, "ème") && !grammar.WordAfter(after, len("ème")):
		return grammar.Match{Size: len(word) + len("ème"), Spoken: frenchOrdinal(n, grammar.Form{})}
	case grammar.WordAfter(after, 0) || !strings.HasSuffix(s.Before(), previous+" ") || previous == "":
		return grammar.Match{}
	}
	switch strings.ToLower(previous) {
	case "chapitre", "tome", "titre", "acte", "volume", "partie", "livre":
		return grammar.Match{Size: len(word), Spoken: frenchCardinal(n, grammar.Form{})}
	}
	if len(word) > 1 && n <= 30 && grammar.IsCapitalized(previous) && len(previous) > 2 && strings.ToUpper(previous) != previous {
		return grammar.Match{Size: len(word), Spoken: frenchCardinal(n, grammar.Form{})}
	}
	return grammar.Match{}
}

// matchFrenchDecade speaks "années 80" without the "s" of "quatre-vingts".
func matchFrenchDecade(s *grammar.Scanner) grammar.Match {
	rest := s.Rest()
	n := grammar.DigitsAt(rest)
	if n != 2 && n != 4 || grammar.WordAfter(rest, n) || !grammar.HasCue(s.Before(), []string{"années", "année"}) {
		return grammar.Match{}
	}
	return grammar.Match{Size: n, Spoken: frenchYear(grammar.Atoi(rest[:n])), Kind: grammar.YearMatch}
}

// matchFrenchArticle speaks articles of a code of law, such as "art. L. 221-18".
func matchFrenchArticle(s *grammar.Scanner) grammar.Match {
	rest := s.Rest()
	if len(rest) < 4 || strings.IndexByte("LRD", rest[0]) < 0 || rest[1] != '.' || !grammar.HasCue(s.Before(), []string{"art.", "article", "articles"}) {
		return grammar.Match{}
	}
	digits := strings.TrimLeft(rest[2:], " ")
	a := grammar.DigitsAt(digits)
	if a == 0 || !strings.HasPrefix(digits[a:], "-") {
		return grammar.Match{}
	}
	b := grammar.DigitsAt(digits[a+1:])
	first, second := grammar.Number{Integer: digits[:a]}, grammar.Number{Integer: digits[a+1 : a+1+b]}
	spoken := rest[:1] + " " + s.SpeakNumber(first, grammar.Form{}) + " " + s.Words.Hyphen + " " + s.SpeakNumber(second, grammar.Form{})
	return grammar.Match{Size: len(rest) - len(digits) + a + 1 + b, Spoken: spoken}
}

// matchDottedCapitals speaks "S.A." letter by letter.
func matchDottedCapitals(s *grammar.Scanner) grammar.Match {
	rest := s.Rest()
	var letters []string
	size := 0
	for size+1 < len(rest) && grammar.IsUpperASCII(rest[size]) && rest[size+1] == '.' {
		letters = append(letters, rest[size:size+1])
		size += 2
	}
	if len(letters) < 2 || grammar.WordBefore(s.Text, s.Pos) {
		return grammar.Match{}
	}
	if strings.TrimLeft(rest[size:], " ") == "" {
		size--
	}
	return grammar.Match{Size: size, Spoken: strings.Join(letters, " ")}
}

// matchSwissAmount speaks "120.-" without a currency as francs.
func matchSwissAmount(s *grammar.Scanner) grammar.Match {
	rest := s.Rest()
	if !grammar.StartsWithDigit(rest) {
		return grammar.Match{}
	}
	n := s.ParseNumber(rest)
	if n.Size == 0 || !strings.HasPrefix(rest[n.Size:], ".-") && !strings.HasPrefix(rest[n.Size:], ".–") || grammar.WordBefore(s.Text, s.Pos) {
		return grammar.Match{}
	}
	size := n.Size + 1 + grammar.SignSize(rest[n.Size+1:], "-–")
	if _, currencySize := s.CurrencyAt(strings.TrimLeft(rest[size:], " ")); currencySize > 0 {
		return grammar.Match{}
	}
	return grammar.Match{Size: size, Spoken: s.SpeakMajor(grammar.Amount{N: n, Currency: s.Currencies["CHF"]}, grammar.Context{}), Kind: grammar.MoneyMatch}
}

// matchIncluded expands "incl.", which agrees with a tax before it.
func matchIncluded(s *grammar.Scanner) grammar.Match {
	rest := s.Rest()
	if !strings.HasPrefix(rest, "incl.") || grammar.WordBefore(s.Text, s.Pos) {
		return grammar.Match{}
	}
	spoken := "inclus"
	if before := s.Before(); strings.Contains(before[max(0, len(before)-16):], "TVA") {
		spoken = "incluse"
	}
	if strings.TrimLeft(rest[5:], " ") == "" {
		return grammar.Match{Size: 4, Spoken: spoken}
	}
	return grammar.Match{Size: 5, Spoken: spoken}
}
