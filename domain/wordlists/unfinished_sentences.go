package wordlists

import (
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// Numbers of digits that are spoken in groups, such as a telephone number, after a pause for the next group.
const (
	fewestGroupedDigits = 3
	mostGroupedDigits   = 9
)

// EndsUnfinished reports whether a text ends with a word after which a sentence goes on, or with digits that are the
// beginning of a longer number.
func EndsUnfinished(text, language string) bool {
	said := Normalize(text)
	text = strings.TrimSpace(text)
	if strings.HasSuffix(text, ",") || strings.HasSuffix(text, "...") || strings.HasSuffix(text, "…") || strings.HasSuffix(text, "-") || strings.HasSuffix(text, "—") {
		return true
	}
	if endsInDigitGroup(said, language) {
		return true
	}
	said = " " + said
	isQuestion := strings.HasSuffix(text, "?") // which may end with a preposition
	for _, ending := range inLanguage(unfinishedEndings(), language) {
		if strings.HasSuffix(said, " "+ending) && (!isQuestion || strings.Contains(ending, " ")) {
			return true
		}
	}
	return false
}

// endsInDigitGroup reports whether the words end with digits that are the beginning of a longer number.
func endsInDigitGroup(said, language string) bool {
	words := strings.Fields(said)
	from := len(words)
	for from > 0 && len(SpokenDigits(words[from-1], language)) > 0 {
		from--
	}
	groups := words[from:]
	digits := SpokenDigits(strings.Join(groups, " "), language)
	if len(groups) == 1 && len(digits) == 4 {
		return false // a year or an hour
	}
	return len(digits) >= fewestGroupedDigits && len(digits) <= mostGroupedDigits
}

// SpokenDigits returns the digits that normalized words consist of: numerals, and names of single digits. It returns "" if one
// word is neither.
func SpokenDigits(said, language string) string {
	names := inLanguage(digitNames(), language)
	var digits strings.Builder
	for word := range strings.FieldsSeq(strings.ReplaceAll(said, "-", " ")) {
		if i := indexOfDigit(names, word); i >= 0 {
			digits.WriteString(strconv.Itoa(i))
			continue
		}
		if strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsDigit(r) }) {
			return ""
		}
		digits.WriteString(word)
	}
	return digits.String()
}

// indexOfDigit returns the digit that a word names, or -1.
func indexOfDigit(names []string, word string) int {
	for i, all := range names {
		for name := range strings.SplitSeq(all, "/") {
			if name == word {
				return i
			}
		}
	}
	return -1
}

// digitNames returns the names of the digits 0 to 9 by language. A slash separates several names of a digit.
var digitNames = sync.OnceValue(func() map[string][]string { //nolint:gochecknoglobals // a table
	return splitTable(map[string]string{
		"en": "zero/oh/o|one|two|three|four|five|six|seven|eight|nine",
		"de": "null|eins|zwei/zwo|drei|vier|fünf|sechs|sieben|acht|neun",
		"es": "cero|uno|dos|tres|cuatro|cinco|seis|siete|ocho|nueve",
		"fr": "zéro|un|deux|trois|quatre|cinq|six|sept|huit|neuf",
		"it": "zero|uno|due|tre|quattro|cinque|sei|sette|otto|nove",
		"pt": "zero|um|dois/duas|três|quatro|cinco|seis/meia|sete|oito|nove",
		"nl": "nul|één/een|twee|drie|vier|vijf|zes|zeven|acht|negen",
	})
})

// unfinishedEndings returns the words after which a sentence goes on, by language: articles, conjunctions, prepositions,
// auxiliary verbs with a subject, and sounds of hesitation.
var unfinishedEndings = sync.OnceValue(func() map[string][]string { //nolint:gochecknoglobals // a table
	return splitTable(map[string]string{
		"en": "the|a|an|and|or|but|because|so|if|that|which|when|while|than|to|for|of|in|on|at|with|from|about|by|into|between|until|my|your|his|her|our|their|" +
			"i|we|i'd|i'm|i've|i'll|we're|we'd|it's|that's|there's|would|could|should|want|need|would like|i have|i was|we have|name is|number is|address is|" +
			"is the|um|uh|er|erm|hmm|well|let me|let's|dot|could you|can you|would you|will you|could you please|can you please|would you please|could i|can i|may i|could we|can we|do you have|how do i|how can i|when can i|where can i|some|any|another|very",
		"de": "der|die|das|den|dem|des|ein|eine|einen|einem|einer|und|oder|aber|weil|dass|wenn|ob|als|zu|zum|zur|für|von|vom|mit|im|in|am|an|auf|bei|nach|aus|über|bis|" +
			"mein|meine|meinen|meinem|ihr|ihre|unser|unsere|ich|wir|ich möchte|ich würde|würde|möchte|ich wollte|ich habe|wir haben|ich bin|ich brauche|könnten sie|können sie|würden sie|könnten sie bitte|können sie bitte|kann ich|könnte ich|darf ich|wie kann ich|wann kann ich|name ist|nummer ist|äh|ähm|hm|also|punkt",
		"es": "el|la|los|las|un|una|unos|unas|y|e|o|pero|porque|que|si|cuando|a|al|de|del|en|con|por|para|sin|sobre|entre|hasta|desde|mi|su|mis|sus|yo|quiero|quisiera|" +
			"me gustaría|necesito|me podría|podría usted|puede usted|podría por favor|me puede|cómo puedo|cuándo puedo|tengo|nombre es|número es|eh|este|pues|punto|arroba",
		"fr": "le|la|les|l'|un|une|des|et|ou|mais|parce que|que|qui|si|quand|à|au|aux|de|du|d'|en|dans|avec|pour|par|sans|sur|entre|jusqu'à|mon|ma|mes|votre|notre|je|j'ai|je suis|" +
			"je voudrais|j'aimerais|je veux|c'est|pourriez-vous|pouvez-vous|est-ce que vous|est-ce que je|puis-je|comment puis-je|quand puis-je|nom est|numéro est|euh|alors|donc|point|arobase",
		"it": "il|lo|la|i|gli|le|un|uno|una|e|o|ma|perché|che|se|quando|a|al|alla|di|del|della|in|nel|con|per|da|dal|su|tra|fino|mio|mia|suo|io|vorrei|voglio|ho|mi piacerebbe|" +
			"ho bisogno di|mi potrebbe|potrebbe per favore|mi può|posso|come posso|quando posso|nome è|numero è|ehm|eh|allora|punto|chiocciola",
		"pt": "o|a|os|as|um|uma|e|ou|mas|porque|que|se|quando|ao|à|de|do|da|dos|das|em|no|na|com|por|para|sem|sobre|entre|até|meu|minha|seu|sua|eu|queria|quero|gostaria|gostaria de|" +
			"preciso|tenho|o senhor poderia|a senhora poderia|você pode|poderia por favor|como posso|quando posso|nome é|número é|hum|é que|então|ponto|arroba",
		"nl": "de|het|een|en|of|maar|omdat|dat|als|wanneer|om|te|voor|van|met|in|op|aan|bij|naar|uit|over|tot|mijn|uw|onze|ik|wij|we|ik wil|ik zou|zou|ik wilde|ik heb|wij hebben|kunt u|zou u|kunt u alstublieft|kan ik|mag ik|hoe kan ik|wanneer kan ik|" +
			"ik ben|is|naam is|nummer is|eh|ehm|uhm|nou|dus|punt",
	})
})
