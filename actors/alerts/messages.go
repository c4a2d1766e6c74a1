// Package alerts looks now and then whether what operators have asked to be told
// of is so, keeps what it finds, and tells them: by events, which webhooks carry
// like all others, and by mail. What an alert is, domain/alert decides; the
// actor knows neither trunks nor money: it is handed what was read.
//
// An alert, its event and its mails are one commit, so that a restart neither
// repeats nor forgets them. A mail is sent until a server has taken it, or for a
// day.
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

// Changed says that a rule of a workspace was committed: look now.
type Changed struct{ Workspace string }

// Control: each changes a row before.
func (Changed) Control() {}

type (
	// tick is time to look.
	tick struct{ generation int }
	// looked: a look is over.
	looked struct {
		known map[string]bool // workspaces that have anything of alerts
		mails bool            // some wait to be sent
		err   error
	}
	// posted: what was due was tried.
	posted struct{ err error }
)

// Control: each is an answer to one's own question, or a wake-up.
func (tick) Control()   {}
func (looked) Control() {}
func (posted) Control() {}

// Store is what alerts need of the store.
type Store interface {
	Apply(ctx context.Context, c commit.Change) ([]event.Event, error)
	List(ctx context.Context, q commit.Query, fresh func() domain.Record, each func(domain.Record) error) (next string, err error)
}

// Mailer sends mail.
type Mailer interface {
	// Send hands a letter to a mail server. Its error is fit to be shown.
	Send(ctx context.Context, l Letter) error
}

// Letter is one mail.
type Letter struct {
	ID      string // a second one of the same is known by it
	To      []string
	Subject string // in one line
	Body    string // plain text
}

// Found is what a look has found of one rule.
type Found struct {
	Readings []alert.Reading
	// Unread are the workspaces that did not answer, "" for all together: what was
	// found of them stays as it is.
	Unread map[string]bool
}

// Config of the actor.
type Config struct {
	Store      Store
	Workspaces func() []string // those that live
	// Read looks at what rules are about; of one that it does not answer for, all
	// stays as it is.
	Read      func(ctx context.Context, rules []*domain.AlertRule) map[string]Found
	Mail      Mailer                 // nil: none are written, and those that wait do so until there is one, or are given up
	Committed func(workspace string) // events were committed
	Every     time.Duration          // between two looks; 0: 15 s
	Log       *slog.Logger
}
