// Package alerts checks alert rules at intervals and reports alerts by events (for webhooks) and by email.
//
// domain/alert decides when an alert starts and ends. Config.ReadValues supplies the values of the rules.
// An alert, its event and its emails are one commit: a restart neither repeats nor loses them.
// An email is retried until a mail server accepts it, for at most 24 hours.
package alerts

import (
	"context"
	"log/slog"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/alert"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
)

// RuleChanged reports that an alert rule of a workspace was changed. The actor then checks all rules at once.
type RuleChanged struct{ Workspace string }

// Control implements mailbox.Control: a full mailbox accepts this message.
func (RuleChanged) Control() {}

type (
	// checkDue is the timer message that starts the next check of the alert rules.
	checkDue struct{ generation int }
	// checkDone is the result of a check of the alert rules.
	checkDone struct {
		activeWorkspaces map[string]bool // workspaces with alert rules, alerts or unsent emails
		hasEmails        bool            // emails wait to be sent
		err              error
	}
	// emailsDone is the result of sending the emails that were due.
	emailsDone struct{ err error }
)

// Control implements mailbox.Control: a full mailbox accepts this message. At most one message of each type is pending.
func (checkDue) Control()   {}
func (checkDone) Control()  {}
func (emailsDone) Control() {}

// Store is the part of the store that alerts use.
type Store interface {
	Apply(ctx context.Context, c commit.Change) ([]event.Event, error)
	List(ctx context.Context, q commit.Query, fresh func() domain.Record, each func(domain.Record) error) (next string, err error)
}

// Mailer sends emails.
type Mailer interface {
	// Send passes an email to a mail server. The error text may be shown to operators.
	Send(ctx context.Context, l Email) error
}

// Email is an alert email for the recipients of one alert rule.
type Email struct {
	ID      string // becomes the Message-ID, by which receivers recognize a repeated email
	To      []string
	Subject string // one line
	Body    string // plain text
}

// RuleReadings are the current values of one rule.
type RuleReadings struct {
	Readings []alert.Reading
	// UnreadWorkspaces are workspaces whose values could not be read, so their alerts stay unchanged. The key "" stands
	// for the total of all workspaces.
	UnreadWorkspaces map[string]bool
}

// Config configures the Alerts actor.
type Config struct {
	Store      Store
	Workspaces func() []string // all workspaces of this node
	// ReadValues reads the current values of the given alert rules. The result is keyed by rule ID. If a rule is missing
	// from the result, its alerts stay unchanged.
	ReadValues    func(ctx context.Context, rules []*domain.AlertRule) map[string]RuleReadings
	Mailer        Mailer                 // nil: alerts cause no emails, and waiting ones stay until they expire
	OnCommitted   func(workspace string) // called after a commit with events; nil: none
	CheckInterval time.Duration          // time between two checks; 0: 15 s
	Log           *slog.Logger
}
