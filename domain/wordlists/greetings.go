package wordlists

import (
	"slices"
	"strings"
	"sync"
)

// greetingTable lists the words with which people answer a telephone, by the language part of a BCP 47 tag.
var greetingTable = map[string]string{ //nolint:gochecknoglobals // a table
	"en": "hello|hi|hey|hello hello|who is this|who's this|who is calling|who's calling|who is speaking|who's speaking|who is there|speaking|" +
		"yes speaking|yeah speaking|this is he|this is she|yes hello|good morning|good afternoon|good evening|hello good morning|" +
		"hello good afternoon|hello good evening|hello who is this|hi who is this|hello who's this|hi who's this|hello who is calling|how can i help you|how may i help you",
	"de": "hallo|ja hallo|ja bitte|bitte|am apparat|ja am apparat|wer ist da|wer spricht|wer ist am apparat|guten morgen|guten tag|guten abend|grüß gott|moin|hallo wer ist da|servus",
	"es": "hola|diga|dígame|bueno|aló|sí diga|sí dígame|sí hola|quién es|quién habla|de parte de quién|buenos días|buenas tardes|buenas noches|hola quién es|al habla|el habla",
	"fr": "allô|allo|oui allô|oui bonjour|bonjour|bonsoir|qui est-ce|qui est à l'appareil|c'est qui|oui c'est moi|c'est moi|lui-même|elle-même|allô bonjour|allô qui est-ce",
	"it": "pronto|sì pronto|pronto chi parla|chi parla|chi è|con chi parlo|buongiorno|buonasera|buon pomeriggio|sono io|sì sono io|ciao|salve",
	"pt": "alô|sim alô|está|estou|quem fala|quem é|quem está falando|bom dia|boa tarde|boa noite|olá|oi|sou eu|é o próprio|é a própria|alô quem fala",
	"nl": "hallo|ja hallo|met wie spreek ik|wie is dit|wie is daar|goedemorgen|goedemiddag|goedenavond|daar spreekt u mee|spreekt u mee|ja daar spreekt u mee|hoi",
}

// greetings returns the greetings of each language, the longest first, each as its words.
var greetings = sync.OnceValue(func() map[string][][]string { //nolint:gochecknoglobals // a table
	all := make(map[string][][]string, len(greetingTable))
	for language, phrases := range greetingTable {
		for phrase := range strings.SplitSeq(phrases, "|") {
			all[language] = append(all[language], strings.Fields(phrase))
		}
		slices.SortStableFunc(all[language], func(a, b []string) int { return len(b) - len(a) })
	}
	return all
})

// GreetingPhrases returns the phrases with which people answer a telephone, for recognizers of expected phrases. language
// is a BCP 47 tag. The phrases of an unknown language are English.
func GreetingPhrases(language string) []string {
	known := inLanguage(greetings(), language)
	phrases := make([]string, len(known))
	for i, words := range known {
		phrases[i] = strings.Join(words, " ")
	}
	return phrases
}

// WithoutGreetings returns the words of a text that are no greetings, such as "yes" for "Hello? Yes." and "" for "Yes,
// speaking." language is a BCP 47 tag.
func WithoutGreetings(text, language string) string {
	words := strings.Fields(Normalize(text))
	known := inLanguage(greetings(), language)
	var rest []string
	for len(words) > 0 {
		i := slices.IndexFunc(known, func(g []string) bool { return len(g) <= len(words) && slices.Equal(g, words[:len(g)]) })
		if i >= 0 {
			words = words[len(known[i]):]
			continue
		}
		rest, words = append(rest, words[0]), words[1:]
	}
	return strings.Join(rest, " ")
}
