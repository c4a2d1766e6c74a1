package grammar

import "strings"

// scaleAt returns the scale behind a number, such as " million", "k" or " Mio.", and its size. Letters are scales only in
// amounts of money.
func (l *Language) scaleAt(s string) (Scale, int) {
	rest := strings.TrimLeft(s, " ")
	word := rest[:LettersAt(rest)]
	sc, ok := l.Numbers.Scales[word]
	if !ok {
		return Scale{}, 0
	}
	if len(word) == 1 && len(rest) < len(s) { // "3 M€", but not "3 m"
		if _, currencySize := l.CurrencyAt(rest[1:]); currencySize == 0 {
			return Scale{}, 0
		}
	}
	size := len(s) - len(rest) + len(word)
	if strings.HasPrefix(s[size:], ".") && len(word) > 1 && len(word) < 5 && strings.TrimLeft(s[size+1:], " ") != "" {
		size++
	}
	if WordAfter(s, size) {
		return Scale{}, 0
	}
	return sc, size
}

// IsSentenceEnd reports whether a sentence ends before the text.
func IsSentenceEnd(after string) bool {
	rest := strings.TrimLeft(after, " ")
	return rest == "" || len(rest) < len(after) && IsCapitalized(rest)
}

// speakScaled speaks a number with its scale.
func (l *Language) speakScaled(n Number, sc Scale) string {
	if sc.Thousand && n.Fraction == "" {
		n.Integer += "000"
		return l.SpeakNumber(n, Form{Gender: sc.Gender})
	}
	word := sc.Many
	if !l.isPlural(n) {
		word = sc.One
	}
	if word == "" {
		return l.SpeakNumber(n, Form{})
	}
	return l.SpeakNumber(n, Form{Gender: sc.Gender}) + " " + word
}
