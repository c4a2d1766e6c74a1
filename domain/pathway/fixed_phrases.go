package pathway

import "strings"

// phrases are texts that the agent speaks without a model, after failures and during delays.
type phrases struct {
	again, goodbye, moment, silent, limit string
}

//nolint:gochecknoglobals,misspell // a table, of many languages
var phraseBook = map[string]phrases{
	"en": {"I'm sorry, I didn't get that. Could you say it again, please?", "I'm sorry, I can't help you right now. Goodbye.", "One moment, please.", "I can't hear you, so I'll hang up now. Goodbye.", "I have to end our conversation here. Thank you, and goodbye."},
	"de": {"Entschuldigung, das habe ich nicht verstanden. Können Sie das bitte wiederholen?", "Es tut mir leid, ich kann Ihnen gerade nicht helfen. Auf Wiederhören.", "Einen Moment, bitte.", "Ich kann Sie nicht hören und lege jetzt auf. Auf Wiederhören.", "Ich muss unser Gespräch hier beenden. Vielen Dank und auf Wiederhören."},
	"es": {"Perdone, no le he entendido. ¿Puede repetirlo, por favor?", "Lo siento, ahora mismo no puedo ayudarle. Adiós.", "Un momento, por favor.", "No le oigo, así que voy a colgar. Adiós.", "Tengo que terminar aquí la conversación. Gracias y adiós."},
	"fr": {"Excusez-moi, je n'ai pas compris. Pouvez-vous répéter, s'il vous plaît ?", "Je suis désolé, je ne peux pas vous aider pour le moment. Au revoir.", "Un instant, s'il vous plaît.", "Je ne vous entends pas, je vais raccrocher. Au revoir.", "Je dois mettre fin à notre conversation. Merci et au revoir."},
	"it": {"Mi scusi, non ho capito. Può ripetere, per favore?", "Mi dispiace, al momento non posso aiutarla. Arrivederci.", "Un momento, per favore.", "Non la sento, quindi ora riattacco. Arrivederci.", "Devo concludere qui la nostra conversazione. Grazie e arrivederci."},
	"nl": {"Sorry, dat heb ik niet verstaan. Kunt u dat herhalen?", "Het spijt me, ik kan u nu niet helpen. Tot ziens.", "Een ogenblik, alstublieft.", "Ik hoor u niet, dus ik hang nu op. Tot ziens.", "Ik moet ons gesprek hier beëindigen. Bedankt en tot ziens."},
	"pt": {"Desculpe, não entendi. Pode repetir, por favor?", "Lamento, não posso ajudar neste momento. Adeus.", "Um momento, por favor.", "Não consigo ouvi-lo, por isso vou desligar. Adeus.", "Tenho de terminar aqui a nossa conversa. Obrigado e adeus."},
}

// phrasesFor returns the phrases in a language, or the English phrases if the language has none.
func phrasesFor(language string) phrases {
	tag, _, _ := strings.Cut(strings.ToLower(language), "-")
	if p, ok := phraseBook[tag]; ok {
		return p
	}
	return phraseBook["en"]
}
