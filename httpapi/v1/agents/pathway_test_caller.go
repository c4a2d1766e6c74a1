package agents

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
)

// defaultCallerTurns is the default maximum number of inputs of a caller that a language model plays.
const defaultCallerTurns = 12

// ScenarioCaller describes a caller whom a language model plays in a test scenario.
type ScenarioCaller struct {
	Goal     string `json:"goal" minLength:"1" maxLength:"1000" doc:"Goal of the caller." example:"move the appointment to Tuesday"`
	Persona  string `json:"persona,omitempty" maxLength:"1000" doc:"Personality of the caller." example:"in a hurry, answers in few words"`
	MaxTurns int    `json:"max_turns,omitempty" minimum:"1" maximum:"50" default:"12" doc:"Maximum number of inputs; then the caller hangs up."`
}

func (c *ScenarioCaller) turns() int {
	if c.MaxTurns > 0 {
		return c.MaxTurns
	}
	return defaultCallerTurns
}

// checkCallers returns an error if a scenario has both a caller and turns, or has a caller but no language model is
// configured.
func (s *pathwayHandlers) checkCallers(ctx context.Context, p domain.Principal, b *PathwayTest) error {
	var problems domain.Problems
	for i := range b.Scenarios {
		if x := &b.Scenarios[i]; x.Caller != nil && len(x.Turns) > 0 {
			problems.Add(fmt.Sprintf("scenarios[%d].caller", i), domain.CodeValidation, "must not be combined with turns")
		}
	}
	if err := problems.Err(); err != nil {
		return err
	}
	i := slices.IndexFunc(b.Scenarios, func(x Scenario) bool { return x.Caller != nil })
	if i < 0 || s.models.HasModel(ctx, p, nil) {
		return nil
	}
	e := domain.Errorf(domain.CodeNoEngine, "caller needs a language model, but none is configured")
	e.Param = fmt.Sprintf("scenarios[%d].caller", i)
	return e
}

// playCaller lets a language model play the caller until the caller hangs up, the pathway ends or c.turns() inputs were
// sent.
func (s *pathwayHandlers) playCaller(ctx context.Context, p domain.Principal, play *pathway.TextSession, c *ScenarioCaller, r *scenarioRun) error {
	brief := pathway.CallerPrompt(c.Goal, c.Persona)
	for r.turn = 1; r.turn <= c.turns() && !play.State.Over(); r.turn++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		t, leaves := ScenarioTurn{}, false
		if !play.IsTransferring() { // a transfer fails without asking the model, as in scenarios without a transfer result
			text, err := s.models.PlayCaller(ctx, p, brief, r.conversation())
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				r.addFailure("caller", "a model that plays the caller", err.Error())
				return nil
			}
			t.Text, leaves = pathway.ParseCallerTurn(text)
		}
		if leaves && t.Text == "" {
			break
		}
		r.lines = append(r.lines, ScenarioLine{"caller", callerLine(play, &t)})
		dos, understood := applyInput(play, ChatInput{Text: t.Text, Transfer: t.Transfer})
		r.compareTurn(play, dos, understood, nil)
		if leaves {
			break
		}
	}
	if !play.State.Over() {
		r.lines = append(r.lines, ScenarioLine{"caller", "[hangs up]"})
	}
	return nil
}

// conversation returns the texts of the agent and the caller so far. It omits actions, which a caller cannot hear.
func (r *scenarioRun) conversation() []pathway.Message {
	var out []pathway.Message
	for _, l := range r.lines {
		switch l.Speaker {
		case "agent":
			out = append(out, pathway.Message{By: pathway.ByAgent, Text: l.Text})
		case "caller":
			out = append(out, pathway.Message{By: pathway.ByCaller, Text: l.Text})
		}
	}
	return out
}

// compareConversation compares all texts and actions of the conversation with the expected ones. It records each
// difference as a failure.
func (r *scenarioRun) compareConversation(want *ScenarioResult) {
	var spoken, done []string
	for _, l := range r.lines {
		switch l.Speaker {
		case "agent":
			spoken = append(spoken, l.Text)
		case "action":
			done = append(done, l.Text)
		}
	}
	r.compareTexts(strings.Join(spoken, " "), done, want.Says, want.SaysNot, want.Actions)
}
