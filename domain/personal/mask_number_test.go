package personal_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/personal"
)

func number(t *testing.T, e164 string) personal.Number {
	t.Helper()
	n, err := personal.NewNumber(e164)
	require.NoError(t, err)
	return n
}

func TestNumberIsBlankedInAnyNotation(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"+12025550100":                        "[erased]",
		"call 12025550100.":                   "call [erased].",
		"(202) 555-0100, room 4":              "[erased], room 4",
		"tel 202.555.0100 or 202 555 0100":    "tel [erased] or [erased]",
		"sip:+12025550100@example.com:5060":   "sip:[erased]@example.com:5060",
		"0012025550100":                       "[erased]",
		"+1 (202) 555-0100":                   "[erased]",
		"2025550100 1":                        "[erased] 1",
		"12 2025550100":                       "12 [erased]",
		"92025550100":                         "92025550100",  // another number
		"20255501001":                         "20255501001",  // another number
		"202555010":                           "202555010",    // too short
		"2025\n550100":                        "2025\n550100", // two lines
		"call_2025550100":                     "call_[erased]",
		"x%2B12025550100y":                    "x%2B[erased]y",
		"2025 - 55 - 0100, +12025550101 left": "[erased], +12025550101 left",
	} {
		got, found := number(t, "+12025550100").Mask(text)
		assert.Equal(t, want, got)
		assert.Equal(t, text != want, found, text)
	}
	got, _ := number(t, "+442079460018").Mask("+44 (0) 20 7946 0018; 020 7946 0018; 442079460018")
	assert.Equal(t, "[erased]; [erased]; [erased]", got)
}

func TestNumberIsBlankedInRecords(t *testing.T) {
	t.Parallel()
	at := time.Date(2025, 5, 5, 1, 0, 0, 0, time.UTC)
	type part struct {
		Texts []string
		Of    map[string]any
	}
	type row struct {
		Text  string
		At    time.Time
		Day   string
		Raw   json.RawMessage
		Bytes []byte
		Part  *part
		Any   any
		Named map[string]string
		Count int
	}
	n := number(t, "+4520250505") // its national number looks like a date
	r := row{
		Text: "from +45 20 25 05 05", At: at, Day: "2025-05-05", Raw: json.RawMessage(`{"to":"+4520250505","n":20250505,"m":9007199254740993}`),
		Bytes: []byte("INVITE sip:20250505@h"), Count: 20250505,
		Part:  &part{Texts: []string{"20250505", "x"}, Of: map[string]any{"n": json.Number("20250505"), "deep": []any{"20250505", map[string]any{"20250505": 1}}}},
		Any:   "20250505",
		Named: map[string]string{"a": "b", "c": "20250505"},
	}
	before, err := json.Marshal(r)
	require.NoError(t, err)
	assert.True(t, n.IsInValue(&r))
	same, err := json.Marshal(r)
	require.NoError(t, err)
	assert.JSONEq(t, string(before), string(same), "only looked at")
	assert.True(t, n.MaskValue(&r))
	assert.False(t, n.IsInValue(&r))
	assert.Equal(t, row{
		Text: "from [erased]", At: at, Day: "2025-05-05", Raw: json.RawMessage(`{"m":9007199254740993,"n":"[erased]","to":"[erased]"}`),
		Bytes: []byte("INVITE sip:[erased]@h"), Count: 20250505,
		Part: &part{Texts: []string{"[erased]", "x"}, Of: map[string]any{"n": "[erased]", "deep": []any{"[erased]", map[string]any{"[erased]": 1}}}},
		Any:  "[erased]", Named: map[string]string{"a": "b", "c": "[erased]"},
	}, r)
	c := &domain.Call{Meta: domain.Meta{ID: "call_1", CreatedAt: at}, Context: domain.Context{"alt": "+4520250505"}}
	assert.True(t, n.MaskValue(c))
	assert.Equal(t, domain.Context{"alt": "[erased]"}, c.Context)
	assert.Equal(t, at, c.CreatedAt)
}
