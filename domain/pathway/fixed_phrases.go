package pathway

import "strings"

// phrases are texts that the agent speaks without a model, after failures and during delays.
type phrases struct {
	again, goodbye, moment string
}

//nolint:gochecknoglobals,misspell // a table, of many languages
var phraseBook = map[string]phrases{
	"en": {"I'm sorry, I didn't get that. Could you say it again, please?", "I'm sorry, I can't help you right now. Goodbye.", "One moment, please."},
	"de": {"Entschuldigung, das habe ich nicht verstanden. Können Sie das bitte wiederholen?", "Es tut mir leid, ich kann Ihnen gerade nicht helfen. Auf Wiederhören.", "Einen Moment, bitte."},
	"es": {"Perdone, no le he entendido. ¿Puede repetirlo, por favor?", "Lo siento, ahora mismo no puedo ayudarle. Adiós.", "Un momento, por favor."},
	"fr": {"Excusez-moi, je n'ai pas compris. Pouvez-vous répéter, s'il vous plaît ?", "Je suis désolé, je ne peux pas vous aider pour le moment. Au revoir.", "Un instant, s'il vous plaît."},
	"it": {"Mi scusi, non ho capito. Può ripetere, per favore?", "Mi dispiace, al momento non posso aiutarla. Arrivederci.", "Un momento, per favore."},
	"nl": {"Sorry, dat heb ik niet verstaan. Kunt u dat herhalen?", "Het spijt me, ik kan u nu niet helpen. Tot ziens.", "Een ogenblik, alstublieft."},
	"pt": {"Desculpe, não entendi. Pode repetir, por favor?", "Lamento, não posso ajudar neste momento. Adeus.", "Um momento, por favor."},
}

// phrasesFor returns the phrases in a language, or the English phrases if the language has none.
func phrasesFor(language string) phrases {
	tag, _, _ := strings.Cut(strings.ToLower(language), "-")
	if p, ok := phraseBook[tag]; ok {
		return p
	}
	return phraseBook["en"]
}
