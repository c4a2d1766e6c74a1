package elevenlabs_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/engines"
	"github.com/callboard/callboard/engines/elevenlabs"
	"github.com/callboard/callboard/media/speech"
)

// The requests and responses in these tests are those of the pages "Stream speech" and "Errors" of ElevenLabs' API
// reference.

func TestSentenceIsStreamedAsElevenLabsDocuments(t *testing.T) {
	t.Parallel()
	heard := make(chan struct{})
	far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "POST /v1/text-to-speech/JBFqnCBsd6RMkjVDRZzb/stream?output_format=ulaw_8000", r.Method+" "+r.URL.RequestURI())
		assert.Equal(t, "xi-secret", r.Header.Get("xi-api-key"))
		assert.Equal(t, "application/json", r.Header.Get("Content-Type"))
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		assert.JSONEq(t, `{"text":"The first move is what sets everything in motion.","model_id":"eleven_flash_v2_5","language_code":"en","voice_settings":{"speed":1.2}}`, string(body))
		w.Header().Set("Content-Type", "audio/basic")
		_, _ = w.Write([]byte{0xFF, 0x7F})
		_ = http.NewResponseController(w).Flush()
		<-heard // the server sends the audio in pieces
		_, _ = w.Write([]byte{0x80})
	}))
	t.Cleanup(far.Close)
	var got []byte
	s := &elevenlabs.Speech{URL: far.URL, Key: "xi-secret", Client: far.Client()}
	err := s.StreamSpeech(t.Context(), speech.Request{
		Text: "The first move is what sets everything in motion.", Voice: "JBFqnCBsd6RMkjVDRZzb", Model: "eleven_flash_v2_5", Language: "en-US", Rate: 400,
	}, func(mu []byte) {
		if got = append(got, mu...); len(got) == 2 {
			close(heard)
		}
	})
	require.NoError(t, err)
	assert.Equal(t, []byte{0xFF, 0x7F, 0x80}, got)
}

func TestElevenLabsErrorsAreClassified(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		status     int
		kind, body string
		is         error
		word       string
	}{
		"a wrong key":   {401, "application/json", `{"detail":{"status":"invalid_api_key","message":"Invalid API key"}}`, engines.ErrRequestRefused, "invalid_api_key"},
		"too many":      {429, "application/json", `{"detail":{"status":"too_many_concurrent_requests","message":"Too many concurrent requests."}}`, engines.ErrRequestRefused, "429"},
		"no such voice": {404, "application/json", `{"detail":{"status":"voice_not_found","message":"A voice with the voice_id was not found."}}`, engines.ErrRequestInvalid, "voice_not_found"},
		"unprocessable": {422, "application/json", `{"detail":[{"loc":["body","text"],"msg":"field required","type":"value_error.missing"}]}`, engines.ErrRequestInvalid, "422"},
		"another sound": {200, "audio/mpeg", "ID3", engines.ErrInvalidResponse, "audio/mpeg"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", x.kind)
				w.WriteHeader(x.status)
				_, _ = io.WriteString(w, x.body)
			}))
			t.Cleanup(far.Close)
			s := &elevenlabs.Speech{URL: far.URL, Key: "xi-secret", Client: far.Client()}
			err := s.StreamSpeech(t.Context(), speech.Request{Text: "Hello.", Voice: "v", Model: "m"}, func(mu []byte) { assert.Empty(t, mu) })
			require.ErrorIs(t, err, x.is)
			assert.Contains(t, err.Error(), x.word)
			assert.NotContains(t, err.Error(), "xi-secret")
		})
	}
}
