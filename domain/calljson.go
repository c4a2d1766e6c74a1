package domain

// The rows that each call writes say themselves what they are as JSON: each is
// written several times, and most of a commit was reflection.

// AppendJSON writes the call.
func (c *Call) AppendJSON(b []byte) ([]byte, error) {
	o := AppendObject(b)
	c.appendTo(&o)
	o.Text("direction", string(c.Direction))
	o.Text("from", c.From)
	o.Text("to", c.To)
	o.Word("agent_id", c.AgentID)
	o.Some("agent_version", int64(c.AgentVersion))
	o.Word("pathway_id", c.PathwayID)
	o.Word("campaign_id", c.CampaignID)
	o.Word("contact_id", c.ContactID)
	o.Text("status", string(c.Status))
	o.Word("disposition", c.Disposition)
	o.Word("ended_reason", string(c.EndedReason))
	o.Word("ended_by", c.EndedBy)
	jsonList(&o, "legs", c.Legs)
	if len(c.Transfers) > 0 {
		o.Any("transfers", c.Transfers)
	}
	o.Word("answered_by", c.AnsweredBy)
	o.Int("attempt", int64(c.Attempt))
	o.Moment("started_at", c.StartedAt)
	o.Moment("ringing_at", c.RingingAt)
	o.Moment("answered_at", c.AnsweredAt)
	o.Moment("ended_at", c.EndedAt)
	o.Int("duration_seconds", int64(c.DurationSeconds))
	o.Word("intent", c.Intent)
	c.appendSaid(&o)
	o.Bool("record", c.Record)
	c.appendKept(&o)
	return o.End()
}

// AppendAnswer writes the call as an answer: as JSON, with [] for no legs and
// {} for no variables.
func (c *Call) AppendAnswer(b []byte) ([]byte, error) {
	shown := *c
	if shown.Legs == nil {
		shown.Legs = []Leg{}
	}
	if shown.Variables == nil {
		shown.Variables = map[string]string{}
	}
	return shown.AppendJSON(b)
}

// appendSaid writes what the call came to and was about.
func (c *Call) appendSaid(o *JSONObject) {
	if c.Outcome == nil {
		o.Null("outcome")
	} else {
		o.Object("outcome", c.Outcome)
	}
	switch {
	case c.Variables == nil:
		o.Null("variables")
	case len(c.Variables) == 0:
		o.Raw("variables", []byte("{}"))
	default:
		o.Any("variables", c.Variables)
	}
	if len(c.Context) > 0 {
		o.Any("context", c.Context)
	}
	if c.Caller != nil {
		o.Any("caller", c.Caller)
	}
}

// appendKept writes what is kept of the call's words and sound.
func (c *Call) appendKept(o *JSONObject) {
	o.Bool("transcript_available", c.TranscriptAvailable)
	o.Word("transcript_url", c.TranscriptURL)
	if c.TranscriptDeletedAt != nil {
		o.Time("transcript_deleted_at", *c.TranscriptDeletedAt)
	}
	o.Bool("recording_available", c.RecordingAvailable)
	o.Word("recording_url", c.RecordingURL)
	if c.RecordingSeconds != 0 {
		o.Float("recording_seconds", c.RecordingSeconds)
	}
	if c.RecordingDeletedAt != nil {
		o.Time("recording_deleted_at", *c.RecordingDeletedAt)
	}
	o.Bool("processing", c.Processing)
	if c.Quality != nil {
		o.Object("quality", c.Quality)
	}
	o.Some("slowest_turn_ms", int64(c.SlowestTurnMs))
	if c.Analysis != nil {
		o.Any("analysis", c.Analysis)
	}
	if c.Latency != nil {
		o.Any("latency", c.Latency)
	}
	if c.Cost != nil {
		o.Any("cost", c.Cost)
	}
}

func (m *Meta) appendTo(o *JSONObject) {
	o.Text("id", m.ID)
	o.Text("object", m.Object)
	o.Text("workspace_id", m.WorkspaceID)
	o.Text("environment", string(m.Environment))
	o.Time("created_at", m.CreatedAt)
	o.Time("updated_at", m.UpdatedAt)
	if len(m.Metadata) > 0 {
		o.Any("metadata", m.Metadata)
	}
}

// AppendJSON writes the leg.
func (l *Leg) AppendJSON(b []byte) ([]byte, error) {
	o := AppendObject(b)
	o.Text("trunk_id", l.TrunkID)
	o.Text("target", l.Target)
	o.Text("sip_call_id", l.SIPCallID)
	o.Word("role", l.Role)
	o.Int("code", int64(l.Code))
	o.Text("reason", l.Reason)
	o.Some("q850", int64(l.Q850))
	o.Int("pdd_ms", l.PDDMs)
	o.Word("codec", l.Codec)
	o.Time("started_at", l.StartedAt)
	o.Moment("ended_at", l.EndedAt)
	return o.End()
}

// AppendJSON writes the outcome.
func (c *CallOutcome) AppendJSON(b []byte) ([]byte, error) {
	o := AppendObject(b)
	o.Text("result", string(c.Result))
	o.Bool("appointment_booked", c.AppointmentBooked)
	o.Word("appointment_id", c.AppointmentID)
	o.Word("appointment_date", c.AppointmentDate)
	o.Word("appointment_time", c.AppointmentTime)
	o.Word("intent", c.Intent)
	o.Word("notes", c.Notes)
	return o.End()
}

// AppendJSON writes the quality.
func (q *Quality) AppendJSON(b []byte) ([]byte, error) {
	o := AppendObject(b)
	o.Word("codec", q.Codec)
	o.Float("mos", q.MOS)
	o.Float("jitter_ms", q.JitterMs)
	o.Float("loss_percent", q.LossPercent)
	o.Float("round_trip_ms", q.RoundTripMs)
	o.Count("packets_sent", q.PacketsSent)
	o.Count("packets_received", q.PacketsReceived)
	o.Count("packets_refused", q.PacketsRefused)
	if len(q.Stretches) > 0 {
		jsonList(&o, "stretches", q.Stretches)
	}
	return o.End()
}

// AppendJSON writes the quality of a part.
func (q *QualityStretch) AppendJSON(b []byte) ([]byte, error) {
	o := AppendObject(b)
	o.Int("at_ms", q.AtMs)
	o.Int("for_ms", q.ForMs)
	o.Float("mos", q.MOS)
	o.Float("jitter_ms", q.JitterMs)
	o.Float("loss_percent", q.LossPercent)
	o.Float("round_trip_ms", q.RoundTripMs)
	return o.End()
}
