package grammar

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// matchNumberSign speaks "#" before a number.
func matchNumberSign(s *Scanner) Match {
	rest := s.Rest()
	if rest[0] != '#' {
		return Match{}
	}
	after := strings.TrimLeft(rest[1:], " ")
	if !StartsWithDigit(after) {
		return Match{}
	}
	return Match{Size: len(rest) - len(after), Spoken: s.Words.Number + " "}
}

// matchKeys speaks keys of a telephone, such as "*21#".
func matchKeys(s *Scanner) Match {
	rest := s.Rest()
	if rest[0] != '*' || WordBefore(s.Text, s.Pos) {
		return Match{}
	}
	n := DigitsAt(rest[1:])
	if n == 0 {
		return Match{}
	}
	size := 1 + n
	spoken := s.Words.Star + " " + s.SpeakDigits(rest[1:size])
	if strings.HasPrefix(rest[size:], "#") {
		size++
		spoken += " " + s.Words.Pound
	}
	return Match{Size: size, Spoken: spoken}
}

// matchSign replaces a sign that no other rule knows by a pause or by its name.
func matchSign(s *Scanner) Match {
	rest := s.Rest()
	r, size := utf8.DecodeRuneInString(rest)
	switch r {
	case '.', ',', '?', '!', ':', ';', '\'', '¿', '¡':
		return s.punctuation(r)
	case '…':
		return Match{Size: size, Spoken: "."}
	case '(', ')':
		return s.bracket(r)
	case '[', ']', '{', '}', '\u20E3':
		return Match{Size: size}
	case '—', '–', '-':
		return s.dash(r, size)
	case '/':
		return s.slash()
	case '×':
		if m := s.factor(size); m.Size > 0 {
			return m
		}
	case '<', '>', '~', '≈', '≤', '≥':
		if m := s.comparison(string(r)); m.Size > 0 {
			return m
		}
	case '#':
		return Match{Size: size, Spoken: " " + s.Words.Pound + " "}
	case '*':
		return s.asterisk()
	}
	return s.signName(string(r))
}

// punctuation keeps the marks at which speech pauses.
func (s *Scanner) punctuation(r rune) Match {
	rest := s.Rest()
	switch {
	case r == '\'' && StartsWithDigit(rest[1:]) && !WordBefore(s.Text, s.Pos): // "'80"
		return Match{Size: 1}
	case r == ',' && s.FollowsReplacement(NumberMatch) && s.LastEnd == s.Pos && StartsWithDigit(rest[1:]):
		return Match{Size: 1, Spoken: ", "}
	case r == '.' && IsLetter(RuneAfter(rest, 1)) && strings.HasSuffix(" "+s.Before(), " "): // ".NET"
		return Match{Size: 1, Spoken: s.Words.AddressDot + " "}
	case r == '.' && strings.HasPrefix(rest, ".."):
		return Match{Size: len(rest) - len(strings.TrimLeft(rest, ".")), Spoken: "."}
	case s.Signs[":"] != "" && strings.HasPrefix(rest, ":\\"): // "C:\Data"
		return Match{Size: 1, Spoken: " " + s.Signs[":"] + " "}
	}
	return Match{}
}

// bracket replaces a round bracket by a pause. Brackets within a word vanish: "file(s)".
func (s *Scanner) bracket(r rune) Match {
	rest := s.Rest()
	if r == '(' && WordBefore(s.Text, s.Pos) && IsLetter(RuneAfter(rest, 1)) {
		return Match{Size: 1}
	}
	if r == ')' && WordAfter(rest, 1) {
		return Match{Size: 1, Spoken: ", "}
	}
	if r == ')' {
		inWord := strings.LastIndexByte(s.Before(), '(')
		if before := s.Before(); inWord > 0 && IsLetter(RuneBefore(before, inWord)) && IsLetter(RuneAfter(before, inWord+1)) {
			return Match{Size: 1}
		}
		return Match{Size: 1, Spoken: ","}
	}
	return Match{Size: 1, Spoken: ", "}
}

// dash keeps hyphens in words and replaces dashes by a pause.
func (s *Scanner) dash(r rune, size int) Match {
	rest := s.Rest()
	after := RuneAfter(rest, size)
	switch {
	case r == '-' && WordBefore(s.Text, s.Pos) && IsLetter(after):
		return Match{}
	case r == '-' && IsLetter(RuneBefore(s.Text, s.Pos)) && unicode.IsDigit(after):
		return Match{Size: size, Spoken: " "}
	case r == '-' && (WordBefore(s.Text, s.Pos) || WordAfter(rest, size)): // "Hin- und Rückfahrt"
		return Match{Size: size}
	}
	return Match{Size: size, Spoken: ", "}
}

// slash speaks "/" between words.
func (s *Scanner) slash() Match {
	if m := s.perUnit(); m.Size > 0 {
		return m
	}
	rest := s.Rest()
	if s.Words.Per != "" && s.FollowsReplacement(measureMatch) && s.LastEnd == s.Pos && StartsWithDigit(rest[1:]) {
		return Match{Size: 1, Spoken: " " + s.Words.Per + " "}
	}
	return Match{Size: 1, Spoken: " " + s.Words.Slash + " "}
}

// comparison speaks signs before a number.
func (s *Scanner) comparison(sign string) Match {
	rest := s.Rest()
	after := strings.TrimLeft(rest[len(sign):], " ")
	if !StartsWithDigit(after) && !s.startsWithMoney(after) {
		return Match{}
	}
	between := s.FollowsReplacement(NumberMatch, measureMatch, MoneyMatch)
	word := ""
	switch {
	case sign == "~" || sign == "≈":
		word = s.Words.About
	case sign == "<" && !between:
		word = s.Words.Less
	case sign == ">" && !between:
		word = s.Words.Greater
	}
	switch {
	case word == "":
		return Match{}
	case strings.EqualFold(LastWord(s.Before()), word): // "circa ~30"
		return Match{Size: len(rest) - len(after)}
	}
	return Match{len(rest) - len(after), word + " ", OtherMatch}
}

// asterisk names a "*" that is no emphasis.
func (s *Scanner) asterisk() Match {
	rest := s.Rest()
	if s.FollowsReplacement(NumberMatch) && s.LastEnd == s.Pos && !StartsWithDigit(strings.TrimLeft(rest[1:], " ")) && s.Words.Stars != "" {
		return Match{Size: 1, Spoken: " " + s.Words.Stars}
	}
	if StartsWithDigit(strings.TrimLeft(rest[1:], " ")) && s.FollowsReplacement(NumberMatch) {
		return Match{Size: 1, Spoken: " " + s.Words.Times + " "}
	}
	if after := strings.TrimLeft(rest[1:], " "); !WordBefore(s.Text, s.Pos) && (len(after) < len(rest)-1 || after == "") {
		return Match{Size: 1, Spoken: " " + s.Words.Star + " "}
	}
	return Match{Size: 1}
}

// signName speaks the name of a sign. A sign without a usual name is a pause.
func (s *Scanner) signName(sign string) Match {
	if name, ok := s.Signs[sign]; ok {
		return Match{Size: len(sign), Spoken: " " + name + " "}
	}
	if c, ok := s.Currencies[sign]; ok {
		return Match{Size: len(sign), Spoken: " " + c.Many + " "}
	}
	if u, ok := s.Units[sign]; ok && !IsLetter(RuneAfter(sign, 0)) {
		return Match{Size: len(sign), Spoken: " " + u.Many + " "}
	}
	return Match{Size: len(sign), Spoken: " "}
}
