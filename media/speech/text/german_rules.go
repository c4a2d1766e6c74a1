package text

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// germanDatives are prepositions with the dative, and the articles behind which an ordinal ends in "-en".
var (
	germanDatives = wordSet("aus mit von bei nach seit zu vom zum beim im am")
	germanWeak    = wordSet("am im vom zum beim dem den bis ab zur jeden diesen nächsten kommenden")
	germanStarts  = wordSet("danach dann der die das wir sie ich es er ihr bitte und aber auch hier dort heute morgen wann was wie wo ein eine haben sind ist möchten können")
	ordinalNouns  = wordSet("stock etage og ug mal quartal klasse platz rang advent weltkrieg halbjahr semester auflage stelle person runde liga")
)

// germanGender guesses the gender of a noun: from a list of measures, else from its ending.
func germanGender(noun string) gender {
	lower := strings.ToLower(noun)
	switch {
	case noun == "":
		return standalone
	case hasAnySuffix(lower, "becher", "liter", "löffel", "meter", "tag", "monat", "euro", "cent", "platz", "termin", "artikel", "punkt", "anruf", "schritt", "mann", "grad"):
		return masculine
	case hasAnySuffix(lower, "ung", "heit", "keit", "ion", "tät", "schaft", "person", "frau", "nummer", "stunde", "woche", "tür", "uhr", "zahl"):
		return feminine
	case hasAnySuffix(lower, "e") && !hasAnySuffix(lower, "name", "kunde", "ende", "gebäude", "junge", "kollege", "gemüse", "getriebe"):
		return feminine
	case hasAnySuffix(lower, "jahr", "kind", "stück", "paket", "glas", "pfund", "kilo", "angebot", "zimmer", "konto", "ende", "chen", "viertel", "gerät"):
		return neuter
	}
	return neuter
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
func germanUnitForm(n number, g gender, c context) form {
	f := form{gender: g, grammaticalCase: accusative}
	switch before := strings.TrimRight(c.before, " "); {
	case germanDatives[strings.ToLower(lastWord(before))]:
		f.grammaticalCase = dative
	case startsSentence(before) || strings.HasSuffix(before, ":"):
		f.grammaticalCase = nominative
	}
	return f
}

// germanAgreement gives the number one the gender and the case of the noun behind it.
func germanAgreement(n int64, c context) form {
	noun := firstWord(c.after)
	switch {
	case n != 1 || !strings.HasPrefix(c.after, " "):
		return form{}
	case noun == "von":
		return form{gender: masculine, ending: "er"}
	case !isCapitalized(noun):
		return form{}
	}
	f := form{gender: germanGender(noun)}
	phrase := strings.ToLower(c.before[strings.LastIndexAny(c.before, ".,;:!?")+1:])
	if words := strings.Fields(phrase); len(words) > 0 {
		last := words[len(words)-1]
		if germanDatives[last] {
			f.grammaticalCase = dative
		}
		for _, w := range words {
			if last == "und" && germanDatives[w] {
				f.grammaticalCase = dative
			}
		}
	}
	return f
}

// germanEnding returns the ending of an ordinal behind the text.
func germanEnding(before string) string {
	before = strings.TrimRight(before, " ")
	if trimmed := strings.TrimRight(before, ",."); trimmed != before { // "am Mi., 11. Feb."
		word := strings.ToLower(lastWord(trimmed))
		if _, ok := germanWeekdayNames[word]; ok {
			before = strings.TrimRight(trimmed[:len(trimmed)-len(word)], " ")
		}
	}
	word := strings.ToLower(lastWord(before))
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

var germanWeekdayNames = wordSet("mo di mi do fr sa so montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag")

// matchGermanOrdinal speaks "3." before a noun and behind an article.
func matchGermanOrdinal(s *scanner) match {
	rest := s.rest()
	n := digitsAt(rest)
	if n == 0 || n > 6 || !strings.HasPrefix(rest[n:], ".") || rest[0] == '0' || wordBefore(s.text, s.pos) {
		return match{}
	}
	after := rest[n+1:]
	noun := firstWord(after)
	ending := germanEnding(s.before())
	determined := ending != "er"
	value := int64(atoi(rest[:n]))
	switch {
	case after != "" && after[0] != ' ' && after[0] != ',' && after[0] != '?':
		return match{}
	case s.isMonth(noun):
		return match{}
	case noun == "" && isSentenceEnd(after) || germanStarts[strings.ToLower(noun)] && isCapitalized(noun):
		if !hasCue(s.before(), []string{"am", "vom", "zum"}) || value > 31 {
			return match{}
		}
		return match{n, germanOrdinal(value, form{ending: ending}), otherMatch}
	case determined && (noun != "" || after[0] != ' '):
		return match{n + 1, germanOrdinal(value, form{ending: ending}), otherMatch}
	case ordinalNouns[strings.ToLower(noun)]:
		if germanGender(noun) == feminine {
			ending = "e"
		}
		return match{n + 1, germanOrdinal(value, form{ending: ending}), otherMatch}
	}
	return match{}
}

// germanOrdinalPeriod reports whether the period behind the number at s[at:] is the mark of an ordinal.
func germanOrdinalPeriod(s *scanner) bool {
	rest := s.rest()
	n := digitsAt(rest)
	return s.isMonth(firstWord(rest[min(n+1, len(rest)):])) || matchGermanOrdinal(s).size > n
}

// matchGermanMultiple speaks "2x", "3-fach" and "3fach".
func matchGermanMultiple(s *scanner) match {
	rest := s.rest()
	n := digitsAt(rest)
	if n == 0 || n > 6 || rest[0] == '0' {
		return match{}
	}
	value := int64(atoi(rest[:n]))
	if strings.HasPrefix(rest[n:], "x ") && isLetter(runeAfter(rest, n+2)) {
		return match{n + 1, germanPart(value) + "mal", otherMatch}
	}
	after := strings.TrimPrefix(rest[n:], "-")
	if word := after[:lettersAt(after)]; strings.HasPrefix(word, "fach") || strings.HasPrefix(word, "mal") {
		return match{len(rest) - len(after) + len(word), germanPart(value) + word, otherMatch}
	}
	return match{}
}

// matchGermanDecade speaks "80er-Jahre", "50er" and "1990ern".
func matchGermanDecade(s *scanner) match {
	rest := s.rest()
	n := digitsAt(rest)
	if n < 2 || n > 4 || !strings.HasPrefix(rest[n:], "er") {
		return match{}
	}
	ending := rest[n : n+lettersAt(rest[n:])]
	if ending != "er" && ending != "ern" && ending != "ers" {
		return match{}
	}
	return match{n + len(ending), capitalize(germanYear(atoi(rest[:n]))) + ending, otherMatch}
}

// matchGermanStreet expands "Bahnhofstr."
func matchGermanStreet(s *scanner) match {
	rest := s.rest()
	n := lettersAt(rest)
	if n < 6 || !strings.HasSuffix(rest[:n], "str") || !strings.HasPrefix(rest[n:], ".") {
		return match{}
	}
	spoken := strings.TrimSuffix(rest[:n], "str") + "straße"
	if isSentenceEnd(rest[n+1:]) {
		return match{size: n, spoken: spoken}
	}
	return match{size: n + 1, spoken: spoken}
}

// matchGermanHour speaks "um 9h" as a time of day.
func matchGermanHour(s *scanner) match {
	rest := s.rest()
	n := digitsAt(rest)
	after := strings.TrimPrefix(rest[n:], " ")
	if n == 0 || n > 2 || !strings.HasPrefix(after, "h") || wordAfter(after, 1) || !hasCue(s.before(), []string{"um", "ab", "bis", "gegen", "vor", "nach"}) {
		return match{}
	}
	return match{len(rest) - len(after) + 1, s.clock.speak(clockTime{hour: atoi(rest[:n])}, context{}), timeMatch}
}

// matchGermanDuration speaks "05:30 Minuten".
func matchGermanDuration(s *scanner) match {
	t := parseClock(s.rest(), ":")
	if t.size == 0 || t.seconds || !strings.HasPrefix(s.rest()[t.size:], " Minuten") {
		return match{}
	}
	var parts []string
	for i, name := range []string{"min", "s"} {
		if n := (number{integer: strconv.Itoa([]int{t.hour, t.minute}[i])}); n.integer != "0" {
			u := s.units[name]
			parts = append(parts, s.speakNumber(n, form{gender: u.gender})+" "+s.unitName(n, u, context{}))
		}
	}
	return match{t.size + len(" Minuten"), strings.Join(parts, " "), timeMatch}
}

// germanCities are the places with postal codes of four digits.
var germanCities = wordSet("wien graz linz salzburg innsbruck klagenfurt villach wels dornbirn steyr bregenz zürich bern basel genf luzern winterthur lausanne sankt st chur zug thun biel")

// matchGermanPostalCode speaks the digits of a postal code before a place.
func matchGermanPostalCode(s *scanner) match {
	rest := s.rest()
	n := digitsAt(rest)
	place := firstWord(rest[n:])
	if n != 4 && n != 5 || !strings.HasPrefix(rest[n:], " ") || !isCapitalized(place) || wordBefore(s.text, s.pos) {
		return match{}
	}
	before := strings.TrimRight(s.before(), " ")
	if n == 4 && !germanCities[strings.ToLower(place)] || n == 5 && before != "" && !strings.HasSuffix(before, ",") && !hasCue(before, []string{"in", "nach", "aus", "plz"}) {
		return match{}
	}
	return match{size: n, spoken: s.speakDigits(rest[:n])}
}

// matchGenderSign replaces the sign of gender-neutral nouns by a hyphen: "Kolleg:innen".
func matchGenderSign(s *scanner) match {
	rest := s.rest()
	r, size := utf8.DecodeRuneInString(rest)
	if r != ':' && r != '*' && r != '_' || !isLetter(runeBefore(s.text, s.pos)) {
		return match{}
	}
	word := firstWord(rest[size:])
	if !strings.HasPrefix(rest[size:], word) || word != "in" && word != "innen" && word != "r" && word != "n" {
		return match{}
	}
	return match{size: size, spoken: "-"}
}

// matchGermanExtension drops the hyphen before an extension: "Durchwahl -20".
func matchGermanExtension(s *scanner) match {
	rest := s.rest()
	if rest[0] != '-' || !startsWithDigit(rest[1:]) || !hasCue(s.before(), []string{"durchwahl"}) {
		return match{}
	}
	n := digitsAt(rest[1:])
	return match{1 + n, s.speakDigits(rest[1 : 1+n]), phoneMatch}
}

// germanRoman speaks the numeral behind the name of a ruler.
func germanRoman(word string, n int64, s *scanner) match {
	previous := lastWord(s.before())
	after := s.rest()[len(word):]
	if !strings.HasPrefix(after, ".") || !strings.HasSuffix(s.before(), previous+" ") || !isCapitalized(previous) || n > 30 {
		return match{}
	}
	size := len(word) + 1
	if isSentenceEnd(after[1:]) {
		size--
	}
	return match{size: size, spoken: "der " + capitalize(germanOrdinal(n, form{}))}
}

// germanPlate returns the size of a number plate such as "M-AB 1234".
func germanPlate(rest string) int {
	city := lettersAt(rest)
	if city == 0 || utf8.RuneCountInString(rest[:city]) > 3 || !strings.HasPrefix(rest[city:], "-") || strings.ToUpper(rest[:city]) != rest[:city] {
		return 0
	}
	letters := 0
	for letters < 2 && city+1+letters < len(rest) && isUpperASCII(rest[city+1+letters]) {
		letters++
	}
	size := city + 1 + letters
	if letters == 0 || !strings.HasPrefix(rest[size:], " ") {
		return 0
	}
	n := digitsAt(rest[size+1:])
	if n == 0 || n > 4 {
		return 0
	}
	return size + 1 + n
}
