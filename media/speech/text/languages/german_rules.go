package languages

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/callboard/callboard/media/speech/text/grammar"
)

// germanDatives are prepositions with the dative, and the articles behind which an ordinal ends in "-en".
var (
	germanDatives = grammar.WordSet("aus mit von bei nach seit zu vom zum beim im am")
	germanWeak    = grammar.WordSet("am im vom zum beim dem den bis ab zur jeden diesen nächsten kommenden")
	germanStarts  = grammar.WordSet("danach dann der die das wir sie ich es er ihr bitte und aber auch hier dort heute morgen wann was wie wo ein eine haben sind ist möchten können")
	ordinalNouns  = grammar.WordSet("stock etage og ug mal quartal klasse platz rang advent weltkrieg halbjahr semester auflage stelle person runde liga")
)

// germanGender guesses the gender of a noun: from a list of measures, else from its ending.
func germanGender(noun string) grammar.Gender {
	lower := strings.ToLower(noun)
	switch {
	case noun == "":
		return grammar.Standalone
	case hasAnySuffix(lower, "becher", "liter", "löffel", "meter", "tag", "monat", "euro", "cent", "platz", "termin", "artikel", "punkt", "anruf", "schritt", "mann", "grad"):
		return grammar.Masculine
	case hasAnySuffix(lower, "ung", "heit", "keit", "ion", "tät", "schaft", "person", "frau", "nummer", "stunde", "woche", "tür", "uhr", "zahl"):
		return grammar.Feminine
	case hasAnySuffix(lower, "e") && !hasAnySuffix(lower, "name", "kunde", "ende", "gebäude", "junge", "kollege", "gemüse", "getriebe"):
		return grammar.Feminine
	case hasAnySuffix(lower, "jahr", "kind", "stück", "paket", "glas", "pfund", "kilo", "angebot", "zimmer", "konto", "ende", "chen", "viertel", "gerät"):
		return grammar.Neuter
	}
	return grammar.Neuter
}

// hasAnySuffix reports whether s ends in one of the suffixes.
func hasAnySuffix(s string, suffixes ...string) bool {
	for _, suffix := range suffixes {
		if strings.HasSuffix(s, suffix) {
			return true
		}
	}
	return false
}

// germanUnitForm gives the number one before a unit its case: the accusative within a sentence.
func germanUnitForm(n grammar.Number, g grammar.Gender, c grammar.Context) grammar.Form {
	f := grammar.Form{Gender: g, GrammaticalCase: grammar.Accusative}
	switch before := strings.TrimRight(c.Before, " "); {
	case germanDatives[strings.ToLower(grammar.LastWord(before))]:
		f.GrammaticalCase = grammar.Dative
	case grammar.StartsSentence(before) || strings.HasSuffix(before, ":"):
		f.GrammaticalCase = grammar.Nominative
	}
	return f
}

// germanAgreement gives the number one the gender and the case of the noun behind it.
func germanAgreement(n int64, c grammar.Context) grammar.Form {
	noun := grammar.FirstWord(c.After)
	switch {
	case n != 1 || !strings.HasPrefix(c.After, " "):
		return grammar.Form{}
	case noun == "von":
		return grammar.Form{Gender: grammar.Masculine, Ending: "er"}
	case !grammar.IsCapitalized(noun):
		return grammar.Form{}
	}
	f := grammar.Form{Gender: germanGender(noun)}
	phrase := strings.ToLower(c.Before[strings.LastIndexAny(c.Before, ".,;:!?")+1:])
	if words := strings.Fields(phrase); len(words) > 0 {
		last := words[len(words)-1]
		if germanDatives[last] {
			f.GrammaticalCase = grammar.Dative
		}
		for _, w := range words {
			if last == "und" && germanDatives[w] {
				f.GrammaticalCase = grammar.Dative
			}
		}
	}
	return f
}

// germanEnding returns the ending of an ordinal behind the text.
func germanEnding(before string) string {
	before = strings.TrimRight(before, " ")
	if trimmed := strings.TrimRight(before, ",."); trimmed != before { // "am Mi., 11. Feb."
		word := strings.ToLower(grammar.LastWord(trimmed))
		if _, ok := germanWeekdayNames[word]; ok {
			before = strings.TrimRight(trimmed[:len(trimmed)-len(word)], " ")
		}
	}
	word := strings.ToLower(grammar.LastWord(before))
	switch {
	case !strings.HasSuffix(strings.ToLower(before), word) || word == "":
		return "er"
	case germanWeak[word]:
		return "en"
	case word == "der" || word == "die" || word == "das" || word == "diese" || word == "dieser" || word == "jeder" || word == "jede":
		return "e"
	case word == "zwischen", word == "und" && strings.Contains(strings.ToLower(before), "zwischen "):
		return "em"
	}
	return "er"
}

var germanWeekdayNames = grammar.WordSet("mo di mi do fr sa so montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag")

