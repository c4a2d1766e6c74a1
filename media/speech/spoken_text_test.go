package speech_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media/speech"
)

// measuredEngine speaks each word of a text in one second.
type measuredEngine struct{}

func (e measuredEngine) StreamSpeech(_ context.Context, r speech.Request, out func(mu []byte)) error {
	for range strings.FieldsSeq(r.Text) {
		out(make([]byte, 8000))
	}
	return nil
}

// timingEngine is a measuredEngine that tells the times of words.
type timingEngine struct{ measuredEngine }

func (e timingEngine) StreamWords(ctx context.Context, r speech.Request, out func(mu []byte), spoken func(speech.WordTime)) error {
	end := 0
	for i, word := range strings.Fields(r.Text) {
		end += len(word) + min(i, 1)
		spoken(speech.WordTime{TextEnd: end, AudioEnd: (i + 1) * 8000})
	}
	return e.StreamSpeech(ctx, r, out)
}

func chainOf(t *testing.T, e speech.StreamingSynthesizer) *speech.SynthesizerChain {
	t.Helper()
	v, err := speech.NewSynthesizerChain(speech.Config{Engine: &engine{}, Order: []string{"x"}, Sources: []speech.NamedSynthesizer{{Name: "x", Engine: e}}})
	require.NoError(t, err)
	return v
}

func TestHeardPartFollowsTimesOfWords(t *testing.T) {
	t.Parallel()
	const total = "Your total is **$1,234.50** today! Please pay the long-winded invoice. 🙂"
	v := chainOf(t, timingEngine{})
	prepared, err := v.Prepare(t.Context(), speech.Request{Text: total, Language: "en-US"})
	require.NoError(t, err)
	streamed, err := v.StartSpeaking(t.Context(), speech.Request{Text: total, Language: "en-US"}, nil)
	require.NoError(t, err)
	fullAudio(t, streamed)
	// Spoken: "Your total is one thousand two hundred thirty-four dollars and fifty cents today!", a pause of 0.2 s, and the rest.
	spoken := len(strings.Fields("Your total is one thousand two hundred thirty-four dollars and fifty cents today!"))
	for _, x := range []struct {
		seconds float64
		want    string
	}{
		{0, ""},
		{0.9, ""},
		{1, "Your"},
		{3.5, "Your total is"},
		{float64(spoken) - 1.5, "Your total is"},
		{float64(spoken) - 1, "Your total is **$1,234.50**"},
		{float64(spoken), "Your total is **$1,234.50** today!"},
		{float64(spoken) + 1.1, "Your total is **$1,234.50** today!"},
		{float64(spoken) + 1.2, "Your total is **$1,234.50** today! Please"},
		{float64(spoken) + 4.2, "Your total is **$1,234.50** today! Please pay the long-winded"},
		{float64(spoken) + 5.2, total},
	} {
		assert.Equal(t, x.want, prepared.Spoken.HeardPart(total, int(x.seconds*8000)), "prepared, after %v s", x.seconds)
		assert.Equal(t, x.want, streamed.Spoken.HeardPart(total, int(x.seconds*8000)), "streamed, after %v s", x.seconds)
	}
}

func TestHeardPartHidesSecretsAndReadsLanguagesWithoutSpaces(t *testing.T) {
	t.Parallel()
	v := chainOf(t, timingEngine{})
	u, err := v.StartSpeaking(t.Context(), speech.Request{Text: "Your code is 4 7 1 1, keep it", Language: "en-US", Secret: true}, nil)
	require.NoError(t, err)
	fullAudio(t, u)
	assert.Equal(t, "Your code is", u.Spoken.HeardPart("Your code is [hidden], keep it", 5*8000))
	assert.Equal(t, "Your code is [hidden],", u.Spoken.HeardPart("Your code is [hidden], keep it", 7*8000))

	u, err = chainOf(t, measuredEngine{}).StartSpeaking(t.Context(), speech.Request{Text: "我们明天下午开门", Language: "zh-CN"}, nil)
	require.NoError(t, err)
	fullAudio(t, u)
	assert.Equal(t, "我们明天", u.Spoken.HeardPart("我们明天下午开门", 4000))
}

