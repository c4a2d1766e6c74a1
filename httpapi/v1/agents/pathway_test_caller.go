package agents

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
)

// mostCallerTurns is how often a caller speaks who is played by a model, unless
// the scenario says otherwise.
const mostCallerTurns = 12

// ScenarioCaller is a caller whom a model plays.
type ScenarioCaller struct {
	Goal     string `json:"goal" minLength:"1" maxLength:"1000" doc:"What the caller wants." example:"move the appointment to Tuesday"`
	Persona  string `json:"persona,omitempty" maxLength:"1000" doc:"How the caller is." example:"in a hurry, answers in few words"`
	MaxTurns int    `json:"max_turns,omitempty" minimum:"1" maximum:"50" default:"12" doc:"How often the caller speaks at most; then it hangs up."`
}

func (c *ScenarioCaller) turns() int {
	if c.MaxTurns > 0 {
		return c.MaxTurns
	}
	return mostCallerTurns
}

// checkCallers finds what is wrong with the callers of scenarios.
func (s *pathwayHandlers) checkCallers(ctx context.Context, p domain.Principal, b *PathwayTest) error {
	var problems domain.Problems
	for i := range b.Scenarios {
		if x := &b.Scenarios[i]; x.Caller != nil && len(x.Turns) > 0 {
			problems.Add(fmt.Sprintf("scenarios[%d].caller", i), domain.CodeValidation, "must not stand beside turns")
		}
	}
	if err := problems.Err(); err != nil {
		return err
	}
	i := slices.IndexFunc(b.Scenarios, func(x Scenario) bool { return x.Caller != nil })
	if i < 0 || s.models.Thinks(ctx, p, nil) {
		return nil
	}
	e := domain.Errorf(domain.CodeNoEngine, "a caller is played by a language model, and none is configured")
	e.Param = fmt.Sprintf("scenarios[%d].caller", i)
	return e
}

// playCaller has a model play the caller until either side ends the conversation.
func (s *pathwayHandlers) playCaller(ctx context.Context, p domain.Principal, play *pathway.TextSession, c *ScenarioCaller, r *scenarioRun) error {
	brief := pathway.CallerPrompt(c.Goal, c.Persona)
	for r.turn = 1; r.turn <= c.turns() && !play.State.Over(); r.turn++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		t, leaves := ScenarioTurn{}, false
		if !play.IsTransferring() { // a transfer is not the caller's: it fails, as one that scenarios do not speak of
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

// conversation returns the conversation so far, as the caller knows it.
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

// compareConversation compares the texts and actions of the whole conversation with the
// expected ones.
func (r *scenarioRun) compareConversation(want *ScenarioResult) {
	var said, done []string
	for _, l := range r.lines {
		switch l.Speaker {
		case "agent":
			said = append(said, l.Text)
		case "action":
			done = append(done, l.Text)
		}
	}
	r.compareTexts(strings.Join(said, " "), done, want.Says, want.SaysNot, want.Actions)
}
