package conversation

import (
	"time"

	"github.com/callboard/callboard/domain"
)

// maxTurnLatencies is the maximum number of turns whose latencies are stored.
const maxTurnLatencies = 200

// latencyMeter measures how long the agent takes to answer, for the current turn and the turns before.
type latencyMeter struct {
	open         bool // the caller has spoken and the agent has not answered yet
	current      domain.TurnLatency
	recognizedAt time.Time
	turns        []domain.TurnLatency
}

// beginByWords begins with recognized words. ended (end of speech) and position (now) are on the media clock.
// overAt is when the end of the turn was detected.
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

// setFirstToken records the model's time to the first token.
func (l *latencyMeter) setFirstToken(took time.Duration) {
	if l.open {
		l.current.LLMFirstTokenMs = took.Milliseconds()
	}
}

// setSpeculative records whether a speculative response was used.
func (l *latencyMeter) setSpeculative(hit bool) {
	if !l.open {
		return
	}
	l.current.Speculative = domain.SpeculativeMiss
	if hit {
		l.current.Speculative = domain.SpeculativeHit
	}
}

// end ends the turn when the agent's answer plays. requestedAt is when its synthesis began; zero: it was not
// synthesized.
func (l *latencyMeter) end(now, requestedAt time.Time) {
	if !l.open {
		return
	}
	l.open = false
	if !requestedAt.IsZero() {
		l.current.TTSFirstAudioMs = now.Sub(requestedAt).Milliseconds()
	}
	l.current.TotalMs = l.current.EOUMs + l.current.STTMs + now.Sub(l.recognizedAt).Milliseconds()
	if len(l.turns) < maxTurnLatencies {
		l.turns = append(l.turns, l.current)
	}
}

// discard drops the current turn, because the agent's next words are no answer.
func (l *latencyMeter) discard() { l.open = false }
