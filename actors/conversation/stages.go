package conversation

import (
	"time"

	"github.com/callboard/callboard/domain"
)

// turnsMost bounds the turns whose times are kept.
const turnsMost = 200

// stages are the times of the turn that is being answered, and of those before.
type stages struct {
	open  bool // the far end has said something, and the agent has not answered yet
	now   domain.TurnLatency
	text  time.Time // when it was known what was said
	turns []domain.TurnLatency
}

// spoke begins with words that were just understood. ended is when the last of
// them was said and mark is now, both on the media clock; over is when it was
// known that the turn is over.
func (s *stages) spoke(ended, mark time.Duration, over time.Time) {
	now := time.Now()
	stt := now.Sub(over)
	s.open, s.text = true, now
	s.now = domain.TurnLatency{
		Input: domain.InputSpeech, AtMs: ended.Milliseconds(), EOUMs: max(mark-ended-stt, 0).Milliseconds(), STTMs: stt.Milliseconds(),
	}
}

// pressed begins with a key.
func (s *stages) pressed(mark time.Duration) {
	s.open, s.text, s.now = true, time.Now(), domain.TurnLatency{Input: domain.InputDTMF, AtMs: mark.Milliseconds()}
}

// thought notes how long a language model took for its first word.
func (s *stages) thought(first time.Duration) {
	if s.open {
		s.now.LLMFirstTokenMs = first.Milliseconds()
	}
}

// guessed notes that the model was asked before the turn was over, and whether
// that was of use.
func (s *stages) guessed(right bool) {
	if !s.open {
		return
	}
	s.now.Speculative = domain.SpeculativeMiss
	if right {
		s.now.Speculative = domain.SpeculativeHit
	}
}

// sounds ends the turn: the agent's answer is heard. asked is when it was given
// to be spoken.
func (s *stages) sounds(now, asked time.Time) {
	if !s.open {
		return
	}
	s.open = false
	if !asked.IsZero() {
		s.now.TTSFirstAudioMs = now.Sub(asked).Milliseconds()
	}
	s.now.TotalMs = s.now.EOUMs + s.now.STTMs + now.Sub(s.text).Milliseconds()
	if len(s.turns) < turnsMost {
		s.turns = append(s.turns, s.now)
	}
}

// forget leaves the turn out: what the agent says next is no answer.
func (s *stages) forget() { s.open = false }
