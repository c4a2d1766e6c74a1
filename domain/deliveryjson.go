package domain

var _ JSONAppender = (*Delivery)(nil)

// AppendJSON writes the delivery, of which there is one for each endpoint and
// event and which is stored twice at least.
func (d *Delivery) AppendJSON(b []byte) ([]byte, error) {
	o := AppendObject(b)
	o.Text("id", d.ID)
	o.Text("workspace_id", d.WorkspaceID)
	o.Text("webhook_id", d.WebhookID)
	o.Text("event_id", d.EventID)
	o.Text("event_type", d.EventType)
	o.Count("event_offset", d.EventOffset)
	o.Text("subject", d.Subject)
	o.Text("state", string(d.State))
	o.Int("attempts", int64(d.Attempts))
	o.when("first_attempt_at", d.FirstAttemptAt)
	o.when("last_attempt_at", d.LastAttemptAt)
	o.when("due_at", d.DueAt)
	o.when("delivered_at", d.DeliveredAt)
	o.Int("response_status", int64(d.ResponseStatus))
	o.Int("response_time_ms", d.ResponseTimeMs)
	o.Word("error", d.Error)
	o.Time("created_at", d.CreatedAt)
	if d.Replay {
		o.Bool("replay", true)
	}
	return o.End()
}

// TakeJSON is JSONTaker's.
func (d *Delivery) TakeJSON(text []byte) bool {
	f := TakeObject(text)
	taken := Delivery{
		ID:             f.Text("id"),
		WorkspaceID:    f.Text("workspace_id"),
		WebhookID:      f.Text("webhook_id"),
		EventID:        f.Text("event_id"),
		EventType:      f.Text("event_type"),
		EventOffset:    f.Count("event_offset"),
		Subject:        f.Text("subject"),
		State:          DeliveryState(f.Text("state")),
		Attempts:       int(f.Int("attempts")),
		FirstAttemptAt: f.When("first_attempt_at"),
		LastAttemptAt:  f.When("last_attempt_at"),
		DueAt:          f.When("due_at"),
		DeliveredAt:    f.When("delivered_at"),
		ResponseStatus: int(f.Int("response_status")),
		ResponseTimeMs: f.Int("response_time_ms"),
		Error:          f.Word("error"),
		CreatedAt:      f.Time("created_at"),
		Replay:         f.Set("replay"),
	}
	if !f.End() {
		return false
	}
	*d = taken
	return true
}
