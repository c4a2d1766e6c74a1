package agents

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/httpapi/router"
)

// mostTestTurns bounds the turns of all runs of one test.
const mostTestTurns = 2000

// ScenarioExpect is what a turn is expected to lead to.
type ScenarioExpect struct {
	Says       []string `json:"says,omitempty" nullable:"false" maxItems:"20" doc:"The agent says each of these, in any case." example:"see you"`
	SaysNot    []string `json:"says_not,omitempty" nullable:"false" maxItems:"20" doc:"And none of these."`
	Actions    []string `json:"actions,omitempty" nullable:"false" maxItems:"20" doc:"A call would do these, by type, or by type and target." example:"transfer billing"`
	WaitsFor   string   `json:"waits_for,omitempty" enum:"keys,words,transfer,nothing"`
	Understood *bool    `json:"understood,omitempty" doc:"Whether the words lead somewhere."`
}

// ScenarioTurn is what the caller does, and what that leads to.
type ScenarioTurn struct {
	Text     string          `json:"text,omitempty" maxLength:"500" doc:"What the caller says or keys in; empty: silence."`
	Transfer string          `json:"transfer,omitempty" enum:"reached,failed" doc:"How the transfer went that is awaited; failed unless said."`
	Expect   *ScenarioExpect `json:"expect,omitempty"`
}

// ScenarioResult is what a conversation is expected to come to.
type ScenarioResult struct {
	Ended     *bool             `json:"ended,omitempty" doc:"Whether the pathway comes to its end."`
	Outcome   string            `json:"outcome,omitempty" example:"confirmed"`
	Intent    string            `json:"intent,omitempty"`
	Variables map[string]string `json:"variables,omitempty" doc:"What is collected and set, among others."`
	Says      []string          `json:"says,omitempty" nullable:"false" maxItems:"20" doc:"The agent says each of these somewhere in it, in any case."`
	SaysNot   []string          `json:"says_not,omitempty" nullable:"false" maxItems:"20" doc:"And none of these anywhere."`
	Actions   []string          `json:"actions,omitempty" nullable:"false" maxItems:"20" doc:"A call would do these somewhere in it, by type, or by type and target."`
}

// Scenario is a conversation as it should go.
type Scenario struct {
	Name      string            `json:"name" minLength:"1" maxLength:"200" example:"confirms"`
	Variables map[string]string `json:"variables,omitempty" doc:"Values of the pathway's variables; 200 at most."`
	Greeting  *ScenarioExpect   `json:"greeting,omitempty" doc:"What is expected before the caller does anything."`
	Turns     []ScenarioTurn    `json:"turns,omitempty" nullable:"false" maxItems:"100" doc:"What the caller does, in its order. Turns behind the end of the pathway fail."`
	Caller    *ScenarioCaller   `json:"caller,omitempty" doc:"Who speaks in place of turns: a caller whom the language model of the service plays."`
	Expect    *ScenarioResult   `json:"expect,omitempty" doc:"What it comes to."`
}

// PathwayTest are scenarios that a pathway is held to.
type PathwayTest struct {
	AgentID   string     `json:"agent_id,omitempty" doc:"Whose model and part they are played with."`
	Runs      int        `json:"runs,omitempty" minimum:"1" maximum:"20" default:"1" doc:"How often each is played: a model does not always say the same. 2000 turns in all at most, those of callers counted as many as they may be."`
	MinShare  *float64   `json:"min_pass_share,omitempty" minimum:"0" maximum:"1" default:"1" doc:"The share of its runs that a scenario has to pass."`
	Scenarios []Scenario `json:"scenarios" nullable:"false" minItems:"1" maxItems:"50"`
}

// ScenarioFailure is an expectation that was not met.
type ScenarioFailure struct {
	Run      int    `json:"run" doc:"Which one, from 1."`
	Turn     int    `json:"turn" doc:"Behind which turn, from 1; 0: the greeting; -1: at the end."`
	Check    string `json:"check" doc:"The field that was expected otherwise."`
	Expected string `json:"expected"`
	Got      string `json:"got"`
}

// ScenarioLine is one thing that was said or done.
type ScenarioLine struct {
	Speaker string `json:"speaker" enum:"agent,caller,action"`
	Text    string `json:"text"`
}

// ScenarioReport is how a scenario went.
type ScenarioReport struct {
	Name       string            `json:"name"`
	Passed     bool              `json:"passed" doc:"Every run did, or as large a share of them as min_pass_share says."`
	Runs       int               `json:"runs"`
	PassedRuns int               `json:"passed_runs"`
	Share      float64           `json:"pass_share" doc:"passed_runs by runs." example:"0.9"`
	Failures   []ScenarioFailure `json:"failures" doc:"100 at most."`
	Transcript []ScenarioLine    `json:"transcript" doc:"Of the first run that failed, else of the first."`
}

