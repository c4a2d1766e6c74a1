// Package restorequarantine holds a store that was restored from a backup in quarantine: no call, message or
// webhook leaves the service until an operator releases the store.
package restorequarantine

import (
	"time"

	"github.com/callboard/callboard/domain"
)

// Quarantine is the state of a quarantine, with the actions that may have been carried out after the backup.
type Quarantine struct {
	Object     string     `json:"object" enum:"quarantine" doc:"Always quarantine."`
	Active     bool       `json:"active" doc:"true: the store was restored from a backup, and nothing leaves the service."`
	BackupAt   *time.Time `json:"backup_at" doc:"When the backup was made; null without a quarantine."`
	RestoredAt *time.Time `json:"restored_at" doc:"When the store was restored; null without a quarantine."`
	// Actions lists at most 1,000 actions of each kind. Counts counts all of them.
	Actions []domain.UncertainAction `json:"actions" doc:"What may have gone out since the backup and is not done again: 1000 of each kind at most."`
	Counts  UncertainCounts          `json:"counts" doc:"How many there are of each kind."`
}

// UncertainCounts are the numbers of uncertain actions by kind.
type UncertainCounts struct {
	Calls     int `json:"calls" doc:"Calls that were live when the backup was made."`
	Campaigns int `json:"campaigns" doc:"Campaigns that were running or scheduled, and are paused."`
	Bulks     int `json:"bulks" doc:"Jobs of calls or messages that were not over. The release cancels them."`
	Messages  int `json:"messages" doc:"Messages that were queued, and answers to messages. The release marks them failed."`
	Reminders int `json:"reminders" doc:"Reminders that were due since. The release marks them failed."`
}

// Add adds 1 to the count of a kind of actions and returns the new count.
func (c *UncertainCounts) Add(kind domain.UncertainKind) int {
	at := map[domain.UncertainKind]*int{
		domain.UncertainCall: &c.Calls, domain.UncertainCampaign: &c.Campaigns, domain.UncertainBulk: &c.Bulks,
		domain.UncertainMessage: &c.Messages, domain.UncertainReminder: &c.Reminders,
	}[kind]
	*at++
	return *at
}
