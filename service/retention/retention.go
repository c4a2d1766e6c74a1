// Package retention deletes calls, recordings, transcripts, messages, events and other data of a workspace when their
// retention period has ended.
package retention

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// Step is the sweep of another service. It deletes expired rows of one kind.
type Step struct {
	Name  string // name of the kind in the log
	Sweep func(ctx context.Context, workspaceID string, now time.Time) error
}

// Config holds the dependencies of a Service.
type Config struct {
	Store        commit.Store
	Workspaces   workspaces
	Blobs        blobs
	Calls        calls
	Appointments appointments
	Events       eventLog
	// DecisionKey returns the key that authenticates the decision logs of a workspace.
	DecisionKey func(workspaceID string) []byte
	// Steps are the sweeps of other services. They run in this order, after the sweeps of this package.
	Steps []Step
	Log   *slog.Logger
}

// workspaces returns the workspaces whose actors run on this node.
type workspaces interface {
	Workspace(id string) *domain.Workspace
}

// blobs deletes recordings.
type blobs interface {
	Delete(ctx context.Context, workspaceID, name string) error
}

// calls deletes calls with their recordings, transcripts and SIP traces.
type calls interface {
	DeleteCalls(ctx context.Context, workspaceID string, calls []*domain.Call) error
}

// appointments manages the booked time slots of providers.
type appointments interface {
	// FreeTime adds the release of an appointment's time slot to a commit.
	FreeTime(ctx context.Context, c *commit.Change, a *domain.Appointment) error
}

// eventLog searches the event log of a workspace by time.
type eventLog interface {
	// OffsetBefore returns an offset below those of all events created at t or later.
	OffsetBefore(ctx context.Context, workspaceID string, t time.Time) (uint64, error)
}

// Service deletes the data of workspaces whose retention period has ended.
type Service struct {
	store        commit.Store
	workspaces   workspaces
	blobs        blobs
	calls        calls
	appointments appointments
	events       eventLog
	decisionKey  func(workspaceID string) []byte
	steps        []Step
	log          *slog.Logger
}

// New returns a Service.
func New(c Config) *Service {
	s := &Service{
		store: c.Store, workspaces: c.Workspaces, blobs: c.Blobs, calls: c.Calls, appointments: c.Appointments, events: c.Events,
		decisionKey: c.DecisionKey, log: c.Log,
	}
	s.steps = append([]Step{
		{"calls", s.sweepCalls},
		{"decisions", s.sweepDecisions},
		{"ledger rows", s.sweepLedger},
		{"audit log and uploads", s.sweepAuditLog},
		{"messages and appointments", s.sweepMessages},
		{"events", s.sweepEvents},
	}, c.Steps...)
	return s
}

// Sweep deletes the rows of a workspace whose retention period has ended at the time now. After an error Sweep continues
// with the next kind of rows. It logs all errors and returns them joined.
func (s *Service) Sweep(ctx context.Context, workspaceID string, now time.Time) error {
	failed := errors.Join(s.sweepRecordings(ctx, workspaceID, now), s.sweepCallRows(ctx, workspaceID, now))
	for _, step := range s.steps {
		if err := step.Sweep(ctx, workspaceID, now); err != nil && ctx.Err() == nil {
			s.log.Warn("expired rows could not be deleted", slog.String("step", step.Name), slog.String("workspace_id", workspaceID), slog.Any("error", err))
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// errRetained ends a scan at the first row that is retained.
var errRetained = errors.New("the row is retained")
