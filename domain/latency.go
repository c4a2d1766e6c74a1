package domain

import "slices"

// How the far end took its turn: TurnLatency's inputs.
const (
	InputSpeech = "speech"
	InputDTMF   = "dtmf"
)

// TurnLatency is how long the stages of one answer took, in milliseconds.
type TurnLatency struct {
	Input           string `json:"input"`                        // speech | dtmf
	AtMs            int64  `json:"at_ms"`                        // when the far end had said its last word, on the recording's time
	EOUMs           int64  `json:"eou_ms"`                       // until it was known that nothing follows
	STTMs           int64  `json:"stt_ms"`                       // until its text
	LLMFirstTokenMs int64  `json:"llm_first_token_ms,omitempty"` // until a language model's first word
	TTSFirstAudioMs int64  `json:"tts_first_audio_ms"`           // from the text to be spoken to its first sound
	Speculative     string `json:"speculative,omitempty"`        // hit | miss: a model was asked before the turn was over
	TotalMs         int64  `json:"total_ms"`                     // from the last word to the first sound
}

// What became of asking a model before the turn was over.
const (
	SpeculativeHit  = "hit"
	SpeculativeMiss = "miss"
)

// Latency is how long the far end of a call waited for the agent's answers.
type Latency struct {
	P50Ms int64         `json:"p50_ms"`
	P95Ms int64         `json:"p95_ms"`
	Turns []TurnLatency `json:"turns"` // 200 at most
}

// LatencyOf sums the turns of a call up; nil where there was none.
func LatencyOf(turns []TurnLatency) *Latency {
	if len(turns) == 0 {
		return nil
	}
	totals := make([]int64, len(turns))
	for i, t := range turns {
		totals[i] = t.TotalMs
	}
	slices.Sort(totals)
	rank := func(percent int) int64 { return totals[(len(totals)*percent+99)/100-1] }
	return &Latency{P50Ms: rank(50), P95Ms: rank(95), Turns: turns}
}
