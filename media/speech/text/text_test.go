package text_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media/speech/text"
)

// spokenForms returns the rows of testdata: an input and the form that a second reader expects.
func spokenForms(t testing.TB, language string) [][2]string {
	t.Helper()
	table, err := os.ReadFile(filepath.Join("testdata", language+".tsv"))
	require.NoError(t, err)
	var rows [][2]string
	for row := range strings.Lines(string(table)) {
		input, expected, ok := strings.Cut(strings.TrimSuffix(row, "\n"), "\t")
		require.True(t, ok, "a row without a tab: %s", row)
		rows = append(rows, [2]string{strings.ReplaceAll(input, `\n`, "\n"), expected})
	}
	return rows
}

func TestTextIsSpokenAsTheReaderExpects(t *testing.T) {
	for _, language := range []string{"en", "de", "es", "fr", "it", "pt", "nl"} {
		t.Run(language, func(t *testing.T) {
			for _, row := range spokenForms(t, language) {
				assert.Equal(t, row[1], text.Speakable(row[0], language), "input: %s", row[0])
			}
		})
	}
}
