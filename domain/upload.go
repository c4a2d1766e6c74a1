package domain

import "time"

// UploadStatus is a state of an upload of contacts.
type UploadStatus string

// The states of an upload. The last two are final.
const (
	UploadReceiving UploadStatus = "receiving"
	UploadCompleted UploadStatus = "completed"
	UploadFailed    UploadStatus = "failed"
)

// Values are the states of an upload of contacts.
func (UploadStatus) Values() []string {
	return values(UploadReceiving, UploadCompleted, UploadFailed)
}

// ContactError tells what was wrong with one row of an upload.
type ContactError struct {
	Line    int    `json:"line"`
	Phone   string `json:"phone,omitempty"`
	Code    Code   `json:"code"` // invalid_row | invalid_phone | invalid_timezone | duplicate | dnc | destination_not_allowed | missing_variable
	Message string `json:"message"`
}

// ContactsSummary counts the rows of one upload. Received is the sum of the
// others. DNC, NotAllowed and MissingVariables count screened rows: their number is
// on a do-not-call list or may not be called by the workspace, or they lack a
// required variable of the pathway. They do not become contacts.
type ContactsSummary struct {
	Received         int `json:"received"`
	Accepted         int `json:"accepted"`
	Duplicates       int `json:"duplicates"`
	Invalid          int `json:"invalid"`
	DNC              int `json:"dnc"`
	NotAllowed       int `json:"destination_not_allowed"`
	MissingVariables int `json:"missing_variables"`
}

// ScreenedContact is a row of an upload that did not become a contact, though its
// number is one. The campaign's results show it.
type ScreenedContact struct {
	Phone  string    `json:"phone"` // E.164
	Name   string    `json:"name,omitempty"`
	Reason Reason    `json:"reason"` // dnc | destination_not_allowed | missing_variable
	At     time.Time `json:"at"`
}

// ScreenedChunk is an immutable run of screened contacts of a campaign: ordinals
// Index*ChunkSize and the following, below Progress.Screened.
type ScreenedChunk struct {
	CampaignID  string            `json:"campaign_id"`
	WorkspaceID string            `json:"workspace_id"`
	Index       int               `json:"index"`
	Contacts    []ScreenedContact `json:"contacts"`
}

// Key names the row.
func (c *ScreenedChunk) Key() Key {
	return Key{"screened", c.WorkspaceID, c.CampaignID + "/" + sortableNumber(c.Index)}
}

// Indexes: none; chunks are listed by the key's beginning.
func (c *ScreenedChunk) Indexes() []string { return nil }

// Sort is by index.
func (c *ScreenedChunk) Sort() string { return sortableNumber(c.Index) }

// Upload is one delivery of contacts to a campaign. Its contacts count from
// the commit that completes it; of one that failed nothing is left.
type Upload struct {
	Meta
	CampaignID string          `json:"campaign_id"`
	Status     UploadStatus    `json:"status"`
	Reason     string          `json:"reason,omitempty"` // why it failed: an error's code, or interrupted
	Summary    ContactsSummary `json:"contacts_summary"`
	Errors     []ContactError  `json:"contact_errors"`
	Fields     []string        `json:"fields"` // the names in its contexts, sorted; of very many only the first
	ColumnMapping
	CompletedAt *time.Time `json:"completed_at"`
}

// ColumnMapping says what the columns of a CSV file hold. It is empty for
// other files.
type ColumnMapping struct {
	Columns  map[string]string `json:"columns"`                   // by the name in the header: phone, timezone, country, name or a variable
	Unmapped []string          `json:"unmapped" nullable:"false"` // columns that match no variable: context under their own names
	Missing  []string          `json:"missing" nullable:"false"`  // declared variables that no column gives
}

// WithoutNil is the mapping without nil members.
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

// UploadInterrupted is the reason of an upload that the end of the process
// broke off.
const UploadInterrupted = "interrupted"

// Key names the row.
func (u *Upload) Key() Key { return Key{"upload", u.WorkspaceID, u.ID} }

// Indexes: by campaign; "open" while it is received.
func (u *Upload) Indexes() []string {
	ix := []string{"campaign=" + u.CampaignID}
	if u.Status == UploadReceiving {
		ix = append(ix, "open")
	}
	return ix
}

// Sort is by age.
func (u *Upload) Sort() string { return u.ID }

// ContactEdit is a contact as it was changed after its upload; it stands in
// front of the one in the chunk.
type ContactEdit struct {
	CampaignID  string  `json:"campaign_id"`
	WorkspaceID string  `json:"workspace_id"`
	Ordinal     int     `json:"ordinal"`
	Contact     Contact `json:"contact"`
}

// Key names the row.
func (e *ContactEdit) Key() Key {
	return Key{"edit", e.WorkspaceID, e.CampaignID + "/" + sortableNumber(e.Ordinal)}
}

// Indexes: none; edits are listed by the key's beginning.
func (e *ContactEdit) Indexes() []string { return nil }

// Sort is by ordinal.
func (e *ContactEdit) Sort() string { return sortableNumber(e.Ordinal) }

// ContactNumbers is a ContactChunk of which only the numbers are read.
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

// Key names the row: the chunk's.
func (c *ContactNumbers) Key() Key {
	return Key{"chunk", c.WorkspaceID, c.CampaignID + "/" + sortableNumber(c.Index)}
}

// Indexes: none, as of the chunk.
func (c *ContactNumbers) Indexes() []string { return nil }

// Sort is the chunk's.
func (c *ContactNumbers) Sort() string { return sortableNumber(c.Index) }
