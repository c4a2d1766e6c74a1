package domain

import "time"

// Quarantine says that the store was restored from a backup and that nothing leaves the service until an operator
// releases it. There is one row; without it nothing is held back.
type Quarantine struct {
	BackupAt   time.Time `json:"backup_at"`   // all that was committed before is in the store
	RestoredAt time.Time `json:"restored_at"` // when the store was restored
	// Calls are the newest calls that were live when the backup was made, MaxQuarantinedCalls at most, and LiveCalls
	// says how many there were.
	Calls     []UncertainAction `json:"calls"`
	LiveCalls int               `json:"live_calls"`
}

// MaxQuarantinedCalls bounds Quarantine.Calls.
const MaxQuarantinedCalls = 1000

// Key names the row.
func (q *Quarantine) Key() Key { return Key{"quarantine", "", "now"} }

// Indexes: none.
func (q *Quarantine) Indexes() []string { return nil }

// Sort is of no use: there is one.
func (q *Quarantine) Sort() string { return "" }

// UncertainKind is what may have gone out since a backup.
type UncertainKind string

// The kinds of uncertain actions.
const (
	UncertainCall     UncertainKind = "call"     // was live when the backup was made
	UncertainCampaign UncertainKind = "campaign" // was running or scheduled, and is paused
	UncertainBulk     UncertainKind = "bulk"     // a job of calls or messages that was not over
	UncertainMessage  UncertainKind = "message"  // was queued, or its answer was
	UncertainReminder UncertainKind = "reminder" // was due since
)

// Enum lists the kinds.
func (UncertainKind) Enum() []string {
	return values(UncertainCall, UncertainCampaign, UncertainBulk, UncertainMessage, UncertainReminder)
}

// UncertainAction is something that may have gone out since a backup, and that the service does not do again.
type UncertainAction struct {
	Kind        UncertainKind `json:"kind" doc:"What it is: call (it was live when the backup was made), campaign (it was running or scheduled, and is paused), bulk (a job of calls or messages that was not over), message (it was queued, or its answer was), or reminder (it was due since)."`
	WorkspaceID string        `json:"workspace_id" doc:"The workspace that it belongs to."`
	Environment Environment   `json:"environment" doc:"live or test."`
	ID          string        `json:"id" doc:"The id of the call, campaign, bulk job or message; that of the appointment for a reminder."`
	To          string        `json:"to,omitempty" doc:"The number that it is for, where there is one."`
	At          time.Time     `json:"at" doc:"When it was made; for a reminder, when it was due."`
}
