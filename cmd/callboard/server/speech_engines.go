package server

import (
	"crypto/x509"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"time"

	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/domain/webhook"
	"github.com/callboard/callboard/engines"
	"github.com/callboard/callboard/engines/deepgram"
	"github.com/callboard/callboard/engines/elevenlabs"
	"github.com/callboard/callboard/engines/mediastreams"
	"github.com/callboard/callboard/engines/openai"
	"github.com/callboard/callboard/engines/realtime"
	"github.com/callboard/callboard/media/speech"
)

// speechEngines are the operator's engines as calls use them. They are reached
// wherever the operator says: no guard stands before them.
type speechEngines struct {
	file   configs.Engines
	client *http.Client
	// guarded is for servers of developers, who may be others than the operator.
	guarded *http.Client
}

func readEngines(cfg *configs.Config, roots *x509.CertPool, may func(netip.AddrPort) error) (*speechEngines, error) {
	file, err := configs.ReadEngines(cfg.EnginesFile, os.Environ())
	if err != nil {
		return nil, err
	}
	return &speechEngines{file: file, client: engines.NewHTTP(roots), guarded: engines.NewGuarded(roots, may)}, nil
}

// synthesizers are those that speak.
func (e *speechEngines) synthesizers() []speech.Source {
	var all []speech.Source
	for _, x := range e.file.List {
		if x.TTS == nil {
			continue
		}
		s := speech.Source{Name: x.Name, Voice: x.TTS.Voice, Model: x.TTS.Model, First: x.TTS.First(), Stall: x.TTS.Stall()}
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

// recognizers are those that hear.
func (e *speechEngines) recognizers() []speech.Listener {
	var all []speech.Listener
	for _, x := range e.file.List {
		if x.STT == nil {
			continue
		}
		l := speech.Listener{Name: x.Name, Final: x.STT.Final()}
		switch x.Kind {
		case configs.EngineOpenAI:
			l.Recogniser = &openai.Words{Config: e.openai(&x), Model: x.STT.Model}
		case configs.EngineDeepgram:
			l.Recogniser = &deepgram.Words{URL: x.URL, Key: x.Key.Reveal(), Model: x.STT.Model, Client: e.client}
		}
		all = append(all, l)
	}
	return all
}

// realtimeEngines are those that hear and speak by themselves; nil: there is none.
func (e *speechEngines) realtimeEngines() *speech.Lives {
	var all []speech.LiveSource
	for _, x := range e.file.List {
		switch r := x.Realtime; {
		case r == nil:
		case x.Kind == configs.EngineStream:
			all = append(all, speech.LiveSource{Name: x.Name, Alone: true, Engine: &mediastreams.Engine{
				URL: x.URL, Sign: signer(x.Key.Reveal()), First: time.Duration(r.FirstMs) * time.Millisecond, Client: e.guarded,
			}})
		default:
			all = append(all, speech.LiveSource{Name: x.Name, Engine: &realtime.Engine{
				URL: x.URL, Key: x.Key.Reveal(), Model: r.Model, Voice: r.Voice, Words: r.Words, Client: e.client,
				First: time.Duration(r.FirstMs) * time.Millisecond, Stall: time.Duration(r.StallMs) * time.Millisecond,
			}})
		}
	}
	if len(all) == 0 {
		return nil
	}
	return speech.NewLives(all, e.file.Realtime)
}

// signer signs the request of a media stream as a webhook is signed whose body
// is its URL; X-Svc-Signature has the id and the time within, so that a request
// that somebody has recorded is of no use later.
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

func (e *speechEngines) openai(x *configs.Engine) openai.Config {
	return openai.Config{URL: x.URL, Key: x.Key.Reveal(), Client: e.client}
}
