package text_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/media/speech/text"
)

func TestSentencesFollowTheLanguage(t *testing.T) {
	for _, c := range []struct {
		language  string
		sentences []string // the text is the sentences with a space between them
	}{
		{"en", []string{"We open at 9 a.m. and close at 5 p.m. on weekdays.", "See you Jan. 5 in the U.S. office.", "Bring ID, e.g. a passport.", "Dr. Smith will wait."}},
		{"en", []string{"He lives in Washington, D.C.", "It's a long drive."}},
		{"en", []string{"The U.S. Army called.", "The answer is no.", "Please use No. 3 instead.", "Prof. J. R. Hill teaches it."}},
		{"en", []string{"We sell paint, brushes, etc.", "Anything else?", "Ask Smith & Co. about it."}},
		{"en", []string{"It costs $3.50.", "Version 2.5.1 is out!", "Visit example.com today.", "Okay?"}},
		{"en", []string{"1. First option", "2. Second option", "- Third option"}},
		{"en", []string{"<think>One. Two. Three.</think>Yes.", "No?"}},
		{"en", []string{"1. Done.", "{\"tool\": \"a. B. C\"}", "Bye."}},
		{"de", []string{"Wir liefern z. B. Tische usw.", "Danach bauen wir auf.", "Fragen Sie Dr. Weber, d. h. die Praxis."}},
		{"de", []string{"Ihr Termin ist am 3. Mai um 10 Uhr.", "Er kam auf Platz 3.", "Dann ging er.", "Die Wohnung liegt im 4. Stock."}},
		{"de", []string{"1. Ausweis mitbringen", "2. Formular ausfüllen"}},
		{"es", []string{"El Sr. García y la Sra. Ruiz viven en EE. UU. desde enero.", "Traiga, p. ej. el DNI.", "Vive en la Av. de América."}},
		{"es", []string{"Venga a las 5 p. m. del lunes.", "¿Le va bien?", "¡Gracias!"}},
		{"fr", []string{"M. Dupont et Mme Petit arrivent, p. ex. hier.", "Voir p. 12.", "Le 5 janv. 2026 on ferme.", "Est-ce clair ?", "Oui !"}},
		{"it", []string{"Il sig. Rossi e il dott. Bianchi arrivano.", "Vedi pag. 3 ecc.", "Grazie."}},
		{"pt", []string{"O Sr. Silva e a Dra. Lima chegaram.", "Ver pág. 3, p. ex. hoje.", "Obrigado."}},
		{"nl", []string{"Dhr. Visser komt om 5 uur.", "Neem bijv. uw pas mee, d.w.z. nu.", "Tot 31 okt. 2025.", "Dank u."}},
		{"pl", []string{"Dzień dobry.", "Jak mogę pomóc?"}},
	} {
		separator := " "
		if strings.HasPrefix(c.sentences[0], "1. ") {
			separator = "\n"
		}
		assert.Equal(t, c.sentences, text.Sentences(strings.Join(c.sentences, separator), c.language))
	}
	assert.Empty(t, text.Sentences(" \n ", "en"))
}

func FuzzSentences(f *testing.F) {
	addRows(f)
	f.Fuzz(func(t *testing.T, input string, language uint8) {
		size := 0
		for _, sentence := range text.Sentences(input, fuzzLanguage(language)) {
			assert.True(t, utf8.ValidString(sentence))
			assert.NotEmpty(t, strings.TrimSpace(sentence))
			size += len(sentence)
		}
		assert.LessOrEqual(t, size, len(strings.ToValidUTF8(input, " ")))
	})
}
