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

// maxTestTurns is the maximum number of turns in all runs of one pathway test together.
const maxTestTurns = 2000

// ScenarioExpect is what must happen after one input of the caller.
type ScenarioExpect struct {
	Says       []string `json:"says,omitempty" nullable:"false" maxItems:"20" doc:"Texts that the agent must say, without regard to case." example:"see you"`
	SaysNot    []string `json:"says_not,omitempty" nullable:"false" maxItems:"20" doc:"Texts that the agent must not say."`
	Actions    []string `json:"actions,omitempty" nullable:"false" maxItems:"20" doc:"Actions that a call would run, by type, or by type and target." example:"transfer billing"`
	WaitsFor   string   `json:"waits_for,omitempty" enum:"keys,words,transfer,nothing"`
	Understood *bool    `json:"understood,omitempty" doc:"Whether the input must match an edge."`
}

// ScenarioTurn is one input of the caller with its expected result.
type ScenarioTurn struct {
	Text     string          `json:"text,omitempty" maxLength:"500" doc:"Speech or keys of the caller; empty: silence."`
	Transfer string          `json:"transfer,omitempty" enum:"reached,failed" doc:"Result of the transfer that the pathway waits for. Default: failed."`
	Expect   *ScenarioExpect `json:"expect,omitempty"`
}

// ScenarioResult is what must be true at the end of a conversation.
type ScenarioResult struct {
	Ended     *bool             `json:"ended,omitempty" doc:"Whether the pathway must reach its end."`
	Outcome   string            `json:"outcome,omitempty" example:"confirmed"`
	Intent    string            `json:"intent,omitempty"`
	Variables map[string]string `json:"variables,omitempty" doc:"Variables that must have these values; others are not compared."`
	Says      []string          `json:"says,omitempty" nullable:"false" maxItems:"20" doc:"Texts that the agent must say anywhere in the conversation, without regard to case."`
	SaysNot   []string          `json:"says_not,omitempty" nullable:"false" maxItems:"20" doc:"Texts that the agent must not say anywhere in the conversation."`
	Actions   []string          `json:"actions,omitempty" nullable:"false" maxItems:"20" doc:"Actions that a call would run anywhere in the conversation, by type, or by type and target."`
}

// Scenario is a test conversation with a pathway: the inputs of the caller and the expected results.
type Scenario struct {
	Name      string            `json:"name" minLength:"1" maxLength:"200" example:"confirms"`
	Variables map[string]string `json:"variables,omitempty" doc:"Values of variables, at most 200."`
	Results   []ChatResult      `json:"results,omitempty" nullable:"false" maxItems:"200" doc:"Results of actions, in the order of the runs of each node. The last result of a node is repeated. Default: success without a result; an availability node finds three times of the next day."`
	Greeting  *ScenarioExpect   `json:"greeting,omitempty" doc:"Expected result before the first input of the caller."`
	Turns     []ScenarioTurn    `json:"turns,omitempty" nullable:"false" maxItems:"100" doc:"Inputs of the caller in order. Turns after the end of the pathway fail."`
	Caller    *ScenarioCaller   `json:"caller,omitempty" doc:"A caller that the language model of the service plays, in place of turns."`
	Expect    *ScenarioResult   `json:"expect,omitempty" doc:"Expected result of the conversation."`
}

// PathwayTest is the request body of a pathway test.
type PathwayTest struct {
	AgentID   string     `json:"agent_id,omitempty" doc:"Agent whose language model and prompt are used."`
	Runs      int        `json:"runs,omitempty" minimum:"1" maximum:"20" default:"1" doc:"Runs of each scenario, because responses of a model vary. At most 2000 turns in all runs; a caller counts with max_turns."`
	MinShare  *float64   `json:"min_pass_share,omitempty" minimum:"0" maximum:"1" default:"1" doc:"Share of its runs that a scenario must pass."`
	Scenarios []Scenario `json:"scenarios" nullable:"false" minItems:"1" maxItems:"50"`
}

// ScenarioFailure is a difference between the expected and the actual result of a scenario.
type ScenarioFailure struct {
	Run      int    `json:"run" doc:"Number of the run, from 1."`
	Turn     int    `json:"turn" doc:"Number of the turn, from 1; 0: the greeting; -1: the end."`
	Check    string `json:"check" doc:"The field of the expectation."`
	Expected string `json:"expected"`
	Got      string `json:"got"`
}

// ScenarioLine is one text or action in the conversation of a scenario run.
type ScenarioLine struct {
	Speaker string `json:"speaker" enum:"agent,caller,action"`
	Text    string `json:"text"`
}

// ScenarioReport is the result of all runs of a scenario.
type ScenarioReport struct {
	Name       string            `json:"name"`
	Passed     bool              `json:"passed" doc:"true if at least the share min_pass_share of the runs passed."`
	Runs       int               `json:"runs"`
	PassedRuns int               `json:"passed_runs"`
	Share      float64           `json:"pass_share" doc:"passed_runs divided by runs." example:"0.9"`
	Failures   []ScenarioFailure `json:"failures" doc:"Failed expectations, at most 100."`
	Transcript []ScenarioLine    `json:"transcript" doc:"Transcript of the first failed run, otherwise of the first run."`
}

