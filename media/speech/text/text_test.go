package text_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media/speech/text"
)

// tables returns the languages with a table in testdata. Rows are an input and the form that a second reader expects.
func tables() []string { return []string{"de", "en", "es", "fr", "it", "nl", "pt"} }

func rows(t testing.TB, language string) [][2]string {
	t.Helper()
	table, err := os.ReadFile(filepath.Join("testdata", language+".tsv"))
	require.NoError(t, err)
	var out [][2]string
	for row := range strings.Lines(string(table)) {
		input, expected, ok := strings.Cut(strings.TrimSuffix(row, "\n"), "\t")
		require.True(t, ok, "a row without a tab: %s", row)
		out = append(out, [2]string{strings.ReplaceAll(input, `\n`, "\n"), expected})
	}
	return out
}

func TestTextIsSpokenAsTheReaderExpects(t *testing.T) {
	for _, language := range tables() {
		t.Run(language, func(t *testing.T) {
			for _, row := range rows(t, language) {
				assert.Equal(t, row[1], text.Speakable(row[0], language), "input: %s", row[0])
			}
		})
	}
}

func TestSpokenTextStaysAsItIs(t *testing.T) {
	for _, language := range tables() {
		for _, row := range rows(t, language) {
			assert.Equal(t, row[1], text.Speakable(row[1], language))
		}
	}
}

func TestTextOfModelsAndPromptsContainsNoMarkup(t *testing.T) {
	const digits = `\b(\d|zero|oh|one|two|three|four|five|six|seven|eight|nine)\b`
	for _, c := range []struct {
		language, text string
		contains       []string
		lacks          []string
	}{
		{"en-US", "**Great!** Your total is $1,234.50 😀.", []string{`great`, `dollar`, `1[ ,]?234|thousand`}, []string{`\*`, `\$`, "😀"}},
		{"en-US", "See [our site](https://example.com/a?b=1) for more.", []string{`our site`}, []string{`http`, `[\[\]()]`, `a\?b`}},
		{"en-US", "# Opening hours\nWe open at nine.", []string{`opening hours`, `nine|9`}, []string{`#`}},
		{"en-US", "| day | time |\n|---|---|\n| Monday | nine |", []string{`monday`, `nine`}, []string{`\|`, `--`}},
		{"en-US", "Use `reset` now, *please*, and _soon_.", []string{`reset`, `please`, `soon`}, []string{"`", `\*`, `_`}},
		{"en-US", "1. First option\n2. Second option\n- Third option", []string{`first option`, `second option`, `third option`}, []string{`\n\s*- `, `^- `}},
		{"en-US", "Call us at +1 202 555 0123 today.", []string{digits + `\D+` + digits + `\D+` + digits + `|\b\d \d \d\b`}, []string{`\+`, `\d{3}`}},
		{"en-US", "Your visit is on 2026-12-05.", []string{`december`, `\b(5|5th|fifth)\b`}, []string{`2026-12-05`, `-12-`}},
		{"en-US", "It begins at 10:30.", []string{`\bten\b|\b10\b`, `thirty|30|half`}, []string{`10:30`}},
		{"en-US", "Your code is A1B2.", []string{`\ba\W+(1|one)\W+b\W+(2|two)`}, []string{`a1b2`}},
		{"en-US", "You will see Dr. Smith at 5 Main St. tomorrow.", []string{`doctor smith`, `street|saint|st`}, []string{`\bdr\.`}},
		{"en-US", "Write to ann.lee@example.com please.", []string{`\bat\b`, `\bdot\b`}, []string{`@`}},
		{"en-US", "It costs 5% more, for 3.5 km at -5°C.", []string{`percent`, `kilomet`, `degree`}, []string{`%`, `°`, `\bkm\b`}},
		{"en-US", "Wait <break time=\"1s\"/> for <b>it</b>.", []string{`wait`, `\bit\b`}, []string{`[<>]`, `break time`}},
		{"en-US", "Order #12345 is ready 🎉👍.", []string{`order`, `ready`}, []string{`#`, `[🎉👍]`}},
		{"en-US", "Go to www.example.com or https://example.com/help?x=1&y=2 for help.", []string{`example`}, []string{`https?:`, `\?x=`, `&`}},
		{"en-US", "Your balance is €20 and £15.99.", []string{`euro`, `pound`}, []string{`[€£]`}},
		{"de-DE", "Ihr Betrag ist 1.234,50 €.", []string{`euro`}, []string{`€`}},
		{"de-DE", "Ihr Termin ist am 05.12.2026.", []string{`dezember`}, []string{`05\.12`}},
		{"en-US", "<think>The user wants X. I should say hi.</think>Hello again, my friend.", []string{`hello again`}, []string{`wants x`, `i should`, `[<>]`, `think`}},
		{"en-US", "**Sure!** That is $99.95 on 2026-12-05 😀.", []string{`sure`, `dollar`, `december`}, []string{`\*`, `\$`, `2026-12`, "😀"}},
		{"en-US", "{\"tool\": \"end\", \"arguments\": {\"outcome\": \"completed\"}}", nil, []string{`[{}"]`, `arguments`}},
		{"en-US", "<thinking>secret plan</thinking>\n\nYes, we are open.", []string{`we are open`}, []string{`secret`, `[<>]`}},
		{"en-US", "Today is 2026-11-28, it is 2026-11-28T19:52:01Z.", []string{`today is`}, []string{`\d{4}-\d`, `\d:\d\d:\d\d`, `t\d\d:`}},
	} {
		spoken := strings.ToLower(text.Speakable(c.text, c.language))
		for _, pattern := range c.contains {
			assert.Regexp(t, pattern, spoken, "input: %s", c.text)
		}
		for _, pattern := range c.lacks {
			assert.NotRegexp(t, pattern, spoken, "input: %s", c.text)
		}
	}
}

