package dnc_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain/dnc"
)

func TestKeywordMatchesWholeWordInAnyCaseAndLanguage(t *testing.T) {
	list := []string{"stop", "remove me", "aufhören", "отпишите", "やめて", "straße", "9", "DÉSINSCRIRE"}
	for said, want := range map[string]string{
		"STOP": "stop", "Please stop calling.": "stop", "non-stop": "stop", "unstoppable": "", "stopping": "", "stops": "",
		"Remove me!": "remove me", "remove, me": "remove me", "remove not me": "", "": "",
		"Bitte AUFHÖREN": "aufhören", "Отпишите меня": "отпишите", "やめて": "やめて", "STRASSE": "straße",
		"9": "9", "19": "", "Veuillez me désinscrire": "DÉSINSCRIRE",
	} {
		assert.Equal(t, want, dnc.FindOptOutKeyword(said, list), "%q", said)
	}
	assert.Empty(t, dnc.FindOptOutKeyword("stop", nil))
	assert.Empty(t, dnc.FindOptOutKeyword("anything", []string{"", "!"}))
}
