package domain

import "slices"

// The values of TurnLatency.Input: whether the caller spoke or pressed keys.
const (
	InputSpeech = "speech"
	InputDTMF   = "dtmf"
)

// TurnLatency holds the durations of the stages of one answer of the agent, in milliseconds.
type TurnLatency struct {
	Input           string `json:"input"`                        // speech or dtmf
	AtMs            int64  `json:"at_ms"`                        // end of the caller's last word, in the time of the recording
	EOUMs           int64  `json:"eou_ms"`                       // end-of-utterance delay: from the last word until the turn was known to be over
	STTMs           int64  `json:"stt_ms"`                       // until the transcript was final
	LLMFirstTokenMs int64  `json:"llm_first_token_ms,omitempty"` // until the first token of the language model
	TTSFirstAudioMs int64  `json:"tts_first_audio_ms"`           // from the text to the first audio of the synthesizer
	Speculative     string `json:"speculative,omitempty"`        // hit or miss: the model was requested before the turn was over
	TotalMs         int64  `json:"total_ms"`                     // from the caller's last word to the first audio
}

// The values of TurnLatency.Speculative: whether the answer used a model request that was sent before the caller's
// turn was over.
const (
	SpeculativeHit  = "hit"
	SpeculativeMiss = "miss"
)

// Latency summarizes how long the remote party waited for answers of the agent.
type Latency struct {
	P50Ms int64         `json:"p50_ms"`
	P95Ms int64         `json:"p95_ms"`
	Turns []TurnLatency `json:"turns"` // at most 200
}

// LatencyOf summarizes the turns of a call. It returns nil without turns.
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
