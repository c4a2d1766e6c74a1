package wordlists

import (
	"strings"
	"sync"
)

// OfferAnswers are the phrases with which callers answer an offer: they take it, ask for the next one, or have it repeated.
type OfferAnswers struct{ Take, Next, Repeat []string }

// offerTable returns the phrases by the language part of a BCP 47 tag.
var offerTable = sync.OnceValue(func() map[string]OfferAnswers { //nolint:gochecknoglobals // a table
	table := map[string][3]string{
		"en": {
			"yes|yeah|yep|yes please|sure|okay|correct|that's right|of course|no problem|that works|works for me|that one|i'll take it|i take it|take it|fine|perfect",
			"no|nope|no thanks|no thank you|not now|another|another one|another time|next|next one|the next one|something else|not that one|doesn't work|does not work|i can't|i cannot",
			"repeat|repeat that|say that again|again please|once more|pardon",
		},
		"de": {
			"ja|jawohl|ja bitte|gerne|gern|genau|richtig|passt|das passt|passt gut|kein problem|in ordnung|den nehme ich|nehme ich|warum nicht|einverstanden",
			"nein|nee|nein danke|anderer|andere|einen anderen|ein anderer|eine andere|ein anderes|nächster|nächste|der nächste|den nächsten|weiter|passt nicht|passt mir nicht|geht nicht|kann nicht|kann ich nicht",
			"wiederholen|noch einmal|nochmal|noch mal|wie bitte",
		},
		"es": {
			"sí|si|claro|vale|de acuerdo|está bien|correcto|perfecto|por supuesto|me viene bien|por qué no|no hay problema|ese|esa",
			"no|no gracias|otro|otra|otra hora|otro día|siguiente|el siguiente|la siguiente|no puedo|no me viene bien",
			"repetir|repita|repite|otra vez|cómo|perdón",
		},
		"fr": {
			"oui|ouais|d'accord|bien sûr|volontiers|parfait|ça me va|ça marche|ça me convient|pourquoi pas|pas de problème|celui-là|celle-là",
			"non|non merci|un autre|une autre|autre|suivant|suivante|le suivant|la suivante|pas possible|je ne peux pas|ça ne me va pas",
			"répéter|répétez|répète|encore une fois|pardon|comment",
		},
		"it": {
			"sì|si|certo|va bene|d'accordo|perfetto|esatto|volentieri|perché no|non c'è problema|quello|quella",
			"no|no grazie|un altro|un'altra|altro|altra|prossimo|prossima|il prossimo|la prossima|successivo|non posso|non va bene",
			"ripetere|ripeta|ripeti|ancora una volta|di nuovo|come|scusi",
		},
		"pt": {
			"sim|claro|pode ser|está bem|tá bom|certo|perfeito|combinado|por que não|não há problema|sem problema|esse|essa",
			"não|não obrigado|não obrigada|outro|outra|outro horário|próximo|próxima|o próximo|a próxima|seguinte|não posso|não dá",
			"repetir|repita|repete|outra vez|de novo|como",
		},
		"nl": {
			"ja|jawel|ja graag|graag|prima|goed|akkoord|dat is goed|geen probleem|waarom niet|dat past|die neem ik",
			"nee|nee dank je|nee dank u|een andere|andere|een ander|volgende|de volgende|niet goed|past niet|kan niet|dat kan niet",
			"herhalen|herhaal|nog een keer|nog eens|pardon|wat zegt u",
		},
	}
	all := make(map[string]OfferAnswers, len(table))
	for language, words := range table {
		all[language] = OfferAnswers{strings.Split(words[0], "|"), strings.Split(words[1], "|"), strings.Split(words[2], "|")}
	}
	return all
})

// OfferAnswersIn returns the phrases with which callers answer an offer in a language.
func OfferAnswersIn(language string) OfferAnswers { return inLanguage(offerTable(), language) }
