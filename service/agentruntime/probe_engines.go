package agentruntime

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/engines/llm"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
)

// probeTimeout is the time limit for testing all engines of an agent.
const probeTimeout = 15 * time.Second

// ProbeEngines sends a test request to the engines of an agent: speech synthesis, language model, speech
// recognition. It returns the error of the first engine that fails. Realtime engines are not tested.
func (s *Service) ProbeEngines(ctx context.Context, script *domain.Script) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	text := fmt.Sprintf("This is test number %d.", rand.IntN(1_000_000)) //nolint:gosec // a text without a cached prompt
	clip, err := s.cfg.Speaker.Speak(ctx, conversation.SynthesisRequest(script, text))
	if fixed := pathway.FixedTexts(script); errors.Is(err, speech.ErrNoPrompt) && len(fixed) > 0 { // the agent has recorded prompts only
		clip, err = s.cfg.Speaker.Speak(ctx, conversation.SynthesisRequest(script, fixed[0]))
	}
	if err != nil {
		return fmt.Errorf("speech: %w", err)
	}
	if engines := s.cfg.Models.EnginesFor(script.LLM); len(engines) > 0 {
		question := llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "Answer with OK."}}}
		if _, err = s.cfg.Client.Ask(ctx, engines, question, nil, nil); err != nil {
			return fmt.Errorf("model: %w", err)
		}
	}
	if s.cfg.Engines(script).Speech {
		return s.probeRecognizer(ctx, script, text, clip)
	}
	return nil
}

// probeRecognizer sends the audio of a synthesized text to the speech recognizer of an agent. Any transcript counts as
// success.
func (s *Service) probeRecognizer(ctx context.Context, script *domain.Script, text string, clip media.Clip) error {
	w := speech.RecognitionRequest{Language: script.RecognitionLanguage(), Phrases: []string{text}}
	if script.STT != nil {
		w.Engine, w.Model = script.STT.Engine, script.STT.Model
	}
	final := make(chan error, 1)
	stream := s.cfg.Recognizer.Open(w, func(h speech.RecognitionResult) {
		if h.Final {
			final <- h.Err
		}
	})
	stream.Write(clip)
	stream.End()
	select {
	case err := <-final:
		if err != nil {
			return fmt.Errorf("recognition: %w", err)
		}
		return nil
	case <-ctx.Done():
		stream.Close()
		return fmt.Errorf("recognition: %w", ctx.Err())
	}
}
