package grammar

import "strings"

// NumeralFormat says how the language speaks Roman numerals.
type NumeralFormat struct {
	Suffixes []OrdinalSuffix                              // of ordinals in digits; the longest first
	Roman    func(word string, n int64, s *Scanner) Match // the numeral at the place of the scanner
}

// matchNumeral speaks a Roman numeral. Numerals with D or M are left alone, because they are more often abbreviations.
func matchNumeral(s *Scanner) Match {
	rest := s.Rest()
	n := 0
	for n < len(rest) && strings.IndexByte("IVXL", rest[n]) >= 0 {
		n++
	}
	if n == 0 || s.Numerals.Roman == nil || WordBefore(s.Text, s.Pos) {
		return Match{}
	}
	v := romanValue(rest[:n])
	if v == 0 {
		return Match{}
	}
	return s.Numerals.Roman(rest[:n], v, s)
}

// romanValue returns the value of a Roman numeral, or 0.
func romanValue(word string) int64 {
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
	return int64(total)
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
