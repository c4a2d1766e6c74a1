package deepgram_test

import (
	"net/http"
	neturl "net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/engines"
	"github.com/callboard/callboard/engines/deepgram"
	"github.com/callboard/callboard/engines/enginetest"
	"github.com/callboard/callboard/media/speech"
)

// turn runs one turn in which say writes the audio. It returns the final result and the interim results that say has
// not received.
func turn(t *testing.T, w *deepgram.Recognizer, wanted speech.RecognitionRequest, say func(s speech.Stream, told <-chan speech.RecognitionResult)) (final speech.RecognitionResult, before []speech.RecognitionResult) {
	t.Helper()
	told := make(chan speech.RecognitionResult, 16)
	s := w.Open(wanted, func(h speech.RecognitionResult) { told <- h })
	say(s, told)
	for h := range told {
		if h.Final {
			return h, before
		}
		before = append(before, h)
	}
	return speech.RecognitionResult{}, nil
}

func TestTurnFollowsDeepgramDocumentation(t *testing.T) {
	url := enginetest.Transcript(t, "testdata/turn.txt", func(r *http.Request) {
		assert.Equal(t, "/v1/listen", r.URL.Path)
		assert.Equal(t, "Token dg-key", r.Header.Get("Authorization"))
		q := r.URL.Query()
		for name, want := range map[string]string{"model": "nova-3", "encoding": "mulaw", "sample_rate": "8000", "channels": "1", "interim_results": "true", "language": "en-US"} {
			assert.Equal(t, want, q.Get(name), name)
		}
		assert.Equal(t, []string{"Callboard", "Ada"}, q["keyterm"])
	})
	w := &deepgram.Recognizer{URL: url, Key: "dg-key", Model: "nova-3", Client: http.DefaultClient}
	h, before := turn(t, w, speech.RecognitionRequest{Language: "en-US", Keywords: []string{"Callboard", "Ada"}}, func(s speech.Stream, told <-chan speech.RecognitionResult) {
		s.Write(make([]byte, 1600))
		s.Write(make([]byte, 1600))
		h := <-told
		assert.Equal(t, speech.RecognitionResult{Text: "I would", Confidence: 0.91}, h)
		s.Write(make([]byte, 1600))
		s.End()
	})
	assert.Equal(t, []speech.RecognitionResult{{Text: "I would like Tuesday,", Confidence: 0.99}, {Text: "I would like Tuesday, please.", Confidence: 0.85}}, before, "what is known is told at once")
	require.NoError(t, h.Err)
	assert.Equal(t, "I would like Tuesday, please.", h.Text)
	assert.InDelta(t, 0.955, h.Confidence, 0.005, "by the length of its parts")
}

func TestFluxRecognizesEndOfTurn(t *testing.T) {
	url := enginetest.Transcript(t, "testdata/flux.txt", func(r *http.Request) {
		assert.Equal(t, "/v2/listen", r.URL.Path)
		assert.Equal(t, neturl.Values{"model": {"flux-general-multi"}, "encoding": {"mulaw"}, "sample_rate": {"8000"}, "language_hint": {"en"}, "keyterm": {"Ada"}}, r.URL.Query())
	})
	w := &deepgram.Recognizer{URL: url, Model: "flux-general-multi", Client: http.DefaultClient}
	h, before := turn(t, w, speech.RecognitionRequest{Language: "en-US", Keywords: []string{"Ada"}}, func(s speech.Stream, told <-chan speech.RecognitionResult) {
		s.Write(make([]byte, 3200))
		assert.Equal(t, speech.RecognitionResult{Text: "I", Confidence: 0.9}, <-told)
		assert.Equal(t, speech.RecognitionResult{Text: "I would like Tuesday.", Confidence: 0.9, EndOfTurn: true}, <-told)
		s.Write(make([]byte, 1600))
		assert.Equal(t, speech.RecognitionResult{Text: "I would like Tuesday. Please", Confidence: 0.7}, <-told)
		s.End()
	})
	assert.Len(t, before, 1)
	require.NoError(t, h.Err)
	assert.Equal(t, "I would like Tuesday. Please.", h.Text)
	assert.InDelta(t, 0.9, h.Confidence, 0.001)
}

func TestOlderModelsGetKeywordsParameter(t *testing.T) {
	url := enginetest.Transcript(t, "testdata/turn.txt", func(r *http.Request) {
		assert.Equal(t, []string{"Ada"}, r.URL.Query()["keywords"])
		assert.Empty(t, r.URL.Query()["keyterm"])
	})
	w := &deepgram.Recognizer{URL: url, Model: "nova-3", Client: http.DefaultClient}
	h, _ := turn(t, w, speech.RecognitionRequest{Model: "nova-2-phonecall", Keywords: []string{"Ada"}}, func(s speech.Stream, told <-chan speech.RecognitionResult) {
		s.Write(make([]byte, 3200))
		<-told
		s.Write(make([]byte, 1600))
		s.End()
	})
	require.NoError(t, h.Err)
}

func TestFaultsOfDeepgramBecomeErrors(t *testing.T) {
	for fault, want := range map[enginetest.Fault]error{
		enginetest.Garbage: engines.ErrInvalidResponse, enginetest.Drops: nil, enginetest.Refuses: engines.ErrRequestRefused,
	} {
		server := enginetest.New(t)
		server.SetFault("deepgram", fault)
		w := &deepgram.Recognizer{URL: server.WS(), Key: enginetest.Key, Model: "nova-3", Client: http.DefaultClient}
		h, _ := turn(t, w, speech.RecognitionRequest{}, func(s speech.Stream, _ <-chan speech.RecognitionResult) {
			s.Write(make([]byte, 1600))
			s.End()
		})
		require.Error(t, h.Err, fault)
		if want != nil {
			require.ErrorIs(t, h.Err, want, fault)
		}
		assert.NotContains(t, h.Err.Error(), enginetest.Key)
	}
	w := &deepgram.Recognizer{URL: "ws://127.0.0.1:1", Key: enginetest.Key, Model: "nova-3", Client: http.DefaultClient}
	h, _ := turn(t, w, speech.RecognitionRequest{}, func(s speech.Stream, _ <-chan speech.RecognitionResult) { s.End() })
	require.Error(t, h.Err)
	assert.NotErrorIs(t, h.Err, engines.ErrInvalidResponse)
}

func TestWholeTurnReachesDeepgram(t *testing.T) {
	server := enginetest.New(t)
	server.SetTranscript("move it to Friday")
	w := &deepgram.Recognizer{URL: server.WS(), Key: enginetest.Key, Model: "nova-3", Client: http.DefaultClient}
	h, before := turn(t, w, speech.RecognitionRequest{}, func(s speech.Stream, told <-chan speech.RecognitionResult) {
		s.Write(make([]byte, 1600))
		assert.Equal(t, "move", (<-told).Text)
		s.Write(make([]byte, 800))
		s.End()
		s.Write(make([]byte, 800)) // too late
	})
	assert.Equal(t, "move it to Friday", h.Text)
	assert.Equal(t, []speech.RecognitionResult{{Text: "move it to Friday", Confidence: 0.98}}, before)
	assert.Len(t, server.Requests()[0].Sound, 2400)
}
