package text_test

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media/speech/text"
)

func TestSSMLKeepsKnownElementsAndEscapesText(t *testing.T) {
	for _, c := range []struct{ text, expected string }{
		{`Please hold <break time="300ms"/> the line.`, `<speak>Please hold <break time="300ms"/> the line.</speak>`},
		{`<speak>It is <prosody rate="slow" pitch="+2st">really</prosody> good.</speak>`, `<speak>It is <prosody rate="slow" pitch="+2st">really</prosody> good.</speak>`},
		{`<speak version="1.1" xml:lang="en-US">Say <emphasis level='strong'>now</emphasis>, or later.</speak>`, `<speak version="1.1" xml:lang="en-US">Say <emphasis level="strong">now</emphasis>, or later.</speak>`},
		{`A <phoneme alphabet="ipa" ph="təˈmeɪtoʊ">tomato</phoneme>.`, `<speak>A <phoneme alphabet="ipa" ph="təˈmeɪtoʊ">tomato</phoneme>.</speak>`},
		{`un<emphasis>believ</emphasis>able`, `<speak>un<emphasis>believ</emphasis>able</speak>`},
		{`<prosody rate="slow">Your code is <say-as interpret-as="digits">47</say-as>.`, `<speak><prosody rate="slow">Your code is four seven.</prosody></speak>`},
		{`Buy <emphasis>two <sub alias="kilograms">kg</sub></emphasis> for **$5**.`, `<speak>Buy <emphasis>two kilograms</emphasis> for five dollars.</speak>`},
		{`<say-as interpret-as="verbatim">R&amp;D &lt;1&gt;</say-as> <break/> done`, `<speak>R&amp;D &lt;1&gt; <break/> done</speak>`},
		{`It's <emphasis>fine</emphasis>.`, `<speak>It's <emphasis>fine</emphasis>.</speak>`},
		{`<say-as interpret-as="verbatim">a&#1;b&#xFFFF;c</say-as> <break/> d`, `<speak>abc <break/> d</speak>`},
		{`<BREAK TIME="90s" onclick="x"/>Hello`, `<speak><break time="5s"/> Hello</speak>`},
		{`Hello <break time="soon" strength="weak"></break> you`, `<speak>Hello <break strength="weak"/> you</speak>`},
		// Markup that a model could inject.
		{`Hi <audio src="https://example.com/a.mp3"/> <break time="1s"/> <voice name="x">there</voice>`, `<speak>Hi <break time="1s"/> there</speak>`},
		{`</speak></prosody><speak>Hi</emphasis> you<break/></speak>`, `<speak>Hi you <break/></speak>`},
		{`<prosody rate="slow">a <emphasis>b</prosody> c`, `<speak><prosody rate="slow">a <emphasis>b</emphasis></prosody> c</speak>`},
		{`<prosody rate="&quot;/&gt;&lt;audio src='x'/">a</prosody> b`, `<speak><prosody rate="&#34;/&gt;&lt;audio src=&#39;x&#39;/">a</prosody> b</speak>`},
		{`<think><break time="1s"/> secret</think>Fine. <break strength="none"/>`, `<speak>Fine. <break strength="none"/></speak>`},
	} {
		document, ok := text.SSML(c.text, "en")
		require.True(t, ok, c.text)
		assert.Equal(t, c.expected, document, c.text)
		requireXML(t, document)
	}
	for _, plain := range []string{"", "Hello.", "a < b", "<b>bold</b>", `<say-as interpret-as="digits">47</say-as>`, `<breaker time="1s"/>`} {
		document, ok := text.SSML(plain, "en")
		assert.False(t, ok, plain)
		assert.Empty(t, document)
	}
}

func requireXML(t *testing.T, document string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(document)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else {
			require.NoError(t, err, document)
		}
	}
}

func FuzzSSMLIsWellFormed(f *testing.F) {
	f.Add(`<speak>a <prosody rate="slow">b <break time="1s"/></prosody> & c</speak>`)
	f.Add(`<prosody rate='"'>a</emphasis> <phoneme ph="&lt;">b`)
	f.Fuzz(func(t *testing.T, s string) {
		if document, ok := text.SSML(s, "en"); ok {
			requireXML(t, document)
		}
	})
}

func TestBreaksDivideSpeakableTextIntoParts(t *testing.T) {
	for _, c := range []struct {
		text     string
		expected []text.Part
	}{
		{"Hello.", []text.Part{{Text: "Hello."}}},
		{`Hold <break time="300ms"/> the line. <break time="1.5s"/>`, []text.Part{{Text: "Hold"}, {300 * time.Millisecond, "the line."}, {1500 * time.Millisecond, ""}}},
		{`<speak><break time="60s"/>One<break/>, <prosody rate="slow">two</prosody> <break strength="none"/>three</speak>`, []text.Part{{5 * time.Second, "One"}, {400 * time.Millisecond, "two three"}}},
		{`<break time="3s"/><break time="3s"/>It is <say-as interpret-as="digits">47</say-as>.`, []text.Part{{5 * time.Second, "It is four seven."}}},
		{`<think>a <break time="3s"/> b</think>Yes.`, []text.Part{{Text: "Yes."}}},
		{`<break time="-1s"/>x<break time="abc"/>y`, []text.Part{{400 * time.Millisecond, "x"}, {400 * time.Millisecond, "y"}}},
	} {
		assert.Equal(t, c.expected, text.Parts(c.text, "en"), c.text)
	}
}
