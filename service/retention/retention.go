// Package retention deletes the rows of a workspace whose retention period is over.
package retention

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// Step deletes expired rows of one kind.
type Step struct {
	What  string // for the log
	Sweep func(ctx context.Context, workspaceID string, now time.Time) error
}

// Config holds what a Service needs.
type Config struct {
	Store        commit.Store
	Workspaces   workspaces
	Blobs        blobs
	Calls        calls
	Appointments appointments
	Events       eventLog
	// DecisionKey is the key of a workspace that chains the rows of decision logs.
	DecisionKey func(workspaceID string) []byte
	// Steps of other services, in their order.
	Steps []Step
	Log   *slog.Logger
}

// workspaces finds the workspaces whose actors run on this node.
type workspaces interface {
	Workspace(id string) *domain.Workspace
}

// blobs deletes recordings.
type blobs interface {
	Delete(ctx context.Context, workspaceID, name string) error
}

// calls deletes calls with everything that is named after them.
type calls interface {
	DeleteCalls(ctx context.Context, workspaceID string, calls []*domain.Call) error
}

// appointments manages the booked time of providers.
type appointments interface {
	// FreeTime adds to a commit that the time of an appointment is free.
	FreeTime(ctx context.Context, c *commit.Change, a *domain.Appointment) error
}

// eventLog finds places in the event log of a workspace.
type eventLog interface {
	// OffsetBefore returns an offset behind which every event created at t or later lies.
	OffsetBefore(ctx context.Context, workspaceID string, t time.Time) (uint64, error)
}

// Service deletes expired rows.
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

// New returns a service.
func New(c Config) *Service {
	s := &Service{
		store: c.Store, workspaces: c.Workspaces, blobs: c.Blobs, calls: c.Calls, appointments: c.Appointments, events: c.Events,
		decisionKey: c.DecisionKey, log: c.Log,
	}
	s.steps = append([]Step{
		{"calls", s.sweepCalls},
		{"decisions", s.sweepDecisions},
		{"rows of the ledger", s.sweepLedger},
		{"audit log and uploads", s.sweepAuditLog},
		{"messages and appointments", s.sweepMessages},
		{"events", s.sweepEvents},
	}, c.Steps...)
	return s
}

// Sweep deletes the rows of a workspace whose retention period is over at now. After
// an error it goes on with the next kind. It logs the errors and returns them.
func (s *Service) Sweep(ctx context.Context, workspaceID string, now time.Time) error {
	failed := errors.Join(s.sweepRecordings(ctx, workspaceID, now), s.sweepCallRows(ctx, workspaceID, now))
	for _, step := range s.steps {
		if err := step.Sweep(ctx, workspaceID, now); err != nil && ctx.Err() == nil {
			s.log.Warn("what is kept no longer could not be deleted", slog.String("what", step.What), slog.String("workspace_id", workspaceID), slog.Any("error", err))
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// errRetained ends a scan at the first row that is retained.
var errRetained = errors.New("retention: the row is retained")
