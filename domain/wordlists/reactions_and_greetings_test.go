package wordlists_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain/wordlists"
)

func TestInterruptionsAndAcknowledgementsOfEachLanguage(t *testing.T) {
	t.Parallel()
	for language, c := range map[string]struct{ interrupts, acknowledges, neither []string }{
		"en-US": {[]string{"Stop!", "wait a moment", "No.", "Hello?", "Excuse me, I have a question"}, []string{"Okay.", "mm-hm", "uh huh", "I see.", "all right"}, []string{"Tuesday", "to stop", "", "notice"}},
		"de-DE": {[]string{"Stopp!", "Moment mal", "Nein", "Entschuldigung?"}, []string{"Ja, genau.", "mhm"}, []string{"Dienstag"}},
		"es":    {[]string{"¡Espere!", "Un momento, por favor", "perdón"}, []string{"Vale, vale", "de acuerdo"}, []string{"el martes"}},
		"fr-CA": {[]string{"Attendez !", "Allô ?", "Excusez-moi"}, []string{"D’accord", "oui oui"}, []string{"mardi"}},
		"it":    {[]string{"Aspetti un attimo", "basta"}, []string{"va bene", "sì"}, []string{"martedì"}},
		"pt-BR": {[]string{"Espera!", "Não", "com licença"}, []string{"tá bom", "aham"}, []string{"terça-feira"}},
		"nl":    {[]string{"Wacht even", "Nee"}, []string{"ja ja", "oké"}, []string{"dinsdag"}},
		"pl":    {[]string{"stop"}, []string{"okay"}, []string{"wtorek"}},
	} {
		for _, text := range c.interrupts {
			assert.True(t, wordlists.IsInterruption(text, language), "%s in %s", text, language)
			assert.False(t, wordlists.IsAcknowledgement(text, language), "%s in %s", text, language)
		}
		for _, text := range c.acknowledges {
			assert.True(t, wordlists.IsAcknowledgement(text, language), "%s in %s", text, language)
			assert.False(t, wordlists.IsInterruption(text, language), "%s in %s", text, language)
		}
		for _, text := range c.neither {
			assert.False(t, wordlists.IsInterruption(text, language) || wordlists.IsAcknowledgement(text, language), "%s in %s", text, language)
		}
	}
}

func TestGreetingsAreRemovedFromWords(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{"en-US", "Hello?", ""},
		{"en-US", "Hi, who is this?", ""},
		{"en-US", "Yes, speaking.", ""},
		{"en", "Hello, good morning.", ""},
		{"en-US", "Hello? Yes, I will come.", "yes i will come"},
		{"en", "No, who is this?", "no"},
		{"en", "Yes.", "yes"},
		{"en", "", ""},
		{"de-DE", "Ja, hallo?", ""},
		{"de-DE", "Ja.", "ja"},
		{"es-MX", "¿Quién habla?", ""},
		{"fr", "Allô, oui, bonjour", ""},
		{"it", "Pronto, chi parla?", ""},
		{"pt-BR", "Alô? Quem fala?", ""},
		{"nl", "Met wie spreek ik?", ""},
		{"pl", "Hello", ""},
	} {
		assert.Equal(t, c[2], wordlists.WithoutGreetings(c[1], c[0]), "%s in %s", c[1], c[0])
	}
	assert.Contains(t, wordlists.GreetingPhrases("en-GB"), "yes speaking")
}
