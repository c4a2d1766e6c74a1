package domain_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
)

func TestTranscriptQueryMatchesWordsAndPhrases(t *testing.T) {
	t.Parallel()
	said := &domain.Transcript{Segments: []domain.Segment{
		{Speaker: "agent", Text: "Guten Tag, hier ist die Praxis. Can you confirm nine o'clock?"},
		{Speaker: "caller", Text: "No, cancel my appointment, please."},
		{Speaker: "agent", Text: "The ÜBERWEISUNG is ready."},
	}}
	for query, want := range map[string]bool{
		"cancel": true, "CANCEL Appointment": true, "appointment cancel praxis": true, `"cancel my appointment"`: true, "überweisung": true, `ready "guten tag"`: true,
		"cancelled": false, `"my cancel"`: false, "cancel tomorrow": false, `"confirm nine"`: true, `"please the"`: false, "point": false, "o": true,
	} {
		words, err := domain.ParseTranscriptQuery(query)
		require.NoError(t, err, query)
		assert.Equal(t, want, words.Matches(said), query)
	}
	for query, why := range map[string]string{
		"": "no word", "?!": "no word", `"open`: "not closed", strings.Repeat("a ", 11): "11 words",
	} {
		_, err := domain.ParseTranscriptQuery(query)
		assert.ErrorContains(t, err, why)
	}
}
