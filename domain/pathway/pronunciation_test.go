package pathway_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
)

func TestPronunciationEntriesReplaceWords(t *testing.T) {
	t.Parallel()
	how := []domain.Pronunciation{{Word: "Nguyen", Say: "win"}, {Word: "St.", Say: "Street"}, {Word: "St. Mary", Say: "Saint Mary"}, {Word: "win", Say: "lose"}, {Word: "Äpfel", Say: "epfel"}, {Word: "A&E", Say: "A and E"}}
	for text, want := range map[string]string{
		"Mr Nguyen calls.":           "Mr win calls.",
		"NGUYEN, nguyen.":            "win, win.",
		"Nguyens and xNguyen stay":   "Nguyens and xNguyen stay",
		"St. Mary, 5 Main St.":       "Saint Mary, 5 Main Street",
		"ÄPFEL":                      "epfel",
		"the A&E department":         "the A and E department",
		"you win":                    "you lose",
		"a broken \xff Nguyen":       "a broken \xff win",
		"":                           "",
		strings.Repeat("Nguyen ", 3): "win win win ",
	} {
		assert.Equal(t, want, pathway.Pronounce(text, how), text)
	}
	assert.Equal(t, "Nguyen", pathway.Pronounce("Nguyen", nil))
	assert.Equal(t, "x", pathway.Pronounce("x", []domain.Pronunciation{{}}), "an empty word is none")
}
