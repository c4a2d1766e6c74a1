package elevenlabs_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/engines"
	"github.com/callboard/callboard/engines/elevenlabs"
	"github.com/callboard/callboard/media/speech"
)

// The requests and responses in these tests are those of the pages "Stream speech with timing" and "Errors" of ElevenLabs'
// API reference.

func TestSentenceIsStreamedWithTimesOfWords(t *testing.T) {
	t.Parallel()
	for name, second := range map[string]string{
		"times from the beginning of the audio": `"character_start_times_seconds":[0.5,0.55,0.65,0.7],"character_end_times_seconds":[0.55,0.65,0.7,0.9]`,
		"times from the beginning of the piece": `"character_start_times_seconds":[0,0.05,0.15,0.2],"character_end_times_seconds":[0.05,0.15,0.2,0.4]`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := strings.Repeat("\xFF", 4000) // half a second
			heard := make(chan struct{})
			far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				assert.Equal(t, "POST /v1/text-to-speech/JBFqnCBsd6RMkjVDRZzb/stream/with-timestamps?output_format=ulaw_8000", r.Method+" "+r.URL.RequestURI())
				assert.Equal(t, "xi-secret", r.Header.Get("xi-api-key"))
				assert.Equal(t, "application/json", r.Header.Get("Content-Type"))
				body, err := io.ReadAll(r.Body)
				assert.NoError(t, err)
				assert.JSONEq(t, `{"text":"Öl is in","model_id":"eleven_flash_v2_5","language_code":"en","voice_settings":{"speed":1.2}}`, string(body))
				w.Header().Set("Content-Type", "application/json")
				_, _ = fmt.Fprintf(w, `{"audio_base64":%q,"alignment":{"characters":["Ö","l"," ","i"],"character_start_times_seconds":[0.1,0.2,0.25,0.3],"character_end_times_seconds":[0.2,0.25,0.3,0.5]},"normalized_alignment":null}`+"\n\n",
					base64.StdEncoding.EncodeToString([]byte(first)))
				_ = http.NewResponseController(w).Flush()
				<-heard // the server sends the audio in pieces
				_, _ = io.WriteString(w, `{"audio_base64":"gIA=","alignment":{"characters":["s"," ","i","n"],`+second+`}}`+"\n")
				_, _ = io.WriteString(w, `{"audio_base64":"fw==","alignment":null}`)
			}))
			t.Cleanup(far.Close)
			var got []byte
			var words []speech.WordTime
			s := &elevenlabs.Speech{URL: far.URL, Key: "xi-secret", Client: far.Client()}
			err := s.StreamWords(t.Context(), speech.Request{
				Text: "Öl is in", Voice: "JBFqnCBsd6RMkjVDRZzb", Model: "eleven_flash_v2_5", Language: "en-US", Rate: 400,
			}, func(mu []byte) {
				if got = append(got, mu...); len(got) == len(first) {
					close(heard)
				}
			}, func(w speech.WordTime) { words = append(words, w) })
			require.NoError(t, err)
			assert.Equal(t, first+"\x80\x80\x7F", string(got))
			assert.Equal(t, []speech.WordTime{{TextEnd: 3, AudioEnd: 2000}, {TextEnd: 6, AudioEnd: 4400}, {TextEnd: 9, AudioEnd: 7200}}, words, "a word ends before the space")
		})
	}
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
		"another sound": {200, "audio/mpeg", "ID3", engines.ErrInvalidResponse, "no JSON"},
		"a long line":   {200, "application/json", strings.Repeat("a", 5<<20), engines.ErrInvalidResponse, "longer than"},
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
