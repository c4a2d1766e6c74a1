package domain

import "time"

// ExportType is the kind of data in an export.
type ExportType string

// The kinds of data that an export can contain.
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

// Values returns the types of an export.
func (ExportType) Values() []string {
	return values(
		ExportCalls, ExportLegs, ExportTranscripts, ExportResults, ExportContacts, ExportEvents, ExportUsage,
		ExportAudit,
	)
}

// RequiredPermissions returns the permissions that allow this type of export. Any one of them is enough.
func (t ExportType) RequiredPermissions() []Permission {
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

// ExportStatus is the state of an export.
type ExportStatus string

// The states of an export. failed and expired are final. completed changes to expired when the file is deleted.
const (
	ExportQueued    ExportStatus = "queued"
	ExportRunning   ExportStatus = "running"
	ExportCompleted ExportStatus = "completed"
	ExportFailed    ExportStatus = "failed"
	ExportExpired   ExportStatus = "expired"
)

// Values returns the states of an export.
func (ExportStatus) Values() []string {
	return values(ExportQueued, ExportRunning, ExportCompleted, ExportFailed, ExportExpired)
}

// ExportLifetime is how long the file of an export is stored.
const ExportLifetime = 7 * 24 * time.Hour

// ExportFilters limits the resources that an export contains.
type ExportFilters struct {
	CreatedAfter  *time.Time `json:"created_after,omitempty"`
	CreatedBefore *time.Time `json:"created_before,omitempty"`
	CampaignID    string     `json:"campaign_id,omitempty"`
	Status        string     `json:"status,omitempty"` // of calls and contacts
	Types         []string   `json:"types,omitempty"`  // of events
}

// Export is a data file that a background task writes for a client to download.
type Export struct {
	Meta
	Type        ExportType    `json:"type"`
	Format      string        `json:"format"` // csv or jsonl
	Filters     ExportFilters `json:"filters"`
	Status      ExportStatus  `json:"status"`
	Reason      Code          `json:"reason,omitempty"` // why the export failed
	Rows        int           `json:"rows"`
	Size        int64         `json:"size"` // size of the file in bytes
	DownloadURL string        `json:"download_url,omitempty"`
	CompletedAt *time.Time    `json:"completed_at"`
	ExpiresAt   *time.Time    `json:"expires_at"`
}

// File returns the name of the export file in the workspace's blob store.
func (e *Export) File() string { return e.ID + "." + e.Format }

// Key returns the key of the export in the store.
func (e *Export) Key() Key { return Key{"export", e.WorkspaceID, e.ID} }

// Indexes returns the indexes by environment, by stage and by campaign. The stage is "open" until the file exists,
// "kept" while the file exists, and "over" afterwards.
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

// Sort returns the ID, which sorts by creation time.
func (e *Export) Sort() string { return e.ID }
