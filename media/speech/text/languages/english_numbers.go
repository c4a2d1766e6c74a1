package languages

import (
	"slices"
	"strings"

	"github.com/callboard/callboard/media/speech/text/grammar"
)

var (
	englishOnes = strings.Fields("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen " +
		"fifteen sixteen seventeen eighteen nineteen")
	englishTens     = strings.Fields("zero ten twenty thirty forty fifty sixty seventy eighty ninety")
	englishScales   = []string{"", " thousand", " million", " billion", " trillion"}
	englishOrdinals = map[string]string{
		"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth", "twelve": "twelfth",
	}
)

// englishSmall returns a number below 100.
func englishSmall(n int64) string {
	switch {
	case n < 20:
		return englishOnes[n]
	case n%10 == 0:
		return englishTens[n/10]
	}
	return englishTens[n/10] + "-" + englishOnes[n%10]
}

func englishCardinal(n int64, _ grammar.Form) string { return englishGroups(n, " ") }

// englishWithAnd returns the British form.
func englishWithAnd(n int64) string { return englishGroups(n, " and ") }

// englishGroups returns a number below 10^15. Join stands before the tens.
func englishGroups(n int64, join string) string {
	if n < 100 {
		return englishSmall(n)
	}
	var parts []string
	for scale, englishScale := range slices.Backward(englishScales) {
		unit := power(1000, scale)
		group := n / unit
		n %= unit
		if group == 0 {
			continue
		}
		var words string
		switch tens := group % 100; {
		case group >= 100 && tens > 0:
			words = englishOnes[group/100] + " hundred" + join + englishSmall(tens)
		case group >= 100:
			words = englishOnes[group/100] + " hundred"
		default:
			words = englishSmall(tens)
		}
		if scale == 0 && group < 100 && len(parts) > 0 && join != " " {
			words = "and " + words
		}
		parts = append(parts, words+englishScale)
	}
	return strings.Join(parts, " ")
}

// power returns base to the exponent.
func power(base int64, exponent int) int64 {
	n := int64(1)
	for range exponent {
		n *= base
	}
	return n
}

func englishOrdinal(n int64, _ grammar.Form) string {
	return ordinalOf(englishCardinal(n, grammar.Form{}))
}

// ordinalOf turns the last word of a cardinal into an ordinal.
func ordinalOf(cardinal string) string {
	start := strings.LastIndexAny(cardinal, " -") + 1
	last := cardinal[start:]
	switch {
	case englishOrdinals[last] != "":
		last = englishOrdinals[last]
	case strings.HasSuffix(last, "y"):
		last = strings.TrimSuffix(last, "y") + "ieth"
	default:
		last += "th"
	}
	return cardinal[:start] + last
}

func englishYear(n int) string {
	century, rest := int64(n/100), int64(n%100)
	switch {
	case n < 1100 || n >= 2000 && n < 2010 || n > 2099:
		return englishCardinal(int64(max(n, 0)), grammar.Form{})
	case rest == 0:
		return englishSmall(century) + " hundred"
	case rest < 10:
		return englishSmall(century) + " oh " + englishSmall(rest)
	}
	return englishSmall(century) + " " + englishSmall(rest)
}

func englishOrdinalSuffixes() []grammar.OrdinalSuffix {
	return []grammar.OrdinalSuffix{{Suffix: "st"}, {Suffix: "nd"}, {Suffix: "rd"}, {Suffix: "th"}, {Suffix: "ST"}, {Suffix: "TH"}}
}

func englishNumberFormat() grammar.NumberFormat {
	return grammar.NumberFormat{
		Decimal:       ".",
		Thousands:     ",",
		AddressDigits: true,
		Phones:        englishPhones(),
		Fractions: map[string]string{
			"1/2": "one half", "1/3": "one third", "2/3": "two thirds", "1/4": "one quarter", "3/4": "three quarters",
			"1/7": "one over seven", "50/50": "fifty-fifty", "24/7": "twenty-four seven",
		},
		Vulgar: map[rune]grammar.VulgarFraction{
			'½': {Alone: "one half", Behind: "and a half"}, '¼': {Alone: "one quarter", Behind: "and a quarter"}, '¾': {Alone: "three quarters", Behind: "and three quarters"},
			'⅓': {Alone: "one third", Behind: "and a third"}, '⅔': {Alone: "two thirds", Behind: "and two thirds"}, '⅛': {Alone: "one eighth", Behind: "and an eighth"},
		},
		Scales: map[string]grammar.Scale{
			"k": {Many: "thousand", One: "thousand", Thousand: true}, "K": {Many: "thousand", One: "thousand", Thousand: true}, "thousand": {Many: "thousand", One: "thousand"},
			"M": {Many: "million", One: "million"}, "m": {Many: "million", One: "million"}, "mn": {Many: "million", One: "million"},
			"mm": {Many: "million", One: "million"}, "million": {Many: "million", One: "million"},
			"B": {Many: "billion", One: "billion"}, "bn": {Many: "billion", One: "billion"}, "billion": {Many: "billion", One: "billion"},
			"T": {Many: "trillion", One: "trillion"}, "trillion": {Many: "trillion", One: "trillion"},
		},
	}
}
