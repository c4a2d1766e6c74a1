package actors

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

// enginesLimit is how long all engines of an agent have to answer.
const enginesLimit = 15 * time.Second

// probeEngines tells why an agent could not speak, hear or think now; nil: it
// could. Engines of speech to speech are not asked.
func (n *Node) probeEngines(ctx context.Context, s *domain.Script) error {
	ctx, cancel := context.WithTimeout(ctx, enginesLimit)
	defer cancel()
	text := fmt.Sprintf("This is test number %d.", rand.IntN(1_000_000)) //nolint:gosec // nobody has said it before, so it is made anew
	clip, err := n.cfg.Speaker.Speak(ctx, conversation.Request(s, text))
	if fixed := pathway.Fixed(s); errors.Is(err, speech.ErrNoPrompt) && len(fixed) > 0 { // there are recordings alone
		clip, err = n.cfg.Speaker.Speak(ctx, conversation.Request(s, fixed[0]))
	}
	if err != nil {
		return fmt.Errorf("speech: %w", err)
	}
	if n.hasModel(s.LLM) {
		question := llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "Answer with OK."}}}
		if _, err = n.models.Ask(ctx, n.cfg.Models.For(s.LLM), question, nil, nil); err != nil {
			return fmt.Errorf("model: %w", err)
		}
	}
	if n.engines(s).Ears {
		return n.probeRecogniser(ctx, s, text, clip)
	}
	return nil
}

// probeRecogniser sends speech to the recogniser of an agent. What it understands
// does not matter.
func (n *Node) probeRecogniser(ctx context.Context, s *domain.Script, text string, clip media.Clip) error {
	w := speech.Wanted{Language: s.Hearing(), Phrases: []string{text}}
	if s.STT != nil {
		w.Engine, w.Model = s.STT.Engine, s.STT.Model
	}
	final := make(chan error, 1)
	stream := n.cfg.Ears.Open(w, func(h speech.Heard) {
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
