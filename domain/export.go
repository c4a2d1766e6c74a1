package domain

import "time"

// ExportType is what an export is of.
type ExportType string

// The types of exports.
const (
	ExportCalls       ExportType = "calls"
	ExportLegs        ExportType = "legs"
	ExportTranscripts ExportType = "transcripts"
	ExportResults     ExportType = "campaign_results"
	ExportContacts    ExportType = "contacts"
	ExportEvents      ExportType = "events"
	ExportUsage       ExportType = "usage"
	ExportAudit       ExportType = "audit_logs"
)

// Values are the types of an export.
func (ExportType) Values() []string {
	return values(
		ExportCalls, ExportLegs, ExportTranscripts, ExportResults, ExportContacts, ExportEvents, ExportUsage,
		ExportAudit,
	)
}

// Reads are the permissions of the resource that an export is of; one of them
// is enough.
func (t ExportType) Reads() []Permission {
	switch t {
	case ExportCalls, ExportLegs, ExportTranscripts, ExportContacts:
		return []Permission{CallsRead}
	case ExportResults:
		return []Permission{CallsRead, AnalyticsRead}
	case ExportEvents, ExportUsage:
		return []Permission{AnalyticsRead}
	case ExportAudit:
		return []Permission{AllRead}
	}
	return []Permission{AllRead}
}

// ExportStatus is a state of an export.
type ExportStatus string

// The states of an export. The last two are final, and so is completed until
// the file is deleted.
const (
	ExportQueued    ExportStatus = "queued"
	ExportRunning   ExportStatus = "running"
	ExportCompleted ExportStatus = "completed"
	ExportFailed    ExportStatus = "failed"
	ExportExpired   ExportStatus = "expired"
)

// Values are the states of an export.
func (ExportStatus) Values() []string {
	return values(ExportQueued, ExportRunning, ExportCompleted, ExportFailed, ExportExpired)
}

// ExportLife is how long the file of an export is kept.
const ExportLifetime = 7 * 24 * time.Hour

// ExportFilters say which rows are wanted.
type ExportFilters struct {
	CreatedAfter  *time.Time `json:"created_after,omitempty"`
	CreatedBefore *time.Time `json:"created_before,omitempty"`
	CampaignID    string     `json:"campaign_id,omitempty"`
	Status        string     `json:"status,omitempty"` // of calls and contacts
	Types         []string   `json:"types,omitempty"`  // of events
}

// Export is a file that is made of many rows.
type Export struct {
	Meta
	Type        ExportType    `json:"type"`
	Format      string        `json:"format"` // csv | jsonl
	Filters     ExportFilters `json:"filters"`
	Status      ExportStatus  `json:"status"`
	Reason      Code          `json:"reason,omitempty"` // why it failed
	Rows        int           `json:"rows"`
	Size        int64         `json:"size"` // bytes
	DownloadURL string        `json:"download_url,omitempty"`
	CompletedAt *time.Time    `json:"completed_at"`
	ExpiresAt   *time.Time    `json:"expires_at"`
}

// File names the file in the workspace's blobs.
func (e *Export) File() string { return e.ID + "." + e.Format }

// Key names the row.
func (e *Export) Key() Key { return Key{"export", e.WorkspaceID, e.ID} }

// Indexes: by environment and campaign; "open" until there is a file, "kept" while there is
// one, "over" afterwards.
func (e *Export) Indexes() []string {
	stage := "over"
	switch e.Status {
	case ExportQueued, ExportRunning:
		stage = "open"
	case ExportCompleted:
		stage = "kept"
	case ExportFailed, ExportExpired:
	}
	ix := []string{envIndex(e.Environment), stage}
	if e.Filters.CampaignID != "" {
		ix = append(ix, "campaign="+e.Filters.CampaignID)
	}
	return ix
}

// Sort is by age.
func (e *Export) Sort() string { return e.ID }
