package validation_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/validation"
)

func TestAgentVoicesAndLanguagesAreValidated(t *testing.T) {
	t.Parallel()
	good := domain.Voice{Name: "de+f2", Rate: 1.2, Pronunciations: []domain.Pronunciation{{Word: "Nguyen", Say: "win"}}}
	a := domain.Agent{Name: "a", FirstMessage: "Hi.", Voice: good, Languages: []domain.AgentLanguage{{Language: "de-DE", Voice: good}}}
	validation.AgentDefaults(&a)
	assert.Empty(t, validation.Agent(&a))
	a.Voice.Pronunciations = []domain.Pronunciation{{Word: "Nguyen"}, {Say: "x"}}
	a.Languages = []domain.AgentLanguage{{Language: "german!", Voice: domain.Voice{Rate: 9}}, {Language: "fr", Voice: domain.Voice{Pronunciations: make([]domain.Pronunciation, 201)}}}
	told := map[string]int{}
	for _, p := range validation.Agent(&a) {
		told[p.Param]++
	}
	assert.Equal(t, 1, told["voice.pronunciations[0].say"])
	assert.Equal(t, 1, told["voice.pronunciations[1].word"])
	assert.Equal(t, 1, told["languages[0].language"])
	assert.Equal(t, 1, told["languages[0].voice.rate"])
	assert.Equal(t, 1, told["languages[1].voice.pronunciations"])
	a.Languages = make([]domain.AgentLanguage, 21)
	told = map[string]int{}
	for _, p := range validation.Agent(&a) {
		told[p.Param]++
	}
	assert.Equal(t, 1, told["languages"])
}
