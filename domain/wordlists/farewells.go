package wordlists

import (
	"slices"
	"strings"
	"sync"
)

// OnlyReturnsGoodbye reports whether the caller's words only return a goodbye or acknowledge it.
func OnlyReturnsGoodbye(text, language string) bool {
	acknowledgements := inLanguage(reactions(), language).acknowledgements
	farewells := inLanguage(farewellWords(), language)
	for word := range strings.FieldsSeq(strings.ReplaceAll(Normalize(text), "-", " ")) {
		if !acknowledgements[word] && !slices.Contains(farewells, word) {
			return false
		}
	}
	return true
}

// farewellWords returns the words of which a goodbye consists, by language.
var farewellWords = sync.OnceValue(func() map[string][]string { //nolint:gochecknoglobals // a table
	return splitTable(map[string]string{
		"en": "bye|goodbye|good|thanks|thank|you|very|much|so|have|a|nice|great|lovely|day|evening|night|weekend|one|too|same|to|see|talk|later|soon|then|take|care|cheers|for|your|help|the|now",
		"de": "tschüss|tschüs|ciao|wiederhören|wiedersehen|auf|danke|vielen|dank|schönen|schönes|guten|tag|abend|wochenende|noch|gleichfalls|ebenso|ihnen|dir|auch|bis|dann|bald|für|die|hilfe|einen",
		"es": "adiós|chao|hasta|luego|pronto|gracias|muchas|buen|buena|buenas|día|tarde|noche|noches|igualmente|usted|a|que|tenga|un|por|su|ayuda",
		"fr": "au|revoir|salut|merci|beaucoup|bonne|journée|soirée|bon|à|vous|bientôt|aussi|de|même|pour|votre|aide|également|week-end",
		"it": "arrivederci|ciao|grazie|mille|buona|buon|giornata|serata|altrettanto|a|lei|presto|molte|per|l'aiuto|anche",
		"pt": "tchau|adeus|até|logo|obrigado|obrigada|muito|bom|boa|dia|tarde|noite|igualmente|para|você|também|o|senhor|a|senhora|pela|ajuda",
		"nl": "doei|dag|tot|ziens|horens|bedankt|dank|u|wel|je|fijne|prettige|nog|een|avond|weekend|insgelijks|ook|hetzelfde|voor|de|hulp",
	})
})
