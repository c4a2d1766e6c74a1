package conversation

import (
	"time"

	"github.com/callboard/callboard/domain"
)

// maxTurnLatencies is the maximum number of turns whose latencies are stored.
const maxTurnLatencies = 200

// latencyMeter measures how long the agent takes to answer in each turn.
type latencyMeter struct {
	open         bool // the caller has spoken and the agent has not answered yet
	current      domain.TurnLatency
	recognizedAt time.Time
	turns        []domain.TurnLatency
}

// beginByWords starts the measurement of a turn with recognized words. ended, the end of speech, and position, the present,
// are times of the media clock. overAt is when the end of the turn was detected.
func (l *latencyMeter) beginByWords(ended, position time.Duration, overAt time.Time) {
	now := time.Now()
	stt := now.Sub(overAt)
	l.open, l.recognizedAt = true, now
	l.current = domain.TurnLatency{
		Input: domain.InputSpeech, AtMs: ended.Milliseconds(), EOUMs: max(position-ended-stt, 0).Milliseconds(), STTMs: stt.Milliseconds(),
	}
}

// beginByKey starts the measurement of a turn in which the caller pressed a key.
func (l *latencyMeter) beginByKey(position time.Duration) {
	l.open, l.recognizedAt, l.current = true, time.Now(), domain.TurnLatency{Input: domain.InputDTMF, AtMs: position.Milliseconds()}
}

// setFirstToken records the model's time to the first token.
func (l *latencyMeter) setFirstToken(took time.Duration) {
	if l.open {
		l.current.LLMFirstTokenMs = took.Milliseconds()
	}
}

// setSpeculative records whether the response to a speculative request was used in the current turn.
func (l *latencyMeter) setSpeculative(hit bool) {
	if !l.open {
		return
	}
	l.current.Speculative = domain.SpeculativeMiss
	if hit {
		l.current.Speculative = domain.SpeculativeHit
	}
}

// end ends the measurement when the agent's answer starts to play. requestedAt is when the synthesis of the answer began, or
// zero if it was not synthesized.
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

// discard ends the measurement without a result, because the agent's next words are not an answer.
func (l *latencyMeter) discard() { l.open = false }
