package domain

// Retention says for how long the data of a workspace are stored.
type Retention struct {
	CallDays       int `json:"calls_days" doc:"Days after its end after which a call is deleted with its recording, its transcript and its SIP messages; 0: it is kept."`
	RecordingDays  int `json:"recordings_days" doc:"Days after which a call's recording is deleted; 0: it is kept."`
	TranscriptDays int `json:"transcripts_days" doc:"Days after which a call's transcript is deleted; 0: it is kept."`
	TraceDays      int `json:"traces_days" doc:"Days after which a call's SIP messages are deleted; 0: they are kept."`
	// Text messages and appointments.
	MessageDays     int `json:"messages_days" doc:"Days after which a text message is deleted; 0: it is kept."`
	AppointmentDays int `json:"appointments_days" doc:"Days after its end after which an appointment is deleted; 0: it is kept."`
	// Events and delivery logs.
	EventDays int `json:"events_days" doc:"Days after which an event and the log of its deliveries are deleted, 7 at least, but not before it was sent; 0: they are kept."`
	// Decision logs, audit log, billing records and upload reports.
	DecisionDays int `json:"decisions_days" doc:"Days after which decisions of campaigns are deleted; 0: they are kept."`
	AuditDays    int `json:"audit_days" doc:"Days after which entries of the audit log are deleted, 30 at least; 0: they are kept."`
	LedgerDays   int `json:"ledger_days" doc:"Days after which the bills of attempts are deleted, 35 at least; 0: they are kept. Counts per day and month stay."`
	UploadDays   int `json:"uploads_days" doc:"Days after which reports of uploads of contacts are deleted; 0: they are kept."`
}

// LinkKey is the secret that signs the recording links of a workspace. It is encrypted at rest. Deleting it
// invalidates all links.
type LinkKey struct {
	WorkspaceID string `json:"workspace_id"`
	Secret      string `json:"secret"` // random text
}

// Key returns the store key.
func (k *LinkKey) Key() Key { return Key{"link_key", k.WorkspaceID, "recordings"} }

// Indexes returns no indexes.
func (k *LinkKey) Indexes() []string { return nil }

// Sort returns an unused sort key: a workspace has one row.
func (k *LinkKey) Sort() string { return "recordings" }

// Sealed returns a copy with an encrypted secret.
func (k *LinkKey) Sealed(f func(field, text string) (string, error)) (Record, error) {
	c := *k
	var err error
	c.Secret, err = f("secret", k.Secret)
	return &c, err
}

// Unseal decrypts the secret.
func (k *LinkKey) Unseal(f func(field, text string) (string, error)) (err error) {
	k.Secret, err = f("secret", k.Secret)
	return err
}
