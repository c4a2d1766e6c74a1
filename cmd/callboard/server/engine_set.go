package server

import (
	"runtime"
	"time"

	"github.com/callboard/callboard/engines/llm"
	"github.com/callboard/callboard/media/speech"
)

// engineSet is the engines of a process: those of the operator and those of the machine.
type engineSet struct {
	synthesizer speech.Speaker
	recognizer  speech.Recogniser // nil: agents hear keys, and no words
	models      llm.Models
	configured  *speechEngines // those of the operator
}

// openEngines reads the operator's engines and connects them with those of the machine.
func (s *Service) openEngines() (*engineSet, error) {
	own, err := readEngines(s.cfg, s.roots, s.egress().May)
	if err != nil {
		return nil, err
	}
	synthesizer, err := s.newSynthesizer(own)
	if err != nil {
		return nil, err
	}
	return &engineSet{synthesizer: synthesizer, recognizer: s.newRecognizer(own), models: languageModels(&own.file), configured: own}, nil
}

// newSynthesizer is what speaks: with engines those of the operator's, too.
func (s *Service) newSynthesizer(with *speechEngines) (*speech.Voice, error) {
	cfg := speech.Config{PromptDir: s.folder("prompts")}
	if with != nil {
		cfg.Sources, cfg.Order = with.synthesizers(), with.file.TTS
	}
	v, err := speech.New(cfg)
	if err != nil {
		return nil, err
	}
	if v.Missing() != nil && with != nil && len(cfg.Order) == 0 {
		s.log.Warn("espeak-ng is not installed: agents speak only prompts that lie as WAV files in the folder prompts")
	}
	return v, nil
}

// newRecognizer hears words; nil: nobody does.
func (s *Service) newRecognizer(with *speechEngines) speech.Recogniser {
	var local speech.Recogniser
	ears, err := speech.NewSphinx(s.folder("turns"), runtime.GOMAXPROCS(0), recognitionTimeout)
	if err == nil {
		local = ears
	}
	listeners := with.recognizers()
	switch {
	case len(listeners) > 0:
		return speech.NewHearing(listeners, with.file.STT, local)
	case local == nil:
		s.log.Warn("pocketsphinx is not installed: agents hear keys, and no words")
		return nil
	}
	return speech.NewHearing(nil, nil, local)
}

// recognitionTimeout is how long what somebody said may take to be understood.
const recognitionTimeout = 5 * time.Second
