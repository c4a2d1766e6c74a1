package domain

import "time"

// UploadStatus is the state of an upload of contacts.
type UploadStatus string

// The states of an upload. completed and failed are final.
const (
	UploadReceiving UploadStatus = "receiving"
	UploadCompleted UploadStatus = "completed"
	UploadFailed    UploadStatus = "failed"
)

// Values returns the states of an upload of contacts.
func (UploadStatus) Values() []string {
	return values(UploadReceiving, UploadCompleted, UploadFailed)
}

// ContactError describes why one line of an upload was rejected.
type ContactError struct {
	Line    int    `json:"line"`
	Phone   string `json:"phone,omitempty"`
	Code    Code   `json:"code"` // invalid_row | invalid_phone | invalid_timezone | duplicate | dnc | destination_not_allowed | missing_variable
	Message string `json:"message"`
}

// ContactsSummary counts the lines of one upload. Received is the sum of the other counters. DNC, NotAllowed and
// MissingVariables count lines that have a valid number and still did not become contacts.
type ContactsSummary struct {
	Received         int `json:"received"`
	Accepted         int `json:"accepted"`
	Duplicates       int `json:"duplicates"`
	Invalid          int `json:"invalid"`
	DNC              int `json:"dnc"`
	NotAllowed       int `json:"destination_not_allowed"`
	MissingVariables int `json:"missing_variables"`
}

// ScreenedContact is a line of an upload that has a valid number but did not become a contact. The campaign's results
// list it.
type ScreenedContact struct {
	Phone  string    `json:"phone"` // E.164
	Name   string    `json:"name,omitempty"`
	Reason Reason    `json:"reason"` // dnc, destination_not_allowed or missing_variable
	At     time.Time `json:"at"`
}

// ScreenedChunk is a part of a campaign's list of screened contacts and is never modified. Its first contact has the
// position Index*ChunkSize in the list. Progress.Screened is the length of the list.
type ScreenedChunk struct {
	CampaignID  string            `json:"campaign_id"`
	WorkspaceID string            `json:"workspace_id"`
	Index       int               `json:"index"`
	Contacts    []ScreenedContact `json:"contacts"`
}

// Key returns the key of the chunk of screened-out contacts in the store.
func (c *ScreenedChunk) Key() Key {
	return Key{"screened", c.WorkspaceID, c.CampaignID + "/" + sortableNumber(c.Index)}
}

// Indexes returns no indexes: chunks are listed by key prefix.
func (c *ScreenedChunk) Indexes() []string { return nil }

// Sort returns the position of the chunk of screened-out contacts as sortable text.
func (c *ScreenedChunk) Sort() string { return sortableNumber(c.Index) }

// Upload is one upload of contacts to a campaign. The commit that completes the upload adds all its contacts. A failed
// upload adds no contacts.
type Upload struct {
	Meta
	CampaignID string          `json:"campaign_id"`
	Status     UploadStatus    `json:"status"`
	Reason     string          `json:"reason,omitempty"` // why the upload failed: an error code, or interrupted
	Summary    ContactsSummary `json:"contacts_summary"`
	Errors     []ContactError  `json:"contact_errors"`
	Fields     []string        `json:"fields"` // variable names in the contexts, sorted and limited
	ColumnMapping
	CompletedAt *time.Time `json:"completed_at"`
}

// ColumnMapping defines the meaning of the columns of a CSV file. It is empty for other formats.
type ColumnMapping struct {
	Columns  map[string]string `json:"columns"`                   // by column header: phone, timezone, country, name or a variable
	Unmapped []string          `json:"unmapped" nullable:"false"` // columns that match no variable; their values are stored in the context under the column name
	Missing  []string          `json:"missing" nullable:"false"`  // declared variables without a column
}

// WithoutNil returns the mapping with empty maps and lists instead of nil, so that JSON has no null.
func (m ColumnMapping) WithoutNil() ColumnMapping {
	if m.Columns == nil {
		m.Columns = map[string]string{}
	}
	if m.Unmapped == nil {
		m.Unmapped = []string{}
	}
	if m.Missing == nil {
		m.Missing = []string{}
	}
	return m
}

// UploadInterrupted is the reason for the failure of an upload during which the process ended.
const UploadInterrupted = "interrupted"

// Key returns the key of the upload in the store.
func (u *Upload) Key() Key { return Key{"upload", u.WorkspaceID, u.ID} }

// Indexes returns the index by campaign, and the index "open" while contacts are received.
func (u *Upload) Indexes() []string {
	ix := []string{"campaign=" + u.CampaignID}
	if u.Status == UploadReceiving {
		ix = append(ix, "open")
	}
	return ix
}

// Sort returns the ID, which sorts by creation time.
func (u *Upload) Sort() string { return u.ID }

// ContactEdit is a contact that was changed after its upload. It replaces the contact in the ContactChunk.
type ContactEdit struct {
	CampaignID  string  `json:"campaign_id"`
	WorkspaceID string  `json:"workspace_id"`
	Ordinal     int     `json:"ordinal"`
	Contact     Contact `json:"contact"`
}

// Key returns the key of the contact edit in the store.
func (e *ContactEdit) Key() Key {
	return Key{"edit", e.WorkspaceID, e.CampaignID + "/" + sortableNumber(e.Ordinal)}
}

// Indexes returns no indexes: edits are listed by key prefix.
func (e *ContactEdit) Indexes() []string { return nil }

// Sort returns the position of the contact in the campaign as sortable text.
func (e *ContactEdit) Sort() string { return sortableNumber(e.Ordinal) }

// ContactNumbers decodes only the phone numbers of a ContactChunk.
type ContactNumbers struct {
	CampaignID  string          `json:"campaign_id"`
	WorkspaceID string          `json:"workspace_id"`
	Index       int             `json:"index"`
	Contacts    []ContactNumber `json:"contacts"`
}

// ContactNumber decodes only the phone number of a Contact.
type ContactNumber struct {
	Phone string `json:"phone"` // E.164
}

// Key returns the store key of the chunk.
func (c *ContactNumbers) Key() Key {
	return Key{"chunk", c.WorkspaceID, c.CampaignID + "/" + sortableNumber(c.Index)}
}

// Indexes returns no indexes: chunks are listed by key prefix.
func (c *ContactNumbers) Indexes() []string { return nil }

// Sort returns the index of the chunk as sortable text.
func (c *ContactNumbers) Sort() string { return sortableNumber(c.Index) }
