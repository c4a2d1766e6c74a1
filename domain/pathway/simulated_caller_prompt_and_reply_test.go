package pathway_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain/pathway"
)

func TestModelReplyBecomesCallerInput(t *testing.T) {
	for text, want := range map[string]struct {
		says   string
		leaves bool
	}{
		"":                          {"", false},
		"  I'd like\n to come. ":    {"I'd like to come.", false},
		`"Yes, please."`:            {"Yes, please.", false},
		"Thank you, bye. [hang up]": {"Thank you, bye.", true},
		"[Hang Up] and more":        {"", true},
		"[silence]":                 {"", false},
		"[press 1]":                 {"1", false},
		"[PRESS 1 2 #] [hang up]":   {"12#", true},
		"[press 1":                  {"1", false},
		"ȺȺȺȺ İ. [Hang up]":         {"ȺȺȺȺ İ.", true},
		"ȺȺȺȺȺȺȺȺ[PRESS 5]":         {"5", false},
		strings.Repeat("ä", 600):    {strings.Repeat("ä", 500), false},
	} {
		says, leaves := pathway.ParseCallerTurn(text)
		assert.Equal(t, want.says, says, text)
		assert.Equal(t, want.leaves, leaves, text)
	}
	brief := pathway.CallerPrompt("a table for two", "in a hurry")
	assert.Contains(t, brief, "goal of the person: a table for two")
	assert.Contains(t, brief, "manner of the person: in a hurry")
	assert.NotContains(t, pathway.CallerPrompt("x", ""), "manner of the person")
}
