package node

import (
	"log/slog"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/engines/llm"
	"github.com/callboard/callboard/media/speech"
)

// callEngines reports which capabilities the configured speech engines and language models have for an agent.
type callEngines struct {
	recognizer speech.Recognizer // nil: no speech recognizer is configured
	realtime   *speech.RealtimeEngines
	models     llm.Models
	log        *slog.Logger
}

// hasModel reports whether a language model is configured for an agent.
func (e *callEngines) hasModel(l *domain.AgentLLM) bool { return len(e.models.EnginesFor(l)) > 0 }

// Engines returns the capabilities of the engines of a script. The validation of a pathway compares its nodes with
// them.
func (e *callEngines) Engines(s *domain.Script) pathway.Capabilities {
	has := pathway.Capabilities{Actions: true, Model: e.hasModel(s.LLM), Realtime: s.Realtime != nil && e.realtime.HasEngine(s.Realtime.Engine)}
	if e.recognizer == nil {
		return has
	}
	engine := ""
	if s.STT != nil {
		engine = s.STT.Engine
	}
	ears := speech.SelectRecognizer(e.recognizer, engine)
	has.Speech, has.Text = ears.SupportsLanguage(s.RecognitionLanguage()), ears.TranscribesFreeSpeech(s.RecognitionLanguage())
	return has
}

// warnOptOutNotTranscribed logs a warning if no engine transcribes the spoken opt-out keywords of a campaign.
func (e *callEngines) warnOptOutNotTranscribed(c *domain.Campaign, s *domain.Script) {
	if o := c.Compliance.OptOut; o != nil && len(dnc.SpokenKeywords(o.Keywords)) > 0 && !e.Engines(s).Text {
		e.log.Warn("no engine transcribes speech in the campaign's language: spoken opt-out keywords work only at pathway nodes that expect words",
			slog.String("campaign_id", c.ID), slog.String("language", s.RecognitionLanguage()))
	}
}