// PathwayTested is how scenarios went.
type PathwayTested struct {
	Object         string           `json:"object" example:"pathway_test"`
	PathwayID      string           `json:"pathway_id"`
	PathwayVersion int              `json:"pathway_version"`
	Passed         bool             `json:"passed" doc:"Every scenario did."`
	Scenarios      []ScenarioReport `json:"scenarios"`
}

func (s *pathwayHandlers) registerTests(tag, path string) {
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path + "/{id}/test", ID: "testPathway", Tag: tag, Summary: "Hold a pathway to scenarios", Errors: []int{http.StatusConflict},
		Description: "Plays each scenario as a chat is, and says where it went otherwise than expected. Nothing is kept, nothing besides speaking is done. One test runs at a time in a workspace, for as long as a request may take: play many scenarios in several. 409 engine_not_configured where it takes an engine.",
	}, s.testPathway)
}

func (s *pathwayHandlers) testPathway(ctx context.Context, p domain.Principal, in *struct {
	router.IDParam
	Body PathwayTest
},
) (*router.Response[PathwayTested], error) {
	w, err := s.pathwayOf(ctx, p, in.IDParam)
	if err != nil {
		return nil, err
	}
	b := &in.Body
	b.Runs = max(1, b.Runs)
	if err = checkTests(b); err != nil {
		return nil, err
	}
	script, err := s.chatScript(ctx, p, w, b.AgentID)
	if err != nil {
		return nil, err
	}
	if err = checkEngines(w, s.models.Thinks(ctx, p, script.LLM)); err != nil {
		return nil, err
	}
	if err = s.checkCallers(ctx, p, b); err != nil {
		return nil, err
	}
	leave, free := s.tests.Acquire(p.WorkspaceID, 1)
	if !free {
		return nil, domain.Errorf(domain.CodeRateLimit, "Another test of a pathway of this workspace is running; try again.").With("limit", 1).With("retry_after", 1)
	}
	defer leave()
	out := PathwayTested{Object: "pathway_test", PathwayID: w.ID, PathwayVersion: w.Version, Passed: true}
	for i := range b.Scenarios {
		report := ScenarioReport{Name: b.Scenarios[i].Name, Runs: b.Runs, Failures: []ScenarioFailure{}}
		for run := range b.Runs {
			r := &scenarioRun{run: run + 1}
			if err = s.playScenario(ctx, p, &script, &b.Scenarios[i], r); err != nil {
				return nil, err
			}
			report.add(r)
		}
		report.Share = float64(report.PassedRuns) / float64(report.Runs)
		report.Passed = report.PassedRuns == report.Runs || b.MinShare != nil && report.Share >= *b.MinShare
		out.Passed = out.Passed && report.Passed
		out.Scenarios = append(out.Scenarios, report)
	}
	return router.Respond(out, nil)
}

func checkTests(b *PathwayTest) error {
	var problems domain.Problems
	turns := 0
	for i, x := range b.Scenarios {
		each := len(x.Turns)
		if x.Caller != nil {
			each = x.Caller.turns()
		}
		turns += (each + 1) * b.Runs
		if err := checkChat(&ChatRequest{Variables: x.Variables}); err != nil {
			problems.Add(fmt.Sprintf("scenarios[%d].variables", i), domain.CodeValidation, "has %d entries at most, a name 64 bytes, a value %d", maxValues, maxValue)
		}
		if slices.ContainsFunc(b.Scenarios[:i], func(other Scenario) bool { return other.Name == x.Name }) {
			problems.Add(fmt.Sprintf("scenarios[%d].name", i), domain.CodeValidation, "%q stands twice", router.Truncate(x.Name, 60))
		}
	}
	if turns > mostTestTurns {
		problems.Add("scenarios", domain.CodeValidation, "have %d turns in all runs; %d at most", turns, mostTestTurns)
	}
	return problems.Err()
}

const mostFailures = 100

func (r *ScenarioReport) add(run *scenarioRun) {
	if len(run.failures) == 0 {
		r.PassedRuns++
	}
	if r.Transcript == nil || len(r.Failures) == 0 && len(run.failures) > 0 {
		r.Transcript = run.lines
	}
	r.Failures = append(r.Failures, run.failures[:min(len(run.failures), mostFailures-len(r.Failures))]...)
}

// scenarioRun is one run of a scenario.
type scenarioRun struct {
	run, turn int
	failures  []ScenarioFailure
	lines     []ScenarioLine
}