// matchGermanOrdinal speaks "3." before a noun and behind an article.
func matchGermanOrdinal(s *grammar.Scanner) grammar.Match {
	rest := s.Rest()
	n := grammar.DigitsAt(rest)
	if n == 0 || n > 6 || !strings.HasPrefix(rest[n:], ".") || rest[0] == '0' || grammar.WordBefore(s.Text, s.Pos) {
		return grammar.Match{}
	}
	after := rest[n+1:]
	noun := grammar.FirstWord(after)
	ending := germanEnding(s.Before())
	determined := ending != "er"
	value := int64(grammar.Atoi(rest[:n]))
	switch {
	case after != "" && after[0] != ' ' && after[0] != ',' && after[0] != '?':
		return grammar.Match{}
	case s.IsMonth(noun):
		return grammar.Match{}
	case noun == "" && grammar.IsSentenceEnd(after) || germanStarts[strings.ToLower(noun)] && grammar.IsCapitalized(noun):
		if !grammar.HasCue(s.Before(), []string{"am", "vom", "zum"}) || value > 31 {
			return grammar.Match{}
		}
		return grammar.Match{Size: n, Spoken: germanOrdinal(value, grammar.Form{Ending: ending}), Kind: grammar.OtherMatch}
	case determined && (noun != "" || after[0] != ' '):
		return grammar.Match{Size: n + 1, Spoken: germanOrdinal(value, grammar.Form{Ending: ending}), Kind: grammar.OtherMatch}
	case ordinalNouns[strings.ToLower(noun)]:
		if germanGender(noun) == grammar.Feminine {
			ending = "e"
		}
		return grammar.Match{Size: n + 1, Spoken: germanOrdinal(value, grammar.Form{Ending: ending}), Kind: grammar.OtherMatch}
	}
	return grammar.Match{}
}

// germanOrdinalPeriod reports whether the period behind the number at s[at:] is the mark of an ordinal.
func germanOrdinalPeriod(s *grammar.Scanner) bool {
	rest := s.Rest()
	n := grammar.DigitsAt(rest)
	return s.IsMonth(grammar.FirstWord(rest[min(n+1, len(rest)):])) || matchGermanOrdinal(s).Size > n
}

// matchGermanMultiple speaks "2x", "3-fach" and "3fach".
func matchGermanMultiple(s *grammar.Scanner) grammar.Match {
	rest := s.Rest()
	n := grammar.DigitsAt(rest)
	if n == 0 || n > 6 || rest[0] == '0' {
		return grammar.Match{}
	}
	value := int64(grammar.Atoi(rest[:n]))
	if strings.HasPrefix(rest[n:], "x ") && grammar.IsLetter(grammar.RuneAfter(rest, n+2)) {
		return grammar.Match{Size: n + 1, Spoken: germanPart(value) + "mal", Kind: grammar.OtherMatch}
	}
	after := strings.TrimPrefix(rest[n:], "-")
	if word := after[:grammar.LettersAt(after)]; strings.HasPrefix(word, "fach") || strings.HasPrefix(word, "mal") {
		return grammar.Match{Size: len(rest) - len(after) + len(word), Spoken: germanPart(value) + word, Kind: grammar.OtherMatch}
	}
	return grammar.Match{}
}

// matchGermanDecade speaks "80er-Jahre", "50er" and "1990ern".
func matchGermanDecade(s *grammar.Scanner) grammar.Match {
	rest := s.Rest()
	n := grammar.DigitsAt(rest)
	if n < 2 || n > 4 || !strings.HasPrefix(rest[n:], "er") {
		return grammar.Match{}
	}
	ending := rest[n : n+grammar.LettersAt(rest[n:])]
	if ending != "er" && ending != "ern" && ending != "ers" {
		return grammar.Match{}
	}
	return grammar.Match{Size: n + len(ending), Spoken: grammar.Capitalize(germanYear(grammar.Atoi(rest[:n]))) + ending, Kind: grammar.OtherMatch}
}

// matchGermanStreet expands streets such as "Bahnhofstr".
func matchGermanStreet(s *grammar.Scanner) grammar.Match {
	rest := s.Rest()
	n := grammar.LettersAt(rest)
	if n < 6 || !strings.HasSuffix(rest[:n], "str") || !strings.HasPrefix(rest[n:], ".") {
		return grammar.Match{}
	}
	spoken := strings.TrimSuffix(rest[:n], "str") + "straße"
	if grammar.IsSentenceEnd(rest[n+1:]) {
		return grammar.Match{Size: n, Spoken: spoken}
	}
	return grammar.Match{Size: n + 1, Spoken: spoken}
}

// matchGermanHour speaks "um 9h" as a time of day.
func matchGermanHour(s *grammar.Scanner) grammar.Match {
	rest := s.Rest()
	n := grammar.DigitsAt(rest)
	after := strings.TrimPrefix(rest[n:], " ")
	if n == 0 || n > 2 || !strings.HasPrefix(after, "h") || grammar.WordAfter(after, 1) || !grammar.HasCue(s.Before(), []string{"um", "ab", "bis", "gegen", "vor", "nach"}) {
		return grammar.Match{}
	}
	return grammar.Match{Size: len(rest) - len(after) + 1, Spoken: s.Clock.Speak(grammar.ClockTime{Hour: grammar.Atoi(rest[:n])}, grammar.Context{}), Kind: grammar.TimeMatch}
}

