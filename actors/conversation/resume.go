package conversation

import (
	"slices"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
)

// SavedState is the redacted state of a conversation, from which another process resumes it (Config.SavedState).
type SavedState struct {
	State           pathway.SavedState   `json:"state"`
	Segments        []domain.Segment     `json:"segments,omitempty"`
	LastInterrupted bool                 `json:"sounding,omitempty"` // the agent's last segment was being spoken
	Turns           []domain.TurnLatency `json:"turns,omitempty"`
	OptedOut        bool                 `json:"opted_out,omitempty"`
}

// canResumeElsewhere reports whether another process could resume the conversation at this point.
func (c *Conversation) canResumeElsewhere() bool {
	return !c.answer.hasMachine() && !c.agentPause.active && !c.agentPause.byPathway && c.transcript.human < 0 && !c.state.Over()
}

// save returns the state of the conversation, or nil if another process could not resume it.
func (c *Conversation) save() *SavedState {
	s, ok := c.state.Save(c.cfg.Redact)
	if !ok {
		return nil
	}
	segments := c.transcript.segments
	return &SavedState{ // a copy, because it is read while the conversation continues
		State: s, Segments: c.cfg.Redact.RedactSegments(slices.Clone(segments)), LastInterrupted: c.playback.isPlaying() && c.playback.segment == len(segments)-1,
		Turns: slices.Clone(c.latency.turns), OptedOut: c.optedOut,
	}
}

// restore restores a saved state. It returns false if the script does not contain the saved pathway node.
func (c *Conversation) restore(s *SavedState) bool {
	state, ok := pathway.Restore(c.cfg.Script, s.State)
	if !ok {
		return false
	}
	c.state = state.WithRealtime(c.hasRealtime())
	c.transcript.restore(s.Segments, s.LastInterrupted)
	c.optedOut, c.latency.turns, c.playback.hasPlayed = s.OptedOut, s.Turns, true
	return true
}

// resumeSaved continues the conversation after the call moved to this process. An interrupted prompt is spoken again. If the
// caller was expected to speak, the agent repeats its last words.
func (c *Conversation) resumeSaved(ctx actor.Context) {
	c.answer.pathwayBegun = true
	if tag := c.state.Language(); tag != "" && tag != c.cfg.Script.Language {
		c.changeLanguage(ctx, tag)
	}
	listened := c.state.IsListening()
	c.advance(ctx, pathway.Restored{})
	c.restartSilence(ctx)
	if last := c.transcript.lastAgentText(); listened && last != "" {
		c.speakOutOfBand(ctx, last)
	}
}
