package text

import (
	"strings"
	"unicode"
)

// normalize returns valid UTF-8 with "\n" as line break, plain spaces, ASCII digits and no invisible characters, so that
// the later stages need one form of each.
func normalize(s string) string {
	s = strings.ToValidUTF8(s, " ")
	s = strings.NewReplacer("\r\n", "\n", "℃", "°C", "℉", "°F", "№", "#", "⁄", "/").Replace(s)
	return strings.Map(normalizeRune, s)
}

func normalizeRune(r rune) rune {
	switch {
	case r == '\n' || r < 0x7F && r >= ' ':
		return r
	case r == '\r' || r == '\u0085' || r == '\u2028' || r == '\u2029' || r == '\v' || r == '\f':
		return '\n'
	case r == 'º' || r == 'ª' || r == '\u200D':
		return r
	case r == '\u2010' || r == '\u2011':
		return '-'
	case r == '\u2012':
		return '–'
	case unicode.IsSpace(r) || unicode.IsControl(r):
		return ' '
	case unicode.Is(unicode.Cf, r) && r < 0xE0000: // soft hyphen, zero-width space; not the tags of flag emoji
		return -1
	case unicode.IsDigit(r):
		return asciiDigit(r)
	case r >= '！' && r <= '～': // full-width forms of ASCII
		return r - '！' + '!'
	}
	return r
}

// asciiDigit returns the ASCII digit of a decimal digit of another script. Unicode encodes the ten digits of a script in
// sequence.
func asciiDigit(r rune) rune {
	if r >= 0x1D7CE && r <= 0x1D7FF { // five sequences of mathematical digits without a gap
		return '0' + (r-0x1D7CE)%10
	}
	zero := r
	for r-zero < 9 && unicode.IsDigit(zero-1) {
		zero--
	}
	return '0' + r - zero
}
