package conversation

import (
	"context"
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
)

const (
	speakLimit   = 8 * time.Second // one synthesis; a second try gets as long
	wordsPerMin  = 175             // of a rate of 1
	clipsKept    = 16
	normalPlenty = 0.01
)

type (
	// promptSynthesized says that a prompt can be played, or why it cannot.
	promptSynthesized struct {
		generation int
		said       speech.Utterance
		first, err error // of the first try and of the last
	}
	// clipPrepared is a prompt that may come next.
	clipPrepared struct {
		request speech.Request
		clip    media.Clip
	}
)

func (promptSynthesized) Control() {}
func (clipPrepared) Control()      {}

// promptCache keeps prompts that were synthesized, and those that may come next.
type promptCache struct {
	speaker  speech.Synthesizer
	clips    map[speech.Request]media.Clip
	prepared map[speech.Request]bool
}

func newPromptCache(speaker speech.Synthesizer) promptCache {
	return promptCache{speaker: speaker, clips: make(map[speech.Request]media.Clip), prepared: make(map[speech.Request]bool)}
}

// add keeps a clip while there is room.
func (p *promptCache) add(r speech.Request, clip media.Clip) {
	if len(p.clips) < clipsKept {
		p.clips[r] = clip
	}
}

// clear forgets all of another agent's prompts.
func (p *promptCache) clear() {
	clear(p.clips)
	clear(p.prepared)
}

// prepare has a prompt synthesized that may come next.
func (p *promptCache) prepare(ctx actor.Context, r speech.Request) {
	if p.prepared[r] || len(p.prepared) >= clipsKept {
		return
	}
	p.prepared[r] = true
	speaker := p.speaker
	mailbox.RunTask(ctx, speakLimit, func(bound context.Context) any {
		speak := speaker.Speak
		if s, ok := speaker.(streamer); ok {
			speak = s.Prepare
		}
		clip, err := synthesizeOnce(bound, speak, r)
		if err != nil {
			return nil // it is reported when the prompt is due
		}
		return clipPrepared{r, clip}
	})
}

// synthesize has a prompt synthesized beside the actor; promptSynthesized follows. cancel ends the work.
func (p *promptCache) synthesize(ctx actor.Context, r speech.Request, generation int) (cancel func()) {
	speaker, root, self := p.speaker, ctx.ActorSystem().Root, ctx.Self()
	wanted, cancelWork := context.WithCancel(context.Background())
	mailbox.RunTask(ctx, 2*speakLimit+time.Second, func(bound context.Context) any {
		bound, cancel := context.WithCancel(bound)
		defer cancel()
		defer context.AfterFunc(wanted, cancel)()
		return synthesizeTwice(bound, speaker, r, generation, func(f speech.EngineFailure) { root.Send(self, engineFailed{"tts", f}) })
	})
	return cancelWork
}

// streamer is a speaker whose words are heard while they are made, and which reports the engines that failed.
type streamer interface {
	Begin(ctx context.Context, r speech.Request, told func(speech.EngineFailure)) (speech.Utterance, error)
	Prepare(ctx context.Context, r speech.Request) (media.Clip, error)
}

// synthesizeTwice tries a second time if the first has failed.
func synthesizeTwice(ctx context.Context, speaker speech.Synthesizer, r speech.Request, generation int, failed func(speech.EngineFailure)) promptSynthesized {
	m := promptSynthesized{generation: generation}
	for range 2 {
		if m.said, m.err = beginSynthesis(ctx, speaker, r, failed); m.err == nil {
			return m
		}
		if m.first == nil {
			m.first = m.err
		}
	}
	return m
}

// beginSynthesis returns once the first audio is there.
func beginSynthesis(ctx context.Context, speaker speech.Synthesizer, r speech.Request, failed func(speech.EngineFailure)) (u speech.Utterance, err error) {
	s, streams := speaker.(streamer)
	if !streams {
		u.Clip, err = synthesizeOnce(ctx, speaker.Speak, r)
		return u, err
	}
	_, err = synthesizeOnce(ctx, func(ctx context.Context, r speech.Request) (media.Clip, error) {
		u, err = s.Begin(ctx, r, failed)
		return nil, err
	}, r)
	return u, err
}

// synthesizeOnce takes at most speakLimit; a speaker that panics has failed.
func synthesizeOnce(ctx context.Context, speak func(context.Context, speech.Request) (media.Clip, error), r speech.Request) (clip media.Clip, err error) {
	bound, cancel := context.WithTimeout(ctx, speakLimit)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("conversation: speaking panicked: %v", v)
		}
	}()
	return speak(bound, r)
}

// SynthesisRequest is the synthesis of a text in the voice of a script's agent.
func SynthesisRequest(s *domain.Script, text string) speech.Request {
	v := s.Voice
	r := speech.Request{Text: pathway.Pronounce(text, v.Pronunciations), Engine: v.Engine, Voice: v.Name, Language: s.Language}
	if d := v.Rate - 1; v.Rate > 0 && (d > normalPlenty || d < -normalPlenty) {
		r.Rate = int(wordsPerMin * v.Rate)
	}
	return r
}
