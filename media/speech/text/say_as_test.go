package text_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media/speech/text"
)

func TestSayAsFormDecidesHowAValueIsSpoken(t *testing.T) {
	for _, c := range []struct{ value, form, language, expected string }{
		{"4711", "digits", "en", "four seven one one"},
		{"47 11", "digits", "en", "four seven, one one"},
		{"4711", "digits", "pl", "4 7 1 1"},
		{"4711", "cardinal", "en", "four thousand seven hundred eleven"},
		{"-4.5", "cardinal", "en", "minus four point five"},
		{"4.5", "cardinal", "de", "vier Komma fünf"},
		{"1.234", "cardinal", "de", "eintausendzweihundertvierunddreißig"},
		{"007", "cardinal", "en", "zero zero seven"},
		{"22", "ordinal", "en", "twenty-second"},
		{"3rd", "ordinal", "en", "third"},
		{"3.", "ordinal", "de", "dritte"},
		{"2", "ordinal", "es", "segundo"},
		{"2ª", "ordinal", "pt", "segunda"},
		{"21", "ordinal", "fr", "vingt et unième"},
		{"8", "ordinal", "it", "ottavo"},
		{"20", "ordinal", "nl", "twintigste"},
		{"1905", "year", "en", "nineteen oh five"},
		{"1905", "year", "de", "neunzehnhundertfünf"},
		{"1905", "year", "nl", "negentienhonderdvijf"},
		{"2026-12-05", "date", "en", "December fifth, twenty twenty-six"},
		{"12/05", "date", "en", "December fifth"},
		{"1/2", "date", "en", "January second"},
		{"1/2", "date", "es", "primero de febrero"},
		{"05.12.2026", "date", "de", "fünfter Dezember zweitausendsechsundzwanzig"},
		{"5.12.", "date", "de", "fünfter Dezember"},
		{"5 de maio", "date", "pt", "cinco de maio"},
		{"10:30", "time", "en", "ten thirty"},
		{"1030", "time", "en", "ten thirty"},
		{"2026-12-05T10:30:00Z", "time", "de", "zehn Uhr dreißig"},
		{"9", "time", "de", "neun Uhr"},
		{"3 pm", "time", "en", "three p.m."},
		{"15h30", "time", "fr", "quinze heures trente"},
		{"+12025550123", "telephone", "en", "plus one two zero, two five five, five zero one, two three"},
		{"2025550123", "telephone", "en", "two zero two, five five five, zero one two three"},
		{"1234567", "telephone", "en", "one two three, four five six seven"},
		{"030 1234", "telephone", "de", "null drei null, eins zwei drei vier"},
		{"1234.5", "money:EUR", "en", "one thousand two hundred thirty-four euros and fifty cents"},
		{"1234.50", "money:EUR", "de", "eintausendzweihundertvierunddreißig Euro fünfzig"},
		{"1", "money:USD", "es", "un dólar"},
		{"-2", "money:usd", "en", "minus two dollars"},
		{"5", "money:XTS", "en", "five X T S"},
		{"a1-B", "spell", "en", "A one dash B"},
		{"a1-B", "spell", "pl", "A 1 dash B"},
		{"über", "spell", "de", "Ü B E R"},
		{" <as it is> 1 ", "verbatim", "en", " <as it is> 1 "},
		{"10:30", "time", "pl", "10:30"},
	} {
		spoken, err := text.SpeakAs(c.value, c.form, c.language)
		require.NoError(t, err, "%s %s", c.form, c.value)
		assert.Equal(t, c.expected, spoken, "%s %s in %s", c.form, c.value, c.language)
	}
}

func TestSayAsRejectsValuesOfAnotherKind(t *testing.T) {
	for _, c := range [][2]string{
		{"abc", "digits"},
		{"", "digits"},
		{"abc", "cardinal"},
		{"4,711.1.2", "cardinal"},
		{"1.5", "ordinal"},
		{"20261", "year"},
		{"soon", "date"},
		{"2026-13-45", "date"},
		{"25:61", "time"},
		{"later", "time"},
		{"call me", "telephone"},
		{"much", "money:EUR"},
		{"1", "money:"},
		{"1", "money"},
		{"1", "shout"},
	} {
		_, err := text.SpeakAs(c[0], c[1], "en")
		require.Error(t, err, "%s %s", c[1], c[0])
		if len(c[0]) > 2 {
			assert.NotContains(t, err.Error(), c[0])
		}
	}
}

func TestEveryListedFormIsKnown(t *testing.T) {
	values := map[string]string{"date": "2026-12-05", "time": "10:30"}
	for _, form := range text.Forms() {
		value := values[form]
		if value == "" {
			value = "2026"
		}
		_, err := text.SpeakAs(value, form, "en")
		assert.NoError(t, err, form)
	}
}

func TestSayAsElementsDecideHowValuesAreSpoken(t *testing.T) {
	for _, c := range []struct{ text, language, expected string }{
		{`Your code is <say-as interpret-as="digits">4711</say-as>.`, "en", "Your code is four seven one one."},
		{`<say-as interpret-as="digits">12</say-as> of <say-as interpret-as='cardinal'>12</say-as>`, "en", "one two of twelve"},
		{`Du hast <say-as interpret-as="digits">12</say-as>.`, "de", "Du hast eins zwei."},
		{`It is <say-as interpret-as="characters">AB1</say-as>!`, "en-US", "It is A B one!"},
		{`It is <say-as interpret-as="date">next week</say-as>.`, "en", "It is next week."},
		{`It is <say-as interpret-as="verbatim">R2-D2</say-as>.`, "en", "It is R2-D2."},
		{`The <sub alias="World Wide Web">WWW</sub> is old.`, "en", "The World Wide Web is old."},
		{`A <say-as interpret-as="spell">a&lt;b</say-as>.`, "en", "A A less than B."},
		{"\uE000 <say-as interpret-as=\"digits\">1</say-as> \uE001", "en", "one"},
	} {
		assert.Equal(t, c.expected, text.Speakable(c.text, c.language), c.text)
	}
}
