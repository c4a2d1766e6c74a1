package domain

// The rows that each campaign begins with write themselves, as those of calls
// do: together they are one commit.

// AppendJSON writes the campaign.
func (c *Campaign) AppendJSON(b []byte) ([]byte, error) {
	o := AppendObject(b)
	c.AppendTo(&o)
	return o.End()
}

// AppendAnswer writes the campaign as an answer: as JSON, with [] for no days,
// dates, outcomes and words.
func (c *Campaign) AppendAnswer(b []byte) ([]byte, error) {
	o := AppendObject(b)
	c.AppendAnswerTo(&o)
	return o.End()
}

// AppendAnswerTo writes the fields of the answer into an object that has more
// of them.
func (c *Campaign) AppendAnswerTo(o *JSONObject) {
	shown := *c
	for _, list := range []*[]string{&shown.Schedule.Days, &shown.Schedule.ExcludedDates, &shown.Retry.RetryOn} {
		if *list == nil {
			*list = []string{}
		}
	}
	if out := c.Compliance.OptOut; out != nil && out.Keywords == nil {
		shown.Compliance.OptOut = &OptOut{Keywords: []string{}, Action: out.Action}
	}
	shown.AppendTo(o)
}

// AppendTo writes the campaign's fields.
func (c *Campaign) AppendTo(o *JSONObject) {
	c.appendTo(o)
	o.Text("name", c.Name)
	o.Text("status", string(c.Status))
	o.Word("agent_id", c.AgentID)
	o.Word("pathway_id", c.PathwayID)
	o.Inner("schedule", c.Schedule.appendTo)
	o.Inner("pacing", func(in *JSONObject) {
		in.Int("calls_per_minute", int64(c.Pacing.CallsPerMinute))
		in.Int("max_concurrent", int64(c.Pacing.MaxConcurrent))
		in.Word("mode", string(c.Pacing.Mode))
	})
	o.Inner("retry", func(in *JSONObject) {
		in.Bool("enabled", c.Retry.Enabled)
		in.Int("max_attempts", int64(c.Retry.MaxAttempts))
		in.Float("interval_hours", c.Retry.IntervalHours)
		in.texts("retry_on", c.Retry.RetryOn)
	})
	o.Inner("caller_id", func(in *JSONObject) {
		in.Text("number", c.CallerID.Number)
		in.Word("name", c.CallerID.Name)
	})
	if len(c.Webhooks) > 0 {
		o.Any("webhooks", c.Webhooks)
	}
	o.Inner("compliance", c.Compliance.appendTo)
	o.Text("default_country", c.DefaultCountry)
	o.Bool("auto_complete", c.AutoComplete)
	if c.FollowLatest {
		o.Bool("follow_latest", true)
	}
	if c.Test != nil {
		o.Inner("test", func(in *JSONObject) {
			in.Int("time_factor", int64(c.Test.TimeFactor))
			in.when("since", c.Test.Since)
		})
	}
	o.Word("pause_reason", c.PauseReason)
	o.Word("completion_reason", c.CompletionReason)
	o.when("started_at", c.StartedAt)
	o.when("ended_at", c.EndedAt)
}

func (s *Schedule) appendTo(o *JSONObject) {
	o.when("start", s.Start)
	o.when("end", s.End)
	o.Text("timezone", s.Timezone)
	o.texts("days", s.Days)
	o.texts("excluded_dates", s.ExcludedDates)
}

func (c *Compliance) appendTo(o *JSONObject) {
	o.Bool("dnc_scrub", c.DNCScrub)
	o.Word("dnc_list_id", c.DNCListID)
	o.Inner("calling_hours", func(in *JSONObject) {
		in.Text("start", c.CallingHours.Start)
		in.Text("end", c.CallingHours.End)
		in.Text("timezone", c.CallingHours.Timezone)
	})
	if c.OptOut != nil {
		o.Inner("opt_out_handling", func(in *JSONObject) {
			in.texts("keywords", c.OptOut.Keywords)
			in.Text("action", c.OptOut.Action)
		})
	}
}

// Errors writes what was wrong with the rows of an upload; nil: null.
func (o *JSONObject) Errors(name string, all []ContactError) { jsonList(o, name, all) }

// AppendJSON writes the error.
func (e *ContactError) AppendJSON(b []byte) ([]byte, error) {
	o := AppendObject(b)
	o.Int("line", int64(e.Line))
	o.Word("phone", e.Phone)
	o.Text("code", string(e.Code))
	o.Text("message", e.Message)
	return o.End()
}

// AppendJSON writes the counts.
func (s *ContactsSummary) AppendJSON(b []byte) ([]byte, error) {
	o := AppendObject(b)
	o.Int("received", int64(s.Received))
	o.Int("accepted", int64(s.Accepted))
	o.Int("duplicates", int64(s.Duplicates))
	o.Int("invalid", int64(s.Invalid))
	o.Int("dnc", int64(s.DNC))
	o.Int("missing_variables", int64(s.MissingVariables))
	return o.End()
}
