package text

import "strings"

// ordinalSuffix is a sign behind the digits of an ordinal.
type ordinalSuffix struct {
	suffix string
	form   form
}

// numeralFormat says how the language speaks Roman numerals.
type numeralFormat struct {
	suffixes []ordinalSuffix                               // of ordinals in digits; the longest first
	roman    func(word string, n uint64, s *scanner) match // the numeral at the place of the scanner
}

// matchOrdinal speaks "1st", "2º" and the like.
func matchOrdinal(s *scanner) match {
	rest := s.rest()
	n := s.parseNumber(rest)
	if n.size == 0 || n.fraction != "" || !n.isCardinal() || s.ordinal == nil {
		return match{}
	}
	for _, o := range s.numerals.suffixes {
		if strings.HasPrefix(rest[n.size:], o.suffix) && !wordAfter(rest, n.size+len(o.suffix)) {
			f := o.form
			f.ending = o.suffix
			if s.agreeOrdinal != nil {
				f = s.agreeOrdinal(f, s.around(n.size+len(o.suffix)))
			}
			return match{n.size + len(o.suffix), s.ordinal(n.value(), f), otherMatch}
		}
	}
	return match{}
}

// matchYear speaks four digits as a year behind a word that announces one.
func matchYear(s *scanner) match {
	rest := s.rest()
	if digitsAt(rest) != 4 || wordAfter(rest, 4) || isMoreNumber(rest[4:]) || wordBefore(s.text, s.pos) {
		return match{}
	}
	year := atoi(rest[:4])
	if year < 1100 || year > 2099 || !s.announcesYear() {
		return match{}
	}
	if u, size := s.unitAt(rest[4:]); size > 0 && u.one != "" {
		return match{}
	}
	return match{4, s.year(year), yearMatch}
}

// announcesYear reports whether the text before the place announces a year.
func (s *scanner) announcesYear() bool {
	before := strings.TrimRight(s.before(), " (")
	if s.yearCues[strings.ToLower(lastWord(before))] {
		return true
	}
	if s.lastEnd == 0 || s.last.kind != yearMatch && s.last.kind != dateMatch {
		return false
	}
	between := strings.ToLower(strings.TrimSpace(s.text[s.lastEnd:s.pos]))
	return between == "" || between == "-" || between == "–" || s.yearCues["+"+between]
}

// speakYearOrNumber speaks digits within a word: four digits are a year.
func (l *language) speakYearOrNumber(digits string) string {
	n := number{integer: digits}
	if l.cardinal == nil {
		return digits
	}
	if v := n.value(); len(digits) == 4 && v >= 1100 && v <= 2099 {
		return l.year(int(v))
	}
	return l.speakNumber(n, form{})
}

// matchNumeral speaks a Roman numeral. Numerals with D or M are left alone, because they are more often abbreviations.
func matchNumeral(s *scanner) match {
	rest := s.rest()
	n := 0
	for n < len(rest) && strings.IndexByte("IVXL", rest[n]) >= 0 {
		n++
	}
	if n == 0 || s.numerals.roman == nil || wordBefore(s.text, s.pos) {
		return match{}
	}
	v := romanValue(rest[:n])
	if v == 0 {
		return match{}
	}
	return s.numerals.roman(rest[:n], v, s)
}

// romanValue returns the value of a Roman numeral, or 0.
func romanValue(word string) uint64 {
	values := map[byte]int{'I': 1, 'V': 5, 'X': 10, 'L': 50}
	total := 0
	for i := range len(word) {
		v := values[word[i]]
		if i+1 < len(word) && values[word[i+1]] > v {
			v = -v
		}
		total += v
	}
	if total < 1 || romanNumeral(total) != word {
		return 0
	}
	return uint64(total)
}

func romanNumeral(n int) string {
	var out strings.Builder
	for _, step := range []struct {
		value int
		sign  string
	}{{50, "L"}, {40, "XL"}, {10, "X"}, {9, "IX"}, {5, "V"}, {4, "IV"}, {1, "I"}} {
		for n >= step.value && out.Len() < 16 {
			out.WriteString(step.sign)
			n -= step.value
		}
	}
	return out.String()
}
