package domain_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
)

func TestMatchesOfPatternsAreRedacted(t *testing.T) {
	r := domain.Redaction{Patterns: []string{`\b(?:\d[ -]?){12,18}\d\b`, `(?i)policy \w+`, `(?i)\w+@\w+\.\w+`, `\b\d{4}\b`}}.Redactor()
	for text, want := range map[string]string{
		"":                                       "",
		"see you on Monday at 10":                "see you on Monday at 10",
		"it is 4111 1111 1111 1111, thank you":   "it is [redacted], thank you",
		"it is 4111-1111-1111-1111 or 1234":      "it is [redacted] or [redacted]",
		"Policy AB12 and policy cd34":            "[redacted] and [redacted]",
		"policy 1234 twice found is one":         "[redacted] twice found is one",
		"schreiben Sie an ärzte@example.com, ja": "schreiben Sie an ä[redacted], ja", // \w is ASCII
		"[pressed 1234]":                         "[pressed [redacted]]",
		"[pressed 12]":                           "[pressed 12]",
		"[hidden]":                               "[hidden]",
	} {
		assert.Equal(t, want, r.RedactText(text))
	}
	anchored := domain.Redaction{Patterns: []string{`^\d+$`, `x*`}}.Redactor()
	assert.Equal(t, "[pressed [redacted]]", anchored.RedactText("[pressed 12]"), "of keys the keys alone are looked at")
	assert.Equal(t, "a 12", anchored.RedactText("a 12"), "no match, no change")
	assert.Equal(t, "[redacted]", domain.Redaction{Patterns: []string{`.+`, `\w+`, "redacted"}}.Redactor().RedactText("all of it"), "replacements are not searched again")

	var none *domain.Redactor
	assert.Nil(t, domain.Redaction{}.Redactor())
	assert.Equal(t, "1234", none.RedactText("1234"))
	assert.JSONEq(t, `{"a":1234}`, string(none.RedactJSON(json.RawMessage(`{"a":1234}`))))

	was := map[string]string{"pin": "1234", "name": "Ada"}
	assert.Equal(t, map[string]string{"pin": "[redacted]", "name": "Ada"}, r.RedactMap(was))
	assert.Equal(t, "1234", was["pin"], "the variables of the conversation are kept")
	segments := []domain.Segment{{Index: 0, Speaker: "caller", Text: "1234", EndMs: 7}}
	assert.Equal(t, []domain.Segment{{Index: 0, Speaker: "caller", Text: "[redacted]", EndMs: 7}}, r.RedactSegments(segments))
	assert.Equal(t, "1234", segments[0].Text)
}

func TestMatchesOfPatternsAreRedactedInJSON(t *testing.T) {
	r := domain.Redaction{Patterns: []string{`\d{4,}`}}.Redactor()
	for raw, want := range map[string]string{
		`{"card":"no 41111","n":41111,"list":["1234",{"deep":12345678901234567890}],"ok":true,"none":null}`: `{"card":"no [redacted]","n":"[redacted]","list":["[redacted]",{"deep":"[redacted]"}],"ok":true,"none":null}`,
		`{"4111":1}`: `{"[redacted]":1}`,
		`{"b 4113":3,"4112":{"x":2},"4111":1,"[redacted]":4}`: `{"[redacted]":1,"[redacted] (2)":{"x":2},"[redacted] (3)":4,"b [redacted]":3}`,
		`not json 4111`:           `"not json [redacted]"`,
		`{"b":1.50,"a":"\u0031"}`: `{"b":1.50,"a":"\u0031"}`,
	} {
		assert.JSONEq(t, want, string(r.RedactJSON(json.RawMessage(raw))), raw)
	}
	same := json.RawMessage(`{"b": 1.50,  "a":"x"}`)
	assert.Equal(t, string(same), string(r.RedactJSON(same)), "text without a match stays unchanged")
}

func TestRedactionPatternsAreValidated(t *testing.T) {
	for _, good := range []string{`\d{13,16}`, `(?i)(?:\b(?:zero|oh|one|two|three|four|five|six|seven|eight|nine)\b[ ,-]*){6,}`, `[\p{L}.]+@[\p{L}.]+`, `x{400}`} {
		steps, err := domain.CheckRedactionPattern(good)
		require.NoError(t, err, good)
		assert.Positive(t, steps)
	}
	for bad, why := range map[string]string{
		"":                       "is empty",
		"  ":                     "is empty",
		strings.Repeat("a", 501): "has more than 500 bytes",
		`(\d`:                    "is not a regular expression",
		`(?=x)y`:                 "is not a regular expression",
		`\d{1001}`:               "is not a regular expression",
	} {
		_, err := domain.CheckRedactionPattern(bad)
		require.ErrorContains(t, err, why, bad)
	}
	steps, err := domain.CheckRedactionPattern(`x{400}`)
	require.NoError(t, err)
	assert.Greater(t, steps, 400, "a repetition counts as many steps")
}

func TestRedactionTimeIsBounded(t *testing.T) {
	long := strings.Repeat("a", 16<<10)
	far := domain.Redaction{Patterns: []string{`.{0,240}y|x`}}.Redactor()
	assert.Len(t, far.RedactText(long), len(long), "one search is always within the limit")
	assert.Equal(t, "[redacted]", far.RedactText(long+"a"), "too long texts are redacted as a whole")
	assert.Equal(t, "[redacted]", far.RedactText(strings.Repeat("x", 4<<10)), "each letter needs a search of the following text")
	assert.Equal(t, strings.Repeat("[redacted]", 100), far.RedactText(strings.Repeat("x", 100)))

	text := strings.Repeat("xa", 120)
	for _, alone := range []string{`.{0,120}y|x`, `.{0,120}z|a`} {
		assert.NotEqual(t, "[redacted]", domain.Redaction{Patterns: []string{alone}}.Redactor().RedactText(text))
	}
	assert.Equal(t, "[redacted]", domain.Redaction{Patterns: []string{`.{0,120}y|x`, `.{0,120}z|a`}}.Redactor().RedactText(text), "they have the steps together")
	usual := domain.Redaction{Patterns: []string{`\d`}}.Redactor()
	assert.Equal(t, strings.Repeat("[redacted] ", 500), usual.RedactText(strings.Repeat("1 ", 500)))
}