func TestReasoningIsNeverSpoken(t *testing.T) {
	for input, expected := range map[string]string{
		"I plan.</think>Hello.":                           "Hello.",
		"<THINK>a</THINK>Hello.":                          "Hello.",
		"Hi.<think>a":                                     "Hi.",
		"<think>a<think>b</think>Hello.":                  "Hello.",
		"<thinking type=\"x\">a</thinking>Hello.":         "Hello.",
		"Sure. {\"name\": \"end\", \"arguments\": {\"a\"": "Sure.",
		"```\ncode": "",
	} {
		assert.Equal(t, expected, text.Speakable(input, "en"), "input: %s", input)
	}
}

func TestUnknownLanguageKeepsDigits(t *testing.T) {
	for input, expected := range map[string]string{
		"**Cena:** 1 234,50 zł 😀":               "Cena: 1 234,50 zł",
		"# Nagłówek\n- pierwszy\n- drugi":       "Nagłówek. pierwszy. drugi.",
		"Proszę pisać: jan.kowalski@example.pl": "Proszę pisać: jan dot kowalski at example dot pl",
		"<think>plan</think>10:30, 50%":         "10:30, 50 percent",
		"A & B":                                 "A and B",
		"{\"tool\": 1}":                         "",
	} {
		assert.Equal(t, expected, text.Speakable(input, "pl-PL"), "input: %s", input)
	}
}

func TestRegionalTagsSelectTheLanguage(t *testing.T) {
	for tag, expected := range map[string]string{
		"en-US": "one hundred one", "en-GB": "one hundred and one", "en_gb": "one hundred and one", "EN": "one hundred one",
		"en-AU": "one hundred one", "de-AT": "einhunderteins", "pt-BR": "cento e um", "": "101", "zh-Hant-TW": "101",
	} {
		assert.Equal(t, expected, text.Speakable("101", tag), tag)
	}
	assert.Equal(t, "the fifth of December twenty twenty-six", text.Speakable("5/12/2026", "en-GB"))
	assert.Equal(t, []string{"de", "en", "en-GB", "es", "fr", "it", "nl", "pt"}, text.Languages())
}

func TestLongTextTakesLittleTime(t *testing.T) {
	const limit = 64 << 10
	for _, piece := range []string{
		"The price is $1,234.50 on 2026-12-05 at 10:30 for Dr. Smith. ", "1 ", "1-2-3-", "A1", "a.b.", "[a](", "<b", "{\"", "+1", "(1", "**a", "_a", "1/2 ",
	} {
		long := strings.Repeat(piece, limit/len(piece))
		start := time.Now()
		spoken := text.Speakable(long, "en")
		text.Sentences(long, "en")
		assert.Less(t, time.Since(start), 15*time.Second, "input: %s", piece) // far below on an idle core; quadratic time exceeds the limit
		assert.LessOrEqual(t, len(spoken), 40*len(long))
	}
}

func FuzzSpeakable(f *testing.F) {
	addRows(f)
	f.Add("\xff\u0661\u00bd\U0001d7ce<think", uint8(1))
	f.Fuzz(func(t *testing.T, input string, language uint8) {
		tag := fuzzLanguage(language)
		spoken := text.Speakable(input, tag)
		assert.True(t, utf8.ValidString(spoken))
		assert.LessOrEqual(t, len(spoken), 40*len(input))
		if tag == unknownLanguage {
			return
		}
		assert.Equal(t, -1, strings.IndexFunc(spoken, unicode.IsDigit), spoken)
		assert.Equal(t, strings.ToLower(spoken), strings.ToLower(text.Speakable(spoken, tag)))
	})
}

const unknownLanguage = "pl"

// addRows adds a part of the tables to the corpus of a fuzz target.
func addRows(f *testing.F) {
	f.Helper()
	for i, language := range tables() {
		for j, row := range rows(f, language) {
			if j%10 == 0 {
				f.Add(row[0], uint8(i))
			}
		}
	}
}

// fuzzLanguage maps a byte to one of the tables or to an unknown language.
func fuzzLanguage(b uint8) string {
	tags := append(tables(), "en-GB", unknownLanguage)
	return tags[int(b)%len(tags)]
}
