package wordlists

import (
	"strings"
	"sync"
)

// spokenReactions are the words with which a listener reacts while somebody speaks, in one language.
type spokenReactions struct {
	interruptions    []string // phrases that ask the speaker to stop; they may begin a longer sentence
	acknowledgements map[string]bool
}

// reactions returns the reactions by the language part of a BCP 47 tag.
var reactions = sync.OnceValue(func() map[string]spokenReactions { //nolint:gochecknoglobals // a table
	table := map[string][2]string{
		"en": {
			"stop|wait|hold on|hang on|no|hello|excuse me|sorry|pardon|one moment|one second|just a moment|just a second|listen|enough|quiet|shut up|who is this|what",
			"okay|ok|mm-hm|mhm|mm|hmm|hm|uh-huh|uh|huh|uhm|um|ah|oh|aha|right|i|see|all|alright|sure|yeah|yep|yes|good|fine|great",
		},
		"de": {
			"stopp|stop|halt|warte|warten|warten sie|moment|einen moment|nein|hallo|entschuldigung|entschuldigen|verzeihung|wie bitte|was|ruhe|genug|hören sie|wer ist da",
			"okay|ok|mhm|hm|hmm|mm|ah|oh|aha|ja|genau|gut|klar|richtig|verstehe|ach|so|äh|ähm",
		},
		"es": {
			"para|pare|alto|basta|espera|espere|un momento|un segundo|no|hola|oiga|oye|perdón|perdona|perdone|disculpe|disculpa|qué|cómo|quién es",
			"vale|ok|okay|mm|mhm|hm|ah|oh|ajá|sí|claro|bien|bueno|ya|entiendo|de|acuerdo|eh",
		},
		"fr": {
			"stop|arrêtez|arrête|attendez|attends|un instant|un moment|une seconde|non|allô|allo|excusez-moi|pardon|écoutez|comment|quoi|ça suffit|qui est-ce",
			"d'accord|ok|okay|mm|mhm|hm|ah|oh|oui|ouais|bien|bon|je|vois|très|euh|c'est|ça",
		},
		"it": {
			"stop|basta|ferma|fermi|aspetta|aspetti|un momento|un attimo|no|pronto|mi scusi|scusi|scusa|senta|come|cosa|chi parla",
			"ok|okay|va|bene|mm|mhm|hm|ah|oh|eh|sì|certo|capisco|capito|giusto|ho",
		},
		"pt": {
			"para|pare|chega|espera|espere|um momento|um segundo|não|alô|olá|com licença|desculpe|desculpa|escute|como|o quê|quem é|quem fala",
			"ok|okay|tá|mm|mhm|hm|ah|oh|aham|sim|certo|claro|bem|bom|está|entendo|entendi",
		},
		"nl": {
			"stop|wacht|wacht even|moment|een moment|momentje|nee|hallo|pardon|sorry|excuseer|luister|genoeg|wat|wie is dit|wie bent u",
			"oké|ok|okay|mm|mhm|hm|ah|oh|aha|ja|goed|prima|juist|ik|snap|het|begrijp|eh",
		},
	}
	all := make(map[string]spokenReactions, len(table))
	for language, words := range table {
		r := spokenReactions{interruptions: strings.Split(words[0], "|"), acknowledgements: make(map[string]bool)}
		for w := range strings.SplitSeq(words[1], "|") {
			r.acknowledgements[w] = true
		}
		all[language] = r
	}
	return all
})

// IsAcknowledgement reports whether the caller's words only acknowledge the agent, such as "okay" or "mm-hm". language is
// a BCP 47 tag.
func IsAcknowledgement(text, language string) bool {
	words := strings.Fields(Normalize(text))
	known := inLanguage(reactions(), language).acknowledgements
	for _, w := range words {
		if !known[w] {
			return false
		}
	}
	return len(words) > 0
}

// IsInterruption reports whether the caller's words begin with a phrase that always interrupts the agent, such as "stop"
// or "wait a moment". language is a BCP 47 tag.
func IsInterruption(text, language string) bool {
	text = Normalize(text) + " "
	for _, phrase := range inLanguage(reactions(), language).interruptions {
		if strings.HasPrefix(text, phrase+" ") {
			return true
		}
	}
	return false
}
