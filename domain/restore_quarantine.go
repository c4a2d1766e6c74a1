package domain

import "time"

// Quarantine means that the store was restored from a backup. Callboard makes no calls and sends nothing until an
// operator releases the installation. The store has a Quarantine only during this time.
type Quarantine struct {
	BackupAt   time.Time `json:"backup_at"`   // time of the last commit in the backup
	RestoredAt time.Time `json:"restored_at"` // when the store was restored
	// Calls lists the newest calls that were live in the backup, at most MaxQuarantinedCalls. LiveCalls is the number of
	// all calls that were live.
	Calls     []UncertainAction `json:"calls"`
	LiveCalls int               `json:"live_calls"`
}

// MaxQuarantinedCalls is the maximum number of entries in Quarantine.Calls.
const MaxQuarantinedCalls = 1000

// Key returns the key of the quarantine state in the store.
func (q *Quarantine) Key() Key { return Key{"quarantine", "", "now"} }

// Indexes returns nil: the quarantine state is read by key or key prefix only.
func (q *Quarantine) Indexes() []string { return nil }

// Sort returns an unused sort key, because the store has at most one Quarantine.
func (q *Quarantine) Sort() string { return "" }

// UncertainKind is the kind of an UncertainAction.
type UncertainKind string

// The kinds of uncertain actions.
const (
	UncertainCall     UncertainKind = "call"     // was live when the backup was made
	UncertainCampaign UncertainKind = "campaign" // was running or scheduled, and is paused
	UncertainBulk     UncertainKind = "bulk"     // a bulk job of calls or messages that had not ended
	UncertainMessage  UncertainKind = "message"  // was queued, or an answer to the message was queued
	UncertainReminder UncertainKind = "reminder" // became due between the backup and the restore
)

// Enum returns the kinds of uncertain actions.
func (UncertainKind) Enum() []string {
	return values(UncertainCall, UncertainCampaign, UncertainBulk, UncertainMessage, UncertainReminder)
}

// UncertainAction is an action that may have happened between the backup and the restore. The service does not repeat it.
type UncertainAction struct {
	Kind        UncertainKind `json:"kind" doc:"The kind of action. call: it was live at the time of the backup. campaign: it was running or scheduled, and is now paused. bulk: a job of calls or messages that had not ended. message: the message or its answer was queued. reminder: it was due after the backup."`
	WorkspaceID string        `json:"workspace_id" doc:"The workspace of the action."`
	Environment Environment   `json:"environment" doc:"The environment: live or test."`
	ID          string        `json:"id" doc:"The id of the call, campaign, bulk job or message. For a reminder: the id of the appointment."`
	To          string        `json:"to,omitempty" doc:"The phone number of the recipient, if there is one."`
	At          time.Time     `json:"at" doc:"Time of creation. For a reminder: the time when it was due."`
}
