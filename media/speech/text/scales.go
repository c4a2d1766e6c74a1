package text

import "strings"

// scaleAt returns the scale behind a number, such as " million", "k" or " Mio.", and its size. Letters are scales only in
// amounts of money.
func (l *language) scaleAt(s string) (scale, int) {
	rest := strings.TrimLeft(s, " ")
	word := rest[:lettersAt(rest)]
	sc, ok := l.numbers.scales[word]
	if !ok {
		return scale{}, 0
	}
	if len(word) == 1 && len(rest) < len(s) { // "3 M€", but not "3 m"
		if _, currencySize := l.currencyAt(rest[1:]); currencySize == 0 {
			return scale{}, 0
		}
	}
	size := len(s) - len(rest) + len(word)
	if strings.HasPrefix(s[size:], ".") && len(word) > 1 && len(word) < 5 && strings.TrimLeft(s[size+1:], " ") != "" {
		size++
	}
	if wordAfter(s, size) {
		return scale{}, 0
	}
	return sc, size
}

// isSentenceEnd reports whether a sentence ends before the text.
func isSentenceEnd(after string) bool {
	rest := strings.TrimLeft(after, " ")
	return rest == "" || len(rest) < len(after) && isCapitalized(rest)
}

// speakScaled speaks a number with its scale.
func (l *language) speakScaled(n number, sc scale) string {
	if sc.thousand && n.fraction == "" {
		n.integer += "000"
		return l.speakNumber(n, form{gender: sc.gender})
	}
	word := sc.many
	if !l.isPlural(n) {
		word = sc.one
	}
	if word == "" {
		return l.speakNumber(n, form{})
	}
	return l.speakNumber(n, form{gender: sc.gender}) + " " + word
}