func (r *scenarioRun) addFailure(check, expected, got string) {
	r.failures = append(r.failures, ScenarioFailure{Run: r.run, Turn: r.turn, Check: check, Expected: expected, Got: got})
}

// playScenario plays one run. The error is that its time is over.
func (s *pathwayHandlers) playScenario(ctx context.Context, p domain.Principal, script *domain.Script, x *Scenario, r *scenarioRun) error {
	play := &pathway.TextSession{State: pathway.New(*script, chatVariables(script, x.Variables))}
	play.Model = s.answerModel(ctx, p, script, play, nil, &ChatAnswer{})
	r.lines = []ScenarioLine{}
	r.compareTurn(play, play.StartSession(), true, x.Greeting)
	for i := range x.Turns {
		if err := ctx.Err(); err != nil {
			return err
		}
		t := &x.Turns[i]
		r.turn = i + 1
		if play.State.Over() {
			r.addFailure("turns", "a conversation that goes on", "the pathway has ended")
			break
		}
		r.lines = append(r.lines, ScenarioLine{"caller", callerLine(play, t)})
		dos, understood := applyInput(play, ChatInput{Text: t.Text, Transfer: t.Transfer})
		r.compareTurn(play, dos, understood, t.Expect)
	}
	if x.Caller != nil {
		if err := s.playCaller(ctx, p, play, x.Caller, r); err != nil {
			return err
		}
	}
	r.turn = -1
	r.compareEnd(play, x.Expect)
	return ctx.Err()
}

func callerLine(play *pathway.TextSession, t *ScenarioTurn) string {
	switch {
	case play.IsTransferring() && t.Transfer == "":
		return "[transfer failed]"
	case play.IsTransferring():
		return "[transfer " + t.Transfer + "]"
	case t.Text == "":
		return "[silence]"
	}
	return t.Text
}

// compareTurn compares the result of a turn with the expected one.
func (r *scenarioRun) compareTurn(play *pathway.TextSession, dos []pathway.Command, understood bool, want *ScenarioExpect) {
	var got ChatAnswer
	got.addActions(dos)
	var said, done []string
	for _, m := range got.Messages {
		said = append(said, m.Text)
		r.lines = append(r.lines, ScenarioLine{"agent", m.Text})
	}
	for _, a := range got.Actions {
		line := strings.TrimSpace(a.Type + " " + a.Target)
		done = append(done, line)
		r.lines = append(r.lines, ScenarioLine{"action", line})
	}
	if want == nil {
		return
	}
	r.compareTexts(strings.Join(said, " "), done, want.Says, want.SaysNot, want.Actions)
	waits := "nothing"
	if w := waitOf(play); w != nil {
		waits = w.For
	}
	if want.WaitsFor != "" && want.WaitsFor != waits {
		r.addFailure("waits_for", want.WaitsFor, waits)
	}
	if want.Understood != nil && *want.Understood != understood {
		r.addFailure("understood", strconv.FormatBool(*want.Understood), strconv.FormatBool(understood))
	}
}

// compareTexts compares texts and actions with the expected ones.
func (r *scenarioRun) compareTexts(heard string, done, says, saysNot, actions []string) {
	has := func(text string) bool { return strings.Contains(strings.ToLower(heard), strings.ToLower(text)) }
	for _, text := range says {
		if !has(text) {
			r.addFailure("says", text, heard)
		}
	}
	for _, text := range saysNot {
		if has(text) {
			r.addFailure("says_not", text, heard)
		}
	}
	for _, action := range actions {
		if !slices.ContainsFunc(done, func(d string) bool { return d == action || strings.HasPrefix(d, action+" ") }) {
			r.addFailure("actions", action, strings.Join(done, ", "))
		}
	}
}

// compareEnd compares the end of the conversation with the expected one.
func (r *scenarioRun) compareEnd(play *pathway.TextSession, want *ScenarioResult) {
	if want == nil {
		return
	}
	got := play.State.Result()
	if over := play.State.Over(); want.Ended != nil && *want.Ended != over {
		r.addFailure("ended", strconv.FormatBool(*want.Ended), strconv.FormatBool(over))
	}
	if want.Outcome != "" && want.Outcome != string(got.Outcome) {
		r.addFailure("outcome", want.Outcome, string(got.Outcome))
	}
	if want.Intent != "" && want.Intent != got.Intent {
		r.addFailure("intent", want.Intent, got.Intent)
	}
	r.compareConversation(want)
	for _, name := range slices.Sorted(maps.Keys(want.Variables)) {
		if got.Variables[name] != want.Variables[name] {
			r.addFailure("variables."+name, want.Variables[name], got.Variables[name])
		}
	}
}
