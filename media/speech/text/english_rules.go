package text

import "strings"

// matchFeetAndInches speaks 5'7".
func matchFeetAndInches(s *scanner) match {
	rest := s.rest()
	feet := digitsAt(rest)
	if feet == 0 || feet > 2 || !strings.HasPrefix(rest[feet:], "'") {
		return match{}
	}
	inches := digitsAt(rest[feet+1:])
	size := feet + 1 + inches
	if inches == 0 || inches > 2 || wordAfter(rest, size) {
		return match{}
	}
	if strings.HasPrefix(rest[size:], "″") {
		size += len("″")
	}
	f, i := number{integer: rest[:feet]}, number{integer: rest[feet+1 : feet+1+inches]}
	return match{size, s.speakNumber(f, form{}) + " " + s.unitName(f, s.units["ft"], context{}) + " " + s.speakNumber(i, form{}) + " " + s.unitName(i, s.units["in."], context{}), numberMatch}
}

// matchEnglishDecade speaks "1990s" and "'80s".
func matchEnglishDecade(s *scanner) match {
	rest := s.rest()
	mark := len(rest) - len(strings.TrimPrefix(rest, "'"))
	n := digitsAt(rest[mark:])
	size := mark + n
	digits := rest[mark:size]
	after := strings.TrimPrefix(rest[size:], "'")
	if !strings.HasPrefix(after, "s") || wordAfter(after, 1) || n != 2 && n != 4 || digits[n-1] != '0' || mark == 1 && n != 2 {
		return match{}
	}
	size = len(rest) - len(after) + 1
	spoken := englishYear(atoi(digits))
	if n == 2 {
		spoken = englishSmall(int64(atoi(digits)))
	}
	if strings.HasSuffix(spoken, "y") {
		spoken = strings.TrimSuffix(spoken, "y") + "ie"
	}
	return match{size, spoken + "s", yearMatch}
}

// matchHighway speaks "I-95" and "US-1".
func matchHighway(s *scanner) match {
	rest := s.rest()
	for _, prefix := range []string{"I-", "US-"} {
		digits, ok := strings.CutPrefix(rest, prefix)
		n := digitsAt(digits)
		if ok && n > 0 && n <= 3 && !wordAfter(digits, n) && !wordBefore(s.text, s.pos) {
			return match{size: len(prefix) + n, spoken: strings.TrimSuffix(prefix, "-") + " " + s.speakNumber(number{integer: digits[:n]}, form{})}
		}
	}
	return match{}
}

// matchHouseNumber speaks "12a Elm Ave."
func matchHouseNumber(s *scanner) match {
	rest := s.rest()
	n := digitsAt(rest)
	if n == 0 || n > 4 || n+2 >= len(rest) || rest[n] < 'a' || rest[n] > 'f' || rest[n+1] != ' ' || !isCapitalized(rest[n+2:]) {
		return match{}
	}
	return match{size: n + 1, spoken: s.speakNumber(number{integer: rest[:n]}, form{}) + " " + strings.ToUpper(rest[n:n+1])}
}

// matchSaintOrStreet speaks "St." as "Saint" before a name and as "Street" behind one.
func matchSaintOrStreet(s *scanner) match {
	rest := s.rest()
	if !strings.HasPrefix(rest, "St.") || wordBefore(s.text, s.pos) {
		return match{}
	}
	before := strings.TrimRight(s.before(), " ")
	word := lastWord(before)
	isName := isCapitalized(word) && !startsSentence(strings.TrimSuffix(before, word)) || s.behind(otherMatch)
	if isCapitalized(strings.TrimLeft(rest[3:], " ")) && !isName {
		return match{size: 3, spoken: "Saint"}
	}
	if isSentenceEnd(rest[3:]) {
		return match{size: 3, spoken: "Street."}
	}
	return match{size: 3, spoken: "Street"}
}

// matchQuarter speaks the year behind a quarter, such as "Q3 2026".
func matchQuarter(s *scanner) match {
	rest := s.rest()
	if len(rest) < 7 || rest[0] != 'Q' || rest[1] < '1' || rest[1] > '4' || rest[2] != ' ' || digitsAt(rest[3:]) != 4 || wordAfter(rest, 7) || wordBefore(s.text, s.pos) {
		return match{}
	}
	return match{7, "Q " + s.words.digits[rest[1]-'0'] + " " + englishYear(atoi(rest[3:7])), yearMatch}
}

// numberedNouns are the words behind which a Roman numeral is a cardinal.
var numberedNouns = wordSet("war bowl part chapter act phase type volume vol level stage class book section episode article title world grade mark")

// englishRoman speaks a Roman numeral behind a noun or behind the name of a monarch.
func englishRoman(word string, n int64, s *scanner) match {
	previous := lastWord(s.before())
	switch {
	case wordAfter(s.rest(), len(word)) || previous == "" || !strings.HasSuffix(s.before(), previous+" "):
		return match{}
	case numberedNouns[strings.ToLower(previous)] && (len(word) > 1 || word != "I"):
		return match{size: len(word), spoken: englishCardinal(n, form{})}
	case len(word) > 1 && n <= 30 && isCapitalized(previous) && len(previous) > 2 && strings.ToUpper(previous) != previous:
		return match{size: len(word), spoken: "the " + englishOrdinal(n, form{})}
	}
	return match{}
}

// matchZIPCode speaks the digits of a ZIP code behind the code of a state: "IL 60609".
func matchZIPCode(s *scanner) match {
	rest := s.rest()
	state := lastWord(s.before())
	if digitsAt(rest) != 5 || wordAfter(rest, 5) || len(state) != 2 || strings.ToUpper(state) != state || !strings.HasSuffix(s.before(), state+" ") {
		return match{}
	}
	return match{5, s.speakDigits(rest[:5]), phoneMatch}
}

// matchShortNumber speaks the digits of 911 and similar numbers behind a verb of calling.
func matchShortNumber(s *scanner) match {
	rest := s.rest()
	if digitsAt(rest) != 3 || wordAfter(rest, 3) || isMoreNumber(rest[3:]) || rest[1:3] != "11" && rest[:3] != "988" || !hasCue(s.before(), []string{"call", "dial", "text", "calling", "dialing"}) {
		return match{}
	}
	return match{3, s.speakDigits(rest[:3]), phoneMatch}
}
