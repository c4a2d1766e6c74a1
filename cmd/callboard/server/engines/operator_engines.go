package engines

import (
	"net/http"
	"strconv"
	"time"

	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/domain/webhook"
	"github.com/callboard/callboard/engines/deepgram"
	"github.com/callboard/callboard/engines/elevenlabs"
	"github.com/callboard/callboard/engines/mediastreams"
	"github.com/callboard/callboard/engines/openai"
	"github.com/callboard/callboard/engines/realtime"
	"github.com/callboard/callboard/media/speech"
)

// operatorEngines are the speech engines of engines_file. The operator chooses their
// addresses, so connections to them are not restricted.
type operatorEngines struct {
	file   configs.Engines
	client *http.Client
	// guarded connects to media stream servers, which tenants may operate.
	guarded *http.Client
}

// synthesizers returns the engines of text to speech.
func (e *operatorEngines) synthesizers() []speech.NamedSynthesizer {
	var all []speech.NamedSynthesizer
	for _, x := range e.file.List {
		if x.TTS == nil {
			continue
		}
		s := speech.NamedSynthesizer{Name: x.Name, Voice: x.TTS.Voice, Model: x.TTS.Model, FirstAudioTimeout: x.TTS.FirstTimeout(), PauseTimeout: x.TTS.StallTimeout(), SSML: x.TTS.SSML}
		switch x.Kind {
		case configs.EngineOpenAI:
			s.Engine = &openai.Speech{Config: e.openai(&x), Rate: x.TTS.SampleRate}
		case configs.EngineElevenLabs:
			s.Engine = &elevenlabs.Speech{URL: x.URL, Key: x.Key.Reveal(), Client: e.client}
		}
		all = append(all, s)
	}
	return all
}

// recognizers returns the engines of speech to text.
func (e *operatorEngines) recognizers() []speech.NamedRecognizer {
	var all []speech.NamedRecognizer
	for _, x := range e.file.List {
		if x.STT == nil {
			continue
		}
		l := speech.NamedRecognizer{Name: x.Name, ResultTimeout: x.STT.FinalTimeout()}
		switch x.Kind {
		case configs.EngineOpenAI:
			l.Recognizer = &openai.Recognizer{Config: e.openai(&x), Model: x.STT.Model}
		case configs.EngineDeepgram:
			l.Recognizer = &deepgram.Recognizer{URL: x.URL, Key: x.Key.Reveal(), Model: x.STT.Model, Client: e.client}
		}
		all = append(all, l)
	}
	return all
}

// realtime returns the engines that convert speech to speech, or nil if engines_file has none.
func (e *operatorEngines) realtime() *speech.RealtimeEngines {
	var all []speech.NamedRealtimeEngine
	for _, x := range e.file.List {
		switch r := x.Realtime; {
		case r == nil:
		case x.Kind == configs.EngineMediaStream:
			all = append(all, speech.NamedRealtimeEngine{Name: x.Name, IsMediaStream: true, Engine: &mediastreams.Engine{
				URL: x.URL, Sign: signer(x.Key.Reveal()), ConnectTimeout: time.Duration(r.FirstMs) * time.Millisecond, Client: e.guarded,
			}})
		default:
			all = append(all, speech.NamedRealtimeEngine{Name: x.Name, Engine: &realtime.Engine{
				URL: x.URL, Key: x.Key.Reveal(), Model: r.Model, Voice: r.Voice, TranscriptionModel: r.TranscriptionModel, Client: e.client,
				ResponseTimeout: time.Duration(r.FirstMs) * time.Millisecond, PauseTimeout: time.Duration(r.StallMs) * time.Millisecond,
			}})
		}
	}
	if len(all) == 0 {
		return nil
	}
	return speech.NewRealtimeEngines(all, e.file.Realtime)
}

// signer returns a function that makes the signature headers for the request that opens a media stream. The request is
// signed like a webhook whose body is the URL. The signed text contains the ID and the time, so that a
// recorded request cannot be replayed later.
func signer(secret string) func(id string, at time.Time, url string) http.Header {
	return func(id string, at time.Time, url string) http.Header {
		stamp := strconv.FormatInt(at.Unix(), 10)
		h := http.Header{
			"X-Svc-Signature": {webhook.Sign(secret, []byte(id+"."+stamp+"."+url))}, "Webhook-Id": {id}, "Webhook-Timestamp": {stamp},
		}
		if key, ok := webhook.StandardKey(secret); ok {
			h.Set("Webhook-Signature", webhook.StandardSign(key, id, at, []byte(url)))
		}
		return h
	}
}

// openai returns the client configuration of an engine with the OpenAI API.
func (e *operatorEngines) openai(x *configs.Engine) openai.Config {
	return openai.Config{URL: x.URL, Key: x.Key.Reveal(), Client: e.client}
}
