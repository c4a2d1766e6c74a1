package domain

import "time"

// UploadStatus is the state of an upload of contacts.
type UploadStatus string

// The states of an upload. The last two are final.
const (
	UploadReceiving UploadStatus = "receiving"
	UploadCompleted UploadStatus = "completed"
	UploadFailed    UploadStatus = "failed"
)

// Values returns the states of an upload of contacts.
func (UploadStatus) Values() []string {
	return values(UploadReceiving, UploadCompleted, UploadFailed)
}

// ContactError describes why one row of an upload was rejected.
type ContactError struct {
	Line    int    `json:"line"`
	Phone   string `json:"phone,omitempty"`
	Code    Code   `json:"code"` // invalid_row | invalid_phone | invalid_timezone | duplicate | dnc | destination_not_allowed | missing_variable
	Message string `json:"message"`
}

// ContactsSummary counts the rows of one upload. Received is the sum of the other counters. DNC, NotAllowed and
// MissingVariables count rows with a valid number that were screened out and did not become contacts.
type ContactsSummary struct {
	Received         int `json:"received"`
	Accepted         int `json:"accepted"`
	Duplicates       int `json:"duplicates"`
	Invalid          int `json:"invalid"`
	DNC              int `json:"dnc"`
	NotAllowed       int `json:"destination_not_allowed"`
	MissingVariables int `json:"missing_variables"`
}

// ScreenedContact is a row of an upload that has a valid number and did not become a contact. The results of the
// campaign list it.
type ScreenedContact struct {
	Phone  string    `json:"phone"` // E.164
	Name   string    `json:"name,omitempty"`
	Reason Reason    `json:"reason"` // dnc, destination_not_allowed or missing_variable
	At     time.Time `json:"at"`
}

// ScreenedChunk is an immutable chunk of screened contacts of a campaign. It holds the ordinals from
// Index*ChunkSize on, below Progress.Screened.
type ScreenedChunk struct {
	CampaignID  string            `json:"campaign_id"`
	WorkspaceID string            `json:"workspace_id"`
	Index       int               `json:"index"`
	Contacts    []ScreenedContact `json:"contacts"`
}

// Key returns the store key.
func (c *ScreenedChunk) Key() Key {
	return Key{"screened", c.WorkspaceID, c.CampaignID + "/" + sortableNumber(c.Index)}
}

// Indexes returns no indexes: chunks are listed by key prefix.
func (c *ScreenedChunk) Indexes() []string { return nil }

// Sort returns the index.
func (c *ScreenedChunk) Sort() string { return sortableNumber(c.Index) }

// Upload is one upload of contacts to a campaign. Its contacts are added in the commit that completes it. A failed
// upload leaves no contacts.
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

// ColumnMapping defines the contents of the columns of a CSV file. It is empty for other formats.
type ColumnMapping struct {
	Columns  map[string]string `json:"columns"`                   // by column header: phone, timezone, country, name or a variable
	Unmapped []string          `json:"unmapped" nullable:"false"` // columns that match no variable; their values are stored in the context under the column name
	Missing  []string          `json:"missing" nullable:"false"`  // declared variables without a column
}

// WithoutNil returns the mapping with empty members instead of nil.
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

// UploadInterrupted is the reason of an upload that was interrupted by the end of the process.
const UploadInterrupted = "interrupted"

// Key returns the store key.
func (u *Upload) Key() Key { return Key{"upload", u.WorkspaceID, u.ID} }

// Indexes returns the campaign, and "open" while contacts are received.
func (u *Upload) Indexes() []string {
	ix := []string{"campaign=" + u.CampaignID}
	if u.Status == UploadReceiving {
		ix = append(ix, "open")
	}
	return ix
}

// Sort returns the ID, which sorts by creation time.
func (u *Upload) Sort() string { return u.ID }

// ContactEdit is a contact that was changed after its upload. It replaces the contact in the chunk.
type ContactEdit struct {
	CampaignID  string  `json:"campaign_id"`
	WorkspaceID string  `json:"workspace_id"`
	Ordinal     int     `json:"ordinal"`
	Contact     Contact `json:"contact"`
}

// Key returns the store key.
func (e *ContactEdit) Key() Key {
	return Key{"edit", e.WorkspaceID, e.CampaignID + "/" + sortableNumber(e.Ordinal)}
}

// Indexes returns no indexes: edits are listed by key prefix.
func (e *ContactEdit) Indexes() []string { return nil }

// Sort returns the ordinal.
func (e *ContactEdit) Sort() string { return sortableNumber(e.Ordinal) }

// ContactNumbers is a ContactChunk of which only the numbers are decoded.
type ContactNumbers struct {
	CampaignID  string          `json:"campaign_id"`
	WorkspaceID string          `json:"workspace_id"`
	Index       int             `json:"index"`
	Contacts    []ContactNumber `json:"contacts"`
}

// ContactNumber is the number of a Contact.
type ContactNumber struct {
	Phone string `json:"phone"` // E.164
}

// Key returns the store key of the chunk.
func (c *ContactNumbers) Key() Key {
	return Key{"chunk", c.WorkspaceID, c.CampaignID + "/" + sortableNumber(c.Index)}
}

// Indexes returns no indexes, as for ContactChunk.
func (c *ContactNumbers) Indexes() []string { return nil }

// Sort returns the index of the chunk.
func (c *ContactNumbers) Sort() string { return sortableNumber(c.Index) }
