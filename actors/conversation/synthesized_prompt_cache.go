package conversation

import (
	"context"
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media/speech"
)

const (
	synthesisTimeout = 8 * time.Second // per synthesis; a second attempt gets the same time
	wordsPerMin      = 175             // words per minute at speech rate 1
	maxClips         = 16
	rateTolerance    = 0.01
)

type (
	// promptSynthesized reports that a prompt is ready to play, or that its synthesis failed.
	promptSynthesized struct {
		generation    int
		utterance     speech.Utterance
		firstErr, err error // errors of the first and the last attempt
	}
	// clipPrepared carries a prompt that was synthesized in advance.
	clipPrepared struct {
		request   speech.Request
		utterance speech.Utterance
	}
)

func (promptSynthesized) Control() {}
func (clipPrepared) Control()      {}

// promptCache caches synthesized prompts and synthesizes likely next prompts in advance.
type promptCache struct {
	synthesizer speech.Synthesizer
	complete    map[speech.Request]speech.Utterance
	prepared    map[speech.Request]bool
}

func newPromptCache(speaker speech.Synthesizer) promptCache {
	return promptCache{synthesizer: speaker, complete: make(map[speech.Request]speech.Utterance), prepared: make(map[speech.Request]bool)}
}

// add caches a synthesized prompt if the cache has fewer than maxClips.
func (p *promptCache) add(r speech.Request, u speech.Utterance) {
	if len(p.complete) < maxClips {
		p.complete[r] = u
	}
}

// clear drops the prompts of the previous agent.
func (p *promptCache) clear() {
	clear(p.complete)
	clear(p.prepared)
}

// prepare synthesizes a prompt in advance and caches it, unless it is secret.
func (p *promptCache) prepare(ctx actor.Context, r speech.Request) {
	if r.Secret || p.prepared[r] || len(p.prepared) >= maxClips {
		return
	}
	p.prepared[r] = true
	speaker := p.synthesizer
	mailbox.RunTask(ctx, synthesisTimeout, func(bound context.Context) any {
		speak := speakClip(speaker)
		if s, ok := speaker.(streamingSynthesizer); ok {
			speak = s.Prepare
		}
		u, err := synthesizeOnce(bound, speak, r)
		if err != nil {
			return nil // the error is reported if the prompt is needed
		}
		return clipPrepared{r, u}
	})
}

// synthesize synthesizes a prompt in a background task, whose result is a promptSynthesized message. cancel ends the task.
func (p *promptCache) synthesize(ctx actor.Context, r speech.Request, generation int) (cancel func()) {
	speaker, root, self := p.synthesizer, ctx.ActorSystem().Root, ctx.Self()
	wanted, cancelWork := context.WithCancel(context.Background())
	mailbox.RunTask(ctx, 2*synthesisTimeout+time.Second, func(bound context.Context) any {
		bound, cancel := context.WithCancel(bound)
		defer cancel()
		defer context.AfterFunc(wanted, cancel)()
		return synthesizeTwice(bound, speaker, r, generation, func(f speech.EngineFailure) { root.Send(self, engineFailed{"tts", f}) })
	})
	return cancelWork
}

// streamingSynthesizer is a synthesizer that delivers audio while it is generated. It reports each engine that fails.
type streamingSynthesizer interface {
	StartSpeaking(ctx context.Context, r speech.Request, onFault func(speech.EngineFailure)) (speech.Utterance, error)
	Prepare(ctx context.Context, r speech.Request) (speech.Utterance, error)
}

var _ streamingSynthesizer = (*speech.SynthesizerChain)(nil)

// synthesizeTwice synthesizes a prompt and tries a second time if the first attempt fails.
func synthesizeTwice(ctx context.Context, speaker speech.Synthesizer, r speech.Request, generation int, failed func(speech.EngineFailure)) promptSynthesized {
	m := promptSynthesized{generation: generation}
	for range 2 {
		if m.utterance, m.err = beginSynthesis(ctx, speaker, r, failed); m.err == nil {
			return m
		}
		if m.firstErr == nil {
			m.firstErr = m.err
		}
	}
	return m
}

// beginSynthesis starts the synthesis of a prompt. It returns once the first audio is available, or the complete clip if the
// synthesizer does not stream.
func beginSynthesis(ctx context.Context, speaker speech.Synthesizer, r speech.Request, failed func(speech.EngineFailure)) (u speech.Utterance, err error) {
	s, streams := speaker.(streamingSynthesizer)
	if !streams {
		return synthesizeOnce(ctx, speakClip(speaker), r)
	}
	return synthesizeOnce(ctx, func(ctx context.Context, r speech.Request) (speech.Utterance, error) {
		return s.StartSpeaking(ctx, r, failed)
	}, r)
}

type speakFunc func(ctx context.Context, r speech.Request) (speech.Utterance, error)

// speakClip returns the method Speak as a function that returns a complete utterance.
func speakClip(s speech.Synthesizer) speakFunc {
	return func(ctx context.Context, r speech.Request) (u speech.Utterance, err error) {
		u.Clip, err = s.Speak(ctx, r)
		return u, err
	}
}

// synthesizeOnce makes one synthesis attempt within synthesisTimeout. It returns a panic as an error.
func synthesizeOnce(ctx context.Context, speak speakFunc, r speech.Request) (u speech.Utterance, err error) {
	bound, cancel := context.WithTimeout(ctx, synthesisTimeout)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("conversation: synthesis panicked: %v", v)
		}
	}()
	return speak(bound, r)
}

// promptRequest returns the request to synthesize a text in this conversation. A text is secret if it has a value of a
// sensitive node (sensitive), or words that the workspace redacts.
func (c *Conversation) promptRequest(text string, sensitive bool) speech.Request {
	r := SynthesisRequest(&c.cfg.Script, text)
	r.Secret = sensitive || c.cfg.Redact.RedactText(text) != text
	return r
}

// SynthesisRequest returns the request to synthesize a text in the voice of the script's agent.
func SynthesisRequest(s *domain.Script, text string) speech.Request {
	v := s.Voice
	r := speech.Request{Text: pathway.Pronounce(text, v.Pronunciations), Engine: v.Engine, Voice: v.Name, Language: s.Language}
	if d := v.Rate - 1; v.Rate > 0 && (d > rateTolerance || d < -rateTolerance) {
		r.Rate = int(wordsPerMin * v.Rate)
	}
	return r
}