func TestHeardPartMatchesSpokenWordsWithThoseOfTranscript(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		text    string
		seconds float64
		want    string
	}{
		"between two numbers":     {"It costs $21 or $22 each day.", 6, "It costs $21 or"}, // it costs twenty-one dollars or
		"before the first number": {"It costs $21 or $22 each day.", 3, "It costs"},
		"behind the first number": {"It costs $21 or $22 each day.", 4, "It costs $21"},
		"behind both numbers":     {"It costs $21 or $22 each day.", 8, "It costs $21 or $22 each"},
		"within the second":       {"It costs $21 or $22 each day.", 6.5, "It costs $21 or"},
		"behind the second":       {"It costs $21 or $22 each day.", 7, "It costs $21 or $22"},
		"a pause comes first":     {`<break time="2s"/> Hello to you.`, 3.1, "Hello"},
		"only the pause":          {`<break time="2s"/> Hello to you.`, 2.5, ""},
		"every word":              {"Hello to you.", 3, "Hello to you."},
	} {
		u, err := chainOf(t, timingEngine{}).StartSpeaking(t.Context(), speech.Request{Text: x.text, Language: "en-US"}, nil)
		require.NoError(t, err)
		fullAudio(t, u)
		shown := strings.TrimPrefix(x.text, `<break time="2s"/> `)
		assert.Equal(t, x.want, u.Spoken.HeardPart(shown, int(x.seconds*8000)), name)
	}
}

// firstWordEngine is a measuredEngine that tells the time of the first word only.
type firstWordEngine struct{ measuredEngine }

func (e firstWordEngine) StreamWords(ctx context.Context, r speech.Request, out func(mu []byte), spoken func(speech.WordTime)) error {
	spoken(speech.WordTime{TextEnd: strings.IndexByte(r.Text, ' '), AudioEnd: 8000})
	return e.StreamSpeech(ctx, r, out)
}

func TestHeardPartWhereTimesOfWordsAreMissing(t *testing.T) {
	t.Parallel()
	const text = "Good morning to you."
	u, err := chainOf(t, firstWordEngine{}).StartSpeaking(t.Context(), speech.Request{Text: text, Language: "en-US"}, nil)
	require.NoError(t, err)
	fullAudio(t, u)
	assert.Equal(t, "Good", u.Spoken.HeardPart(text, 3*8000))
	assert.Equal(t, text, u.Spoken.HeardPart(text, 4*8000), "all of it was played")

	refuses := func(context.Context, speech.Request, func([]byte)) error { return errors.New("refused") }
	chain, err := speech.NewSynthesizerChain(speech.Config{
		Engine: &engine{err: errors.New("broken")}, Order: []string{"x"},
		Sources: []speech.NamedSynthesizer{{Name: "x", Engine: &scriptedEngine{does: []func(context.Context, speech.Request, func([]byte)) error{refuses}}}},
	})
	require.NoError(t, err)
	u, err = chain.StartSpeaking(t.Context(), speech.Request{Text: "One. Two.", Language: "en-US", Secret: true}, func(speech.EngineFailure) {})
	require.NoError(t, err)
	fullAudio(t, u)
	assert.Empty(t, u.Spoken.HeardPart("One. Two.", u.Feed.Len()), "the first sentence could not be spoken")

	v, err := speech.NewSynthesizerChain(speech.Config{Engine: &engine{}, Order: []string{"x"}, Sources: []speech.NamedSynthesizer{{Name: "x", Engine: measuredEngine{}, SSML: true}}})
	require.NoError(t, err)
	const document = `Good morning <break time="1s"/> to you.`
	u, err = v.StartSpeaking(t.Context(), speech.Request{Text: document, Language: "en-US"}, nil)
	require.NoError(t, err)
	fullAudio(t, u)
	assert.Equal(t, `Good morning <break time="1s"/>`, u.Spoken.HeardPart(document, u.Feed.Len()*2/3), "an SSML document has no times of words")
	assert.Equal(t, document, u.Spoken.HeardPart(document, u.Feed.Len()))
}

func TestHeardPartOfIncompleteAudioIsEstimated(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const text = "The first sentence is spoken. The second one follows it."
		paced := &scriptedEngine{}
		for range 2 {
			paced.does = append(paced.does, func(_ context.Context, _ speech.Request, out func([]byte)) error {
				for range 40 { // four seconds in four seconds
					time.Sleep(100 * time.Millisecond)
					out(make([]byte, 800))
				}
				return nil
			})
		}
		// The sentences of a secret text are synthesized one after the other.
		u, err := chainOf(t, paced).StartSpeaking(t.Context(), speech.Request{Text: text, Language: "en-US", Secret: true}, nil)
		require.NoError(t, err)
		assert.Equal(t, "The", u.Spoken.HeardPart(text, 8000*3/10), "0.3 s at the usual 15 letters per second")
		time.Sleep(6 * time.Second)
		assert.Equal(t, "The first sentence", u.Spoken.HeardPart(text, 8000*28/10), "seven tenths of the first sentence")
		assert.Equal(t, "The first sentence is spoken.", u.Spoken.HeardPart(text, 8000*41/10))
		assert.Equal(t, "The first sentence is spoken. The", u.Spoken.HeardPart(text, 8000*54/10), "1.2 s at the rate of the first sentence")
		fullAudio(t, u)
		assert.Equal(t, "The first sentence is spoken. The second", u.Spoken.HeardPart(text, 8000*63/10), "half of the second sentence")
		assert.Equal(t, text, u.Spoken.HeardPart(text, 8000*82/10))
	})
}