// PathwayTestResult is the response to a pathway test, with the results of all scenarios.
type PathwayTestResult struct {
	Object         string           `json:"object" example:"pathway_test"`
	PathwayID      string           `json:"pathway_id"`
	PathwayVersion int              `json:"pathway_version"`
	Passed         bool             `json:"passed" doc:"true if every scenario passed."`
	Scenarios      []ScenarioReport `json:"scenarios"`
}

func (s *pathwayHandlers) registerTests(tag, path string) {
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path + "/{id}/test", ID: "testPathway", Tag: tag, Summary: "Test a pathway with scenarios", Errors: []int{http.StatusConflict},
		Description: "Runs each scenario like a chat and reports differences from the expected results. Nothing is stored, and no action is run. A workspace can run one test at a time, within the time limit of a request: split many scenarios over several requests. 409 engine_not_configured if the pathway needs a missing engine.",
	}, s.testPathway)
}

func (s *pathwayHandlers) testPathway(ctx context.Context, p domain.Principal, in *struct {
	router.IDParam
	Body PathwayTest
},
) (*router.Response[PathwayTestResult], error) {
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
	if err = checkEngines(w, s.models.HasModel(ctx, p, script.LLM)); err != nil {
		return nil, err
	}
	if err = s.checkCallers(ctx, p, b); err != nil {
		return nil, err
	}
	leave, free := s.tests.Acquire(p.WorkspaceID, 1)
	if !free {
		return nil, domain.Errorf(domain.CodeRateLimit, "Another pathway test of this workspace is running; try again.").With("limit", 1).With("retry_after", 1)
	}
	defer leave()
	out := PathwayTestResult{Object: "pathway_test", PathwayID: w.ID, PathwayVersion: w.Version, Passed: true}
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
			problems.Add(fmt.Sprintf("scenarios[%d].variables", i), domain.CodeValidation, "must have at most %d entries, names of at most 64 bytes and values of at most %d bytes", maxValues, maxValue)
		}
		if slices.ContainsFunc(b.Scenarios[:i], func(other Scenario) bool { return other.Name == x.Name }) {
			problems.Add(fmt.Sprintf("scenarios[%d].name", i), domain.CodeValidation, "%q stands twice", router.Truncate(x.Name, 60))
		}
	}
	if turns > maxTestTurns {
		problems.Add("scenarios", domain.CodeValidation, "have %d turns in all runs; at most %d are allowed", turns, maxTestTurns)
	}
	return problems.Err()
}

const maxFailures = 100

func (r *ScenarioReport) add(run *scenarioRun) {
	if len(run.failures) == 0 {
		r.PassedRuns++
	}
	if r.Transcript == nil || len(r.Failures) == 0 && len(run.failures) > 0 {
		r.Transcript = run.lines
	}
	r.Failures = append(r.Failures, run.failures[:min(len(run.failures), maxFailures-len(r.Failures))]...)
}

// scenarioRun holds the state of one run of a scenario: its failures and the conversation so far.
type scenarioRun struct {
	run, turn int
	failures  []ScenarioFailure
	lines     []ScenarioLine
}

func (r *scenarioRun) addFailure(check, expected, got string) {
	r.failures = append(r.failures, ScenarioFailure{Run: r.run, Turn: r.turn, Check: check, Expected: expected, Got: got})
}

// playScenario plays one run of a scenario. It returns an error only if the time limit of the request has passed.
func (s *pathwayHandlers) playScenario(ctx context.Context, p domain.Principal, script *domain.Script, x *Scenario, r *scenarioRun) error {
	play := &pathway.TextSession{State: pathway.New(*script, chatVariables(script, x.Variables))}
	play.Model = s.answerModel(ctx, p, script, play, nil, &ChatAnswer{})
	play.RunAction = simulateActions(script, x.Results)
	r.lines = []ScenarioLine{}
	r.compareTurn(play, play.StartSession(), true, x.Greeting)
	for i := range x.Turns {
		if err := ctx.Err(); err != nil {
			return err
		}
		t := &x.Turns[i]
		r.turn = i + 1
		if play.State.Over() {
			r.addFailure("turns", "a conversation that continues", "the pathway has ended")
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

// compareTurn compares what the pathway did in a turn with the expected result. It records each difference as a failure.
func (r *scenarioRun) compareTurn(play *pathway.TextSession, dos []pathway.Command, understood bool, want *ScenarioExpect) {
	var got ChatAnswer
	got.addActions(dos)
	var spoken, done []string
	for _, m := range got.Messages {
		spoken = append(spoken, m.Text)
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
	r.compareTexts(strings.Join(spoken, " "), done, want.Says, want.SaysNot, want.Actions)
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

// compareTexts compares spoken texts and actions with the expected ones. It records each difference as a failure.
func (r *scenarioRun) compareTexts(spoken string, done, says, saysNot, actions []string) {
	contains := func(text string) bool { return strings.Contains(strings.ToLower(spoken), strings.ToLower(text)) }
	for _, text := range says {
		if !contains(text) {
			r.addFailure("says", text, spoken)
		}
	}
	for _, text := range saysNot {
		if contains(text) {
			r.addFailure("says_not", text, spoken)
		}
	}
	for _, action := range actions {
		if !slices.ContainsFunc(done, func(d string) bool { return d == action || strings.HasPrefix(d, action+" ") }) {
			r.addFailure("actions", action, strings.Join(done, ", "))
		}
	}
}

// compareEnd compares the state at the end of the conversation with the expected one. It records each difference as a
// failure.
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
