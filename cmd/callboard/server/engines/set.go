// Package engines opens the speech engines and language models of a process: those of engines_file and those
// installed on the machine.
package engines

import (
	"crypto/x509"
	"log/slog"
	"net/netip"
	"os"
	"runtime"
	"time"

	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/engines"
	"github.com/callboard/callboard/engines/llm"
	"github.com/callboard/callboard/media/speech"
)

// recognitionTimeout limits the recognition of one turn by pocketsphinx.
const recognitionTimeout = 5 * time.Second

// Config holds the settings with which Open opens the engines of a process.
type Config struct {
	File       string                     // engines_file; empty: only environment variables
	PromptDir  string                     // WAV files of prompts
	TurnDir    string                     // temporary files of the local recognizer
	Roots      *x509.CertPool             // nil: the system's
	MayConnect func(netip.AddrPort) error // restricts connections to servers that tenants may name
	Log        *slog.Logger
}

// Set holds the speech engines and language models of a process.
type Set struct {
	Synthesizer speech.Synthesizer
	Recognizer  speech.Recognizer // nil: agents understand keys but no speech
	Models      llm.Models
	operator    *operatorEngines
}

// Open reads engines_file and detects the engines installed on the machine.
func Open(c Config) (*Set, error) {
	file, err := configs.ReadEngines(c.File, os.Environ())
	if err != nil {
		return nil, err
	}
	operator := &operatorEngines{file: file, client: engines.NewHTTP(c.Roots), guarded: engines.NewGuarded(c.Roots, c.MayConnect)}
	synthesizer, err := newSynthesizer(&c, operator)
	if err != nil {
		return nil, err
	}
	return &Set{Synthesizer: synthesizer, Recognizer: newRecognizer(&c, operator), Models: languageModels(&file), operator: operator}, nil
}

// NewRealtime returns the realtime engines with a new failover state, or nil if none is configured.
func (s *Set) NewRealtime() *speech.RealtimeEngines { return s.operator.realtime() }

// newSynthesizer returns the speech synthesizers, which are tried in this order: recorded prompts, the engines of
// engines_file, espeak-ng.
func newSynthesizer(c *Config, operator *operatorEngines) (*speech.SynthesizerChain, error) {
	v, err := speech.NewSynthesizerChain(speech.Config{PromptDir: c.PromptDir, Sources: operator.synthesizers(), Order: operator.file.TTS})
	if err != nil {
		return nil, err
	}
	if v.LocalEngineError() != nil && len(operator.file.TTS) == 0 {
		c.Log.Warn("espeak-ng is not installed: agents speak only the WAV files in the folder prompts")
	}
	return v, nil
}

// newRecognizer returns the speech recognizers of engines_file, with pocketsphinx as the last. It returns nil if there
// are none.
func newRecognizer(c *Config, operator *operatorEngines) speech.Recognizer {
	var local speech.Recognizer
	sphinx, err := speech.NewSphinx(c.TurnDir, runtime.GOMAXPROCS(0), recognitionTimeout)
	if err == nil {
		local = sphinx
	}
	listeners := operator.recognizers()
	switch {
	case len(listeners) > 0:
		return speech.NewRecognizerChain(listeners, operator.file.STT, local)
	case local == nil:
		c.Log.Warn("pocketsphinx is not installed: agents understand keys but no speech")
		return nil
	}
	return speech.NewRecognizerChain(nil, nil, local)
}
