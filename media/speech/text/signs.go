package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// matchNumberSign speaks "#" before a number.
func matchNumberSign(s *scanner) match {
	rest := s.rest()
	if rest[0] != '#' {
		return match{}
	}
	after := strings.TrimLeft(rest[1:], " ")
	if !startsWithDigit(after) {
		return match{}
	}
	return match{size: len(rest) - len(after), spoken: s.words.number + " "}
}

// matchKeys speaks keys of a telephone, such as "*21#".
func matchKeys(s *scanner) match {
	rest := s.rest()
	if rest[0] != '*' || wordBefore(s.text, s.pos) {
		return match{}
	}
	n := digitsAt(rest[1:])
	if n == 0 {
		return match{}
	}
	size := 1 + n
	spoken := s.words.star + " " + s.speakDigits(rest[1:size])
	if strings.HasPrefix(rest[size:], "#") {
		size++
		spoken += " " + s.words.pound
	}
	return match{size: size, spoken: spoken}
}

// matchSign replaces a sign that no other rule knows by a pause or by its name.
func matchSign(s *scanner) match {
	rest := s.rest()
	r, size := utf8.DecodeRuneInString(rest)
	switch r {
	case '.', ',', '?', '!', ':', ';', '\'', '¿', '¡':
		return s.punctuation(r)
	case '…':
		return match{size: size, spoken: "."}
	case '(', ')':
		return s.bracket(r)
	case '[', ']', '{', '}', '\u20E3':
		return match{size: size}
	case '—', '–', '-':
		return s.dash(r, size)
	case '/':
		return s.slash()
	case '×':
		if m := s.factor(size); m.size > 0 {
			return m
		}
	case '<', '>', '~', '≈', '≤', '≥':
		if m := s.comparison(string(r)); m.size > 0 {
			return m
		}
	case '#':
		return match{size: size, spoken: " " + s.words.pound + " "}
	case '*':
		return s.asterisk()
	}
	return s.signName(string(r))
}

// punctuation keeps the marks at which speech pauses.
func (s *scanner) punctuation(r rune) match {
	rest := s.rest()
	switch {
	case r == '\'' && startsWithDigit(rest[1:]) && !wordBefore(s.text, s.pos): // "'80"
		return match{size: 1}
	case r == ',' && s.behind(numberMatch) && s.lastEnd == s.pos && startsWithDigit(rest[1:]):
		return match{size: 1, spoken: ", "}
	case r == '.' && isLetter(runeAfter(rest, 1)) && strings.HasSuffix(" "+s.before(), " "): // ".NET"
		return match{size: 1, spoken: s.words.addressDot + " "}
	case r == '.' && strings.HasPrefix(rest, ".."):
		return match{size: len(rest) - len(strings.TrimLeft(rest, ".")), spoken: "."}
	case s.signs[":"] != "" && strings.HasPrefix(rest, ":\\"): // "C:\Data"
		return match{size: 1, spoken: " " + s.signs[":"] + " "}
	}
	return match{}
}

// bracket replaces a round bracket by a pause. Brackets within a word vanish: "file(s)".
func (s *scanner) bracket(r rune) match {
	rest := s.rest()
	if r == '(' && wordBefore(s.text, s.pos) && isLetter(runeAfter(rest, 1)) {
		return match{size: 1}
	}
	if r == ')' && wordAfter(rest, 1) {
		return match{size: 1, spoken: ", "}
	}
	if r == ')' {
		inWord := strings.LastIndexByte(s.before(), '(')
		if before := s.before(); inWord > 0 && isLetter(runeBefore(before, inWord)) && isLetter(runeAfter(before, inWord+1)) {
			return match{size: 1}
		}
		return match{size: 1, spoken: ","}
	}
	return match{size: 1, spoken: ", "}
}

// dash keeps hyphens in words and replaces dashes by a pause.
func (s *scanner) dash(r rune, size int) match {
	rest := s.rest()
	after := runeAfter(rest, size)
	switch {
	case r == '-' && wordBefore(s.text, s.pos) && isLetter(after):
		return match{}
	case r == '-' && isLetter(runeBefore(s.text, s.pos)) && unicode.IsDigit(after):
		return match{size: size, spoken: " "}
	case r == '-' && (wordBefore(s.text, s.pos) || wordAfter(rest, size)): // "Hin- und Rückfahrt"
		return match{size: size}
	}
	return match{size: size, spoken: ", "}
}

// slash speaks "/" between words.
func (s *scanner) slash() match {
	if m := s.perUnit(); m.size > 0 {
		return m
	}
	rest := s.rest()
	if s.words.per != "" && s.behind(measureMatch) && s.lastEnd == s.pos && startsWithDigit(rest[1:]) {
		return match{size: 1, spoken: " " + s.words.per + " "}
	}
	return match{size: 1, spoken: " " + s.words.slash + " "}
}

// comparison speaks signs before a number.
func (s *scanner) comparison(sign string) match {
	rest := s.rest()
	after := strings.TrimLeft(rest[len(sign):], " ")
	if !startsWithDigit(after) && !s.startsWithMoney(after) {
		return match{}
	}
	between := s.behind(numberMatch, measureMatch, moneyMatch)
	word := ""
	switch {
	case sign == "~" || sign == "≈":
		word = s.words.about
	case sign == "<" && !between:
		word = s.words.less
	case sign == ">" && !between:
		word = s.words.greater
	}
	switch {
	case word == "":
		return match{}
	case strings.EqualFold(lastWord(s.before()), word): // "circa ~30"
		return match{size: len(rest) - len(after)}
	}
	return match{len(rest) - len(after), word + " ", otherMatch}
}

// asterisk names a "*" that is no emphasis.
func (s *scanner) asterisk() match {
	rest := s.rest()
	if s.behind(numberMatch) && s.lastEnd == s.pos && !startsWithDigit(strings.TrimLeft(rest[1:], " ")) && s.words.stars != "" {
		return match{size: 1, spoken: " " + s.words.stars}
	}
	if startsWithDigit(strings.TrimLeft(rest[1:], " ")) && s.behind(numberMatch) {
		return match{size: 1, spoken: " " + s.words.times + " "}
	}
	if after := strings.TrimLeft(rest[1:], " "); !wordBefore(s.text, s.pos) && (len(after) < len(rest)-1 || after == "") {
		return match{size: 1, spoken: " " + s.words.star + " "}
	}
	return match{size: 1}
}

// signName speaks the name of a sign. A sign without a usual name is a pause.
func (s *scanner) signName(sign string) match {
	if name, ok := s.signs[sign]; ok {
		return match{size: len(sign), spoken: " " + name + " "}
	}
	if c, ok := s.currencies[sign]; ok {
		return match{size: len(sign), spoken: " " + c.many + " "}
	}
	if u, ok := s.units[sign]; ok && !isLetter(runeAfter(sign, 0)) {
		return match{size: len(sign), spoken: " " + u.many + " "}
	}
	return match{size: len(sign), spoken: " "}
}
