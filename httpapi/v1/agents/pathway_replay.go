package agents

import (
	"context"
	"slices"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/httpapi/router"
)

// CallReplay is the request body that selects the call to replay and the version of the pathway.
type CallReplay struct {
	CallID  string `json:"call_id" doc:"The id of an ended call."`
	Version int    `json:"version,omitempty" minimum:"1" doc:"Version of the pathway, one of the newest 101. Default: the newest." example:"3"`
}

// CallReplayLine compares a line of the recorded call with the corresponding line of the replay.
type CallReplayLine struct {
	Speaker  string `json:"speaker" enum:"agent,caller"`
	Node     string `json:"node,omitempty"`
	Recorded string `json:"recorded" doc:"Text in the call; empty: none."`
	Now      string `json:"now" doc:"Text in the replay; empty: none."`
	Same     bool   `json:"same"`
	Note     string `json:"note,omitempty" enum:"assumed,beside" doc:"assumed: sensitive input is not stored, so zeros replace it. beside: the text was spoken outside the pathway."`
}

// CallReplayResult is the outcome of the recorded call or of its replay.
type CallReplayResult struct {
	Outcome domain.Outcome `json:"outcome,omitempty"`
	Intent  string         `json:"intent,omitempty"`
	Notes   string         `json:"notes,omitempty"`
}

// CallReplayComparison is the response that compares a recorded call with its replay.
type CallReplayComparison struct {
	Object         string           `json:"object" example:"pathway_replay"`
	CallID         string           `json:"call_id"`
	PathwayID      string           `json:"pathway_id"`
	PathwayVersion int              `json:"pathway_version"`
	Same           bool             `json:"same" doc:"Nothing differs."`
	FirstDifferent *int             `json:"first_different" doc:"The index of the first different line; null: no difference. After it, keys may belong to other prompts."`
	Lines          []CallReplayLine `json:"lines"`
	Recorded       CallReplayResult `json:"recorded" doc:"Result of the call."`
	Now            CallReplayResult `json:"now" doc:"Result of the replay; without an outcome if the remote party hangs up early."`
	Ended          bool             `json:"ended" doc:"The replay reaches the end of the pathway."`
}

func (s *pathwayHandlers) replayCall(ctx context.Context, p domain.Principal, in *struct {
	router.IDParam
	Body CallReplay
},
) (*router.Response[CallReplayComparison], error) {
	pathwayID, err := router.PathID(domain.PrefixPathway, in.ID)
	if err != nil {
		return nil, err
	}
	w, err := s.pathways.PathwayVersion(ctx, p, pathwayID, in.Body.Version)
	if err != nil {
		return nil, err
	}
	c, t, err := s.endedCall(ctx, p, in.Body.CallID)
	if err != nil {
		return nil, err
	}
	if err = checkEngines(w, false); err != nil {
		return nil, err
	}
	home, err := s.Workspace(ctx, p)
	if err != nil {
		return nil, err
	}
	record := pathway.RecordedCall{Segments: t.Segments, ByAgent: c.EndedBy == "agent", Variables: c.Variables, Redact: home.Redaction.Redactor()}
	for _, x := range c.Transfers {
		if x.By == "agent" {
			record.Transfers = append(record.Transfers, x)
		}
	}
	lines, state := pathway.Replay(domain.Script{Pathway: *w}, s.variablesOfCall(ctx, p, c), record)
	out := CallReplayComparison{Object: "pathway_replay", CallID: c.ID, PathwayID: w.ID, PathwayVersion: w.Version, Ended: state.Over()}
	for i, l := range lines {
		line := CallReplayLine{Speaker: l.Speaker, Node: l.Node, Recorded: l.Recorded, Now: l.Now, Same: l.IsSame()}
		switch {
		case l.Assumed:
			line.Note = "assumed"
		case l.OutsidePathway:
			line.Note = "beside"
		}
		if !line.Same && out.FirstDifferent == nil {
			out.FirstDifferent = &i
		}
		out.Lines = append(out.Lines, line)
	}
	r := state.Result()
	out.Now = CallReplayResult{Outcome: r.Outcome, Intent: r.Intent, Notes: record.Redact.RedactText(r.Notes)}
	if o := c.Outcome; o != nil {
		out.Recorded = CallReplayResult{Outcome: o.Result, Intent: o.Intent, Notes: record.Redact.RedactText(o.Notes)}
	}
	out.Same = out.FirstDifferent == nil && (!out.Ended || out.Now == out.Recorded)
	return router.Respond(out, nil)
}

// endedCall returns a call and its transcript. It returns invalid_state if the call has not ended or has no transcript.
func (s *pathwayHandlers) endedCall(ctx context.Context, p domain.Principal, callID string) (*domain.Call, *domain.Transcript, error) {
	var problems domain.Problems
	problems.Add("call_id", domain.CodeValidation, "there is no such call")
	id, err := domain.ParseID(domain.PrefixCall, callID)
	if err != nil {
		return nil, nil, problems.Err()
	}
	c, err := s.calls.Call(ctx, p, id)
	if domain.CodeOf(err) == domain.CodeNotFound {
		return nil, nil, problems.Err()
	}
	if err != nil {
		return nil, nil, err
	}
	refuse := func(why string) error {
		e := domain.Errorf(domain.CodeInvalidState, "%s", why).With("current_status", c.Status)
		e.Param = "call_id"
		return e
	}
	if !c.Final() {
		return nil, nil, refuse("the call has not ended")
	}
	t, err := s.calls.Transcript(ctx, p, c.ID)
	if slices.Contains([]domain.Code{domain.CodeNotFound, domain.CodeProcessing}, domain.CodeOf(err)) {
		return nil, nil, refuse("the call has no transcript, or it is not ready")
	}
	return c, t, err
}

// variablesOfCall returns the values that the pathway's variables had when the call began.
func (s *pathwayHandlers) variablesOfCall(ctx context.Context, p domain.Principal, c *domain.Call) map[string]string {
	phone := c.To
	if c.Direction == domain.Inbound {
		phone = c.From
	}
	began := c.CreatedAt
	if c.AnsweredAt != nil {
		began = *c.AnsweredAt
	}
	script := domain.Script{Timezone: "UTC"}
	if c.AgentID != "" {
		if a, err := s.agents.Agent(ctx, p, c.AgentID); err == nil {
			script.AgentName, script.Timezone = a.Name, a.Timezone
		}
	}
	values := pathway.RuntimeVariables(&script, began)
	values["phone"], values["caller_number"], values["called_number"] = phone, c.From, c.To
	if c.CampaignID != "" {
		if of, err := s.campaigns.Campaign(ctx, p, c.CampaignID); err == nil {
			values["campaign_name"] = of.Name
		}
	}
	for name := range c.Context {
		if text, ok := c.Context.Text(name); ok {
			values[name] = text
		}
	}
	return values
}