// matchGermanDuration speaks "05:30 Minuten".
func matchGermanDuration(s *grammar.Scanner) grammar.Match {
	t := grammar.ParseClock(s.Rest(), ":")
	if t.Size == 0 || t.Seconds || !strings.HasPrefix(s.Rest()[t.Size:], " Minuten") {
		return grammar.Match{}
	}
	var parts []string
	for i, name := range []string{"min", "s"} {
		if n := (grammar.Number{Integer: strconv.Itoa([]int{t.Hour, t.Minute}[i])}); n.Integer != "0" {
			u := s.Units[name]
			parts = append(parts, s.SpeakNumber(n, grammar.Form{Gender: u.Gender})+" "+s.UnitName(n, u, grammar.Context{}))
		}
	}
	return grammar.Match{Size: t.Size + len(" Minuten"), Spoken: strings.Join(parts, " "), Kind: grammar.TimeMatch}
}

// germanCities are the places with postal codes of four digits.
var germanCities = grammar.WordSet("wien graz linz salzburg innsbruck klagenfurt villach wels dornbirn steyr bregenz zürich bern basel genf luzern winterthur lausanne sankt st chur zug thun biel")

// matchGermanPostalCode speaks the digits of a postal code before a place.
func matchGermanPostalCode(s *grammar.Scanner) grammar.Match {
	rest := s.Rest()
	n := grammar.DigitsAt(rest)
	place := grammar.FirstWord(rest[n:])
	if n != 4 && n != 5 || !strings.HasPrefix(rest[n:], " ") || !grammar.IsCapitalized(place) || grammar.WordBefore(s.Text, s.Pos) {
		return grammar.Match{}
	}
	before := strings.TrimRight(s.Before(), " ")
	if n == 4 && !germanCities[strings.ToLower(place)] || n == 5 && before != "" && !strings.HasSuffix(before, ",") && !grammar.HasCue(before, []string{"in", "nach", "aus", "plz"}) {
		return grammar.Match{}
	}
	return grammar.Match{Size: n, Spoken: s.SpeakDigits(rest[:n])}
}

// matchGenderSign replaces the sign of gender-neutral nouns by a hyphen: "Kolleg:innen".
func matchGenderSign(s *grammar.Scanner) grammar.Match {
	rest := s.Rest()
	r, size := utf8.DecodeRuneInString(rest)
	if r != ':' && r != '*' && r != '_' || !grammar.IsLetter(grammar.RuneBefore(s.Text, s.Pos)) {
		return grammar.Match{}
	}
	word := grammar.FirstWord(rest[size:])
	if !strings.HasPrefix(rest[size:], word) || word != "in" && word != "innen" && word != "r" && word != "n" {
		return grammar.Match{}
	}
	return grammar.Match{Size: size, Spoken: "-"}
}

// matchGermanExtension drops the hyphen before an extension: "Durchwahl -20".
func matchGermanExtension(s *grammar.Scanner) grammar.Match {
	rest := s.Rest()
	if rest[0] != '-' || !grammar.StartsWithDigit(rest[1:]) || !grammar.HasCue(s.Before(), []string{"durchwahl"}) {
		return grammar.Match{}
	}
	n := grammar.DigitsAt(rest[1:])
	return grammar.Match{Size: 1 + n, Spoken: s.SpeakDigits(rest[1 : 1+n]), Kind: grammar.PhoneMatch}
}

// germanRoman speaks the numeral behind the name of a ruler.
func germanRoman(word string, n int64, s *grammar.Scanner) grammar.Match {
	previous := grammar.LastWord(s.Before())
	after := s.Rest()[len(word):]
	if !strings.HasPrefix(after, ".") || !strings.HasSuffix(s.Before(), previous+" ") || !grammar.IsCapitalized(previous) || n > 30 {
		return grammar.Match{}
	}
	size := len(word) + 1
	if grammar.IsSentenceEnd(after[1:]) {
		size--
	}
	return grammar.Match{Size: size, Spoken: "der " + grammar.Capitalize(germanOrdinal(n, grammar.Form{}))}
}

// germanPlate returns the size of a number plate such as "M-AB 1234".
func germanPlate(rest string) int {
	city := grammar.LettersAt(rest)
	if city == 0 || utf8.RuneCountInString(rest[:city]) > 3 || !strings.HasPrefix(rest[city:], "-") || strings.ToUpper(rest[:city]) != rest[:city] {
		return 0
	}
	letters := 0
	for letters < 2 && city+1+letters < len(rest) && grammar.IsUpperASCII(rest[city+1+letters]) {
		letters++
	}
	size := city + 1 + letters
	if letters == 0 || !strings.HasPrefix(rest[size:], " ") {
		return 0
	}
	n := grammar.DigitsAt(rest[size+1:])
	if n == 0 || n > 4 {
		return 0
	}
	return size + 1 + n
}
