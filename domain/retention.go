package domain

// Retention defines how long the data of a workspace is stored.
type Retention struct {
	CallDays       int `json:"calls_days" doc:"Days from the end of a call until it is deleted with its recording, transcript and SIP messages. 0: never."`
	RecordingDays  int `json:"recordings_days" doc:"Days until the recording of a call is deleted. 0: never."`
	TranscriptDays int `json:"transcripts_days" doc:"Days until the transcript of a call is deleted. 0: never."`
	TraceDays      int `json:"traces_days" doc:"Days until the SIP messages of a call are deleted. 0: never."`
	// Retention of text messages and appointments.
	MessageDays     int `json:"messages_days" doc:"Days until a text message is deleted. 0: never."`
	AppointmentDays int `json:"appointments_days" doc:"Days from the end of an appointment until it is deleted. 0: never."`
	// Retention of events and their webhook delivery logs.
	EventDays int `json:"events_days" doc:"Days until an event and the log of its deliveries are deleted, at least 7. An event that was not sent yet is kept. 0: never."`
	// Retention of campaign decision logs, audit log, billing records and upload reports.
	DecisionDays int `json:"decisions_days" doc:"Days until decisions of campaigns are deleted. 0: never."`
	AuditDays    int `json:"audit_days" doc:"Days until entries of the audit log are deleted, at least 30. 0: never."`
	LedgerDays   int `json:"ledger_days" doc:"Days until the bills of call attempts are deleted, at least 35. 0: never. Counts per day and month are kept."`
	UploadDays   int `json:"uploads_days" doc:"Days until reports of contact uploads are deleted. 0: never."`
}

// LinkKey is the secret that signs the recording links of a workspace. It is encrypted at rest. Deleting it
// invalidates all links.
type LinkKey struct {
	WorkspaceID string `json:"workspace_id"`
	Secret      string `json:"secret"` // random text
}

// Key returns the key of the link key in the store.
func (k *LinkKey) Key() Key { return Key{"link_key", k.WorkspaceID, "recordings"} }

// Indexes returns nil: the link key is read by key or key prefix only.
func (k *LinkKey) Indexes() []string { return nil }

// Sort returns an unused sort key, because a workspace has one LinkKey.
func (k *LinkKey) Sort() string { return "recordings" }

// Sealed returns a copy whose secret is encrypted by f.
func (k *LinkKey) Sealed(f func(field, text string) (string, error)) (Record, error) {
	c := *k
	var err error
	c.Secret, err = f("secret", k.Secret)
	return &c, err
}

// Unseal decrypts the secret with f.
func (k *LinkKey) Unseal(f func(field, text string) (string, error)) (err error) {
	k.Secret, err = f("secret", k.Secret)
	return err
}
