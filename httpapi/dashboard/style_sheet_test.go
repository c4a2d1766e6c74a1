package dashboard

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Sizes, fonts and colors come from the tokens at the beginning of the style sheet.
func TestStyleSheetUsesTokens(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("assets/dashboard.css")
	require.NoError(t, err)
	_, rules, found := strings.Cut(string(text), "/* Elements */")
	require.True(t, found)
	for _, d := range regexp.MustCompile(`([a-z-]+):\s*([^;}]+)[;}]`).FindAllStringSubmatch(rules, -1) {
		name, value := d[1], d[2]
		switch {
		case name == "font-size":
			assert.Regexp(t, `^(var\(--t\d+\)|100%)$`, value, d[0])
		case strings.HasPrefix(name, "margin") || strings.HasPrefix(name, "padding") || name == "gap":
			assert.NotRegexp(t, `\d(px|rem|em)`, strings.ReplaceAll(value, "calc(", ""), d[0])
		case name == "color" || name == "background" || strings.HasPrefix(name, "border") || name == "fill" || name == "stroke":
			assert.NotRegexp(t, `rgb|hsl|#[0-9a-f]{6}$`, value, d[0])
		}
	}
	assert.Less(t, len(text), 25_000, "bytes of the style sheet")
}
