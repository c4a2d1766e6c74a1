package conversation

import (
	"time"

	"github.com/callboard/callboard/domain"
)

// turnsMost bounds the turns whose latencies are kept.
const turnsMost = 200

// latencyMeter measures how long the agent takes to answer: the turn that is being answered, and those before.
type latencyMeter struct {
	open         bool // the caller has said something, and the agent has not answered yet
	current      domain.TurnLatency
	recognizedAt time.Time
	turns        []domain.TurnLatency
}

// beginByWords begins with words that were recognized just now. ended is when the last of them was said and position is now, both on
// the media clock; overAt is when the end of the turn was noticed.
func (l *latencyMeter) beginByWords(ended, position time.Duration, overAt time.Time) {
	now := time.Now()
	stt := now.Sub(overAt)
	l.open, l.recognizedAt = true, now
	l.current = domain.TurnLatency{
		Input: domain.InputSpeech, AtMs: ended.Milliseconds(), EOUMs: max(position-ended-stt, 0).Milliseconds(), STTMs: stt.Milliseconds(),
	}
}

// beginByKey begins with a key.
func (l *latencyMeter) beginByKey(position time.Duration) {
	l.open, l.recognizedAt, l.current = true, time.Now(), domain.TurnLatency{Input: domain.InputDTMF, AtMs: position.Milliseconds()}
}

// setFirstToken notes how long a language model took for its first word.
func (l *latencyMeter) setFirstToken(took time.Duration) {
	if l.open {
		l.current.LLMFirstTokenMs = took.Milliseconds()
	}
}

// setSpeculative notes that the model was asked before the turn was over, and whether its answer was used.
func (l *latencyMeter) setSpeculative(hit bool) {
	if !l.open {
		return
	}
	l.current.Speculative = domain.SpeculativeMiss
	if hit {
		l.current.Speculative = domain.SpeculativeHit
	}
}

// end ends the turn: the agent's answer is heard. requestedAt is when its synthesis began; zero: it was not synthesized.
func (l *latencyMeter) end(now, requestedAt time.Time) {
	if !l.open {
		return
	}
	l.open = false
	if !requestedAt.IsZero() {
		l.current.TTSFirstAudioMs = now.Sub(requestedAt).Milliseconds()
	}
	l.current.TotalMs = l.current.EOUMs + l.current.STTMs + now.Sub(l.recognizedAt).Milliseconds()
	if len(l.turns) < turnsMost {
		l.turns = append(l.turns, l.current)
	}
}

// discard leaves the turn out: what the agent says next is no answer.
func (l *latencyMeter) discard() { l.open = false }
