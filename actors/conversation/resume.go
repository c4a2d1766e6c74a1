package conversation

import (
	"slices"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
)

// SavedState is the state of a conversation: another process goes on with it by Config.After. It is redacted.
type SavedState struct {
	State           pathway.Saved        `json:"state"`
	Segments        []domain.Segment     `json:"segments,omitempty"`
	LastInterrupted bool                 `json:"sounding,omitempty"` // the last segment of the agent was being said
	Turns           []domain.TurnLatency `json:"turns,omitempty"`
	OptedOut        bool                 `json:"opted_out,omitempty"`
}

// isPortable says whether another process could go on from here.
func (c *Conversation) isPortable() bool {
	return !c.answer.hasMachine() && !c.absence.on && !c.absence.byPathway && c.transcript.human < 0 && !c.state.Over()
}

// save returns the state of the conversation; nil: no other process could go on.
func (c *Conversation) save() *SavedState {
	s, ok := c.state.Save(c.cfg.Redact)
	if !ok {
		return nil
	}
	segments := c.transcript.segments
	return &SavedState{ // a copy: it is read while the conversation goes on
		State: s, Segments: c.cfg.Redact.Segments(slices.Clone(segments)), LastInterrupted: c.playback.isPlaying() && c.playback.segment == len(segments)-1,
		Turns: slices.Clone(c.latency.turns), OptedOut: c.optedOut,
	}
}

// restore takes the state of another process; false: the script leads nowhere from there.
func (c *Conversation) restore(s *SavedState) bool {
	state, ok := pathway.Restore(c.cfg.Script, s.State)
	if !ok {
		return false
	}
	c.state = state.Lively(c.hasRealtime())
	c.transcript.restore(s.Segments, s.LastInterrupted)
	c.optedOut, c.latency.turns = s.OptedOut, s.Turns
	return true
}

// resumeHere goes on after the silence in which the call came to this process. A prompt that was being said is said again. A
// caller who was to speak hears the agent's last words once more, so that neither waits for the other.
func (c *Conversation) resumeHere(ctx actor.Context) {
	c.answer.pathwayBegun = true
	if tag := c.state.Language(); tag != "" && tag != c.cfg.Script.Language {
		c.changeLanguage(ctx, tag)
	}
	listened := c.state.Listening()
	c.advance(ctx, pathway.TakenUp{})
	c.restartSilence(ctx)
	if last := c.transcript.lastAgentText(); listened && last != "" {
		c.speakOutOfBand(ctx, last)
	}
}
