package agentruntime

import (
	"context"
	"time"

	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media/speech"
)

const (
	maxPrompts    = 100             // maximum number of texts that are synthesized in advance
	prefetchLimit = 6 * time.Second // limit of the wait before the first call
	promptsAtOnce = 4               // texts that are synthesized at the same time
)

// preparer is a synthesizer that can synthesize a text in advance and cache its audio.
type preparer interface {
	Prepare(ctx context.Context, r speech.Request) (speech.Utterance, error)
}

var _ preparer = (*speech.SynthesizerChain)(nil)

// PrefetchPrompts synthesizes the fixed texts of a script before the first call of a campaign. Errors are ignored,
// because a call synthesizes missing texts itself.
func (s *Service) PrefetchPrompts(ctx context.Context, script *domain.Script) {
	voice, ok := s.cfg.Speaker.(preparer)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, prefetchLimit)
	defer cancel()
	texts := pathway.FixedTexts(script)
	texts = texts[:min(len(texts), maxPrompts)]
	slots, done := make(chan struct{}, promptsAtOnce), make(chan struct{}, len(texts))
	for _, text := range texts {
		go func() {
			defer func() { done <- struct{}{} }()
			select {
			case slots <- struct{}{}:
				defer func() { <-slots }()
				_, _ = voice.Prepare(ctx, conversation.SynthesisRequest(script, text))
			case <-ctx.Done():
			}
		}()
	}
	for range texts {
		select {
		case <-done:
		case <-ctx.Done():
			return
		}
	}
}
