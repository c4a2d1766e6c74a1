package domain

// AppendJSON writes the row.
func (a *AuditEntry) AppendJSON(b []byte) ([]byte, error) {
	o := AppendObject(b)
	a.appendTo(&o)
	o.Text("type", a.Type)
	o.Text("action", a.Action)
	o.Object("actor", &a.Actor)
	o.Text("ip", a.IP)
	o.Text("user_agent", a.UserAgent)
	o.Object("resource", &a.Resource)
	o.Text("outcome", a.Outcome)
	o.Word("reason", a.Reason)
	o.Int("count", int64(a.Count))
	return o.End()
}

// AppendJSON writes who did it.
func (a *Actor) AppendJSON(b []byte) ([]byte, error) {
	o := AppendObject(b)
	o.Text("type", a.Type)
	o.Text("id", a.ID)
	return o.End()
}

// AppendJSON writes what was touched.
func (r *Resource) AppendJSON(b []byte) ([]byte, error) {
	o := AppendObject(b)
	o.Text("type", r.Type)
	o.Text("id", r.ID)
	return o.End()
}
