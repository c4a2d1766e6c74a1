package grammar

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// codeMost is the number of bytes of the longest code.
const codeMost = 60

// matchCode speaks words of letters and digits sign by sign: "A1B2", "KX-4491", and accounts in groups.
func matchCode(s *Scanner) Match {
	rest := s.Rest()
	if before := RuneBefore(s.Text, s.Pos); IsWordRune(before) {
		return Match{}
	}
	if size := accountSize(rest); size > 0 {
		return Match{Size: size, Spoken: s.SpellCode(rest[:size])}
	}
	size := codeSize(rest)
	if size == 0 {
		return Match{}
	}
	code := rest[:size]
	if DigitsAt(code) == len(code) || !strings.ContainsAny(code, "0123456789") || !isCode(code) {
		return Match{}
	}
	return Match{Size: size, Spoken: s.SpellCode(code)}
}

// codeSize returns the size of segments of letters and digits with "-" or "/" between them.
func codeSize(s string) int {
	size := 0
	for i, r := range s[:min(len(s), codeMost)] {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			size = i + utf8.RuneLen(r)
		case (r == '-' || r == '/') && size == i && WordAfter(s, i+1):
		default:
			return size
		}
	}
	return size
}

// isCode reports whether segments with letters are written in capitals, or mix letters and digits. Lower-case words with
// a number behind a hyphen are no codes.
func isCode(code string) bool {
	if a, b, ok := strings.Cut(code, "x"); ok && DigitsAt(a) == len(a) && DigitsAt(b) == len(b) && a != "" && b != "" {
		return false // "3x2"
	}
	mixed, letters := false, false
	for segment := range strings.FieldsFuncSeq(code, func(r rune) bool { return r == '-' || r == '/' }) {
		hasDigit := strings.ContainsAny(segment, "0123456789")
		hasLetter := strings.ContainsFunc(segment, unicode.IsLetter)
		mixed = mixed || hasDigit && hasLetter
		if !hasLetter {
			continue
		}
		letters = true
		if n := DigitsAt(segment); n > 0 && strings.ToLower(segment[n:]) == segment[n:] && (segment != code && LettersAt(segment[n:]) == len(segment)-n || segment[n:] == "k") {
			return false // "2-4pm", "10k"
		}
		if !hasDigit && strings.ToUpper(segment) != segment {
			return false
		}
	}
	return letters && (mixed || strings.ToUpper(code) == code)
}

// accountSize returns the size of an IBAN in groups of four at the beginning of s, or 0.
func accountSize(s string) int {
	if len(s) < 14 || !IsUpperASCII(s[0]) || !IsUpperASCII(s[1]) || DigitsAt(s[2:]) != 2 || s[4] != ' ' {
		return 0
	}
	size, groups := 4, 0
	for size+1 < len(s) && s[size] == ' ' {
		n := 0
		for size+1+n < len(s) && n < 5 && (IsUpperASCII(s[size+1+n]) || StartsWithDigit(s[size+1+n:])) {
			n++
		}
		if n == 0 || n > 4 || WordAfter(s, size+1+n) || n < 4 && DigitsAt(s[size+1:]) < n {
			break
		}
		size += 1 + n
		groups++
		if n < 4 {
			break
		}
	}
	if groups < 2 {
		return 0
	}
	return size
}

// IsUpperASCII reports whether the byte is one of A to Z.
func IsUpperASCII(c byte) bool { return c >= 'A' && c <= 'Z' }

// SpellCode speaks letters as capitals and digits one by one, with a pause between groups.
func (l *Language) SpellCode(code string) string {
	var out strings.Builder
	pause := true
	for _, r := range code {
		switch {
		case r == '/':
			out.WriteString(" " + l.Words.Slash)
			pause = false
			continue
		case !IsWordRune(r):
			if !pause {
				out.WriteByte(',')
			}
			continue
		case out.Len() > 0:
			out.WriteByte(' ')
		}
		pause = false
		if unicode.IsDigit(r) {
			out.WriteString(l.Words.Digits[r-'0'])
		} else {
			out.WriteRune(unicode.ToUpper(r))
		}
	}
	return out.String()
}

// matchVersion separates the letter of a version such as "v2.3" from its number.
func matchVersion(s *Scanner) Match {
	rest := s.Rest()
	if rest[0]|0x20 != 'v' || WordBefore(s.Text, s.Pos) {
		return Match{}
	}
	n := DigitsAt(rest[1:])
	if n == 0 || len(rest) < n+3 || rest[1+n] != '.' || !StartsWithDigit(rest[2+n:]) {
		return Match{}
	}
	return Match{Size: 1, Spoken: "V"}
}

// matchPlate speaks the number plates of the country.
func matchPlate(s *Scanner) Match {
	if s.Plates == nil || WordBefore(s.Text, s.Pos) {
		return Match{}
	}
	rest := s.Rest()
	size := s.Plates(rest)
	if size == 0 || WordAfter(rest, size) {
		return Match{}
	}
	return Match{Size: size, Spoken: s.SpellCode(rest[:size])}
}

// matchLexicon speaks words that follow no rule, such as "COVID-19".
func matchLexicon(s *Scanner) Match {
	if len(s.Lexicon) == 0 || WordBefore(s.Text, s.Pos) {
		return Match{}
	}
	rest := s.Rest()
	end := codeSize(rest)
	spoken, ok := s.Lexicon[rest[:end]]
	if !ok {
		return Match{}
	}
	return Match{Size: end, Spoken: spoken}
}
